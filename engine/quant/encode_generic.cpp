#define HEARTH_QUANT_LEVEL generic
#include "engine/quant/encode_blocks.h"

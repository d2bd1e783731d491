#define HEARTH_QUANT_LEVEL avx2
#include "engine/quant/encode_blocks.h"

#define HEARTH_QUANT_LEVEL avx512
#include "engine/quant/encode_blocks.h"

#define HEARTH_LEVEL avx512
#include "engine/cpu/vec_avx512.h"
#include "engine/cpu/ops.inc"

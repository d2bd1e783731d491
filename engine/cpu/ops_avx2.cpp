#define HEARTH_LEVEL avx2
#include "engine/cpu/vec_avx2.h"
#include "engine/cpu/ops.inc"

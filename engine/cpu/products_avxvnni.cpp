#define HEARTH_LEVEL avxvnni
#define HEARTH_DPBUSD _mm256_dpbusd_avx_epi32
#include "engine/cpu/vec_avx2.h"
#include "engine/cpu/products.inc"

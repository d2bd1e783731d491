// The kernels of the level avxvnni with the same instruction in its AVX-512 coding, so that machines which have only that
// one run the level's code, too.
#define HEARTH_LEVEL avxvnni_evex
#define HEARTH_DPBUSD _mm256_dpbusd_epi32
#include "engine/cpu/vec_avx2.h"
#include "engine/cpu/products.inc"

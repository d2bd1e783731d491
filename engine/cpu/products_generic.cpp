#define HEARTH_LEVEL generic
#include "engine/cpu/vec_generic.h"
#include "engine/cpu/products.inc"

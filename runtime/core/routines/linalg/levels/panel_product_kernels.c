/* See panel_product_kernels.h. */
#include "panel_product_kernels.h"

#include "kernel/contracted_vectors.h"

/* The sums of a tile stay in registers, beside a row of the panel and one number of the first matrix. */
#if OW_VECTOR_BYTES == 64
#define ROWS 8
#define VECTORS 3
#elif OW_VECTOR_BYTES == 32
#define ROWS 6
#define VECTORS 2
#else
#define ROWS 4
#define VECTORS 2
#endif

#define real float
#define NAME(name) name##_f32
#include "panel_product_loops.h"
#undef real
#undef NAME

#define real double
#define NAME(name) name##_f64
#include "panel_product_loops.h"

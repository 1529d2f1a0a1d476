/* See panel_product_kernels.h. */
#include "panel_product_kernels.h"

#include <string.h>

#include "kernel/contracted_vectors.h"

/* The sums of a tile stay in registers, beside a row of the panel and one number of the first matrix; so do those of
 * some columns, of which each has 64 bytes of partial sums along lines. */
#if OW_VECTOR_BYTES == 64
#define ROWS 8
#define VECTORS 3
#define COLUMNS 9
#elif OW_VECTOR_BYTES == 32
#define ROWS 6
#define VECTORS 2
#define COLUMNS 3
#else
#define ROWS 4
#define VECTORS 2
#define COLUMNS 1
#endif

#define real float
#define integer int32_t
#define NAME(name) name##_f32
#include "line_product_loops.h"
#include "panel_product_loops.h"
#undef real
#undef integer
#undef NAME

#define real double
#define integer int64_t
#define NAME(name) name##_f64
#include "line_product_loops.h"
#include "panel_product_loops.h"

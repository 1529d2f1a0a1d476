/* See panel_product_kernels.h. Products and sums are contracted where the processor has fused multiplications. */
#include "panel_product_kernels.h"

#if defined __clang__
#pragma clang fp contract(fast)
#else
#pragma GCC optimize("fp-contract=fast")
#endif

/* The sums of a tile stay in registers, beside a row of the panel and one number of the first matrix. */
#if defined __AVX512F__
#define VECTOR_BYTES 64
#define ROWS 8
#define VECTORS 3
#elif defined __AVX2__
#define VECTOR_BYTES 32
#define ROWS 6
#define VECTORS 2
#else
#define VECTOR_BYTES 16
#define ROWS 4
#define VECTORS 2
#endif

#define JOIN_(name, suffix) name##_##suffix
#define JOIN(name, suffix) JOIN_(name, suffix)

#define real float
#define NAME(name) name##_f32
#include "panel_product_loops.h"
#undef real
#undef NAME

#define real double
#define NAME(name) name##_f64
#include "panel_product_loops.h"

/* See fft_kernels.h. Products and sums are contracted where the processor has fused multiplications: a tenth to a quarter of
 * the time, and smaller errors. */
#include "fft_kernels.h"

#include <string.h>

#if defined __clang__
#pragma clang fp contract(fast)
#else
#pragma GCC optimize("fp-contract=fast")
#endif

#if defined __AVX512F__
#define OW_VECTOR_BYTES 64
#elif defined __AVX2__
#define OW_VECTOR_BYTES 32
#else
#define OW_VECTOR_BYTES 16
#endif

#define LARGEST_POWER 8 /* of two, that is a good radix: 16 is no quicker */

#define JOIN_(name, suffix) name##_##suffix
#define JOIN(name, suffix) JOIN_(name, suffix)
#define SYMBOL(name) JOIN(JOIN(ow_fft, name), OW_LEVEL)

typedef float floats __attribute__((vector_size(OW_VECTOR_BYTES)));
typedef double doubles __attribute__((vector_size(OW_VECTOR_BYTES)));

/* ---- float ---------------------------------------------------------------------------------------------------- */

#define real float
#define vector floats
#define NAME(name) name##_f
#if OW_VECTOR_BYTES == 64
#define LANES 16
#elif OW_VECTOR_BYTES == 32
#define LANES 8
#else
#define LANES 4
#endif
#include "fft_loops.h"
#undef real
#undef vector
#undef NAME
#undef LANES

/* ---- double --------------------------------------------------------------------------------------------------- */

#define real double
#define vector doubles
#define NAME(name) name##_d
#if OW_VECTOR_BYTES == 64
#define LANES 8
#elif OW_VECTOR_BYTES == 32
#define LANES 4
#else
#define LANES 2
#endif
#include "fft_loops.h"

/* See fft_kernels.h. Contracted products and sums take a tenth to a quarter less time, and have smaller errors. */
#include "fft_kernels.h"

#include <string.h>

#include "kernel/contracted_vectors.h"

#define LARGEST_POWER 8 /* of two, that is a good radix: 16 is no quicker */

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

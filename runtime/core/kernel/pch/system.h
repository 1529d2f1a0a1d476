/* The system's headers that kernels include, read once for each level: the intrinsics alone are 50,000 lines. It is the
 * build's business only; every file still includes what it uses. */
#include <complex.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

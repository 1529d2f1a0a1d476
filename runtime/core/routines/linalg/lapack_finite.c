/* Matrices that hold infinities or NaN, which iterations of LAPACK must not be given. */
#include <math.h>

#include "lapack.h"

/* Bits of floating numbers. */
typedef uint32_t __attribute__((may_alias)) bits_32;
typedef uint64_t __attribute__((may_alias)) bits_64;

/* The largest of n numbers' bits without their signs: those of infinity exceed those of every number, those of NaN exceed
 * both. */
#define LARGEST(name, type)                                    \
    static type name(const type *x, int64_t n, type largest) { \
        for (int64_t i = 0; i < n; i++) {                      \
            type bits = x[i] & ((type)-1 >> 1);                \
            largest = bits > largest ? bits : largest;         \
        }                                                      \
        return largest;                                        \
    }
LARGEST(largest_32, bits_32)
LARGEST(largest_64, bits_64)

static uint64_t largest(const ow_lapack *l, const char *numbers, int64_t n, uint64_t before) {
    if (ow_lapack_is_complex(l)) n *= 2;
    if (l->letter & 1) return largest_64((const bits_64 *)numbers, n, before);
    return largest_32((const bits_32 *)numbers, n, (uint32_t)before);
}

ow_lapack_content ow_lapack_look(const ow_lapack *l, const void *matrix, int64_t rows, int64_t columns,
                                 ow_lapack_part part) {
    int64_t item = ow_itemsize(l->dtype);
    uint64_t infinity = l->letter & 1 ? UINT64_C(0x7ff) << 52 : UINT64_C(0xff) << 23, result = 0;
    if (part == OW_WHOLE) result = largest(l, matrix, rows * columns, 0);
    for (int64_t j = 0; j < columns && part != OW_WHOLE; j++) {
        int64_t first = part == OW_LOWER ? j : 0, last = part == OW_LOWER ? rows : j + 1;
        result = largest(l, (const char *)matrix + (j * rows + first) * item, last - first, result);
    }
    return result < infinity ? OW_FINITE : result == infinity ? OW_INFINITE : OW_NOT_A_NUMBER;
}

void ow_lapack_forget(const ow_lapack *l, const ow_tensor *result, int64_t k) {
    int64_t n = result->numel / l->batch * (ow_dtype_kinds[result->dtype] == OW_KIND_COMPLEX ? 2 : 1);
    void *numbers = ow_lapack_at(l, result, k);
    for (int64_t i = 0; i < n; i++) {
        if (l->letter & 1) ((double *)numbers)[i] = NAN;
        else ((float *)numbers)[i] = NAN;
    }
}

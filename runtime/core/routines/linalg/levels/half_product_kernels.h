/* Products of matrices of bfloat16 by the processor's instruction for sums of products of pairs. */
#ifndef OPWEAVE_HALF_PRODUCT_KERNELS_H
#define OPWEAVE_HALF_PRODUCT_KERNELS_H

#include <stdint.h>

/* Lines, rows of the first matrix and columns of the second one, are packed in panels of some lines, and in a panel in units of
 * two consecutive elements of a line. A unit of each line follows another, then the next units. */
typedef void ow_pack_halves(uint32_t *to, const uint16_t *from, int64_t line_stride, int64_t inner_stride, int64_t count,
                            int64_t inner);

typedef struct ow_half_product {
    int rows, columns; /* lines of a panel of the first and of the second matrix: a tile of the result */
    ow_pack_halves *pack_rows, *pack_columns; /* `count` lines, and zeros behind them */
    /* A tile of the result, in rows of `columns`: the product of two panels of `units` units. */
    void (*multiply)(float *tile, const uint32_t *a, const uint32_t *b, int64_t units);
} ow_half_product;

#endif

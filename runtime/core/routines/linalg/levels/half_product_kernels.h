/* Products of matrices of bfloat16 by the processor's instructions for sums of products of pairs, whose sums are float32. */
#ifndef OPWEAVE_HALF_PRODUCT_KERNELS_H
#define OPWEAVE_HALF_PRODUCT_KERNELS_H

#include "unit_kernel.h"

/* Where sums go: beta * addend + alpha * sum, as bfloat16 or as float32. Strides count elements. */
typedef struct ow_half_result {
    float alpha, beta;
    const uint16_t *addend; /* NULL: there is none */
    int64_t addend_row, addend_column;
    char *to;
    int is_wide; /* 1 for float32 */
    int64_t row_stride, column_stride;
} ow_half_result;

typedef struct ow_half_product {
    const ow_unit_kernel *kernel; /* NULL: the processor has no such instructions */
    ow_store_tile *store; /* to an ow_half_result */
    /* A panel of `inner` rows of float32, whose lower halves are zeros, in units, and zeros behind them up to `units`. */
    void (*pair)(uint32_t *to, const float *panel, int width, int64_t inner, int64_t units);
} ow_half_product;

#endif

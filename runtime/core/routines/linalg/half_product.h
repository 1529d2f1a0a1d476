/* Products of matrices of bfloat16 where the processor multiplies pairs of them. */
#ifndef OPWEAVE_HALF_PRODUCT_H
#define OPWEAVE_HALF_PRODUCT_H

#include "routines/linalg/blas.h"

/* 1 if matrices of a dtype are multiplied as they are, without conversion. */
int ow_half_product_suits(int dtype, const ow_matrix *a, const ow_matrix *b);
/* c = beta * c + alpha * (a @ b) for each of a batch, where c is float32; it is not read when beta is zero. */
void ow_half_product_run(float alpha, const ow_matrix *a, const ow_matrix *b, float beta, const ow_matrix *c,
                         int64_t batches);

#endif

/* Products of matrices of bfloat16 where the processor multiplies pairs of them. */
#ifndef OPWEAVE_HALF_PRODUCT_H
#define OPWEAVE_HALF_PRODUCT_H

#include "routines/linalg/blas.h"
#include "routines/linalg/levels/half_product_kernels.h"

/* The functions for pairs of bfloat16, where the processor has instructions for them. */
ow_half_product ow_half_product_now(void);
/* 1 if matrices of a dtype are multiplied as they are, without conversion. */
int ow_half_product_suits(int dtype, const ow_matrix *a, const ow_matrix *b);
/* c = beta * addend + alpha * (a @ b) for each of a batch, where c is bfloat16, or float32 if it is wide. It shares no memory
 * with `a` and `b`; the addend, which may be c, is a matrix of the size of c, or NULL. */
void ow_half_product_run(float alpha, const ow_matrix *a, const ow_matrix *b, float beta, const ow_matrix *addend,
                         const ow_matrix *c, int is_wide, int64_t batches);

#endif

/* Products of matrices in memory, below the level of tensors. */
#ifndef OPWEAVE_BLAS_H
#define OPWEAVE_BLAS_H

#include "tensor/tensor.h"

typedef struct ow_matrix {
    char *data;
    int64_t rows, columns;
    int64_t row_stride, column_stride; /* in elements */
    int64_t batch_stride;              /* to the next matrix of a batch */
} ow_matrix;

/* 1 if BLAS can read it in place, as it is or transposed. */
int ow_blas_layout(const ow_matrix *m);

/* c = beta * c + alpha * (a @ b) in one compute dtype, for each of a batch; c is not read when beta is zero. c shares no
 * memory with the others, and no size but the inner one is zero. For floating dtypes ow_blas_layout accepts all three; for
 * integers rows of b are contiguous. (gemm.c; one product by one thread in blas.c, and in blas_int.c for integers, which
 * wrap) */
void ow_gemm(int dtype, ow_scalar alpha, const ow_matrix *a, const ow_matrix *b, ow_scalar beta, const ow_matrix *c,
             int64_t batches);
void ow_blas_multiply(int dtype, ow_scalar alpha, const ow_matrix *a, const ow_matrix *b, ow_scalar beta,
                      const ow_matrix *c);
void ow_gemm_int(int dtype, int64_t alpha, const ow_matrix *a, const ow_matrix *b, int64_t beta, const ow_matrix *c);

/* Tells OpenBLAS how many threads of its own to use: one for products, as many as the library's for LAPACK. */
void ow_blas_set_num_threads(int n);

/* *result = sum of x * y over n elements; strides in elements, positive unless n is 1. */
void ow_dot(int dtype, int64_t n, const char *x, int64_t x_stride, const char *y, int64_t y_stride, char *result);

#endif

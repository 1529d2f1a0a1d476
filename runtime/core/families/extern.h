/* What routines of external operators share: the result, and the tensor that a library may write in its place. */
#ifndef OPWEAVE_EXTERN_H
#define OPWEAVE_EXTERN_H

#include "routines/linalg/blas.h"
#include "driver.h"
#include "ow_routines.h" /* generated */

/* inputs and params as the operator's descriptor counts them; `out` unless mode is OW_NEW. */
typedef ow_tensor *ow_extern_routine(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, ow_tensor *out,
                                     ow_mode mode);

#define OW_DECLARE_EXTERN(name) ow_extern_routine ow_extern_##name;
OW_EXTERN_ROUTINES(OW_DECLARE_EXTERN)
#undef OW_DECLARE_EXTERN

/* A product in progress: operands in the compute dtype and in layouts that BLAS reads, and where it writes. */
typedef struct ow_product {
    ow_tensor *result; /* what the call returns */
    ow_tensor *work;   /* what is written: the result, or a tensor that is copied to it */
    ow_tensor *a, *b;
    ow_tensor *inputs[2]; /* of which a and b may be copies */
    ow_tensor *addend;    /* what beta scales; NULL: nothing */
    ow_tensor *before;    /* `out` as it was, where it is read and takes another shape; else NULL */
    ow_mode mode;
    int compute;
    ow_scalar alpha, beta;
    void (*multiply)(struct ow_product *p); /* writes `work` */
} ow_product;

/* alpha and beta, from params[0] = beta and params[1] = alpha. 1, or 0 with the error set. */
int ow_product_params(ow_product *p, int dtype, ow_tensor *const *params);
/* The product of inputs[0] and inputs[1], of `ndim` sizes, by p->multiply. addend: NULL, or what beta scales. NULL with the
 * error set. */
ow_tensor *ow_product_run(ow_product *p, const ow_op *op, ow_tensor *const *inputs, ow_tensor *addend, int ndim,
                          const int64_t *sizes, ow_tensor *out, ow_mode mode);
/* Multiplies matrices. */
void ow_product_gemm(ow_product *p);

/* The last two dimensions of a tensor; the one before is that of a batch. A vector is a column. */
ow_matrix ow_matrix_of(const ow_tensor *t);

#endif

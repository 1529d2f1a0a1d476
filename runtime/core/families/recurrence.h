/* The steps of recurrent layers: a product with one matrix each, and an elementwise operator. */
#ifndef OPWEAVE_RECURRENCE_H
#define OPWEAVE_RECURRENCE_H

#include "tensor/tensor.h"

/* What is computed at each step t: the results of an operator without parameters, and to[t] = addend[t] + from[t] @ weight.
 * The first two dimensions of all tensors but the matrix are steps and rows. They may be views of one memory, of which a step
 * reads what another one wrote. */
typedef struct ow_recurrence {
    const ow_op *op;
    ow_tensor *const *tensors; /* the results of the operator, and its inputs */
    const ow_tensor *to, *addend, *from, *weight;
    int is_backwards;   /* from the last step to the first? */
    int operator_first; /* does the product read what the operator has made, or the other way round? */
} ow_recurrence;

/* 1 if it can be computed so: contiguous rows and matrix, of one dtype that there is a kernel for. */
int ow_recurrence_suits(const ow_recurrence *r);
/* Computes all steps. 1, or 0 with the error set. */
int ow_recurrence_run(const ow_recurrence *r);

#endif

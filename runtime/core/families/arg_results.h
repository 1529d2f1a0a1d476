/* Results of reductions, scans and row operators that are several, or positions. */
#ifndef OPWEAVE_POSITIONS_H
#define OPWEAVE_POSITIONS_H

#include "tensor/tensor.h"

/* Sets results[0] and, where the operator has two, results[1]; dims as ow_reduce takes them. 1, or 0 with the error set. */
#define OW_MULTI_FAMILIES (OW_FAMILY(REDUCE) | OW_FAMILY(SCAN) | OW_FAMILY(ROWS))
int ow_multi(const ow_op *op, ow_tensor *self, const int64_t *dims, int ndims, int all, int keepdim, int dtype,
               ow_tensor *const *params, ow_tensor **results);
/* The same for row operators, of all inputs: how many results there are, or 0 with the error set. (rows.c) */
int ow_rows(const ow_op *op, ow_tensor *const *inputs, const int64_t *dims, int ndims, int all, int keepdim, int dtype,
            ow_tensor *const *params, ow_tensor **results);

#endif

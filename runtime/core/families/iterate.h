/* Strided iteration over operands that share one broadcast shape. */
#ifndef OPWEAVE_ITERATE_H
#define OPWEAVE_ITERATE_H

#include "tensor/tensor.h"

#define OW_MAX_OPERANDS (OW_MAX_INPUTS + OW_MAX_OUTPUTS)

/* The first operands are written. Dimension 0 is the innermost after ow_iter_arrange. */
typedef struct ow_iter {
    int noperands, ndim;
    int written; /* so many first operands are results */
    int64_t numel;
    int64_t shape[OW_MAX_DIMS];
    int64_t strides[OW_MAX_OPERANDS][OW_MAX_DIMS]; /* bytes */
    char *data[OW_MAX_OPERANDS];
    int64_t itemsize[OW_MAX_OPERANDS]; /* of the dtype the loop works in */
    ow_cast cast[OW_MAX_OPERANDS];     /* between the operand's memory and the loop; NULL: the loop reads it in place */
    /* Where the loop stands in for one of a narrower dtype (float16), which an input takes after its cast and a result
     * before it: casts to that dtype, or NULL, for inputs back to that of the loop, and its size. */
    ow_cast narrow[OW_MAX_OPERANDS], widen[OW_MAX_OPERANDS];
    int64_t narrow_size[OW_MAX_OPERANDS];
    int rows; /* so many first operands must be rows without gaps, for a loop that takes nothing else */
} ow_iter;

/* Computes the broadcast of the shapes of `inputs` (NULL entries skipped); -1 with torch's error when impossible. */
int ow_broadcast_shape(ow_tensor *const *inputs, int n, int64_t *shape);

/* Order of dimensions, fastest first, that the operands' strides suggest (torch's rule: memory order of the first
 * operand that can tell). strides[k][d], in any unit; zero means broadcast and does not count. */
void ow_iter_order(int ndim, const int64_t *shape, int noperands, int64_t strides[][OW_MAX_DIMS], int *order);

/* The strides of a dense tensor in the memory order of `t`: its own if it is dense, else without the gaps. */
void ow_dense_strides(const ow_tensor *t, int64_t *strides);

/* Sets operand k from a tensor broadcast to iter->shape (torch's dimension order; call before ow_iter_arrange). */
void ow_iter_operand(ow_iter *iter, int k, const ow_tensor *t);

/* Reorders dimensions (fastest first), drops those of size one and merges those that are adjacent in memory. */
void ow_iter_arrange(ow_iter *iter);

/* Runs the loop over everything, in parallel when cost (units of a float32 add per element) makes it worth while, with
 * the interpreter's lock dropped when long. Returns OW_OK or the error kind a loop met. */
int ow_iter_run(const ow_iter *iter, ow_loop loop, const ow_scalar *params, double cost);

#endif

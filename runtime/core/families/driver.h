/* What the drivers of several families share: dimensions, results given by the caller, parameters. */
#ifndef OPWEAVE_DRIVER_H
#define OPWEAVE_DRIVER_H

#include "tensor/tensor.h"

#define OW_BLOCK 512 /* elements that pass through a stack buffer at a time: a row of casts stays in the level-1 cache */

/* ---- dimensions --------------------------------------------------------------------------------------- */

/* A dimension counted from the end becomes one counted from the start; tensors without dimensions have dimension 0 and
 * -1. 1, or 0 with the error set. */
int ow_wrap_dim(int64_t *dim, int64_t ndim);

/* Sets *reduced to the set of dimensions, bit d for dimension d; `all`: no dimensions mean every one. 1, or 0 with the
 * error set. (reduce.c) */
int ow_read_dims(const ow_tensor *self, const int64_t *dims, int ndims, int all, uint64_t *reduced);

/* One dimension of a loop over two tensors; strides in bytes. */
typedef struct ow_axis {
    int64_t size, in, out;
} ow_axis;

/* Sorts by the input's strides, fastest first (repeated elements, of stride 0, last), and merges axes that are adjacent
 * in both tensors. Returns the new number. */
int ow_axes_arrange(ow_axis *axes, int n);

/* Offset in the input of position `index` of the space that n axes span, the first being the fastest; *out, unless NULL,
 * is set to that in the output. */
static inline int64_t ow_axes_offset(const ow_axis *axes, int n, int64_t index, int64_t *out) {
    int64_t in = 0, to = 0;
    for (int d = 0; d < n && index; d++) {
        int64_t at = d == n - 1 ? index : index % axes[d].size;
        index /= axes[d].size;
        in += at * axes[d].in;
        to += at * axes[d].out;
    }
    if (out) *out = to;
    return in;
}

/* ---- devices ------------------------------------------------------------------------------------------ */

/* 1 of a number, and of a tensor of the CPU without dimensions: they go with tensors of any device. */
int ow_goes_with_any(const ow_tensor *t);
/* Sets *device to where the other tensors (NULL entries skipped) are. 1, or 0 with the error set where they are on several. */
int ow_common_device(ow_tensor *const *tensors, int n, ow_device *device);

/* ---- dtypes ------------------------------------------------------------------------------------------- */

/* What the operator says of a dtype that it does not take; NULL: nothing of its own. */
const char *ow_refusal(const ow_op *op, int dtype);
/* Sets the error that the operator does not take this dtype; `ending` is what torch adds to its name. Returns 0. */
int ow_refuse_dtype(const ow_op *op, const char *ending, int dtype);

/* ---- results given by the caller ---------------------------------------------------------------------- */

/* Checks of a tensor that is to be written. Each returns 1, or 0 with the error set. */
int ow_check_result_cast(const ow_tensor *out, int dtype); /* 1 if a result of `dtype` can be stored in it */
/* Writable, and each element in a place of its own; what passes counts as written to from here on. */
int ow_check_memory(const ow_tensor *out);
/* The same, and the inputs (NULL entries skipped) share no memory with it, save the very same elements. */
int ow_check_writable(const ow_tensor *out, ow_tensor *const *inputs, int n);
int ow_fail_overlap(void); /* sets the error of an input that shares memory with what is written; 0 */
/* 1 if it is unsafe to write `out` while the inputs are read. */
int ow_shares_memory(const ow_tensor *out, ow_tensor *const *inputs, int n);

/* `out=`: checks the cast from `dtype` and gives `out` the shape of the result. `out`, or NULL with the error set. */
ow_tensor *ow_prepare_out(const char *name, ow_tensor *out, int dtype, int ndim, const int64_t *sizes);
/* Gives the tensor of an `out=` this shape, with a warning where it had another one and elements. */
ow_tensor *ow_resize_out(ow_tensor *out, int ndim, const int64_t *sizes);

/* "output with shape ... doesn't match the broadcast shape ...". Returns NULL. */
void *ow_fail_shape_mismatch(const ow_tensor *out, int ndim, const int64_t *shape);

/* ---- transposition (copy.c) ---------------------------------------------------------------------------- */

/* Copies rows × columns elements between matrices of which the one written has its rows, the one read its columns dense;
 * strides in bytes. */
void ow_transpose(char *to, int64_t to_row, const char *from, int64_t from_column, int64_t rows, int64_t columns,
                  int64_t itemsize);

/* ---- products ------------------------------------------------------------------------------------------- */

/* The product of `@`; NULL where it takes expanding or copying first, or with the error set. (matmul.c) */
ow_tensor *ow_matmul(const ow_tensor *self, const ow_tensor *other);
/* The operator that `@` of these operands is; OW_PRODUCTS where it is none by itself. */
typedef enum ow_matmul_kind { OW_DOT, OW_MV, OW_MM, OW_BMM, OW_PRODUCTS } ow_matmul_kind;
ow_matmul_kind ow_matmul_kind_of(const ow_tensor *self, const ow_tensor *other);
extern const ow_op *const ow_matmul_ops[OW_PRODUCTS];

/* ---- parameters --------------------------------------------------------------------------------------- */

/* The value of a number tensor in the form that kernels of `dtype` read, refused as torch does when it lies outside
 * the dtype's range. 1, or 0 with the error set. */
int ow_load_param(const ow_tensor *param, int dtype, ow_scalar *value);
/* As in torch, what all elements are set to need not be in the range of a half format where there is one of them. */
int ow_stores_any_number(int dtype, int64_t numel);
/* The same of an operator's parameter k, of which no value is refused where it is declared as a float. */
int ow_load_op_param(const ow_op *op, int k, const ow_tensor *param, int dtype, ow_scalar *value);
/* 1 if the numbers that an operator converts to a half format of its tensors are in the range of `dtype`, where it is one. */
int ow_check_in_range(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, int dtype);

#endif

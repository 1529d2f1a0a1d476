/* The routines behind `indexing` bodies. Each is ow_indexing_NAME and takes its operator's arguments by kind. */
#ifndef OPWEAVE_INDEXING_H
#define OPWEAVE_INDEXING_H

#include "index_get.h"
#include "ow_routines.h" /* generated */

typedef struct ow_indexing_call {
    const ow_op *op;
    ow_tensor *const *inputs; /* tensors, in schema order; where the operator allows it, one stands for a number */
    ow_tensor *param;         /* the Scalar argument; NULL: its default */
    const int64_t *ints;      /* int and bool arguments; of a word its place in op->words, OW_NONE: none was given */
    ow_tensor *out;           /* unless mode is OW_NEW */
    ow_mode mode;
} ow_indexing_call;

typedef ow_tensor *ow_indexing_routine(const ow_indexing_call *call);

#define OW_DECLARE_INDEXING(name) ow_indexing_routine ow_indexing_##name;
OW_INDEXINGS(OW_DECLARE_INDEXING)

/* ---- results (indexing.c) ----------------------------------------------------------------------------- */

/* A contiguous result of the given shape: new, or `out`, which must not share memory with an input. An `out` of other
 * strides is replaced by a temporary one until ow_result_end. NULL with the error set. */
ow_tensor *ow_result_begin(const ow_indexing_call *call, int dtype, int ndim, const int64_t *sizes);
/* What the operator returns; on failure NULL, and the result is freed. */
ow_tensor *ow_result_end(const ow_indexing_call *call, ow_tensor *result, int done);

/* For operators that change some elements of self: returns a copy of self (contiguous, or in its memory order), `out`
 * with its values, or self itself. Inputs from the second on must not share memory with what is written. NULL with the
 * error set. */
ow_tensor *ow_update_begin(const ow_indexing_call *call, int contiguous);
ow_tensor *ow_update_end(const ow_indexing_call *call, ow_tensor *target, int done);

/* ---- writing (index_write.c) -------------------------------------------------------------------------- */

/* How values come to their places in a tensor. */
typedef struct ow_writing {
    const ow_op *op;
    int64_t word;     /* which reduction of the operator combines them with what is there; OW_NONE: they replace it */
    int include_self; /* 1 if the elements of self take part */
    /* Fills in the space for writing `values` to `target`, which are other tensors than the call's where the reduction
     * computes in another dtype. */
    void (*space)(const struct ow_writing *w, const ow_tensor *target, const ow_tensor *values, ow_index_space *space);
    const ow_tensor *index;
    int64_t dim;
} ow_writing;

/* The part of `space` that does not depend on how the index is laid out, and its only lookup. */
ow_lookup *ow_space_begin(const ow_writing *w, const ow_tensor *target, const ow_tensor *values, int ndim,
                          ow_index_space *space);
/* The same for indices into dimension w->dim, strides of the target and of the values included. */
ow_lookup *ow_space_begin_dim(const ow_writing *w, const ow_tensor *target, const ow_tensor *values, int ndim,
                              ow_index_space *space);

/* `values` has the dtype of the target; indices have been checked. 1, or 0 with the error set. */
int ow_write(const ow_writing *w, ow_tensor *target, ow_tensor *values);

/* One element, by which a space reads any number of them: a view of `shape` with strides of zero. */
ow_tensor *ow_spread(ow_tensor *single, int ndim, const int64_t *shape);

/* A number or a tensor without dimensions in the dtype of self, refused as torch does when it lies outside; the
 * caller's to free. NULL with the error set. */
ow_tensor *ow_fill_value(const ow_tensor *value, int dtype);

/* Size and stride of a dimension, where a tensor without dimensions counts as having one. */
static inline int64_t ow_size_of(const ow_tensor *t, int64_t d) { return t->ndim ? t->sizes[d] : 1; }
static inline int64_t ow_stride_of(const ow_tensor *t, int64_t d) { return t->ndim ? t->strides[d] : 1; }
static inline int ow_ndim_of(const ow_tensor *t) { return t->ndim ? t->ndim : 1; }

#endif

/* The routines behind `indexing` bodies. Each is ow_indexing_NAME and takes its operator's arguments by kind. */
#ifndef OPWEAVE_INDEXING_H
#define OPWEAVE_INDEXING_H

#include "families/core_call.h"
#include "index_get.h"

/* The routines end as functions that are given the whole call do: what they check and make is there before the plan, whose
 * run on the CPU reads indices and elements. */
typedef ow_core_routine ow_indexing_routine;

#define OW_DECLARE_INDEXING(name) ow_indexing_routine ow_indexing_##name;
OW_INDEXINGS(OW_DECLARE_INDEXING)

/* Calls the routine that the operator names. How many results there are, or 0 with the error set. */
int ow_indexing(ow_call *call);

/* ---- results (indexing.c) ----------------------------------------------------------------------------- */

/* Inputs from the `first` on must not share memory with what is written. 1, or 0 with the error set, like all of these. */
int ow_check_apart(const ow_call *call, const ow_tensor *target, int first);
/* Makes the result, of this shape: a new one that is contiguous, or `out`, which must not share memory with an input. */
int ow_make_result(ow_call *call, int dtype, int ndim, const int64_t *sizes);
/* For operators that change some elements of self: makes a tensor like it (contiguous, or in its memory order), or prepares
 * `out` or self itself. Inputs from the second on must not share memory with what is written. */
int ow_make_updated(ow_call *call, int contiguous);
/* The same of self broadcast to a shape, unless it is updated in place; new tensors are contiguous. */
int ow_make_updated_as(ow_call *call, int ndim, const int64_t *sizes);
/* Is self for filling in place? Its elements may be one in memory: it is expanded. */
int ow_check_filled(const ow_tensor *self);

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

/* 1 if the reduction combines elements of the dtype, or 0 with the error set. */
int ow_check_write(const ow_writing *w, int dtype);
/* `values` has the dtype of the target; indices have been checked. 1, or 0 with the error set. */
int ow_write(const ow_writing *w, ow_tensor *target, ow_tensor *values);

/* One element, by which a space reads any number of them: a view of `shape` with strides of zero. */
ow_tensor *ow_spread(ow_tensor *single, int ndim, const int64_t *shape);

/* A number or a tensor without dimensions as kernels of the dtype read it, refused as torch does when it lies outside; what is
 * not readable has any value. 1, or 0 with the error set. */
int ow_load_fill(const ow_tensor *value, int dtype, ow_scalar *number);
/* The same in a tensor of the dtype, the caller's to free. NULL with the error set. */
ow_tensor *ow_fill_value(const ow_scalar *number, int dtype);

/* Size and stride of a dimension, where a tensor without dimensions counts as having one. */
static inline int64_t ow_size_of(const ow_tensor *t, int64_t d) { return t->ndim ? t->sizes[d] : 1; }
static inline int64_t ow_stride_of(const ow_tensor *t, int64_t d) { return t->ndim ? t->strides[d] : 1; }
static inline int ow_ndim_of(const ow_tensor *t) { return t->ndim ? t->ndim : 1; }

#endif

/* Writing to places of a tensor: plainly, or combining with what is there by the kernels of a reduction.
 *
 * Half formats combine in float32, in a copy that is rounded once. A mean is a sum and a count. */
#include "indexing.h"

ow_mover ow_mover_combine(const ow_op *reduction, int dtype) {
    const ow_reduce_table *table = reduction->tables[ow_level];
    return table->by[dtype].scatter;
}

ow_lookup *ow_space_begin(const ow_writing *w, const ow_tensor *target, const ow_tensor *values, int ndim,
                          ow_index_space *space) {
    ow_lookup *lookup = &space->lookups[0];
    space->ndim = ndim;
    space->nlookups = 1;
    space->itemsize = ow_itemsize(target->dtype);
    space->run = 1;
    space->repeats = 0;
    space->base = target->data;
    space->other = values->data;
    lookup->index = w->index;
    lookup->data = w->index->data;
    lookup->dim = (int)w->dim;
    lookup->wraps = 0;
    return lookup;
}

ow_lookup *ow_space_begin_dim(const ow_writing *w, const ow_tensor *target, const ow_tensor *values, int ndim,
                              ow_index_space *space) {
    ow_lookup *lookup = ow_space_begin(w, target, values, ndim, space);
    for (int d = 0; d < ndim; d++) {
        space->base_stride[d] = d == w->dim ? 0 : ow_stride_of(target, d) * space->itemsize;
        space->other_stride[d] = ow_stride_of(values, d) * space->itemsize;
    }
    lookup->size = ow_size_of(target, w->dim);
    lookup->scale = ow_stride_of(target, w->dim) * space->itemsize;
    return lookup;
}

ow_tensor *ow_spread(ow_tensor *single, int ndim, const int64_t *shape) {
    const int64_t strides[OW_MAX_DIMS] = {0};
    return ow_tensor_view(single->storage, single->data, single->dtype, ndim, shape, strides);
}

/* What a reduction starts from: that of no elements. */
static ow_tensor *identity_of(const ow_op *reduction, int dtype) {
    const ow_reduce_table *table = reduction->tables[ow_level];
    ow_tensor *value = ow_tensor_new(dtype, 0, NULL, NULL);
    if (value) table->by[dtype].leaf(value->data, value->data, 0, 0);
    return value;
}

static int run(const ow_writing *w, ow_tensor *target, const ow_tensor *values, ow_mover combine) {
    ow_index_space space;
    if (!values) return 0;
    w->space(w, target, values, &space);
    return ow_space_write(&space, combine);
}

/* The same element at all places. */
static int run_single(const ow_writing *w, ow_tensor *target, const ow_tensor *values, ow_tensor *single,
                      ow_mover combine) {
    ow_tensor *repeated = single ? ow_spread(single, values->ndim, values->sizes) : NULL;
    int done = run(w, target, repeated, combine);
    ow_tensor_free(repeated);
    ow_tensor_free(single);
    return done;
}

/* A new tensor like `t`, in its memory order, of one value. */
static ow_tensor *filled_like(ow_tensor *t, int64_t value) {
    ow_tensor *result = ow_clone(t, t->dtype, 0), *number = ow_tensor_number_i(value);
    int done = result && number && ow_copy(result, number);
    ow_tensor_free(number);
    if (done) return result;
    ow_tensor_free(result);
    return NULL;
}

/* Divides each element by the number of values that it is the sum of; integers round down. */
static int divide_by_count(const ow_writing *w, ow_tensor *sums, const ow_tensor *values, ow_mover add) {
    ow_tensor *one = ow_tensor_number_i(1), *counts = filled_like(sums, w->include_self);
    ow_tensor *single = one ? ow_clone(one, sums->dtype, 0) : NULL;
    int done = counts && run_single(w, counts, values, single, add);
    int floating = ow_dtype_kinds[sums->dtype] >= OW_KIND_FLOATING;
    /* No element is divided by zero: nothing was added to it. */
    ow_tensor *whether[OW_MAX_INPUTS] = {counts, NULL, NULL}, *operands[OW_MAX_INPUTS] = {sums, counts, NULL};
    ow_tensor *none = done ? ow_elementwise(&ow_op_logical_not, whether, NULL, NULL, OW_NEW) : NULL;
    whether[1] = none;
    done = none && ow_elementwise(&ow_op_add, whether, NULL, counts, OW_INPLACE) &&
           ow_elementwise(floating ? &ow_op_div : &ow_op_floor_divide, operands, NULL, sums, OW_INPLACE);
    ow_tensor_free(none);
    ow_tensor_free(counts);
    ow_tensor_free(one);
    return done;
}

/* In the dtype of the computation. */
static int combine(const ow_writing *w, const ow_op *reduction, ow_tensor *target, ow_tensor *values) {
    ow_mover mover = ow_mover_combine(reduction, target->dtype);
    if (!w->include_self && !run_single(w, target, values, identity_of(reduction, target->dtype), NULL)) return 0;
    if (!run(w, target, values, mover)) return 0;
    int averages = w->op->words[w->word] && strcmp(w->op->words[w->word], "mean") == 0;
    return !averages || divide_by_count(w, target, values, mover);
}

int ow_check_write(const ow_writing *w, int dtype) {
    if (w->word == OW_NONE || ow_mover_combine(w->op->reductions[w->word], ow_compute_dtype[dtype])) return 1;
    ow_fail(OW_NOT_IMPLEMENTED, "\"%s\" not implemented for '%s'", w->op->name, ow_dtype_scalar_names[dtype]);
    return 0;
}

int ow_write(const ow_writing *w, ow_tensor *target, ow_tensor *values) {
    if (w->word == OW_NONE) return run(w, target, values, NULL);
    const ow_op *reduction = w->op->reductions[w->word];
    int compute = ow_compute_dtype[target->dtype], done = 0;
    if (compute == target->dtype) return combine(w, reduction, target, values);
    ow_tensor *wide = ow_clone(target, compute, 0), *operand = ow_clone(values, compute, 0);
    if (wide && operand) done = combine(w, reduction, wide, operand) && ow_copy(target, wide);
    ow_tensor_free(wide);
    ow_tensor_free(operand);
    return done;
}

/* Operators with a vector of indices into one dimension: index_select, index_copy, index_fill, index_add, index_reduce. */
#include "indexing.h"
#include "tensor/storage.h"

/* Position i of dimension `dim` of the values belongs to position index[i] of the target. */
static void vector_space(const ow_writing *w, const ow_tensor *target, const ow_tensor *values, ow_index_space *space) {
    ow_lookup *lookup = ow_space_begin_dim(w, target, values, ow_ndim_of(target), space);
    for (int d = 0; d < space->ndim; d++) {
        int indexed = d == w->dim;
        space->shape[d] = indexed ? w->index->numel : ow_size_of(target, d);
        lookup->stride[d] = indexed ? ow_stride_of(w->index, 0) * ow_itemsize(w->index->dtype) : 0;
    }
}

static int is_index(const ow_tensor *index, int accepts_int32) {
    return index->dtype == OW_INT64 || (accepts_int32 && index->dtype == OW_INT32);
}

/* What a call knows besides its plan. */
typedef struct {
    ow_writing w;
    ow_scalar number; /* a value in the dtype of self, or what scales values */
    int scales;
} vector_call;

/* 1 if an index is out of range, which `bad` is set to. Without elements nothing is read, and nothing checked. */
static int find_bad(const ow_writing *w, const ow_tensor *target, const ow_tensor *values, int wraps, int64_t *bad) {
    ow_index_space space;
    vector_space(w, target, values, &space);
    space.lookups[0].wraps = wraps;
    return ow_space_find_bad(&space, bad) != NULL;
}

/* ---- index_select ------------------------------------------------------------------------------------- */

static int select_indices(const ow_plan *plan) {
    ow_index_space space;
    vector_space(plan->details, plan->inputs[0], plan->results[0], &space);
    ow_space_arrange(&space);
    return ow_space_get(&space, plan->call->mode != OW_NEW) || ow_fail(OW_INDEX_ERROR, "index out of range in self");
}

int ow_indexing_index_select(ow_call *c) {
    const ow_tensor *self = c->inputs[0], *index = c->inputs[1];
    int64_t sizes[OW_MAX_DIMS], dim = c->ints[0];
    if (!ow_wrap_dim(&dim, self->ndim)) return 0;
    if (index->ndim > 1) return ow_fail(OW_INDEX_ERROR, "index_select(): Index is supposed to be a vector") != NULL;
    if (!is_index(index, 1))
        return ow_fail(OW_RUNTIME_ERROR, "index_select(): Expected dtype int32 or int64 for index") != NULL;
    if (!self->ndim && index->numel != 1)
        return ow_fail(OW_RUNTIME_ERROR, "index_select(): Index to scalar can have only 1 value, got %lld value(s)",
                       (long long)index->numel) != NULL;
    for (int d = 0; d < self->ndim; d++) sizes[d] = d == dim ? index->numel : self->sizes[d];
    ow_writing w = {.op = c->op, .index = index, .dim = dim};
    return ow_make_result(c, self->dtype, self->ndim, sizes) ? ow_execute_call(c, 1, select_indices, &w) : 0;
}

/* ---- index_copy --------------------------------------------------------------------------------------- */

static int check_copied(const ow_tensor *self, const ow_tensor *index, const ow_tensor *source, int64_t dim) {
    if (index->ndim > 1) {
        ow_fail(OW_INDEX_ERROR, "index_copy_(): Index should have dimension 1 or 0 (got %d)", index->ndim);
    } else if (source->ndim == 0 && index->numel != 1) {
        ow_fail(OW_INDEX_ERROR, "index_copy_(): When source is scalar, index should have one element (got %lld)",
                (long long)index->numel);
    } else if (source->ndim != self->ndim && source->ndim && self->ndim) {
        ow_fail(OW_INDEX_ERROR,
                "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
                "dimensionality (%d), destination dimensionality (%d)",
                source->ndim, self->ndim);
    } else if (!is_index(index, 0)) {
        ow_fail(OW_RUNTIME_ERROR, "index_copy_(): Expected a long tensor for index, but got %s",
                ow_dtype_scalar_names[index->dtype]);
    } else if (self->dtype != source->dtype) {
        ow_fail(OW_RUNTIME_ERROR,
                "index_copy_(): self and source expected to have the same dtype, but got (self) %s and (source) %s",
                ow_dtype_scalar_names[self->dtype], ow_dtype_scalar_names[source->dtype]);
    } else if (source->ndim && self->ndim) {
        for (int d = 0, other = 0; d < self->ndim; d++) {
            if (d == dim) continue;
            if (self->sizes[d] != source->sizes[d]) {
                ow_fail(OW_RUNTIME_ERROR,
                        "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
                        "%lld at dimension %lld and source slice shape: %lld at dimension 0.",
                        (long long)self->sizes[d], (long long)dim, (long long)source->sizes[d]);
                return 0;
            }
            other++;
        }
    }
    if (!ow_error_pending() && source->ndim && index->numel != source->sizes[self->ndim ? dim : 0])
        ow_fail(OW_INDEX_ERROR, "index_copy_(): Number of indices (%lld) should be equal to source.size(dim) (%lld)",
                (long long)index->numel, (long long)source->sizes[self->ndim ? dim : 0]);
    return !ow_error_pending();
}

static int copy_indexed(const ow_plan *plan) {
    const ow_writing *w = plan->details;
    ow_tensor *self = plan->inputs[0], *source = plan->inputs[2], *target = plan->results[0];
    int64_t bad;
    if (find_bad(w, self, source, 0, &bad))
        return ow_fail(OW_INDEX_ERROR, "index_copy_(): index %lld is out of bounds for dimension %lld with size %lld",
                       (long long)bad, (long long)w->dim, (long long)ow_size_of(self, w->dim)) != NULL;
    return ow_copy_checked(target, self) && ow_write(w, target, source);
}

int ow_indexing_index_copy(ow_call *c) {
    int64_t dim = c->ints[0];
    if (!ow_wrap_dim(&dim, c->inputs[0]->ndim) || !check_copied(c->inputs[0], c->inputs[1], c->inputs[2], dim)) return 0;
    ow_writing w = {.op = c->op, .word = OW_NONE, .space = vector_space, .index = c->inputs[1], .dim = dim};
    return ow_make_updated(c, 1) ? ow_execute_call(c, 1, copy_indexed, &w) : 0;
}

/* ---- index_fill --------------------------------------------------------------------------------------- */

static void fill_space(const ow_writing *w, const ow_tensor *target, const ow_tensor *values, ow_index_space *space) {
    vector_space(w, target, values, space);
    space->lookups[0].wraps = 1;
}

static int fill_indexed(const ow_plan *plan) {
    const vector_call *v = plan->details;
    ow_tensor *self = plan->inputs[0], *target = plan->results[0], *indices[OW_MAX_DIMS] = {NULL};
    int64_t dim = v->w.dim, sizes[OW_MAX_DIMS], bad;
    for (int d = 0; d < ow_ndim_of(self); d++) sizes[d] = d == dim ? v->w.index->numel : ow_size_of(self, d);
    ow_tensor *single = ow_fill_value(&v->number, self->dtype);
    ow_tensor *values = single ? ow_spread(single, ow_ndim_of(self), sizes) : NULL;
    int done = 0;
    if (values && find_bad(&v->w, self, values, 1, &bad)) {
        ow_fail(OW_INDEX_ERROR, "index %lld is out of bounds for dimension %lld with size %lld", (long long)bad,
                (long long)dim, (long long)ow_size_of(self, dim));
    } else if (values && target == self && ow_internal_overlap(self)) {
        indices[dim] = plan->inputs[1]; /* one value may come to the same place several times */
        done = ow_index_put(self, indices, (int)dim + 1, single, 0);
    } else if (values) {
        done = ow_copy_checked(target, self) && ow_write(&v->w, target, values);
    }
    ow_tensor_free(values);
    ow_tensor_free(single);
    return done;
}

int ow_indexing_index_fill(ow_call *c) {
    ow_tensor *self = c->inputs[0];
    const ow_tensor *index = c->inputs[1], *value = c->inputs[2];
    int64_t dim = c->ints[0];
    if (value->ndim)
        return ow_fail(OW_RUNTIME_ERROR,
                       "index_fill_ only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).",
                       value->ndim) != NULL;
    if (!is_index(index, 0)) return ow_fail(OW_INDEX_ERROR, "index_fill_(): Expected dtype int64 for index.") != NULL;
    if (!ow_wrap_dim(&dim, self->ndim)) return 0;
    if (index->ndim > 1) return ow_fail(OW_INDEX_ERROR, "index_fill_(): Index has to be a vector/scalar") != NULL;
    vector_call v = {.w = {.op = c->op, .word = OW_NONE, .space = fill_space, .index = index, .dim = dim}};
    if (!ow_load_fill(value, self->dtype, &v.number)) return 0;
    int is_made = c->mode == OW_INPLACE ? ow_check_filled(self) && ow_check_apart(c, self, 1) : ow_make_updated(c, 0);
    return is_made ? ow_execute_call(c, 1, fill_indexed, &v) : 0;
}

/* ---- index_add, index_reduce -------------------------------------------------------------------------- */

static int check_combined(const char *name, const ow_tensor *self, const ow_tensor *index, const ow_tensor *source,
                          int64_t dim) {
    char have[200], want[200];
    int64_t along = ow_size_of(source, source->ndim > dim ? dim : 0);
    int same = source->ndim == self->ndim;
    for (int d = 0; same && d < self->ndim; d++) same = d == dim || self->sizes[d] == source->sizes[d];
    if (!is_index(index, 1))
        ow_fail(OW_RUNTIME_ERROR, "%s_(): Expected dtype int32/int64 for index but got: %s", name,
                ow_dtype_scalar_names[index->dtype]);
    else if (index->ndim > 1)
        ow_fail(OW_INDEX_ERROR, "%s_(): Index is supposed to be a vector, but got dim: %d with type: %s and size: %s", name,
                index->ndim, ow_dtype_scalar_names[index->dtype],
                ow_list_text(have, sizeof have, index->ndim, index->sizes));
    else if (self->dtype != source->dtype)
        ow_fail(OW_RUNTIME_ERROR, "%s_(): self (%s) and source (%s) must have the same scalar type", name,
                ow_dtype_scalar_names[self->dtype], ow_dtype_scalar_names[source->dtype]);
    else if (index->numel != along)
        ow_fail(OW_RUNTIME_ERROR, "%s_(): Number of indices (%lld) should be equal to source.size(dim): (%lld), for dim: %lld",
                name, (long long)index->numel, (long long)along, (long long)dim);
    else if (!same)
        ow_fail(OW_RUNTIME_ERROR,
                "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = %s "
                "source.shape = %s",
                ow_list_text(have, sizeof have, self->ndim, self->sizes),
                ow_list_text(want, sizeof want, source->ndim, source->sizes));
    return !ow_error_pending();
}

/* source * alpha; the source itself for the default. */
static ow_tensor *scaled(ow_tensor *source, const vector_call *v) {
    if (!v->scales) return source;
    ow_tensor *factor = ow_fill_value(&v->number, source->dtype);
    ow_tensor *operands[OW_MAX_INPUTS] = {source, factor, NULL};
    ow_tensor *result = factor ? ow_elementwise(&ow_op_mul, operands, NULL, NULL, OW_NEW) : NULL;
    ow_tensor_free(factor);
    return result;
}

static int combine_indexed(const ow_plan *plan) {
    const vector_call *v = plan->details;
    ow_tensor *self = plan->inputs[0], *source = plan->inputs[2], *target = plan->results[0];
    int64_t dim = v->w.dim, bad;
    if (find_bad(&v->w, self, source, 0, &bad)) {
        if (plan->op->words[0]) return ow_fail(OW_INDEX_ERROR, "index out of range in self") != NULL;
        return ow_fail(OW_RUNTIME_ERROR, "index %lld is out of bounds for dimension %lld with size %lld", (long long)bad,
                       (long long)dim, (long long)ow_size_of(self, dim)) != NULL;
    }
    ow_tensor *values = scaled(source, v);
    int done = values && ow_copy_checked(target, self) && ow_write(&v->w, target, values);
    if (values != source) ow_tensor_free(values);
    return done;
}

static int combine(ow_call *c, int64_t word, int include_self) {
    const ow_tensor *self = c->inputs[0];
    int64_t dim = c->ints[0];
    if (!ow_wrap_dim(&dim, self->ndim)) return 0;
    if (!check_combined(c->op->name, self, c->inputs[1], c->inputs[2], dim)) return 0;
    vector_call v = {.w = {c->op, word, include_self, vector_space, c->inputs[1], dim}, .scales = c->params[0] != NULL};
    if (v.scales && !ow_load_fill(c->params[0], self->dtype, &v.number)) return 0;
    return ow_check_write(&v.w, self->dtype) && ow_make_updated(c, 1) ? ow_execute_call(c, 1, combine_indexed, &v) : 0;
}

int ow_indexing_index_add(ow_call *c) { return combine(c, 0, 1); }

int ow_indexing_index_reduce(ow_call *c) { return combine(c, c->ints[1], (int)c->ints[2]); }

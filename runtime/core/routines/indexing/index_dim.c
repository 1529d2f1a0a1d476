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

/* 1 if an index is out of range, which `bad` is set to. Without elements nothing is read, and nothing checked. */
static int find_bad(const ow_writing *w, const ow_tensor *target, const ow_tensor *values, int wraps, int64_t *bad) {
    ow_index_space space;
    vector_space(w, target, values, &space);
    space.lookups[0].wraps = wraps;
    return ow_space_find_bad(&space, bad) != NULL;
}

/* ---- index_select ------------------------------------------------------------------------------------- */

ow_tensor *ow_indexing_index_select(const ow_indexing_call *call) {
    ow_tensor *self = call->inputs[0];
    const ow_tensor *index = call->inputs[1];
    int64_t sizes[OW_MAX_DIMS], dim = call->ints[0];
    if (!ow_wrap_dim(&dim, self->ndim)) return NULL;
    if (index->ndim > 1) return ow_fail(OW_INDEX_ERROR, "index_select(): Index is supposed to be a vector");
    if (!is_index(index, 1)) return ow_fail(OW_RUNTIME_ERROR, "index_select(): Expected dtype int32 or int64 for index");
    if (!self->ndim && index->numel != 1)
        return ow_fail(OW_RUNTIME_ERROR, "index_select(): Index to scalar can have only 1 value, got %lld value(s)",
                       (long long)index->numel);
    for (int d = 0; d < self->ndim; d++) sizes[d] = d == dim ? index->numel : self->sizes[d];
    ow_tensor *result = ow_result_begin(call, self->dtype, self->ndim, sizes);
    if (!result) return NULL;
    ow_writing w = {.op = call->op, .index = index, .dim = dim};
    ow_index_space space;
    vector_space(&w, self, result, &space);
    ow_space_arrange(&space);
    int inside = ow_space_get(&space, result == call->out);
    if (!inside) ow_fail(OW_INDEX_ERROR, "index out of range in self");
    return ow_result_end(call, result, inside);
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

ow_tensor *ow_indexing_index_copy(const ow_indexing_call *call) {
    ow_tensor *self = call->inputs[0], *source = call->inputs[2];
    int64_t dim = call->ints[0], bad;
    if (!ow_wrap_dim(&dim, self->ndim) || !check_copied(self, call->inputs[1], source, dim)) return NULL;
    ow_writing w = {.op = call->op, .word = OW_NONE, .space = vector_space, .index = call->inputs[1], .dim = dim};
    if (find_bad(&w, self, source, 0, &bad))
        return ow_fail(OW_INDEX_ERROR, "index_copy_(): index %lld is out of bounds for dimension %lld with size %lld",
                       (long long)bad, (long long)dim, (long long)ow_size_of(self, dim));
    ow_tensor *target = ow_update_begin(call, 1);
    return ow_update_end(call, target, target && ow_write(&w, target, source));
}

/* ---- index_fill --------------------------------------------------------------------------------------- */

static void fill_space(const ow_writing *w, const ow_tensor *target, const ow_tensor *values, ow_index_space *space) {
    vector_space(w, target, values, space);
    space->lookups[0].wraps = 1;
}

ow_tensor *ow_indexing_index_fill(const ow_indexing_call *call) {
    ow_tensor *self = call->inputs[0];
    const ow_tensor *index = call->inputs[1], *value = call->inputs[2];
    int64_t dim = call->ints[0], sizes[OW_MAX_DIMS], bad;
    if (value->ndim)
        return ow_fail(OW_RUNTIME_ERROR,
                       "index_fill_ only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).",
                       value->ndim);
    if (!is_index(index, 0)) return ow_fail(OW_INDEX_ERROR, "index_fill_(): Expected dtype int64 for index.");
    if (!ow_wrap_dim(&dim, self->ndim)) return NULL;
    if (index->ndim > 1) return ow_fail(OW_INDEX_ERROR, "index_fill_(): Index has to be a vector/scalar");
    for (int d = 0; d < ow_ndim_of(self); d++) sizes[d] = d == dim ? index->numel : ow_size_of(self, d);
    ow_writing w = {.op = call->op, .word = OW_NONE, .space = fill_space, .index = index, .dim = dim};
    ow_tensor *single = ow_fill_value(value, self->dtype);
    ow_tensor *values = single ? ow_spread(single, ow_ndim_of(self), sizes) : NULL, *target = NULL;
    int done = 0;
    if (values && find_bad(&w, self, values, 1, &bad)) {
        ow_fail(OW_INDEX_ERROR, "index %lld is out of bounds for dimension %lld with size %lld", (long long)bad,
                (long long)dim, (long long)ow_size_of(self, dim));
    } else if (values && call->mode == OW_INPLACE && ow_internal_overlap(self)) {
        ow_tensor *indices[OW_MAX_DIMS] = {NULL}; /* one value may come to the same place several times */
        indices[dim] = call->inputs[1];
        done = ow_index_put(target = self, indices, (int)dim + 1, single, 0);
    } else if (values && (target = ow_update_begin(call, 0))) {
        done = ow_write(&w, target, values);
    }
    ow_tensor_free(values);
    ow_tensor_free(single);
    return ow_update_end(call, target, done);
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
static ow_tensor *scaled(ow_tensor *source, const ow_tensor *alpha) {
    if (!alpha) return source;
    ow_tensor *factor = ow_fill_value(alpha, source->dtype);
    ow_tensor *operands[OW_MAX_INPUTS] = {source, factor, NULL};
    ow_tensor *result = factor ? ow_elementwise(&ow_op_mul, operands, NULL, NULL, OW_NEW) : NULL;
    ow_tensor_free(factor);
    return result;
}

static ow_tensor *combine(const ow_indexing_call *call, int64_t word, int include_self) {
    ow_tensor *self = call->inputs[0], *source = call->inputs[2];
    int64_t dim = call->ints[0], bad;
    if (!ow_wrap_dim(&dim, self->ndim)) return NULL;
    if (!check_combined(call->op->name, self, call->inputs[1], source, dim)) return NULL;
    ow_writing w = {call->op, word, include_self, vector_space, call->inputs[1], dim};
    if (find_bad(&w, self, source, 0, &bad)) {
        if (call->op->words[0]) return ow_fail(OW_INDEX_ERROR, "index out of range in self");
        return ow_fail(OW_RUNTIME_ERROR, "index %lld is out of bounds for dimension %lld with size %lld", (long long)bad,
                       (long long)dim, (long long)ow_size_of(self, dim));
    }
    ow_tensor *values = scaled(source, call->param), *target = values ? ow_update_begin(call, 1) : NULL;
    int done = target && ow_write(&w, target, values);
    if (values != source) ow_tensor_free(values);
    return ow_update_end(call, target, done);
}

ow_tensor *ow_indexing_index_add(const ow_indexing_call *call) { return combine(call, 0, 1); }

ow_tensor *ow_indexing_index_reduce(const ow_indexing_call *call) {
    return combine(call, call->ints[1], (int)call->ints[2]);
}

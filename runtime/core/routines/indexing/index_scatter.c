/* Operators whose index has an entry for every element that moves: gather and the kinds of scatter. */
#include "indexing.h"
#include "tensor/storage.h"

/* Position p of the index belongs to the same position of the values, and of the target to the one that has index[p] in
 * place of its coordinate along `dim`. */
static void scatter_space(const ow_writing *w, const ow_tensor *target, const ow_tensor *values, ow_index_space *space) {
    ow_lookup *lookup = ow_space_begin_dim(w, target, values, ow_ndim_of(w->index), space);
    for (int d = 0; d < space->ndim; d++) {
        space->shape[d] = ow_size_of(w->index, d);
        lookup->stride[d] = ow_stride_of(w->index, d) * ow_itemsize(w->index->dtype);
    }
}

static void *fail_outside(const ow_index_space *space) {
    int64_t value;
    const ow_lookup *bad = ow_space_find_bad(space, &value);
    if (!bad) return NULL;
    return ow_fail(OW_RUNTIME_ERROR, "index %lld is out of bounds for dimension %d with size %lld", (long long)value,
                   bad->dim, (long long)bad->size);
}

static int check_index(const char *name, const ow_tensor *index) {
    if (index->dtype == OW_INT64 || index->dtype == OW_INT32 || !index->numel) return 1;
    ow_fail(OW_RUNTIME_ERROR, "%s(): Expected dtype int32/int64 for index", name);
    return 0;
}

/* 1 if a is no larger than b along every dimension but `except`. */
static int is_within(const ow_tensor *a, const ow_tensor *b, int64_t except) {
    for (int d = 0; d < ow_ndim_of(a); d++)
        if (d != except && ow_size_of(a, d) > ow_size_of(b, d)) return 0;
    return 1;
}

/* ---- gather ------------------------------------------------------------------------------------------- */

static int check_gather(const ow_tensor *self, const ow_tensor *index, int64_t dim) {
    if (!check_index("gather", index)) return 0;
    if (!index->numel) return 1;
    if (ow_ndim_of(index) != ow_ndim_of(self)) {
        ow_fail(OW_RUNTIME_ERROR, "Index tensor must have the same number of dimensions as input tensor");
        return 0;
    }
    for (int d = 0; d < ow_ndim_of(self); d++) {
        if (d == dim || ow_size_of(index, d) <= ow_size_of(self, d)) continue;
        char have[200], want[200];
        ow_fail(OW_RUNTIME_ERROR,
                "Size does not match at dimension %d expected index %s to be no larger than self %s apart from dimension "
                "%lld",
                d, ow_list_text(have, sizeof have, index->ndim, index->sizes),
                ow_list_text(want, sizeof want, self->ndim, self->sizes), (long long)dim);
        return 0;
    }
    return 1;
}

ow_tensor *ow_indexing_gather(const ow_indexing_call *call) {
    const ow_tensor *self = call->inputs[0], *index = call->inputs[1];
    int64_t dim = call->ints[0];
    if (!ow_wrap_dim(&dim, self->ndim) || !check_gather(self, index, dim)) return NULL;
    ow_tensor *result = ow_result_begin(call, self->dtype, index->ndim, index->sizes);
    if (!result || !index->numel) return ow_result_end(call, result, 1);
    ow_writing w = {.op = call->op, .index = index, .dim = dim};
    ow_index_space space;
    scatter_space(&w, self, result, &space);
    ow_space_arrange(&space);
    int inside = ow_space_get(&space, result == call->out);
    if (!inside) fail_outside(&space);
    return ow_result_end(call, result, inside);
}

/* ---- scatter ------------------------------------------------------------------------------------------ */

static int check_scatter(const ow_tensor *self, const ow_tensor *index, const ow_tensor *src, int64_t dim) {
    char a[150], b[150], c[150];
    if (!check_index("scatter", index)) return 0;
    if (src && src->dtype != self->dtype) {
        ow_fail(OW_RUNTIME_ERROR, "scatter(): Expected self.dtype to be equal to src.dtype");
        return 0;
    }
    if (!index->numel) return 1;
    if (ow_ndim_of(index) != ow_ndim_of(self)) {
        ow_fail(OW_RUNTIME_ERROR, "Index tensor must have the same number of dimensions as self tensor");
        return 0;
    }
    if (src && ow_ndim_of(index) != ow_ndim_of(src)) {
        ow_fail(OW_RUNTIME_ERROR, "Index tensor must have the same number of dimensions as src tensor");
        return 0;
    }
    if (is_within(index, self, dim) && (!src || is_within(index, src, -1))) return 1;
    ow_list_text(a, sizeof a, index->ndim, index->sizes);
    ow_list_text(b, sizeof b, self->ndim, self->sizes);
    if (!src) {
        ow_fail(OW_RUNTIME_ERROR, "Expected index %s to be no larger than self %s apart from dimension %lld", a, b,
                (long long)dim);
        return 0;
    }
    ow_fail(OW_RUNTIME_ERROR,
            "Expected index %s to be no larger than self %s apart from dimension %lld and to be no larger size than src %s",
            a, b, (long long)dim, ow_list_text(c, sizeof c, src->ndim, src->sizes));
    return 0;
}

/* `src` may be a number, which every position then takes. */
static ow_tensor *scatter(const ow_indexing_call *call, int64_t word, int include_self) {
    const ow_tensor *self = call->inputs[0], *index = call->inputs[1];
    ow_tensor *src = call->inputs[2], *single = NULL, *repeated = NULL;
    int64_t dim = call->ints[0];
    int is_number = (src->flags & OW_NUMBER) != 0, done = 0;
    if (!ow_wrap_dim(&dim, self->ndim) || !check_scatter(self, index, is_number ? NULL : src, dim)) return NULL;
    if (is_number) {
        if (!(single = ow_fill_value(src, self->dtype))) return NULL;
        src = repeated = ow_spread(single, index->ndim, index->sizes);
    }
    ow_writing w = {call->op, word, include_self, scatter_space, index, dim};
    ow_tensor *target = NULL;
    if (src && index->numel) {
        ow_index_space space;
        scatter_space(&w, self, src, &space);
        fail_outside(&space);
    }
    if (src && !ow_error_pending() && (target = ow_update_begin(call, 1)))
        done = !index->numel || ow_write(&w, target, src);
    ow_tensor_free(repeated);
    ow_tensor_free(single);
    return ow_update_end(call, target, done);
}

ow_tensor *ow_indexing_scatter(const ow_indexing_call *call) { return scatter(call, call->ints[1], 1); }

ow_tensor *ow_indexing_scatter_add(const ow_indexing_call *call) { return scatter(call, 0, 1); }

ow_tensor *ow_indexing_scatter_reduce(const ow_indexing_call *call) {
    return scatter(call, call->ints[1], (int)call->ints[2]);
}

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

static int check_inside(const ow_index_space *space) {
    int64_t value;
    const ow_lookup *bad = ow_space_find_bad(space, &value);
    if (!bad) return 1;
    ow_fail(OW_RUNTIME_ERROR, "index %lld is out of bounds for dimension %d with size %lld", (long long)value, bad->dim,
            (long long)bad->size);
    return 0;
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

static int gather(const ow_plan *plan) {
    ow_index_space space;
    if (!plan->results[0]->numel) return 1;
    scatter_space(plan->details, plan->inputs[0], plan->results[0], &space);
    ow_space_arrange(&space);
    return ow_space_get(&space, plan->call->mode != OW_NEW) || (check_inside(&space) && ow_fail_overwritten());
}

int ow_indexing_gather(ow_call *c) {
    const ow_tensor *self = c->inputs[0], *index = c->inputs[1];
    int64_t dim = c->ints[0];
    if (!ow_wrap_dim(&dim, self->ndim) || !check_gather(self, index, dim)) return 0;
    ow_writing w = {.op = c->op, .index = index, .dim = dim};
    return ow_make_result(c, self->dtype, index->ndim, index->sizes) ? ow_execute_call(c, 1, gather, &w) : 0;
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

/* What a call knows besides its plan. */
typedef struct {
    ow_writing w;
    int is_number; /* which every position takes */
    ow_scalar number;
} scattering;

static int write_scattered(const ow_plan *plan) {
    const scattering *s = plan->details;
    const ow_tensor *index = s->w.index;
    ow_tensor *self = plan->inputs[0], *target = plan->results[0], *src = plan->inputs[2], *single = NULL;
    ow_index_space space;
    if (!index->numel) return ow_copy_checked(target, self);
    if (s->is_number) {
        single = ow_fill_value(&s->number, self->dtype);
        src = single ? ow_spread(single, index->ndim, index->sizes) : NULL;
    }
    int done = src != NULL;
    if (done) {
        scatter_space(&s->w, self, src, &space);
        done = check_inside(&space) && ow_copy_checked(target, self) && ow_write(&s->w, target, src);
    }
    if (s->is_number) ow_tensor_free(src);
    ow_tensor_free(single);
    return done;
}

static int scatter(ow_call *c, int64_t word, int include_self) {
    const ow_tensor *self = c->inputs[0], *index = c->inputs[1], *src = c->inputs[2];
    int64_t dim = c->ints[0];
    scattering s = {.is_number = (src->flags & OW_NUMBER) != 0};
    if (!ow_wrap_dim(&dim, self->ndim) || !check_scatter(self, index, s.is_number ? NULL : src, dim)) return 0;
    if (s.is_number && !ow_load_fill(src, self->dtype, &s.number)) return 0;
    s.w = (ow_writing){c->op, word, include_self, scatter_space, index, dim};
    if (index->numel && !ow_check_write(&s.w, self->dtype)) return 0;
    return ow_make_updated(c, 1) ? ow_execute_call(c, 1, write_scattered, &s) : 0;
}

int ow_indexing_scatter(ow_call *c) { return scatter(c, c->ints[1], 1); }

int ow_indexing_scatter_add(ow_call *c) { return scatter(c, 0, 1); }

int ow_indexing_scatter_reduce(ow_call *c) { return scatter(c, c->ints[1], (int)c->ints[2]); }

/* Operators that count elements through all dimensions, whatever their layout: take and put. */
#include "indexing.h"

/* All are contiguous. */
static void flat_space(const ow_writing *w, const ow_tensor *target, const ow_tensor *values, ow_index_space *space) {
    ow_lookup *lookup = ow_space_begin(w, target, values, 1, space);
    space->shape[0] = w->index->numel;
    space->base_stride[0] = 0;
    space->other_stride[0] = space->itemsize;
    lookup->stride[0] = ow_itemsize(w->index->dtype);
    lookup->wraps = 1;
    lookup->size = target->numel;
    lookup->scale = space->itemsize;
}

static ow_tensor *contiguous(ow_tensor *t) { return t->flags & OW_CONTIGUOUS ? t : ow_clone(t, t->dtype, 1); }

static void release(ow_tensor *t, const ow_tensor *original) {
    if (t != original) ow_tensor_free(t);
}

static int check_inside(const ow_index_space *space) {
    int64_t value;
    if (!ow_space_find_bad(space, &value)) return 1;
    ow_fail(OW_INDEX_ERROR, "out of range: tried to access index %lld on a tensor of %lld elements.", (long long)value,
            (long long)space->lookups[0].size);
    return 0;
}

static int is_long(const char *name, const ow_tensor *index) {
    if (index->dtype == OW_INT64) return 1;
    ow_fail(OW_RUNTIME_ERROR, "%s(): Expected a long tensor for index, but got %s", name,
            ow_dtype_scalar_names[index->dtype]);
    return 0;
}

static int take(const ow_plan *plan) {
    ow_tensor *given = plan->inputs[0], *by = plan->inputs[1], *result = plan->results[0], *work = result;
    ow_tensor *self = contiguous(given), *index = contiguous(by);
    if (!(result->flags & OW_CONTIGUOUS)) work = ow_tensor_new(result->dtype, result->ndim, result->sizes, NULL);
    int done = self && index && work;
    if (done) {
        ow_writing w = {.op = plan->op, .index = index};
        ow_index_space space;
        flat_space(&w, self, work, &space);
        ow_space_arrange(&space);
        done = ow_space_get(&space, plan->call->mode != OW_NEW) || (check_inside(&space) && ow_fail_overwritten());
    }
    done = done && (work == result || ow_copy_checked(result, work));
    release(work, result);
    release(self, given);
    release(index, by);
    return done;
}

int ow_indexing_take(ow_call *c) {
    const ow_tensor *self = c->inputs[0], *index = c->inputs[1];
    if (!is_long("take", index)) return 0;
    if (!self->numel && index->numel) return ow_fail(OW_INDEX_ERROR, "take(): tried to take from an empty tensor") != NULL;
    return ow_make_result(c, self->dtype, index->ndim, index->sizes) ? ow_execute_call(c, 1, take, NULL) : 0;
}

static int put(const ow_plan *plan) {
    ow_tensor *self = plan->inputs[0], *by = plan->inputs[1], *given = plan->inputs[2], *target = plan->results[0];
    ow_tensor *index = contiguous(by), *source = contiguous(given), *work = NULL;
    ow_writing w = *(const ow_writing *)plan->details;
    w.index = index;
    int done = index && source;
    if (done) {
        ow_index_space space;
        flat_space(&w, self, source, &space);
        done = check_inside(&space) && ow_copy_checked(target, self) && (work = contiguous(target)) &&
               ow_write(&w, work, source) && ow_copy_checked(target, work);
    }
    if (work) release(work, target);
    release(index, by);
    release(source, given);
    return done;
}

int ow_indexing_put(ow_call *c) {
    const ow_tensor *self = c->inputs[0], *index = c->inputs[1], *source = c->inputs[2];
    if (!is_long("put_", index)) return 0;
    if (source->dtype != self->dtype)
        return ow_fail(OW_RUNTIME_ERROR,
                       "put_(): self and source expected to have the same dtype, but got self.dtype = %s and source.dtype = %s",
                       ow_dtype_scalar_names[self->dtype], ow_dtype_scalar_names[source->dtype]) != NULL;
    if (source->numel != index->numel)
        return ow_fail(OW_INDEX_ERROR,
                       "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
                       "%lld, index.numel() = %lld",
                       (long long)source->numel, (long long)index->numel) != NULL;
    if (!self->numel && index->numel)
        return ow_fail(OW_INDEX_ERROR, "put_(): Tried to put elements into an empty tensor") != NULL;
    ow_writing w = {c->op, c->ints[0] ? 0 : OW_NONE, 1, flat_space, NULL, 0};
    return ow_check_write(&w, self->dtype) && ow_make_updated(c, 0) ? ow_execute_call(c, 1, put, &w) : 0;
}

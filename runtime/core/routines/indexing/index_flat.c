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

static void fail_outside(const ow_index_space *space) {
    int64_t value;
    if (ow_space_find_bad(space, &value))
        ow_fail(OW_INDEX_ERROR, "out of range: tried to access index %lld on a tensor of %lld elements.", (long long)value,
                (long long)space->lookups[0].size);
}

static int is_long(const char *name, const ow_tensor *index) {
    if (index->dtype == OW_INT64) return 1;
    ow_fail(OW_RUNTIME_ERROR, "%s(): Expected a long tensor for index, but got %s", name,
            ow_dtype_scalar_names[index->dtype]);
    return 0;
}

ow_tensor *ow_indexing_take(const ow_indexing_call *call) {
    ow_tensor *given = call->inputs[0], *by = call->inputs[1];
    if (!is_long("take", by)) return NULL;
    if (!given->numel && by->numel) return ow_fail(OW_INDEX_ERROR, "take(): tried to take from an empty tensor");
    ow_tensor *result = ow_result_begin(call, given->dtype, by->ndim, by->sizes);
    if (!result) return NULL;
    ow_tensor *self = contiguous(given), *index = contiguous(by);
    int done = self && index;
    if (done) {
        ow_writing w = {.op = call->op, .index = index};
        ow_index_space space;
        flat_space(&w, self, result, &space);
        ow_space_arrange(&space);
        done = ow_space_get(&space, result == call->out);
        if (!done) fail_outside(&space);
    }
    release(self, given);
    release(index, by);
    return ow_result_end(call, result, done);
}

ow_tensor *ow_indexing_put(const ow_indexing_call *call) {
    ow_tensor *self = call->inputs[0], *by = call->inputs[1], *given = call->inputs[2], *target = NULL;
    if (!is_long("put_", by)) return NULL;
    if (given->dtype != self->dtype)
        return ow_fail(OW_RUNTIME_ERROR,
                       "put_(): self and source expected to have the same dtype, but got self.dtype = %s and source.dtype = %s",
                       ow_dtype_scalar_names[self->dtype], ow_dtype_scalar_names[given->dtype]);
    if (given->numel != by->numel)
        return ow_fail(OW_INDEX_ERROR,
                       "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
                       "%lld, index.numel() = %lld",
                       (long long)given->numel, (long long)by->numel);
    if (!self->numel && by->numel) return ow_fail(OW_INDEX_ERROR, "put_(): Tried to put elements into an empty tensor");
    ow_tensor *index = contiguous(by), *source = contiguous(given), *work = NULL;
    int done = 0;
    if (index && source) {
        ow_writing w = {call->op, call->ints[0] ? 0 : OW_NONE, 1, flat_space, index, 0};
        ow_index_space space;
        flat_space(&w, self, source, &space);
        fail_outside(&space);
        if (!ow_error_pending() && (target = ow_update_begin(call, 0)) && (work = contiguous(target)))
            done = ow_write(&w, work, source) && (work == target || ow_copy(target, work));
    }
    if (work) release(work, target);
    release(index, by);
    release(source, given);
    return ow_update_end(call, target, done);
}

/* Operators with a mask: masked_select, masked_scatter; and argwhere, which lists the places of one. */
#include "indexing.h"
#include "families/iterate.h"

/* A view of `t` broadcast to a shape; of a tensor without dimensions as a vector. */
static ow_tensor *expanded(ow_tensor *t, int ndim, const int64_t *shape) {
    int64_t strides[OW_MAX_DIMS], one = 1;
    for (int d = 0; d < ndim; d++) {
        int own = d - (ndim - t->ndim);
        strides[d] = own < 0 || t->sizes[own] != shape[d] ? 0 : t->strides[own];
    }
    return ndim ? ow_tensor_view(t->storage, t->data, t->dtype, ndim, shape, strides)
                : ow_tensor_view(t->storage, t->data, t->dtype, 1, &one, &one);
}

ow_tensor *ow_indexing_masked_select(const ow_indexing_call *call) {
    int64_t shape[OW_MAX_DIMS];
    ow_tensor *both[] = {call->inputs[1], call->inputs[0]}, *result = NULL;
    if (both[0]->dtype != OW_BOOL) return ow_fail(OW_RUNTIME_ERROR, "masked_select: expected BoolTensor for mask");
    if (call->out && call->out->dtype != both[1]->dtype)
        return ow_fail(OW_RUNTIME_ERROR, "masked_select(): self and result must have the same scalar type");
    int ndim = ow_broadcast_shape(both, 2, shape);
    if (ndim < 0) return NULL;
    ow_tensor *self = expanded(both[1], ndim, shape), *mask = expanded(both[0], ndim, shape);
    if (self && mask) result = ow_index_get(self, &mask, 1);
    ow_tensor_free(self);
    ow_tensor_free(mask);
    return ow_result_end(call, result, result != NULL);
}

/* The first elements of `source`, as many as the mask has true ones. */
static ow_tensor *leading(ow_tensor *source, ow_tensor *mask) {
    int64_t one = 1;
    if (ow_infers()) return ow_tensor_alias(source);
    ow_tensor *positions = ow_nonzero(mask), *flat = ow_clone(source, source->dtype, 1), *result = NULL;
    if (positions && flat) {
        if (positions->sizes[0] > source->numel)
            ow_fail(OW_RUNTIME_ERROR, "Number of elements of source < number of ones in mask");
        else result = ow_tensor_view(flat->storage, flat->data, flat->dtype, 1, positions->sizes, &one);
    }
    ow_tensor_free(positions);
    ow_tensor_free(flat);
    return result;
}

ow_tensor *ow_indexing_masked_scatter(const ow_indexing_call *call) {
    int64_t shape[OW_MAX_DIMS];
    ow_tensor *self = call->inputs[0], *source = call->inputs[2], *both[] = {self, call->inputs[1]};
    if (source->dtype != self->dtype)
        return ow_fail(OW_RUNTIME_ERROR, "masked_scatter: expected self and source to have same dtypes but got%s and %s",
                       ow_dtype_scalar_names[self->dtype], ow_dtype_scalar_names[source->dtype]);
    if (both[1]->dtype != OW_BOOL)
        return ow_fail(OW_RUNTIME_ERROR, "masked_scatter_ only supports boolean masks, but got mask with dtype %s",
                       ow_dtype_scalar_names[both[1]->dtype]);
    int ndim = ow_broadcast_shape(both, 2, shape);
    if (ndim < 0) return NULL;
    if (call->mode == OW_INPLACE && !ow_has_shape(self, ndim, shape))
        return ow_fail_shape_mismatch(self, ndim, shape);
    /* The mask may make self larger: what is updated is self broadcast. */
    ow_tensor *wide = call->mode == OW_INPLACE ? self : expanded(self, ndim, shape);
    ow_tensor *mask = expanded(both[1], ndim, shape), *values = mask ? leading(source, mask) : NULL, *target = NULL;
    ow_tensor *inputs[OW_MAX_INPUTS] = {wide, call->inputs[1], source};
    ow_indexing_call update = *call;
    update.inputs = inputs;
    int done = 0;
    if (wide && values && (target = ow_update_begin(&update, 1))) {
        ow_tensor *vector = expanded(target, target->ndim, target->sizes);
        done = vector && ow_index_put(vector, &mask, 1, values, 0);
        ow_tensor_free(vector);
    }
    ow_tensor_free(mask);
    ow_tensor_free(values);
    if (!ndim && done && call->mode == OW_NEW) {
        ow_tensor *scalar = ow_tensor_view(target->storage, target->data, target->dtype, 0, NULL, NULL);
        ow_tensor_free(target);
        target = scalar;
    }
    if (wide != self) ow_tensor_free(wide);
    return ow_update_end(call, target, done);
}

ow_tensor *ow_indexing_argwhere(const ow_indexing_call *call) {
    ow_tensor *positions = ow_nonzero(call->inputs[0]);
    if (call->out && positions && call->out->dtype != OW_INT64) {
        ow_tensor_free(positions);
        return ow_fail(OW_RUNTIME_ERROR, "nonzero: Expected out tensor to have scalar type Long but got scalar type %s",
                       ow_dtype_scalar_names[call->out->dtype]);
    }
    return ow_result_end(call, positions, positions != NULL);
}

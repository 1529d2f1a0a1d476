/* Operators with a mask: masked_select, masked_scatter; and argwhere, which lists the places of one. */
#include "index_selection.h"
#include "indexing.h"
#include "families/iterate.h"
#include "routines/copying/copying.h"

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

static int get(const ow_plan *plan) { return ow_selection_get(plan->details, plan->results[0]); }

int ow_indexing_masked_select(ow_call *c) {
    int64_t shape[OW_MAX_DIMS];
    ow_tensor *both[] = {c->inputs[1], c->inputs[0]};
    ow_selection s;
    int made = 0;
    if (both[0]->dtype != OW_BOOL) return ow_fail(OW_RUNTIME_ERROR, "masked_select: expected BoolTensor for mask") != NULL;
    if (c->out && c->out->dtype != both[1]->dtype)
        return ow_fail(OW_RUNTIME_ERROR, "masked_select(): self and result must have the same scalar type") != NULL;
    int ndim = ow_broadcast_shape(both, 2, shape);
    if (ndim < 0) return 0;
    ow_tensor *self = expanded(both[1], ndim, shape), *mask = expanded(both[0], ndim, shape);
    if (self && mask && ow_selection_begin(&s, self, &mask, 1)) {
        if (ow_make_result(c, self->dtype, s.ndim, s.shape)) made = ow_execute_call(c, 1, get, &s);
        ow_selection_end(&s);
    }
    ow_tensor_free(self);
    ow_tensor_free(mask);
    return made;
}

/* The first elements of `source`, as many as the mask has true ones. */
static ow_tensor *leading(ow_tensor *source, ow_tensor *mask) {
    int64_t one = 1;
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

static int scatter(const ow_plan *plan) {
    ow_tensor *target = plan->results[0], *self = plan->details;
    if (!ow_copy_checked(target, self)) return 0;
    ow_tensor *mask = expanded(plan->inputs[1], target->ndim, target->sizes);
    ow_tensor *vector = expanded(target, target->ndim, target->sizes);
    ow_tensor *values = mask ? leading(plan->inputs[2], mask) : NULL;
    int done = vector && values && ow_index_put(vector, &mask, 1, values, 0);
    ow_tensor_free(mask);
    ow_tensor_free(vector);
    ow_tensor_free(values);
    return done;
}

int ow_indexing_masked_scatter(ow_call *c) {
    int64_t shape[OW_MAX_DIMS];
    ow_tensor *self = c->inputs[0], *source = c->inputs[2], *both[] = {self, c->inputs[1]};
    if (source->dtype != self->dtype)
        return ow_fail(OW_RUNTIME_ERROR, "masked_scatter: expected self and source to have same dtypes but got%s and %s",
                       ow_dtype_scalar_names[self->dtype], ow_dtype_scalar_names[source->dtype]) != NULL;
    if (both[1]->dtype != OW_BOOL)
        return ow_fail(OW_RUNTIME_ERROR, "masked_scatter_ only supports boolean masks, but got mask with dtype %s",
                       ow_dtype_scalar_names[both[1]->dtype]) != NULL;
    int ndim = ow_broadcast_shape(both, 2, shape);
    if (ndim < 0) return 0;
    if (c->mode == OW_INPLACE && !ow_has_shape(self, ndim, shape)) return ow_fail_shape_mismatch(self, ndim, shape) != NULL;
    /* What self was before `out`, which may be the same tensor, takes the shape of the result. */
    ow_tensor *before = c->out == self && c->mode == OW_OUT ? ow_tensor_alias(self) : self;
    int made = before && ow_make_updated_as(c, ndim, shape) ? ow_execute_call(c, 1, scatter, before) : 0;
    if (before != self) ow_tensor_free(before);
    return made;
}

/* The shape of the result follows from the elements. */
int ow_indexing_argwhere(ow_call *c) {
    if (c->out && c->out->dtype != OW_INT64)
        return ow_fail(OW_RUNTIME_ERROR, "nonzero: Expected out tensor to have scalar type Long but got scalar type %s",
                       ow_dtype_scalar_names[c->out->dtype]) != NULL;
    ow_tensor *positions = ow_nonzero(c->inputs[0]);
    if (!positions || c->mode == OW_NEW) return (c->results[0] = positions) != NULL;
    int made = ow_make_result(c, OW_INT64, 2, positions->sizes) ? ow_execute_copy(c, c->out, positions) : 0;
    ow_tensor_free(positions);
    return made;
}

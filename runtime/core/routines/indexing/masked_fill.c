/* masked_fill: a choice between one value and self, in the dtype of self. */
#include "indexing.h"
#include "families/iterate.h"

int ow_masked_fill(ow_tensor *self, ow_tensor *mask, ow_tensor *value) {
    ow_tensor *operands[OW_MAX_INPUTS] = {mask, value, self};
    self->storage->version--; /* where counts it once more */
    return ow_elementwise(&ow_op_where, operands, NULL, self, OW_OUT) != NULL;
}

/* In place of an expanded tensor several elements are one in memory, which is filled where the mask is true for any. */
static int fill_expanded(ow_tensor *self, const ow_tensor *mask, ow_tensor *value) {
    int64_t strides[OW_MAX_DIMS];
    int lead = self->ndim - mask->ndim;
    for (int d = 0; d < self->ndim; d++) strides[d] = d < lead || mask->sizes[d - lead] == 1 ? 0 : mask->strides[d - lead];
    ow_tensor *wide = ow_tensor_view(mask->storage, mask->data, OW_BOOL, self->ndim, self->sizes, strides);
    int filled = wide && ow_index_put(self, &wide, 1, value, 0);
    ow_tensor_free(wide);
    return filled;
}

static int check(const ow_call *c, const ow_tensor *mask, const ow_tensor *value) {
    if (mask->dtype != OW_BOOL)
        ow_fail(OW_RUNTIME_ERROR, "masked_fill_ only supports boolean masks, but got mask with dtype %s",
                ow_type_names[mask->dtype]);
    else if (value->ndim)
        ow_fail(OW_RUNTIME_ERROR,
                "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).", value->ndim);
    else if (c->mode == OW_INPLACE && ow_check_filled(c->out) &&
             ow_memory_overlap(c->out, mask) > !ow_internal_overlap(c->out)) /* it may be the mask itself */
        ow_fail_overlap();
    return !ow_error_pending();
}

/* `out` keeps its shape where it is read as well. */
static int prepare_out(ow_call *c, int ndim, const int64_t *shape) {
    for (int k = 0; k < 2; k++)
        if (c->inputs[k] == c->out && !ow_has_shape(c->out, ndim, shape)) return ow_fail_shape_mismatch(c->out, ndim, shape) != NULL;
    return ow_prepare_out(c->op->name, c->out, c->inputs[0]->dtype, ndim, shape) && ow_check_writable(c->out, c->inputs, 2);
}

static int compute(const ow_plan *plan) {
    ow_tensor *self = plan->inputs[0], *mask = plan->inputs[1], *result = plan->results[0];
    ow_tensor *value = ow_fill_value(plan->details, self->dtype), *operands[OW_MAX_INPUTS] = {mask, value, self};
    int done = 0;
    if (value && plan->call->mode == OW_INPLACE)
        done = ow_internal_overlap(self) ? fill_expanded(self, mask, value) : ow_masked_fill(self, mask, value);
    else if (value) done = ow_elementwise(&ow_op_where, operands, NULL, result, OW_OUT) != NULL;
    ow_tensor_free(value);
    return done;
}

int ow_indexing_masked_fill(ow_call *c) {
    ow_tensor *self = c->inputs[0], *mask = c->inputs[1], *both[] = {mask, self};
    int64_t shape[OW_MAX_DIMS];
    ow_scalar value;
    if (!check(c, mask, c->inputs[2])) return 0;
    int ndim = ow_broadcast_shape(both, 2, shape);
    if (ndim < 0) return 0;
    if (c->mode == OW_INPLACE && !ow_has_shape(self, ndim, shape)) return ow_fail_shape_mismatch(self, ndim, shape) != NULL;
    if (!ow_load_fill(c->inputs[2], self->dtype, &value)) return 0;
    if (c->mode == OW_NEW) c->results[0] = ow_tensor_new(self->dtype, ndim, shape, NULL);
    if (c->mode == OW_OUT && !prepare_out(c, ndim, shape)) return 0;
    return ow_execute_call(c, 1, compute, &value);
}

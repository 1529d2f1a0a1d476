/* masked_fill: a choice between one value and self, in the dtype of self. */
#include "indexing.h"
#include "families/iterate.h"

int ow_masked_fill(ow_tensor *self, ow_tensor *mask, ow_tensor *value) {
    ow_tensor *operands[OW_MAX_INPUTS] = {mask, value, self};
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

static int check(const ow_indexing_call *call, const ow_tensor *mask, const ow_tensor *value) {
    if (mask->dtype != OW_BOOL)
        ow_fail(OW_RUNTIME_ERROR, "masked_fill_ only supports boolean masks, but got mask with dtype %s",
                ow_type_names[mask->dtype]);
    else if (value->ndim)
        ow_fail(OW_RUNTIME_ERROR,
                "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).", value->ndim);
    else if (call->mode == OW_INPLACE && (ow_internal_overlap(call->out) || ow_check_memory(call->out)) &&
             ow_memory_overlap(call->out, mask))
        ow_fail(OW_RUNTIME_ERROR,
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                "memory location. Please clone() the tensor before performing the operation.");
    return !ow_error_pending();
}

ow_tensor *ow_indexing_masked_fill(const ow_indexing_call *call) {
    ow_tensor *self = call->inputs[0], *mask = call->inputs[1], *both[] = {mask, self}, *result = NULL;
    int64_t shape[OW_MAX_DIMS];
    if (!check(call, mask, call->inputs[2])) return NULL;
    int ndim = ow_broadcast_shape(both, 2, shape);
    if (ndim < 0) return NULL;
    if (call->mode == OW_INPLACE && !ow_has_shape(self, ndim, shape))
        return ow_fail_shape_mismatch(self, ndim, shape);
    ow_tensor *value = ow_fill_value(call->inputs[2], self->dtype);
    if (!value) return NULL;
    if (call->mode == OW_INPLACE) {
        int filled = ow_internal_overlap(self) ? fill_expanded(self, mask, value) : ow_masked_fill(self, mask, value);
        result = filled ? self : NULL;
    } else {
        ow_tensor *operands[OW_MAX_INPUTS] = {mask, value, self};
        ow_tensor *target = call->mode == OW_NEW ? ow_tensor_new(self->dtype, ndim, shape, NULL) : call->out;
        result = target ? ow_elementwise(&ow_op_where, operands, NULL, target, OW_OUT) : NULL;
        if (!result && call->mode == OW_NEW) ow_tensor_free(target);
    }
    ow_tensor_free(value);
    return result;
}

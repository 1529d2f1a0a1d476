/* `x[i, j]` with tensors as indices. */
#include "index_selection.h"
#include "families/iterate.h"
#include "tensor/storage.h"

ow_tensor *ow_selection_result(const ow_selection *s) {
    if (!ow_selection_check_sizes(s)) return NULL;
    int64_t strides[1 + OW_MAX_DIMS][OW_MAX_DIMS], result[OW_MAX_DIMS], step = 1, numel;
    if (!ow_numel(s->ndim, s->shape, &numel)) return NULL;
    int order[OW_MAX_DIMS], contiguous = (s->self->flags & OW_CONTIGUOUS) != 0;
    for (int k = 0; k < s->count; k++) contiguous &= (s->index[k]->flags & OW_CONTIGUOUS) != 0;
    if (contiguous) return ow_tensor_new(s->self->dtype, s->ndim, s->shape, NULL);
    for (int d = 0; d < s->ndim; d++) strides[0][d] = s->source[d] < 0 ? 0 : s->self->strides[s->source[d]];
    for (int k = 0; k < s->count; k++) ow_place_strides(s->index[k], s->at, s->lead, s->ndim, strides[k + 1]);
    ow_iter_order(s->ndim, s->shape, 1 + s->count, strides, order);
    for (int i = 0; i < s->ndim; i++) {
        result[order[i]] = step;
        step *= s->shape[order[i]] > 0 ? s->shape[order[i]] : 1;
    }
    return ow_tensor_new(s->self->dtype, s->ndim, s->shape, result);
}

int ow_selection_get(const ow_selection *s, const ow_tensor *result) {
    ow_index_space space;
    if (!result->numel) return 1;
    ow_selection_space(s, &space);
    space.other = result->data;
    for (int d = 0; d < s->ndim; d++) space.other_stride[d] = result->strides[d] * space.itemsize;
    ow_space_arrange(&space);
    return ow_space_get(&space, 0) || (ow_selection_check_indices(&space) && ow_fail_overwritten());
}

ow_tensor *ow_index_get(ow_tensor *self, ow_tensor *const *indices, int n) {
    ow_selection s;
    if (!ow_selection_begin(&s, self, indices, n)) return NULL;
    ow_tensor *result = ow_selection_result(&s);
    if (result && !ow_selection_get(&s, result)) {
        ow_tensor_free(result);
        result = NULL;
    }
    ow_selection_end(&s);
    return result;
}

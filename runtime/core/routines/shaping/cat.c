/* Joins tensors along one of their dimensions, or along a new one. */
#include "families/driver.h"
#include "families/core_call.h"
#include "tensor/storage.h"

static int check_joined(ow_tensor *const *tensors, int n, const ow_tensor *first, int64_t dim) {
    for (int k = 0; k < n; k++) {
        const ow_tensor *t = tensors[k];
        if (t->ndim == 1 && t->numel == 0) continue; /* torch skips those, whatever the others are */
        if (t->ndim != first->ndim) {
            ow_fail(OW_RUNTIME_ERROR, "Tensors must have same number of dimensions: got %d and %d", first->ndim, t->ndim);
            return 0;
        }
        for (int d = 0; d < t->ndim; d++) {
            if (d == dim || t->sizes[d] == first->sizes[d]) continue;
            ow_fail(OW_RUNTIME_ERROR,
                    "Sizes of tensors must match except in dimension %lld. Expected size %lld but got size %lld for tensor "
                    "number %d in the list.",
                    (long long)dim, (long long)first->sizes[d], (long long)t->sizes[d], k);
            return 0;
        }
    }
    return 1;
}

static int check_stacked(ow_tensor *const *tensors, int n) {
    const ow_tensor *first = tensors[0];
    for (int k = 1; k < n; k++) {
        const ow_tensor *t = tensors[k];
        if (ow_has_shape(t, first->ndim, first->sizes)) continue;
        char want[200], have[200];
        ow_fail(OW_RUNTIME_ERROR, "stack expects each tensor to be equal size, but got %s at entry 0 and %s at entry %d",
                ow_list_text(want, sizeof want, first->ndim, first->sizes),
                ow_list_text(have, sizeof have, t->ndim, t->sizes), k);
        return 0;
    }
    return 1;
}

/* The strides of the result where all tensors keep their channels last; 0: it is contiguous. As in torch, a stack is a
 * joined tensor whose dimension `dim` is split in two. */
static int kept_strides(ow_tensor *const *tensors, int n, int64_t dim, int64_t length, int stacked, int64_t *strides) {
    const ow_tensor *first = tensors[0];
    int64_t sizes[OW_MAX_DIMS];
    for (int k = 0; k < n; k++)
        if (tensors[k]->ndim != first->ndim || ow_suggested_order(tensors[k]) == OW_C_ORDER) return 0;
    if (dim == first->ndim) return 0;
    if (stacked) length = n * first->sizes[dim];
    for (int d = 0; d < first->ndim; d++) sizes[d] = d == dim ? length : first->sizes[d];
    ow_channels_last_strides(first->ndim, sizes, strides);
    if (!stacked) return 1;
    memmove(strides + dim + 1, strides + dim, sizeof *strides * (size_t)(first->ndim - dim));
    strides[dim] *= first->sizes[dim];
    return 1;
}

/* Copies `t` to the positions of `result` from `at` on along `dim`. */
static int copy_part(ow_tensor *result, ow_tensor *t, int64_t dim, int64_t at, int stacked) {
    int64_t sizes[OW_MAX_DIMS], strides[OW_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < result->ndim; d++) {
        if (stacked && d == dim) continue;
        sizes[n] = d == dim ? t->sizes[d] : result->sizes[d];
        strides[n++] = result->strides[d];
    }
    ow_tensor part = *result;
    part.sizes = sizes;
    part.strides = strides;
    part.ndim = (uint8_t)n;
    part.data = result->data + at * result->strides[dim] * ow_itemsize(result->dtype);
    ow_tensor_refresh(&part);
    return ow_copy(&part, t);
}

typedef struct {
    int64_t dim;
    int stacked;
} joining;

static int copy_parts(const ow_plan *plan) {
    const joining *j = plan->details;
    ow_tensor *result = plan->results[0];
    int64_t at = 0;
    for (int k = 0; k < plan->call->count; k++) {
        ow_tensor *t = plan->call->list[k];
        if (t->numel && !copy_part(result, t, j->dim, at, j->stacked)) return 0;
        at += j->stacked ? 1 : t->ndim == result->ndim ? t->sizes[j->dim] : 0;
    }
    return 1;
}

/* One after the other along a dimension, or stacked along a new one. */
static int join(ow_call *c, int stacked) {
    ow_tensor *const *tensors = c->list;
    const ow_tensor *first = tensors[0];
    int64_t sizes[OW_MAX_DIMS + 1], strides[OW_MAX_DIMS], total = 0, dim = c->ints[0];
    int n = c->count;
    for (int k = 0; k < n && !stacked; k++) {
        if (!tensors[k]->ndim)
            return ow_fail(OW_RUNTIME_ERROR, "zero-dimensional tensor (at position %d) cannot be concatenated", k) != NULL;
        if (first->ndim == 1 && first->numel == 0) first = tensors[k];
    }
    int ndim = first->ndim + stacked;
    if (!stacked && ndim == 1 && !first->numel) dim = 0; /* all of them are skipped: any dimension will do, as in torch */
    if (!ow_wrap_dim(&dim, ndim)) return 0;
    if (!(stacked ? check_stacked(tensors, n) : check_joined(tensors, n, first, dim))) return 0;
    for (int k = 0; k < n && !stacked; k++)
        if (tensors[k]->ndim == ndim && __builtin_add_overflow(total, tensors[k]->sizes[dim], &total))
            return ow_fail(OW_RUNTIME_ERROR, "Storage size calculation overflowed: the sizes along dimension %lld add up to "
                           "more than 64 bits hold", (long long)dim) != NULL;
    for (int d = 0; d < ndim; d++) sizes[d] = d == dim ? (stacked ? n : total) : first->sizes[d - (stacked && d > dim)];
    int keeps = kept_strides(tensors, n, dim, total, stacked, strides);
    int dtype = ow_result_type(tensors, n);
    if (dtype == OW_REFUSED) return 0;
    c->results[0] = ow_tensor_new(dtype, ndim, sizes, keeps ? strides : NULL);
    joining j = {dim, stacked};
    return ow_execute_call(c, 1, copy_parts, &j);
}

int ow_core_cat(ow_call *c) {
    if (c->count) return join(c, 0);
    ow_fail(OW_VALUE_ERROR, "opweave.cat(): expected a non-empty list of Tensors");
    return 0;
}

int ow_core_stack(ow_call *c) {
    if (c->count) return join(c, 1);
    ow_fail(OW_RUNTIME_ERROR, "stack expects a non-empty TensorList");
    return 0;
}

/* `x[i, j] = values` and `x[i, j] += values` with tensors as indices. */
#include "index_selection.h"
#include "indexing.h"
#include "tensor/storage.h"

static int check_values(const ow_selection *s, const ow_tensor *values) {
    const ow_tensor *self = s->self;
    int lead = s->ndim - values->ndim, fits = lead >= 0;
    for (int d = 0; fits && d < values->ndim; d++)
        fits = values->sizes[d] == 1 || values->sizes[d] == s->shape[lead + d];
    if (!fits) {
        char have[200], want[200];
        ow_fail(OW_RUNTIME_ERROR,
                "shape mismatch: value tensor of shape %s cannot be broadcast to indexing result of shape %s",
                ow_list_text(have, sizeof have, values->ndim, values->sizes),
                ow_list_text(want, sizeof want, s->ndim, s->shape));
    } else if (values->dtype != self->dtype) {
        ow_fail(OW_RUNTIME_ERROR,
                "Index put requires the source and destination dtypes match, got %s for the destination and %s for the "
                "source.",
                ow_dtype_scalar_names[self->dtype], ow_dtype_scalar_names[values->dtype]);
        return 0;
    }
    return fits;
}

/* What is read while self is written must not share its memory. */
static int check_apart(const ow_tensor *self, ow_tensor *const *indices, int n, const ow_tensor *values) {
    int overlap = ow_memory_overlap(self, values);
    for (int k = 0; k < n; k++) overlap |= indices[k] && ow_memory_overlap(self, indices[k]);
    if (overlap)
        ow_fail(OW_RUNTIME_ERROR,
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                "memory location. Please clone() the tensor before performing the operation.");
    return !overlap;
}

/* The only index, when that is a mask; NULL otherwise. */
static ow_tensor *single_mask(ow_tensor *const *indices, int n) {
    ow_tensor *mask = NULL;
    for (int k = 0; k < n; k++) {
        if (!indices[k]) continue;
        if (mask || !ow_is_mask(indices[k])) return NULL;
        mask = indices[k];
    }
    return mask;
}

/* What is written, in the dtype of self where it may have another: a number, and one value for all that a single mask
 * selects. NULL with the error set. */
static ow_tensor *convert(const ow_tensor *self, ow_tensor *const *indices, int n, ow_tensor *values) {
    const ow_tensor *mask = values->numel == 1 ? single_mask(indices, n) : NULL;
    if (mask && mask->dtype != OW_BOOL)
        return ow_fail(OW_RUNTIME_ERROR, "masked_fill_ only supports boolean masks, but got mask with dtype %s",
                       ow_type_names[mask->dtype]);
    /* Numbers beyond a format of few bits are converted as elements are, as in torch; other dtypes refuse them. */
    int is_short = ow_dtype_kinds[self->dtype] == OW_KIND_FLOATING && ow_itemsize(self->dtype) <= 2;
    if (values->flags & OW_NUMBER && !is_short) return ow_fill_value(values, self->dtype);
    return (mask || values->flags & OW_NUMBER) && values->dtype != self->dtype ? ow_clone(values, self->dtype, 0) : values;
}

/* A mask of the leading dimensions and one value need no list of places. *done tells whether that was the case. */
static int fill_masked(ow_tensor *self, ow_tensor *const *indices, int n, ow_tensor *value, int *done) {
    ow_tensor *mask = n == 1 && value->numel == 1 ? single_mask(indices, n) : NULL;
    int64_t shape[OW_MAX_DIMS], strides[OW_MAX_DIMS] = {0};
    *done = mask && mask->ndim <= self->ndim && memcmp(mask->sizes, self->sizes, sizeof(int64_t) * mask->ndim) == 0 &&
            !ow_internal_overlap(self);
    if (!*done) return 0;
    for (int d = 0; d < self->ndim; d++) {
        shape[d] = d < mask->ndim ? mask->sizes[d] : 1;
        strides[d] = d < mask->ndim ? mask->strides[d] : 0;
    }
    ow_tensor *wide = ow_tensor_view(mask->storage, mask->data, OW_BOOL, self->ndim, shape, strides);
    ow_tensor *single = ow_tensor_view(value->storage, value->data, value->dtype, 0, NULL, NULL);
    int filled = wide && single && ow_masked_fill(self, wide, single);
    ow_tensor_free(wide);
    ow_tensor_free(single);
    return filled;
}

static int put(const ow_selection *s, const ow_tensor *values, ow_mover combine) {
    ow_index_space space;
    ow_selection_space(s, &space);
    space.other = values->data;
    ow_place_strides(values, s->ndim - values->ndim, values->ndim, s->ndim, space.other_stride);
    for (int d = 0; d < s->ndim; d++) space.other_stride[d] *= space.itemsize;
    return ow_selection_check_indices(&space) && ow_space_write(&space, combine);
}

/* Half formats accumulate in float32: in a copy of self, which is then rounded once. */
static int accumulate(ow_selection *s, ow_tensor *values) {
    ow_tensor *self = s->self;
    int compute = ow_compute_dtype[self->dtype], done = 0;
    ow_mover combine = ow_mover_combine(&ow_op_sum, compute);
    if (compute == self->dtype) return put(s, values, combine);
    ow_tensor *wide = ow_clone(self, compute, 0), *added = ow_clone(values, compute, 0);
    if (wide && added) {
        s->self = wide;
        done = put(s, added, combine) && ow_copy(self, wide);
    }
    ow_tensor_free(wide);
    ow_tensor_free(added);
    return done;
}

/* 1 if nobody knows how many elements are selected. */
static int is_unknown(ow_tensor *const *indices, int n) {
    for (int k = 0; k < n; k++)
        if (indices[k] && ow_is_mask(indices[k]) && !ow_is_readable(indices[k])) return 1;
    return 0;
}

static int put_checked(ow_tensor *self, ow_tensor *const *indices, int n, ow_tensor *values, int accumulates) {
    ow_selection s;
    int done = 0, filled = accumulates ? 0 : fill_masked(self, indices, n, values, &done);
    if (!accumulates && done) return filled;
    if (is_unknown(indices, n)) {
        self->storage->version++;
        return 1;
    }
    if (!ow_selection_begin(&s, self, indices, n)) return 0;
    int64_t numel;
    done = ow_selection_check_sizes(&s) && check_values(&s, values) && ow_numel(s.ndim, s.shape, &numel);
    if (done) self->storage->version++;
    if (done && numel && !ow_infers()) done = accumulates ? accumulate(&s, values) : put(&s, values, NULL);
    ow_selection_end(&s);
    return done;
}

int ow_index_put(ow_tensor *self, ow_tensor *const *indices, int n, ow_tensor *values, int accumulates) {
    if (ow_is_guarded(self->storage)) return ow_check_memory(self);
    if (!check_apart(self, indices, n, values)) return 0;
    ow_tensor *converted = convert(self, indices, n, values);
    int done = converted && put_checked(self, indices, n, converted, accumulates);
    if (converted != values) ow_tensor_free(converted);
    return done;
}

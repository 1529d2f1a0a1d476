/* `x[i, j] = values` and `x[i, j] += values` with tensors as indices. */
#include "index_selection.h"
#include "storage.h"

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

/* One value for all that a single mask selects may have any dtype, as in masked_fill. *converted is to be freed. */
static int convert_fill(const ow_tensor *self, ow_tensor *const *indices, int n, ow_tensor **values,
                        ow_tensor **converted) {
    const ow_tensor *mask = NULL;
    *converted = NULL;
    for (int k = 0; k < n; k++) {
        if (!indices[k]) continue;
        if (mask || !ow_is_mask(indices[k])) return 1;
        mask = indices[k];
    }
    if (!mask || (*values)->numel != 1) return 1;
    if (mask->dtype != OW_BOOL) {
        ow_fail(OW_RUNTIME_ERROR, "masked_fill_ only supports boolean masks, but got mask with dtype %s",
                ow_type_names[mask->dtype]);
        return 0;
    }
    if ((*values)->dtype == self->dtype) return 1;
    *values = *converted = ow_clone(*values, self->dtype, 0);
    return *converted != NULL;
}

static int put(const ow_selection *s, const ow_tensor *values, ow_mover combine) {
    ow_index_space space;
    ow_selection_space(s, &space);
    space.other = values->data;
    ow_place_strides(values, s->ndim - values->ndim, values->ndim, s->ndim, space.other_stride);
    for (int d = 0; d < s->ndim; d++) space.other_stride[d] *= space.itemsize;
    ow_space_arrange(&space);
    if (!ow_selection_check_indices(&space)) return 0;
    ow_space_put(&space, combine ? combine : ow_mover_put(space.run * space.itemsize), combine ? 1.0 : 0.25);
    return 1;
}

/* Half formats accumulate in float32: in a copy of self, which is then rounded once. */
static int accumulate(ow_selection *s, ow_tensor *values) {
    ow_tensor *self = s->self;
    int compute = ow_compute_dtype[self->dtype], done = 0;
    ow_mover combine = ow_mover_combine(ow_op_named("sum"), compute);
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

int ow_index_put(ow_tensor *self, ow_tensor *const *indices, int n, ow_tensor *values, int accumulates) {
    ow_selection s;
    ow_tensor *converted;
    if (self->storage->flags & OW_STORAGE_READONLY) return ow_check_memory(self);
    if (!check_apart(self, indices, n, values) || !convert_fill(self, indices, n, &values, &converted)) return 0;
    if (!ow_selection_begin(&s, self, indices, n)) {
        ow_tensor_free(converted);
        return 0;
    }
    int done = ow_selection_check_sizes(&s) && check_values(&s, values);
    int64_t numel = 1;
    for (int d = 0; d < s.ndim; d++) numel *= s.shape[d];
    if (done && numel) done = accumulates ? accumulate(&s, values) : put(&s, values, NULL);
    ow_selection_end(&s);
    ow_tensor_free(converted);
    return done;
}

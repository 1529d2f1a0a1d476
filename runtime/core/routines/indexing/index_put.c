/* `x[i, j] = values` and `x[i, j] += values` with tensors as indices. */
#include "index_selection.h"
#include "indexing.h"
#include "tensor/storage.h"

static int check_values(const ow_putting *p) {
    const ow_tensor *self = p->self, *values = p->values;
    const ow_selection *s = &p->selection;
    int lead = s->ndim - values->ndim, fits = lead >= 0;
    for (int d = 0; fits && d < values->ndim; d++)
        fits = values->sizes[d] == 1 || values->sizes[d] == s->shape[lead + d];
    if (!fits) {
        char have[200], want[200];
        ow_fail(OW_RUNTIME_ERROR,
                "shape mismatch: value tensor of shape %s cannot be broadcast to indexing result of shape %s",
                ow_list_text(have, sizeof have, values->ndim, values->sizes),
                ow_list_text(want, sizeof want, s->ndim, s->shape));
    } else if (values->dtype != self->dtype && !p->converts) {
        ow_fail(OW_RUNTIME_ERROR,
                "Index put requires the source and destination dtypes match, got %s for the destination and %s for the "
                "source.",
                ow_dtype_scalar_names[self->dtype], ow_dtype_scalar_names[values->dtype]);
        return 0;
    }
    return fits;
}

/* What is read while self is written must not share its memory, but that a mask which is filled may be self. */
static int check_apart(const ow_putting *p, ow_tensor *const *indices, int n) {
    int overlap = ow_memory_overlap(p->self, p->values);
    for (int k = 0; k < n; k++) overlap |= indices[k] && ow_memory_overlap(p->self, indices[k]) > (indices[k] == p->mask);
    return !overlap || ow_fail_overlap();
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

/* What is written has the dtype of self, or may have another: a number, and one value for all that a single mask selects. 1,
 * or 0 with the error set. */
static int check_conversion(ow_putting *p, const ow_tensor *mask) {
    const ow_tensor *self = p->self, *values = p->values;
    if (values->numel != 1) mask = NULL;
    if (mask && mask->dtype != OW_BOOL)
        return ow_fail(OW_RUNTIME_ERROR, "masked_fill_ only supports boolean masks, but got mask with dtype %s",
                       ow_type_names[mask->dtype]) != NULL;
    /* Numbers beyond a format of few bits are converted as elements are, as in torch; other dtypes refuse them. */
    int is_number = (values->flags & OW_NUMBER) != 0;
    p->has_number = is_number && !(ow_dtype_kinds[self->dtype] == OW_KIND_FLOATING && ow_itemsize(self->dtype) <= 2);
    p->converts = mask || is_number;
    return !p->has_number || ow_load_fill(values, self->dtype, &p->number);
}

/* 1 if one value is for all places where a mask of the leading dimensions is true, which need no list of them then. */
static int fills(const ow_putting *p, const ow_tensor *mask, int n) {
    return mask && n == 1 && p->values->numel == 1 && !p->accumulates && mask->ndim <= p->self->ndim &&
           memcmp(mask->sizes, p->self->sizes, sizeof(int64_t) * mask->ndim) == 0 && !ow_internal_overlap(p->self);
}

static int fill(const ow_putting *p, ow_tensor *value) {
    ow_tensor *self = p->self, *mask = p->mask;
    int64_t shape[OW_MAX_DIMS], strides[OW_MAX_DIMS] = {0};
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

int ow_put_begin(ow_putting *p, ow_tensor *self, ow_tensor *const *indices, int n, ow_tensor *values, int accumulates) {
    int64_t numel;
    ow_selection *s = &p->selection;
    ow_tensor *mask = single_mask(indices, n);
    p->self = self;
    p->values = values;
    p->accumulates = accumulates;
    p->mask = fills(p, mask, n) ? mask : NULL;
    if (ow_is_guarded(self->storage)) return ow_check_memory(self);
    if (!check_apart(p, indices, n) || !check_conversion(p, mask)) return 0;
    p->is_known = !p->mask && !is_unknown(indices, n);
    if (p->is_known) {
        if (!ow_selection_begin(s, self, indices, n)) return 0;
        if (!ow_selection_check_sizes(s) || !check_values(p) || !ow_numel(s->ndim, s->shape, &numel)) {
            ow_selection_end(s);
            return 0;
        }
    }
    return 1;
}

int ow_put_run(ow_putting *p) {
    ow_tensor *self = p->self, *values = p->values;
    int64_t numel = 1;
    for (int d = 0; d < p->selection.ndim && p->is_known; d++) numel *= p->selection.shape[d];
    if (!numel) return 1;
    if (p->has_number) values = ow_fill_value(&p->number, self->dtype);
    else if (p->converts && values->dtype != self->dtype) values = ow_clone(values, self->dtype, 0);
    int done = 0;
    if (values) done = p->mask ? fill(p, values) : p->accumulates ? accumulate(&p->selection, values) : put(&p->selection, values, NULL);
    if (values != p->values) ow_tensor_free(values);
    return done;
}

void ow_put_end(ow_putting *p) {
    if (p->is_known) ow_selection_end(&p->selection);
}

int ow_index_put(ow_tensor *self, ow_tensor *const *indices, int n, ow_tensor *values, int accumulates) {
    ow_putting p;
    if (!ow_put_begin(&p, self, indices, n, values, accumulates)) return 0;
    int done = ow_put_run(&p);
    ow_put_end(&p);
    return done;
}

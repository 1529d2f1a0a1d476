/* The geometry of indexing with tensors, by the rules of NumPy as torch has them.
 *
 * The dimensions of all index tensors, broadcast together, stand in the place of the dimensions they index when those
 * are neighbours, else before all others. */
#include "index_selection.h"
#include "tensor/storage.h"

#include <stdio.h>

void ow_selection_end(ow_selection *s) {
    for (int k = 0; k < s->nowned; k++) ow_tensor_free(s->owned[k]);
}

/* ---- reading the indices ------------------------------------------------------------------------------ */

int ow_is_mask(const ow_tensor *t) { return t->dtype == OW_BOOL || t->dtype == OW_UINT8; }

static void add_index(ow_selection *s, ow_tensor *index, int dim, int covered) {
    s->index[s->count] = index;
    s->first[s->count] = dim;
    s->covered[s->count++] = covered;
}

/* 1 if the n dimensions from `dim` on are one in memory. */
static int lie_like_one(const ow_tensor *t, int dim, int n) {
    for (int d = dim; d + 1 < dim + n; d++)
        if (t->strides[d] != t->strides[d + 1] * t->sizes[d + 1]) return 0;
    return 1;
}

/* A mask stands for the places where it is true: one tensor of indices for each of its dimensions. */
static int add_mask(ow_selection *s, ow_tensor *mask, int dim) {
    const ow_tensor *self = s->self;
    for (int d = 0; d < mask->ndim; d++) {
        if (mask->sizes[d] == self->sizes[dim + d]) continue;
        char have[200], want[200];
        ow_fail(OW_INDEX_ERROR,
                "The shape of the mask %s at index %d does not match the shape of the indexed tensor %s at index %d",
                ow_list_text(have, sizeof have, mask->ndim, mask->sizes), d,
                ow_list_text(want, sizeof want, self->ndim, self->sizes), dim + d);
        return 0;
    }
    int64_t one = 1;
    ow_tensor *flat = NULL, *positions;
    if (mask->ndim > 1 && mask->flags & OW_CONTIGUOUS && lie_like_one(self, dim, mask->ndim)) {
        flat = ow_tensor_view(mask->storage, mask->data, mask->dtype, 1, &mask->numel, &one);
        if (!flat) return 0;
    }
    positions = ow_nonzero(flat ? flat : mask);
    ow_tensor_free(flat);
    if (!positions) return 0;
    for (int64_t d = 0; d < positions->sizes[1]; d++) {
        char *column = positions->data + d * positions->strides[1] * 8;
        ow_tensor *index = ow_tensor_view(positions->storage, column, OW_INT64, 1, positions->sizes, &one);
        if (!index) break;
        s->owned[s->nowned++] = index;
        add_index(s, index, dim + (int)d, flat ? mask->ndim : 1);
    }
    ow_tensor_free(positions);
    return !ow_error_pending();
}

static int read_indices(ow_selection *s, ow_tensor *const *indices, int n) {
    int dim = 0;
    for (int k = 0; k < n; k++) {
        ow_tensor *index = indices[k];
        int needed = !index ? 1 : ow_is_mask(index) ? index->ndim : 1;
        if (dim + needed > s->self->ndim) {
            ow_fail(OW_INDEX_ERROR, "too many indices for tensor of dimension %d", s->self->ndim);
            return 0;
        }
        if (index && ow_is_mask(index)) {
            if (!add_mask(s, index, dim)) return 0;
        } else if (index) {
            if (index->dtype != OW_INT64 && index->dtype != OW_INT32) {
                ow_fail(OW_INDEX_ERROR, "tensors used as indices must be long, int, byte or bool tensors");
                return 0;
            }
            add_index(s, index, dim, 1);
        }
        dim += needed;
    }
    return 1;
}

/* ---- geometry ----------------------------------------------------------------------------------------- */

/* Shape of all index tensors together; its number of dimensions, -1 with the error set. */
static int broadcast_indices(const ow_selection *s, int64_t *shape) {
    int ndim = 0;
    for (int k = 0; k < s->count; k++)
        if (s->index[k]->ndim > ndim) ndim = s->index[k]->ndim;
    for (int d = 0; d < ndim; d++) shape[d] = 1;
    for (int k = 0; k < s->count; k++) {
        const ow_tensor *t = s->index[k];
        for (int d = 0; d < t->ndim; d++) {
            int64_t *size = &shape[ndim - t->ndim + d];
            if (*size == 1) *size = t->sizes[d];
            if (t->sizes[d] == 1 || t->sizes[d] == *size) continue;
            char shapes[400], one[100];
            size_t used = 0;
            for (int i = 0; i < s->count; i++)
                for (int c = 0; c < s->covered[i] && used < sizeof shapes - 1; c++)
                    used += (size_t)snprintf(shapes + used, sizeof shapes - used, used ? ", %s" : "%s",
                                             ow_list_text(one, sizeof one, s->index[i]->ndim, s->index[i]->sizes));
            ow_fail(OW_INDEX_ERROR, "shape mismatch: indexing tensors could not be broadcast together with shapes %s",
                    shapes);
            return -1;
        }
    }
    return ndim;
}

/* The last dimension that index tensor k is about. */
static int last_of(const ow_selection *s, int k) { return s->first[k] + s->covered[k] - 1; }

static int arrange(ow_selection *s) {
    int64_t shape[OW_MAX_DIMS];
    int together = 1;
    uint64_t indexed = 0;
    s->lead = broadcast_indices(s, shape);
    if (s->lead < 0) return 0;
    for (int k = 0; k < s->count; k++) {
        for (int d = s->first[k]; d <= last_of(s, k); d++) indexed |= (uint64_t)1 << d;
        if (k) together &= s->first[k] == last_of(s, k - 1) + 1;
    }
    if (s->lead + s->self->ndim - __builtin_popcountll(indexed) > OW_MAX_DIMS) {
        ow_fail(OW_RUNTIME_ERROR, "a tensor has at most %d dimensions", OW_MAX_DIMS);
        return 0;
    }
    s->at = together && s->count ? s->first[0] : 0;
    s->ndim = 0;
    for (int d = 0; d <= s->self->ndim; d++) {
        if (s->ndim == s->at && d == s->at)
            for (int b = 0; b < s->lead; b++) {
                s->shape[s->ndim] = shape[b];
                s->source[s->ndim++] = -1;
            }
        if (d == s->self->ndim || indexed >> d & 1) continue;
        s->shape[s->ndim] = s->self->sizes[d];
        s->source[s->ndim++] = d;
    }
    return 1;
}

int ow_selection_begin(ow_selection *s, ow_tensor *self, ow_tensor *const *indices, int n) {
    s->self = self;
    s->count = s->nowned = 0;
    if (read_indices(s, indices, n) && arrange(s)) return 1;
    ow_selection_end(s);
    return 0;
}

void ow_place_strides(const ow_tensor *t, int at, int lead, int ndim, int64_t *strides) {
    for (int d = 0; d < ndim; d++) strides[d] = 0;
    for (int d = 0; d < t->ndim; d++) strides[at + lead - t->ndim + d] = t->sizes[d] == 1 ? 0 : t->strides[d];
}

void ow_selection_space(const ow_selection *s, ow_index_space *space) {
    const ow_tensor *self = s->self;
    space->ndim = s->ndim;
    space->nlookups = s->count;
    space->itemsize = ow_itemsize(self->dtype);
    space->run = 1;
    space->repeats = 0;
    space->base = self->data;
    for (int d = 0; d < s->ndim; d++) {
        space->shape[d] = s->shape[d];
        space->base_stride[d] = s->source[d] < 0 ? 0 : self->strides[s->source[d]] * space->itemsize;
    }
    for (int k = 0; k < s->count; k++) {
        ow_lookup *lookup = &space->lookups[k];
        const ow_tensor *index = s->index[k];
        lookup->index = index;
        lookup->data = index->data;
        lookup->dim = k; /* as torch counts */
        lookup->wraps = 1;
        lookup->size = 1;
        for (int d = s->first[k]; d <= last_of(s, k); d++) lookup->size *= self->sizes[d];
        lookup->scale = self->strides[last_of(s, k)] * space->itemsize;
        ow_place_strides(index, s->at, s->lead, s->ndim, lookup->stride);
        for (int d = 0; d < s->ndim; d++) lookup->stride[d] *= ow_itemsize(index->dtype);
    }
}

/* ---- checks ------------------------------------------------------------------------------------------- */

int ow_selection_check_sizes(const ow_selection *s) {
    for (int d = s->at; d < s->at + s->lead; d++)
        if (!s->shape[d]) return 1; /* nothing is selected */
    for (int k = 0; k < s->count; k++)
        for (int d = s->first[k]; d <= last_of(s, k); d++) {
            if (s->self->sizes[d]) continue;
            ow_fail(OW_INDEX_ERROR, "index is out of bounds for dimension with size 0");
            return 0;
        }
    return 1;
}

int ow_selection_check_indices(const ow_index_space *space) {
    int64_t value;
    const ow_lookup *bad = ow_space_find_bad(space, &value);
    if (!bad) return 1;
    ow_fail(OW_INDEX_ERROR, "index %lld is out of bounds for dimension %d with size %lld", (long long)value, bad->dim,
            (long long)bad->size);
    return 0;
}

/* Copies of tensors in another order or several times: flip, roll, repeat. */
#include "families/driver.h"
#include "routines/copying/copying.h"
#include "tensor/storage.h"

int ow_core_flip(ow_call *c) {
    const ow_tensor *self = c->inputs[0];
    uint64_t flipped = 0;
    int64_t strides[OW_MAX_DIMS];
    for (int k = 0; k < c->lists[0].n; k++) {
        int64_t dim = c->lists[0].v[k];
        if (!ow_wrap_dim(&dim, self->ndim)) return 0;
        if (flipped >> dim & 1)
            return ow_fail(OW_RUNTIME_ERROR, "dim %lld appears multiple times in the list of dims", (long long)dim) != NULL;
        flipped |= (uint64_t)1 << dim;
    }
    ow_tensor *result = c->results[0] = ow_empty_like(c->inputs[0], -1, OW_PRESERVE_ORDER), backwards = *self;
    if (!self->numel) return ow_execute_copy(c, result, NULL);
    for (int d = 0; d < self->ndim; d++) {
        int64_t back = flipped >> d & 1 && self->sizes[d] > 1 ? self->strides[d] : 0; /* else it is never used */
        strides[d] = self->strides[d] - 2 * back;
        backwards.data += (self->sizes[d] - 1) * back * ow_itemsize(self->dtype);
    }
    backwards.strides = strides;
    ow_tensor_refresh(&backwards);
    return ow_execute_copy(c, result, &backwards);
}

/* Blocks of two tensors of one shape, the second of which is moved along dimensions to become the first. */
typedef struct {
    ow_tensor to, from;
    int64_t sizes[OW_MAX_DIMS]; /* of both blocks */
    int64_t shifts[OW_MAX_DIMS];
    int ndim, is_flat;
} rolling;

static int roll_dims(rolling *r, int dim);

/* Rolls along the further dimensions what stands at `size` positions from `from` on and belongs to those from `to` on. */
static int roll_part(rolling *r, int dim, int64_t to, int64_t from, int64_t size) {
    int64_t item = ow_itemsize(r->to.dtype), whole = r->sizes[dim];
    char *to_data = r->to.data, *from_data = r->from.data;
    r->to.data += to * r->to.strides[dim] * item;
    r->from.data += from * r->from.strides[dim] * item;
    r->sizes[dim] = size;
    int done = roll_dims(r, dim + 1);
    r->sizes[dim] = whole;
    r->to.data = to_data;
    r->from.data = from_data;
    return done;
}

/* Copies with the shifts of dimension `dim` and those behind it. 1, or 0 with the error set. */
static int roll_dims(rolling *r, int dim) {
    while (dim < r->to.ndim && !r->shifts[dim]) dim++;
    if (dim < r->to.ndim) {
        int64_t shift = r->shifts[dim], stay = r->sizes[dim] - shift;
        return roll_part(r, dim, shift, 0, stay) && roll_part(r, dim, 0, stay, shift);
    }
    ow_tensor_refresh(&r->to);
    ow_tensor_refresh(&r->from);
    return ow_copy(&r->to, &r->from);
}

static int read_shifts(rolling *r, const int64_t *shifts, const int64_t *dims, int n) {
    memset(r->shifts, 0, sizeof r->shifts);
    for (int k = 0; k < n; k++) {
        int64_t dim = dims[k];
        if (!ow_wrap_dim(&dim, r->ndim)) return 0;
        if (!r->ndim) {
            ow_fail(OW_INDEX_ERROR, "Dimension specified as %lld but tensor has no dimensions", (long long)dims[k]);
            return 0;
        }
        int64_t size = r->sizes[dim], shift = shifts[k] % size;
        r->shifts[dim] = (r->shifts[dim] + (shift < 0 ? shift + size : shift)) % size;
    }
    return 1;
}

/* Flattened, both tensors are vectors; the result is contiguous. */
static int roll(const ow_plan *plan) {
    rolling *r = plan->details;
    ow_tensor *self = plan->inputs[0];
    int64_t one[] = {1};
    ow_tensor *dense = !r->is_flat || self->flags & OW_CONTIGUOUS ? self : ow_clone(self, -1, OW_C_ORDER);
    if (!dense) return 0;
    r->to = *plan->results[0];
    r->from = *dense;
    if (r->is_flat) r->to.strides = r->from.strides = one;
    r->to.sizes = r->from.sizes = r->sizes;
    r->to.ndim = r->from.ndim = (uint8_t)r->ndim;
    int done = roll_dims(r, 0);
    if (dense != self) ow_tensor_free(dense);
    return done;
}

/* lists: shifts, dims */
int ow_core_roll(ow_call *c) {
    ow_tensor *self = c->inputs[0];
    const int64_t *shifts = c->lists[0].v, zero[] = {0};
    int nshifts = c->lists[0].n, ndims = c->lists[1].n < 0 ? 0 : c->lists[1].n;
    if (!nshifts) return ow_fail(OW_RUNTIME_ERROR, "`shifts` required") != NULL;
    rolling r = {.is_flat = !ndims && nshifts == 1, .ndim = self->ndim};
    if (nshifts != ndims && !r.is_flat)
        return ow_fail(OW_RUNTIME_ERROR, "shifts and dimensions must align. shifts: %d, dims:%d", nshifts, ndims) != NULL;
    if (!self->numel) {
        c->results[0] = ow_empty_like(self, -1, OW_PRESERVE_ORDER);
        return ow_execute_copy(c, c->results[0], NULL);
    }
    memcpy(r.sizes, self->sizes, sizeof(int64_t) * self->ndim);
    if (r.is_flat) r.ndim = 1, r.sizes[0] = self->numel;
    if (!read_shifts(&r, shifts, r.is_flat ? zero : c->lists[1].v, nshifts)) return 0;
    c->results[0] = ow_empty_like(self, -1, r.is_flat ? OW_C_ORDER : ow_suggested_order(self));
    return ow_execute_call(c, 1, roll, &r);
}

/* The shape of the repeated tensor; 1, or 0 with the error set. */
static int repeat_sizes(const ow_tensor *self, const int64_t *repeats, int n, int64_t *sizes) {
    if (n < self->ndim) {
        ow_fail(OW_RUNTIME_ERROR,
                "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
        return 0;
    }
    if (n > OW_MAX_DIMS) {
        ow_fail(OW_RUNTIME_ERROR, "a tensor has at most %d dimensions", OW_MAX_DIMS);
        return 0;
    }
    for (int d = 0; d < n; d++) {
        int own = d - (n - self->ndim);
        if (!__builtin_mul_overflow(repeats[d], own < 0 ? 1 : self->sizes[own], &sizes[d])) continue;
        ow_fail(OW_RUNTIME_ERROR, "numel: integer multiplication overflow");
        return 0;
    }
    for (int d = 0; d < n; d++) {
        char text[300];
        if (sizes[d] >= 0) continue;
        ow_fail(OW_RUNTIME_ERROR, "Trying to create tensor with negative dimension %lld: %s", (long long)sizes[d],
                ow_list_text(text, sizeof text, n, sizes));
        return 0;
    }
    return 1;
}

/* Copies the tensor to all its places. A repeated dimension is two of the grid: copies, at stride 0 of the source, and
 * positions in one of them. */
static int copy_repeated(ow_call *c, ow_tensor *result) {
    const ow_tensor *self = c->inputs[0];
    int64_t sizes[OW_MAX_DIMS], to_strides[OW_MAX_DIMS], from_strides[OW_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < result->ndim; d++) {
        int own = d - (result->ndim - self->ndim);
        int64_t size = own < 0 ? 1 : self->sizes[own], count = c->lists[0].v[d];
        int parts = (count > 1) + (size > 1);
        if (n + parts > OW_MAX_DIMS) {
            ow_fail(OW_RUNTIME_ERROR, "repeated and other dimensions longer than 1 are more than %d together", OW_MAX_DIMS);
            ow_tensor_free(result);
            return 0;
        }
        if (count > 1) sizes[n] = count, to_strides[n] = size * result->strides[d], from_strides[n++] = 0;
        if (size > 1) sizes[n] = size, to_strides[n] = result->strides[d], from_strides[n++] = self->strides[own];
    }
    ow_tensor to = *result, from = *self;
    to.ndim = from.ndim = (uint8_t)n;
    to.sizes = from.sizes = sizes;
    to.strides = to_strides;
    from.strides = from_strides;
    ow_tensor_refresh(&to);
    ow_tensor_refresh(&from);
    return ow_execute_copy(c, &to, &from);
}

int ow_core_repeat(ow_call *c) {
    const ow_ints *repeats = &c->lists[0];
    int64_t sizes[OW_MAX_DIMS];
    if (!repeat_sizes(c->inputs[0], repeats->v, repeats->n, sizes)) return 0;
    ow_tensor *result = c->results[0] = ow_tensor_new(c->inputs[0]->dtype, repeats->n, sizes, NULL);
    return result && result->numel ? copy_repeated(c, result) : ow_execute_copy(c, result, NULL);
}

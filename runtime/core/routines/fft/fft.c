/* The three operators of Fourier transforms, over several dimensions one after the other. */
#include <math.h>

#include "families/core_call.h"
#include "families/driver.h"
#include "fft_run.h"

enum { NOT_DIVIDED, DIVIDED_BY_ROOT, DIVIDED }; /* by the number of elements that are summed */

typedef struct {
    int dims[OW_MAX_DIMS], ndims;
} dimensions;

/* ---- arguments ------------------------------------------------------------------------------------------------ */

/* Dimensions as the call names them, counted from the front. 1, or 0 with the error set. */
static int read_dims(dimensions *d, const ow_call *c) {
    const ow_tensor *self = c->inputs[0];
    uint64_t seen = 0;
    d->ndims = 0;
    for (int k = 0; k < c->lists[0].n; k++) {
        int64_t dim = c->lists[0].v[k];
        if (!ow_wrap_dim(&dim, self->ndim)) return 0;
        if (dim >= self->ndim || seen >> dim & 1)
            return ow_fail(OW_RUNTIME_ERROR, "%s(): expected different dimensions of a tensor of %d dimensions, but got %lld%s",
                           c->op->name, self->ndim, (long long)dim, seen >> dim & 1 ? " twice" : "") != NULL;
        seen |= (uint64_t)1 << dim;
        d->dims[d->ndims++] = (int)dim;
    }
    return 1;
}

static double scale_of(int64_t normalization, const dimensions *d, const ow_tensor *numbers) {
    long double n = 1;
    for (int k = 0; k < d->ndims; k++) n *= (long double)numbers->sizes[d->dims[k]];
    return (double)(normalization == NOT_DIVIDED ? 1 : 1 / (normalization == DIVIDED ? n : sqrtl(n)));
}

/* Sorts `n` dimensions so that those along which elements are farthest apart come first. */
static void sort_by_stride(const int64_t *strides, int *dims, int n) {
    for (int k = 1; k < n; k++) {
        const int dim = dims[k];
        int at = k;
        for (; at > 0 && strides[dims[at - 1]] < strides[dim]; at--) dims[at] = dims[at - 1];
        dims[at] = dim;
    }
}

/* Strides in torch's memory order: the given dimensions last, the others in the order that they have by `strides`. */
static void arrange(int64_t *result, int ndim, const int64_t *sizes, const int64_t *strides, const int *last, int nlast) {
    int order[OW_MAX_DIMS], n = 0;
    uint64_t is_last = 0;
    for (int k = 0; k < nlast; k++) is_last |= (uint64_t)1 << last[k];
    for (int d = 0; d < ndim; d++)
        if (!(is_last >> d & 1)) order[n++] = d;
    sort_by_stride(strides, order, n);
    for (int k = 0; k < nlast; k++) order[n++] = last[k];
    int64_t stride = 1;
    for (int k = n - 1; k >= 0; k--) {
        result[order[k]] = stride;
        stride *= sizes[order[k]] > 1 ? sizes[order[k]] : 1;
    }
}

static ow_tensor *empty(const ow_tensor *self, const int64_t *sizes, const int *last, int nlast, int dtype) {
    int64_t strides[OW_MAX_DIMS];
    arrange(strides, self->ndim, sizes, self->strides, last, nlast);
    return ow_tensor_new(dtype, self->ndim, sizes, strides);
}

static int complex_of(int dtype) { return dtype == OW_FLOAT64 ? OW_COMPLEX128 : OW_COMPLEX64; }
static int real_of(int dtype) { return dtype == OW_COMPLEX128 ? OW_FLOAT64 : OW_FLOAT32; }

/* ---- computation ---------------------------------------------------------------------------------------------- */

typedef struct {
    dimensions dims;
    int64_t normalization;
    int inverse;
    ow_fft_kind kind; /* of the last dimension */
} transform;

/* From one tensor to the other along the first dimension, then along the rest in place. */
static int run_complex(const ow_tensor *in, ow_tensor *out, const int *dims, int ndims, int inverse, double scale) {
    for (int k = 0; k < ndims; k++)
        if (!ow_fft_run(k ? out : in, out, dims[k], OW_FFT_COMPLEX, inverse, k ? 1 : scale)) return 0;
    return 1;
}

static int compute_complex(const ow_plan *plan) {
    const transform *t = plan->details;
    ow_tensor *out = plan->results[0];
    const double scale = scale_of(t->normalization, &t->dims, out);
    if (!t->dims.ndims) return ow_copy_checked(out, plan->inputs[0]);
    return run_complex(plan->inputs[0], out, t->dims.dims, t->dims.ndims, t->inverse, scale);
}

static int compute_real(const ow_plan *plan) {
    const transform *t = plan->details;
    const dimensions *d = &t->dims;
    ow_tensor *out = plan->results[0];
    const int last = d->ndims - 1;
    const double scale = scale_of(t->normalization, d, plan->inputs[0]);
    return ow_fft_run(plan->inputs[0], out, d->dims[last], t->kind, 0, scale) &&
           run_complex(out, out, d->dims, last, 0, 1);
}

static int compute_hermitian(const ow_plan *plan) {
    const transform *t = plan->details;
    const dimensions *d = &t->dims;
    ow_tensor *out = plan->results[0], *between = NULL, *in = plan->inputs[0];
    const int last = d->ndims - 1;
    if (last) {
        between = empty(in, in->sizes, d->dims, last, in->dtype);
        if (!between || !run_complex(in, between, d->dims, last, 1, 1)) {
            ow_tensor_free(between);
            return 0;
        }
        in = between;
    }
    const int done = ow_fft_run(in, out, d->dims[last], OW_FFT_HERMITIAN, 0, scale_of(t->normalization, d, out));
    ow_tensor_free(between);
    return done;
}

/* ---- the operators -------------------------------------------------------------------------------------------- */

static int begin(transform *t, const ow_call *c, int needs_dims) {
    t->normalization = c->ints[0];
    if (!read_dims(&t->dims, c)) return 0;
    if (needs_dims && !t->dims.ndims)
        return ow_fail(OW_RUNTIME_ERROR, "%s(): expected at least one dimension", c->op->name) != NULL;
    sort_by_stride(c->inputs[0]->strides, t->dims.dims, t->dims.ndims - needs_dims);
    return 1;
}

/* lists: dim; ints: normalization, forward */
int ow_core_fft_c2c(ow_call *c) {
    const ow_tensor *self = c->inputs[0];
    transform t = {.inverse = !c->ints[1]};
    if (!begin(&t, c, 0)) return 0;
    c->results[0] = t.dims.ndims ? empty(self, self->sizes, t.dims.dims, t.dims.ndims, self->dtype)
                                 : ow_empty_like(c->inputs[0], -1, OW_PRESERVE_ORDER);
    return ow_execute_call(c, 1, compute_complex, &t);
}

/* lists: dim; ints: normalization, onesided */
int ow_core_fft_r2c(ow_call *c) {
    const ow_tensor *self = c->inputs[0];
    transform t = {.kind = c->ints[1] ? OW_FFT_REAL : OW_FFT_REAL_WHOLE};
    if (!begin(&t, c, 1)) return 0;
    int64_t sizes[OW_MAX_DIMS];
    for (int d = 0; d < self->ndim; d++) sizes[d] = self->sizes[d];
    const int last = t.dims.dims[t.dims.ndims - 1];
    if (t.kind == OW_FFT_REAL) sizes[last] = sizes[last] / 2 + 1;
    c->results[0] = empty(self, sizes, t.dims.dims, t.dims.ndims, complex_of(self->dtype));
    return ow_execute_call(c, 1, compute_real, &t);
}

/* lists: dim; ints: normalization, last_dim_size */
int ow_core_fft_c2r(ow_call *c) {
    const ow_tensor *self = c->inputs[0];
    transform t = {.kind = OW_FFT_HERMITIAN};
    if (!begin(&t, c, 1)) return 0;
    int64_t sizes[OW_MAX_DIMS];
    for (int d = 0; d < self->ndim; d++) sizes[d] = self->sizes[d];
    const int last = t.dims.dims[t.dims.ndims - 1];
    const int64_t size = c->ints[1];
    if (size < 0 || size / 2 + 1 != sizes[last])
        return ow_fail(OW_RUNTIME_ERROR, "%s(): expected %lld elements along dimension %d for %lld real numbers, but got %lld",
                       c->op->name, (long long)(size / 2 + 1), last, (long long)size, (long long)sizes[last]) != NULL;
    int64_t between[OW_MAX_DIMS], strides[OW_MAX_DIMS];
    arrange(between, self->ndim, sizes, self->strides, t.dims.dims, t.dims.ndims - 1);
    sizes[last] = size;
    arrange(strides, self->ndim, sizes, t.dims.ndims > 1 ? between : self->strides, &last, 1);
    c->results[0] = ow_tensor_new(real_of(self->dtype), self->ndim, sizes, strides);
    return ow_execute_call(c, 1, compute_hermitian, &t);
}

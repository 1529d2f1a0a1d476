/* Lines of a tensor in contiguous memory and the dtype of computation: in place where they lie so, else gathered.
 *
 * Lines that lie side by side are gathered several at a time, so that each cache line is read once. */
#include <stdatomic.h>

#include "line_buffers.h"

#define SIDE_BY_SIDE 16

typedef struct {
    const ow_lines *l;
    ow_line_task *task;
    void *context;
    int direct_in, direct_out[OW_LINE_RESULTS];
    int64_t size, out_size[OW_LINE_RESULTS];
    ow_cast load, store[OW_LINE_RESULTS];
    atomic_int failed;
} line_run;

/* ---- the plan ----------------------------------------------------------------------------------------- */

/* 1 if the chosen dimensions are one in memory. Sets its length and stride (in elements). */
static int merge(const ow_tensor *self, uint64_t along, int64_t *length, int64_t *stride) {
    *length = 1;
    *stride = 1;
    for (int d = self->ndim - 1; d >= 0; d--) {
        if (!(along >> d & 1) || self->sizes[d] == 1) continue;
        if (*length == 1) *stride = self->strides[d];
        else if (self->strides[d] != *stride * *length) return 0;
        *length *= self->sizes[d];
    }
    return 1;
}

/* A contiguous copy in which the chosen dimensions come last. */
static ow_tensor *regroup(const ow_tensor *self, uint64_t along) {
    int64_t sizes[OW_MAX_DIMS], strides[OW_MAX_DIMS];
    int n = 0;
    for (int last = 0; last < 2; last++)
        for (int d = 0; d < self->ndim; d++)
            if ((int)(along >> d & 1) == last) {
                sizes[n] = self->sizes[d];
                strides[n++] = self->strides[d];
            }
    ow_tensor *view = ow_tensor_view(self->storage, self->data, self->dtype, n, sizes, strides);
    ow_tensor *copy = view ? ow_clone(view, self->dtype, 1) : NULL;
    ow_tensor_free(view);
    return copy;
}

int ow_lines_begin(ow_lines *l, ow_tensor *self, uint64_t along, int compute) {
    int64_t item = ow_itemsize(self->dtype);
    *l = (ow_lines){.self = self, .compute = compute, .number = 1};
    int whole = merge(self, along, &l->length, &l->stride);
    if (!whole && self->numel) {
        if (!(l->self = l->owned = regroup(self, along))) return 0;
    }
    if (!whole) {
        l->length = l->stride = 1;
        for (int d = 0; d < self->ndim; d++)
            if (along >> d & 1) l->length *= self->sizes[d];
    }
    l->stride *= item;
    int kept = 0;
    for (int d = 0; d < self->ndim; d++) kept += !(along >> d & 1);
    for (int d = self->ndim - 1; d >= 0; d--) {
        if (along >> d & 1) continue;
        kept--;
        l->number *= self->sizes[d];
        l->axes[l->naxes++] = (ow_axis){self->sizes[d], l->self->strides[l->owned ? kept : d] * item, 0};
    }
    return 1;
}

void ow_lines_add(ow_lines *l, int index, ow_tensor *out, int compute, int64_t dim) {
    int64_t item = ow_itemsize(out->dtype);
    int n = 0;
    l->out[index] = out;
    l->out_compute[index] = compute;
    l->out_stride[index] = out->ndim ? out->strides[dim] * item : item;
    for (int d = out->ndim - 1; d >= 0; d--)
        if (d != dim) l->out_axes[index][n++] = (ow_axis){out->sizes[d], out->strides[d] * item, 0};
}

void ow_lines_end(ow_lines *l) { ow_tensor_free(l->owned); }

/* ---- the run ------------------------------------------------------------------------------------------ */

static void gather_lines(const line_run *r, char *rows, int64_t k, int64_t count) {
    const ow_lines *l = r->l;
    int64_t row = l->length * r->size;
    if (l->self->dtype == l->compute && count > 1 && ow_lines_are_apart(l->axes, l->naxes, k, count, r->size)) {
        const char *x = l->self->data + ow_axes_offset(l->axes, l->naxes, k, NULL);
        ow_transpose(rows, row, x, l->stride, count, l->length, r->size);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        r->load(rows + i * row, r->size, l->self->data + ow_axes_offset(l->axes, l->naxes, k + i, NULL), l->stride, l->length);
}

static void scatter_lines(const line_run *r, int index, const char *rows, int64_t k, int64_t count) {
    const ow_lines *l = r->l;
    const ow_axis *axes = l->out_axes[index];
    ow_tensor *out = l->out[index];
    int64_t size = r->out_size[index], row = l->length * size;
    if (out->dtype == l->out_compute[index] && count > 1 && ow_lines_are_apart(axes, l->naxes, k, count, size)) {
        char *to = out->data + ow_axes_offset(axes, l->naxes, k, NULL);
        ow_transpose(to, l->out_stride[index], rows, row, l->length, count, size);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        r->store[index](out->data + ow_axes_offset(axes, l->naxes, k + i, NULL), l->out_stride[index], rows + i * row, size,
                        l->length);
}

/* Where the next part of a buffer begins: every part is aligned for elements of any dtype. */
static int64_t aligned(int64_t bytes) { return (bytes + 15) & ~(int64_t)15; }

static void run_lines(void *context, int64_t begin, int64_t end) {
    line_run *r = context;
    const ow_lines *l = r->l;
    int64_t in_bytes = l->length * r->size;
    int gathers = !r->direct_in;
    int64_t most = gathers && l->stride != ow_itemsize(l->self->dtype) && l->number > 1 ? SIDE_BY_SIDE : 1;
    int64_t result_at[OW_LINE_RESULTS], bytes = gathers ? aligned(most * in_bytes) : 0;
    for (int index = 0; index < OW_LINE_RESULTS; index++) {
        result_at[index] = bytes;
        if (l->out[index] && !r->direct_out[index]) bytes += aligned(most * l->length * r->out_size[index]);
    }
    char *buffer = bytes ? ow_alloc(bytes) : NULL;
    if (bytes && !buffer) {
        atomic_store(&r->failed, 1);
        return;
    }
    for (int64_t k = begin; k < end; k += most) {
        int64_t count = end - k < most ? end - k : most;
        char *rows = buffer, *results[OW_LINE_RESULTS];
        for (int index = 0; index < OW_LINE_RESULTS; index++)
            results[index] = l->out[index] && !r->direct_out[index] ? buffer + result_at[index] : NULL;
        if (gathers) gather_lines(r, rows, k, count);
        for (int64_t i = 0; i < count; i++) {
            const char *x = gathers ? rows + i * in_bytes : l->self->data + ow_axes_offset(l->axes, l->naxes, k + i, NULL);
            char *out[OW_LINE_RESULTS];
            for (int index = 0; index < OW_LINE_RESULTS; index++)
                out[index] = !l->out[index] ? NULL
                             : results[index]
                                 ? results[index] + i * l->length * r->out_size[index]
                                 : l->out[index]->data + ow_axes_offset(l->out_axes[index], l->naxes, k + i, NULL);
            r->task(r->context, k + i, x, out);
        }
        for (int index = 0; index < OW_LINE_RESULTS; index++)
            if (results[index]) scatter_lines(r, index, results[index], k, count);
    }
    if (buffer) ow_dealloc(buffer, bytes);
}

int ow_lines_run(const ow_lines *l, double cost, ow_line_task *task, void *context) {
    line_run r = {.l = l, .task = task, .context = context, .size = ow_itemsize(l->compute),
                  .load = ow_cast_loop(l->compute, l->self->dtype)};
    r.direct_in = l->self->dtype == l->compute && (l->stride == r.size || l->length == 1);
    for (int index = 0; index < OW_LINE_RESULTS; index++) {
        if (!l->out[index]) continue;
        int dtype = l->out[index]->dtype;
        r.out_size[index] = ow_itemsize(l->out_compute[index]);
        r.direct_out[index] = dtype == l->out_compute[index] && (l->out_stride[index] == r.out_size[index] || l->length == 1);
        r.store[index] = ow_cast_loop(dtype, l->out_compute[index]);
    }
    double work = (double)l->number * (double)(l->length + 8) * cost * (r.direct_in ? 1 : 4);
    int64_t grain = 1 + (int64_t)(16384 / ((double)(l->length + 8) * cost));
    if (grain < SIDE_BY_SIDE && l->number > 4 * SIDE_BY_SIDE) grain = SIDE_BY_SIDE;
    int done = ow_long_for(l->number, grain, work, run_lines, &r); /* a single line is divided by the task itself */
    if (r.failed) ow_fail(OW_OUT_OF_MEMORY, "no memory for lines of %lld elements", (long long)l->length);
    return done && !r.failed;
}

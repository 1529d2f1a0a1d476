/* Short lines, and lines that lie side by side: OW_COLUMNS of them at a time, an element of each beside one another.
 *
 * Where memory has them so they are taken from there; others are laid out in a buffer, and so are their results. */
#include <stdatomic.h>

#include "line_buffers.h"

typedef struct {
    const ow_lines *l;
    ow_column_task *task;
    void *context;
    int64_t size, out_size;
    ow_cast load, store;
    atomic_int failed;
} column_run;

int ow_columns_suit(const ow_lines *l) {
    int64_t size = ow_itemsize(l->self->dtype);
    if (l->length > OW_ROW_LEAF || l->number < OW_COLUMNS / 2) return 0;
    return l->length <= 16 * OW_COLUMNS || (l->naxes && l->axes[0].in == size && l->axes[0].size >= OW_COLUMNS);
}

/* Lays out `count` lines, the last of them once more in the place of those that are missing. */
static void lay_out(const column_run *r, char *columns, int64_t k, int64_t count) {
    const ow_lines *l = r->l;
    int64_t step = OW_COLUMNS * r->size;
    if (count == OW_COLUMNS && l->self->dtype == l->compute && l->stride == r->size &&
        ow_lines_are_apart(l->axes, l->naxes, k, count, l->axes[0].in)) {
        const char *x = l->self->data + ow_axes_offset(l->axes, l->naxes, k, NULL);
        ow_transpose(columns, step, x, l->axes[0].in, l->length, OW_COLUMNS, r->size);
        return;
    }
    for (int64_t j = 0; j < OW_COLUMNS; j++) {
        int64_t line = k + (j < count ? j : count - 1);
        r->load(columns + j * r->size, step, l->self->data + ow_axes_offset(l->axes, l->naxes, line, NULL), l->stride,
                l->length);
    }
}

static void put_back(const column_run *r, const char *columns, int64_t k, int64_t count) {
    const ow_lines *l = r->l;
    const ow_axis *axes = l->out_axes[0];
    int64_t step = OW_COLUMNS * r->out_size;
    char *to = l->out[0]->data;
    if (count == OW_COLUMNS && l->out[0]->dtype == l->out_compute[0] && l->out_stride[0] == r->out_size &&
        ow_lines_are_apart(axes, l->naxes, k, count, axes[0].in)) {
        ow_transpose(to + ow_axes_offset(axes, l->naxes, k, NULL), axes[0].in, columns, step, OW_COLUMNS, l->length,
                     r->out_size);
        return;
    }
    for (int64_t j = 0; j < count; j++)
        r->store(to + ow_axes_offset(axes, l->naxes, k + j, NULL), l->out_stride[0], columns + j * r->out_size, step,
                 l->length);
}

static void run_columns(void *context, int64_t begin, int64_t end) {
    column_run *r = context;
    const ow_lines *l = r->l;
    int64_t bytes = OW_COLUMNS * l->length * (r->size + r->out_size);
    char *buffer = ow_alloc(bytes);
    if (!buffer) {
        atomic_store(&r->failed, 1);
        return;
    }
    for (int64_t block = begin; block < end; block++) {
        int64_t k = block * OW_COLUMNS, count = l->number - k < OW_COLUMNS ? l->number - k : OW_COLUMNS;
        const char *x = buffer;
        char *columns = buffer + OW_COLUMNS * l->length * r->size, *out = columns;
        int64_t step = OW_COLUMNS * r->size, out_step = OW_COLUMNS * r->out_size;
        if (count == OW_COLUMNS && l->self->dtype == l->compute &&
            ow_lines_are_apart(l->axes, l->naxes, k, count, r->size)) {
            x = l->self->data + ow_axes_offset(l->axes, l->naxes, k, NULL);
            step = l->stride;
        } else {
            lay_out(r, buffer, k, count);
        }
        if (l->out[0] && count == OW_COLUMNS && l->out[0]->dtype == l->out_compute[0] &&
            ow_lines_are_apart(l->out_axes[0], l->naxes, k, count, r->out_size)) {
            out = l->out[0]->data + ow_axes_offset(l->out_axes[0], l->naxes, k, NULL);
            out_step = l->out_stride[0];
        }
        r->task(r->context, k, count, x, step, out, out_step);
        if (l->out[0] && out == columns) put_back(r, columns, k, count);
    }
    ow_dealloc(buffer, bytes);
}

int ow_columns_run(const ow_lines *l, double cost, ow_column_task *task, void *context) {
    column_run r = {.l = l, .task = task, .context = context, .size = ow_itemsize(l->compute),
                    .load = ow_cast_loop(l->compute, l->self->dtype)};
    if (l->out[0]) {
        r.out_size = ow_itemsize(l->out_compute[0]);
        r.store = ow_cast_loop(l->out[0]->dtype, l->out_compute[0]);
    }
    double each = (double)OW_COLUMNS * (double)(l->length + 8) * cost;
    int64_t blocks = (l->number + OW_COLUMNS - 1) / OW_COLUMNS;
    int done = ow_long_for(blocks, 1 + (int64_t)(16384 / each), each * (double)blocks, run_columns, &r);
    if (r.failed) ow_fail(OW_OUT_OF_MEMORY, "no memory for lines of %lld elements", (long long)l->length);
    return done && !r.failed;
}

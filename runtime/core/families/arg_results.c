/* Reductions and scans that also tell where the element stands that the result is.
 *
 * A reduction runs as if only the value was wanted; the first element that equals it is then searched. Both passes are
 * loops that vectorise, which one over pairs of value and position is not. */
#include <stdatomic.h>

#include "line_buffers.h"
#include "arg_results.h"
#include "plan.h"

#define COLUMNS OW_BLOCK
#define UNIT 65536
#define CHOICE 4.0 /* work of a scan for each element */

typedef struct {
    const ow_reduce_kernels *kernels;
    const ow_lines *lines;
    const ow_tensor *values;
    int64_t *index;
} search;

/* ---- lines -------------------------------------------------------------------------------------------- */

static void find_in_line(void *context, int64_t line, const char *x, char *const *out) {
    const search *s = context;
    _Alignas(16) char value[OW_MAX_ITEMSIZE];
    int64_t size = ow_itemsize(s->lines->compute);
    (void)out;
    ow_cast_loop(s->lines->compute, s->values->dtype)(value, 0, s->values->data + line * ow_itemsize(s->values->dtype), 0, 1);
    s->index[line] = s->kernels->find(x, size, s->lines->length, value);
}

/* One long line, whose units threads share. */
typedef struct {
    const search *s;
    const char *value;
    _Atomic int64_t first;
} long_line;

static void find_in_unit(void *context, int64_t begin, int64_t end) {
    long_line *l = context;
    const ow_lines *lines = l->s->lines;
    for (int64_t k = begin; k < end; k++) {
        int64_t n = lines->length - k * UNIT < UNIT ? lines->length - k * UNIT : UNIT;
        if (atomic_load(&l->first) < k * UNIT) return;
        int64_t at = l->s->kernels->find(lines->self->data + k * UNIT * lines->stride, lines->stride, n, l->value);
        int64_t index = k * UNIT + at, best = atomic_load(&l->first);
        while (at < n && index < best && !atomic_compare_exchange_weak(&l->first, &best, index));
    }
}

static int find_in_long_line(const search *s) {
    long_line l = {.s = s, .value = s->values->data, .first = s->lines->length};
    int done = ow_long_for((s->lines->length + UNIT - 1) / UNIT, 1, (double)s->lines->length, find_in_unit, &l);
    *s->index = l.first;
    return done;
}

/* ---- rows --------------------------------------------------------------------------------------------- */

/* Adjacent lines that run across the rows of memory: rows are compared with a row of values. */
static void match_columns(void *context, int64_t begin, int64_t end) {
    const search *s = context;
    const ow_lines *l = s->lines;
    int64_t across = l->axes[0].size, blocks = (across + COLUMNS - 1) / COLUMNS, item = ow_itemsize(l->compute);
    for (int64_t k = begin; k < end; k++) {
        int64_t column = k % blocks * COLUMNS, n = across - column < COLUMNS ? across - column : COLUMNS;
        int64_t line = k / blocks * across + column;
        const char *x = l->self->data + ow_axes_offset(l->axes, l->naxes, line, NULL);
        for (int64_t j = 0; j < n; j++) s->index[line + j] = -1;
        for (int64_t i = 0; i < l->length; i++)
            s->kernels->match(s->index + line, x + i * l->stride, n, s->values->data + line * item, i);
    }
}

static int find_all(search *s) {
    const ow_lines *l = s->lines;
    int64_t item = ow_itemsize(l->compute);
    int plain = l->self->dtype == l->compute;
    if (plain && l->number == 1 && l->length >= 2 * UNIT) return find_in_long_line(s);
    if (!plain || !l->naxes || l->axes[0].in != item || l->axes[0].size < 8 || l->stride == item)
        return ow_lines_run(l, 0.5, find_in_line, s);
    int64_t blocks = l->number / l->axes[0].size * ((l->axes[0].size + COLUMNS - 1) / COLUMNS);
    return ow_long_for(blocks, 1 + 16384 / (l->length * COLUMNS), (double)l->self->numel, match_columns, s);
}

static int find_positions(const ow_plan *plan) {
    const ow_reduce_table *table = plan->op->tables[ow_level];
    ow_lines lines = {0};
    search s = {&table->by[plan->compute], &lines, plan->results[0], (int64_t *)plan->results[1]->data};
    int done = ow_lines_begin(&lines, plan->inputs[0], plan->along, plan->compute) && find_all(&s);
    ow_lines_end(&lines);
    return done;
}

static int reduce_positions(const ow_op *op, ow_tensor *self, const int64_t *dims, int ndims, int all, int keepdim,
                            ow_tensor **results) {
    int compute = ow_compute_dtype[self->dtype];
    ow_tensor *values = ow_reduce(op, self, dims, ndims, all, keepdim, -1, NULL), *index = NULL;
    if (!values) return 0;
    uint64_t along;
    ow_read_dims(self, dims, ndims, all, &along); /* which went well just now */
    int done = (index = ow_tensor_new(OW_INT64, values->ndim, values->sizes, NULL)) != NULL;
    ow_tensor *both[] = {values, index};
    const ow_plan plan = {.op = op, .inputs = &self, .results = both, .nresults = 2, .compute = compute, .along = along};
    done = done && (!index->numel || ow_execute(&plan, find_positions));
    int position_only = op->results == OW_POSITION;
    if (position_only || !done) ow_tensor_free(values);
    if (!done) ow_tensor_free(index);
    results[0] = position_only ? index : values;
    results[1] = position_only ? NULL : index;
    return done;
}

/* ---- scans -------------------------------------------------------------------------------------------- */

typedef struct {
    const ow_scan_kernels *kernels;
    int64_t length, size;
} scan_lines;

typedef struct {
    const scan_lines *s;
    const char *x;
    char *out;
    int64_t *index;
} chosen_line;

/* Elements [begin, end) of a line; what was chosen before them stands in front of each chunk. */
static void choose_range(void *context, int64_t begin, int64_t end) {
    const chosen_line *c = context;
    int64_t size = c->s->size, index[OW_BLOCK + 1];
    _Alignas(64) char x[(OW_BLOCK + 1) * OW_MAX_ITEMSIZE], out[(OW_BLOCK + 1) * OW_MAX_ITEMSIZE];
    if (begin == 0) {
        c->s->kernels->choose(c->out, c->index, c->x, end);
        return;
    }
    for (int64_t done = begin; done < end; done += OW_BLOCK) {
        int64_t n = end - done < OW_BLOCK ? end - done : OW_BLOCK;
        memcpy(x, c->out + (done - 1) * size, (size_t)size);
        memcpy(x + size, c->x + done * size, (size_t)(n * size));
        c->s->kernels->choose(out, index, x, n + 1);
        memcpy(c->out + done * size, out + size, (size_t)(n * size));
        for (int64_t i = 0; i < n; i++) c->index[done + i] = index[i + 1] ? done - 1 + index[i + 1] : c->index[done - 1];
    }
}

static void choose_line(void *context, int64_t line, const char *x, char *const *out) {
    const scan_lines *s = context;
    chosen_line c = {s, x, out[0], (int64_t *)out[1]};
    (void)line;
    ow_serial_for(s->length, OW_BLOCK, CHOICE * (double)s->length, choose_range, &c);
}

static int choose_positions(const ow_plan *plan) {
    const ow_scan_table *table = plan->op->tables[ow_level];
    ow_lines lines;
    int dim = __builtin_ctzll(plan->along);
    if (!ow_lines_begin(&lines, plan->inputs[0], plan->along, plan->compute)) return 0;
    scan_lines s = {&table->by[plan->compute], lines.length, ow_itemsize(plan->compute)};
    ow_lines_add(&lines, 0, plan->results[0], plan->compute, dim);
    ow_lines_add(&lines, 1, plan->results[1], OW_INT64, dim);
    int done = ow_lines_run(&lines, CHOICE, choose_line, &s);
    ow_lines_end(&lines);
    return done;
}

static int scan_positions(const ow_op *op, ow_tensor *self, int64_t dim, ow_tensor **results) {
    int compute = ow_compute_dtype[self->dtype];
    const ow_scan_table *table = op->tables[ow_level];
    if (!ow_wrap_dim(&dim, self->ndim)) return 0;
    if (!(op->dtypes >> self->dtype & 1) || !table->by[compute].choose) {
        ow_fail(OW_NOT_IMPLEMENTED, "\"%s\" not implemented for '%s'", op->name, ow_dtype_scalar_names[self->dtype]);
        return 0;
    }
    results[0] = ow_tensor_new(self->dtype, self->ndim, self->sizes, NULL);
    results[1] = ow_tensor_new(OW_INT64, self->ndim, self->sizes, NULL);
    int done = results[0] && results[1];
    const ow_plan plan = {.op = op, .inputs = &self, .results = results, .nresults = 2, .compute = compute,
                          .along = (uint64_t)1 << dim};
    done = done && (!self->numel || ow_execute(&plan, choose_positions));
    for (int k = 0; k < 2 && !done; k++) ow_tensor_free(results[k]);
    return done;
}

int ow_multi(const ow_op *op, ow_tensor *self, const int64_t *dims, int ndims, int all, int keepdim, int dtype,
               ow_tensor *const *params, ow_tensor **results) {
    int has_positions = op->family == OW_ROWS || op->results & OW_POSITION;
    if (!has_positions || (op->family == OW_SCAN && ndims != 1)) {
        ow_fail(OW_TYPE_ERROR, "%s is not called in this way", op->name);
        return 0;
    }
    if (op->family == OW_REDUCE) return reduce_positions(op, self, dims, ndims, all, keepdim, results);
    if (op->family == OW_SCAN) return scan_positions(op, self, dims[0], results);
    return ow_rows(op, &self, dims, ndims, all, keepdim, dtype, params, results) != 0;
}

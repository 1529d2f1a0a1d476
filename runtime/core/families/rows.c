/* The driver of row operators: each row is reduced, several times where need be, while it is in the cache.
 *
 * A row is cut into leaves that join in a pairwise tree, and a long one into units that threads share. The cuts depend on
 * its length alone, so results never depend on the number of threads. */
#include <stdatomic.h>

#include "line_buffers.h"
#include "arg_results.h"
#include "reduce.h"

#define UNIT 65536 /* elements of a row that are worth a task of their own */

typedef struct {
    const ow_rows_kernels *kernels;
    const ow_scalar *params;
    ow_tensor *const *results; /* one element for each row; NULL where there is one for each element */
    int nresults, compute;
    int64_t length, size;
    double cost;
    atomic_int failed; /* to allocate */
} rows_call;

/* ---- one row ------------------------------------------------------------------------------------------ */

typedef struct {
    rows_call *call;
    const ow_row_context *row;
    const char *x;
    char *partials, *out;
    int stage;
} row_part;

/* n elements from position `at` on. */
static void reduce_unit(const row_part *p, int64_t at, int64_t n, char *acc) {
    const rows_call *c = p->call;
    const char *x = p->x + at * c->size;
    char *out = p->stage == c->kernels->keeps ? p->out + at * c->size : NULL;
    _Alignas(64) char parts[UNIT / OW_ROW_LEAF * OW_MAX_ITEMSIZE];
    int64_t m = 0;
    do {
        int64_t count = n < OW_ROW_LEAF ? n : OW_ROW_LEAF;
        c->kernels->leaf[p->stage](parts + m++ * c->size, x, out, count, p->row);
        x += count * c->size;
        if (out) out += count * c->size;
        n -= count;
    } while (n > 0);
    for (; m > 1; m = (m + 1) / 2)
        for (int64_t k = 0; k < m / 2; k++)
            c->kernels->merge[p->stage](parts + k * c->size, parts + (k + (m + 1) / 2) * c->size);
    memcpy(acc, parts, (size_t)c->size);
}

static void reduce_units(void *context, int64_t begin, int64_t end) {
    const row_part *p = context;
    int64_t size = p->call->size;
    for (int64_t k = begin; k < end; k++) {
        int64_t rest = p->call->length - k * UNIT;
        reduce_unit(p, k * UNIT, rest < UNIT ? rest : UNIT, p->partials + k * size);
    }
}

static void map_units(void *context, int64_t begin, int64_t end) {
    const row_part *p = context;
    int64_t size = p->call->size, last = end * UNIT < p->call->length ? end * UNIT : p->call->length;
    p->call->kernels->map(p->out + begin * UNIT * size, p->x + begin * UNIT * size, last - begin * UNIT, p->row);
}

static void reduce_row(row_part *p, char *acc) {
    rows_call *c = p->call;
    int64_t units = (c->length + UNIT - 1) / UNIT;
    if (units <= 1) {
        reduce_unit(p, 0, c->length, acc);
        return;
    }
    _Alignas(16) char few[64 * OW_MAX_ITEMSIZE];
    p->partials = units <= 64 ? few : ow_alloc(units * c->size);
    if (!p->partials) {
        atomic_store(&c->failed, 1);
        return;
    }
    ow_parallel_for(units, 1, (double)c->length * c->cost, reduce_units, p);
    for (int64_t m = units; m > 1; m = (m + 1) / 2)
        for (int64_t k = 0; k < m / 2; k++)
            c->kernels->merge[p->stage](p->partials + k * c->size, p->partials + (k + (m + 1) / 2) * c->size);
    memcpy(acc, p->partials, (size_t)c->size);
    if (p->partials != few) ow_dealloc(p->partials, units * c->size);
}

static void run_row(void *context, int64_t line, const char *x, char *const *out) {
    rows_call *c = context;
    _Alignas(16) char lets[OW_MAX_STAGES * OW_MAX_ITEMSIZE], results[OW_MAX_RESULTS * OW_MAX_ITEMSIZE];
    ow_row_context row = {lets, c->params, c->length};
    row_part p = {.call = c, .row = &row, .x = x, .out = out[0]};
    for (p.stage = 0; p.stage < c->kernels->stages; p.stage++) reduce_row(&p, lets + p.stage * c->size);
    if (c->kernels->map) {
        ow_parallel_for((c->length + UNIT - 1) / UNIT, 1, (double)c->length * c->cost, map_units, &p);
        return;
    }
    c->kernels->finish(results, &row);
    for (int k = 0; k < c->nresults; k++) {
        const ow_tensor *to = c->results[k];
        ow_cast_loop(to->dtype, c->compute)(to->data + line * ow_itemsize(to->dtype), 0, results + k * c->size, 0, 1);
    }
}

/* ---- several rows side by side ------------------------------------------------------------------------- */

static void run_rows(void *context, int64_t line, int64_t count, const char *x, int64_t step, char *out, int64_t out_step) {
    const rows_call *c = context;
    _Alignas(64) char results[OW_MAX_RESULTS * OW_COLUMNS * OW_MAX_ITEMSIZE];
    ow_row_context row = {NULL, c->params, c->length};
    c->kernels->columns(c->kernels->map ? out : results, out_step, x, step, c->length, &row);
    for (int k = 0; k < c->nresults && !c->kernels->map; k++) {
        const ow_tensor *to = c->results[k];
        int64_t item = ow_itemsize(to->dtype);
        ow_cast_loop(to->dtype, c->compute)(to->data + line * item, item, results + k * OW_COLUMNS * c->size, c->size,
                                            count);
    }
}

/* ---- the call ----------------------------------------------------------------------------------------- */

static int result_dtype(const ow_op *op, const ow_tensor *self, int dtype) {
    int result = dtype >= 0 ? dtype : self->dtype;
    if (dtype < 0 && op->promotion == OW_PROMOTE_INT_TO_FLOAT && ow_dtype_kinds[result] < OW_KIND_FLOATING)
        result = ow_default_dtype;
    if (op->dtypes >> result & 1) return result;
    ow_refuse_dtype(op, "", result);
    return -1;
}

int ow_rows(const ow_op *op, ow_tensor *self, uint64_t along, int keepdim, int dtype, ow_tensor *const *params,
            ow_tensor **results) {
    const ow_rows_table *table = op->tables[ow_level];
    int result = result_dtype(op, self, dtype), n = 0;
    if (result < 0) return 0;
    rows_call c = {.compute = ow_compute_dtype[result], .nresults = op->results, .results = results, .cost = op->cost};
    c.kernels = &table->by[c.compute];
    c.size = ow_itemsize(c.compute);
    ow_scalar values[OW_MAX_PARAMS];
    for (int k = 0; k < op->nparams; k++) {
        values[k].d = op->defaults[k];
        if (params[k] && !ow_load_op_param(op, k, params[k], c.compute, &values[k])) return 0;
    }
    c.params = values;
    int64_t shape[OW_MAX_DIMS];
    for (int d = 0; d < self->ndim; d++)
        if (c.kernels->map || !(along >> d & 1)) shape[n++] = self->sizes[d];
        else if (keepdim) shape[n++] = 1;
    ow_lines lines;
    if (!ow_lines_begin(&lines, self, along, c.compute)) return 0;
    int done = 1;
    for (int k = 0; k < op->results; k++) done = done && (results[k] = ow_tensor_new(result, n, shape, NULL));
    c.length = lines.length;
    if (done && c.kernels->map) {
        int64_t dim = 0;
        while (dim + 1 < self->ndim && !(along >> dim & 1)) dim++;
        ow_lines_add(&lines, 0, results[0], c.compute, dim);
    }
    double cost = op->cost * c.kernels->stages;
    if (done && results[0]->numel && !ow_infers())
        done = ow_columns_suit(&lines) ? ow_columns_run(&lines, cost, run_rows, &c) : ow_lines_run(&lines, cost, run_row, &c);
    if (done && c.failed) {
        ow_fail(OW_OUT_OF_MEMORY, "no memory to reduce rows of %lld elements", (long long)c.length);
        done = 0;
    }
    ow_lines_end(&lines);
    done = done && ow_rescale(op, self, results, along, keepdim, values);
    for (int k = 0; k < op->results && !done; k++) ow_tensor_free(results[k]);
    return done;
}

/* The driver of row operators: each row is reduced, in several passes where need be, while it is in the cache.
 *
 * A row is cut into parts that join in a pairwise tree, and a long one into units that threads share. Sums over all rows are
 * those of chunks of rows, which are summed in their order. The cuts depend on sizes and layouts alone, so results never depend
 * on the number of threads. */
#include <stdatomic.h>

#include "arg_results.h"
#include "elementwise.h"
#include "plan.h"
#include "reduce.h"
#include "row_lines.h"

#define UNIT 65536 /* elements of a row that are worth a task of their own */
#define CHUNKS 64  /* of rows, at most, whose sums are kept apart */
#define CHUNK 16384 /* elements of a chunk, at least */
#define LEAST 32 /* elements of a row, those of all its inputs, that are quicker where they lie than side by side */
#define LEAST_OF_FUNCTIONS 64 /* the same where each element takes a function */
#define FUNCTION 4 /* cost of one */
#define TOGETHER 256 /* elements of rows, at most, of which several stay in the level-1 cache */
#define LEVELS 10  /* of the tree of a unit's parts */

typedef struct {
    const ow_op *op;
    const ow_row_kernels *kernels;
    const ow_row_functions *functions;
    ow_scalar params[OW_MAX_PARAMS];
    ow_row_lines lines;
    int64_t width, size; /* rows side by side, bytes of an element that is computed */
    int compute, nelements, nresults, nsums;
    int in_place;   /* do rows lie in memory as kernels take them, and are they computed there? */
    ow_tensor *results[OW_MAX_OUTPUTS]; /* of each row */
    char *sums;                         /* of all rows of a chunk, for each place; those of a result follow each other */
    int64_t per_chunk;                  /* rows */
    double cost;
    ow_tensor *const *operands, *const *sums_of; /* what the lines go through, and the results that are sums of rows */
    int ndim, keepdim;
    const int64_t *shape;
    atomic_int failed; /* to allocate */
} rows_call;

/* ---- some rows ---------------------------------------------------------------------------------------- */

typedef struct {
    rows_call *call;
    const ow_row_state *row;
    ow_row_view *view;
    int64_t line, count;
    char *partials, *sums;
    int pass; /* the number of passes: elements of results */
} row_task;

static int first_output(const rows_call *c) { return c->lines.noperands - c->nelements; }

/* Elements [begin, end), reduced to the values of a pass; parts join as a counter in base 2 carries. */
static void reduce_range(const row_task *t, ow_row_view *v, int64_t begin, int64_t end, char *acc) {
    const rows_call *c = t->call;
    ow_row_merge *merge = c->functions->merge[t->pass];
    int64_t nbytes = c->kernels->number[t->pass] * c->width * c->size, parts = 0;
    int out = first_output(c), keeps = t->pass == c->kernels->keeps;
    _Alignas(64) char levels[LEVELS][OW_ROW_PASSES * OW_ROW_WIDTH * OW_MAX_ITEMSIZE];
    do {
        int64_t n = ow_row_part(&c->lines, begin, end - begin);
        ow_row_view_part(v, begin, n, c->kernels->reads[t->pass]);
        c->functions->leaf[t->pass](acc, v->x, v->step, keeps ? v->x[out] : NULL, keeps ? v->step[out] : 0, n, t->row);
        int level = 0;
        for (; parts >> level & 1; level++) {
            merge(levels[level], acc);
            memcpy(acc, levels[level], (size_t)nbytes);
        }
        begin += n;
        parts++;
        if (begin < end || parts > 1) memcpy(levels[level], acc, (size_t)nbytes);
    } while (begin < end);
    if (parts < 2) return;
    int level = 0;
    while (!(parts >> level & 1)) level++;
    memcpy(acc, levels[level], (size_t)nbytes);
    while (parts >> ++level)
        if (parts >> level & 1) {
            merge(levels[level], acc);
            memcpy(acc, levels[level], (size_t)nbytes);
        }
}

/* Elements of results from `at` on, piece by piece: `from` and `to` are the operands and the results there. `v` is NULL where
 * rows lie in memory as kernels take them, and `at` is 0. */
static void map_pieces(const rows_call *c, ow_row_view *v, char *const *from, const int64_t *step, char *const *to,
                       const int64_t *to_step, int64_t at, int64_t n, const ow_row_state *row) {
    char *x[OW_MAX_OPERANDS], *out[OW_MAX_OUTPUTS];
    memcpy(x, from, (size_t)c->lines.noperands * sizeof *x);
    memcpy(out, to, (size_t)(c->nelements + c->nsums) * sizeof *out);
    int64_t index = at / c->lines.piece, left = c->lines.piece - at % c->lines.piece;
    for (int64_t some; n > 0; n -= some, left = c->lines.piece) {
        some = left < n ? left : n;
        if (v) ow_row_view_piece(v, index++, x);
        else ow_row_lines_piece(&c->lines, index++, from, x);
        c->functions->map(out, to_step, x, step, some, row);
        for (int k = 0; k < c->lines.noperands; k++) x[k] += some * step[k];
        for (int k = 0; k < c->nelements + c->nsums; k++) out[k] += some * to_step[k];
    }
}

static void map_range(const row_task *t, ow_row_view *v, int64_t begin, int64_t end) {
    const rows_call *c = t->call;
    char *out[OW_MAX_OUTPUTS];
    int64_t step[OW_MAX_OUTPUTS], first = first_output(c);
    for (int64_t n; begin < end; begin += n) {
        n = ow_row_part(&c->lines, begin, end - begin);
        ow_row_view_part(v, begin, n, c->kernels->reads[c->kernels->passes]);
        for (int k = 0; k < c->nelements; k++) out[k] = v->x[first + k], step[k] = v->step[first + k];
        for (int k = 0; k < c->nsums; k++) {
            out[c->nelements + k] = t->sums + (k * c->lines.length + begin) * c->size;
            step[c->nelements + k] = c->size;
        }
        if (c->lines.piece < c->lines.length) map_pieces(c, v, v->x, v->step, out, step, begin, n, t->row);
        else c->functions->map(out, step, v->x, v->step, n, t->row);
        ow_row_view_store(v, begin, n);
    }
}

static void run_units(void *context, int64_t begin, int64_t end) {
    const row_task *t = context;
    rows_call *c = t->call;
    ow_row_view v;
    if (!ow_row_view_begin(&v, &c->lines, c->width, 0)) {
        atomic_store(&c->failed, 1);
        return;
    }
    v.whole = t->view->whole; /* which all units share */
    for (int k = 0; k < c->lines.noperands; k++)
        if (v.whole >> k & 1) v.buffer[k] = t->view->buffer[k];
    ow_row_view_rows(&v, t->line, t->count);
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t from = unit * UNIT, to = from + UNIT < c->lines.length ? from + UNIT : c->lines.length;
        if (t->pass == c->kernels->passes) map_range(t, &v, from, to);
        else reduce_range(t, &v, from, to, t->partials + unit * c->kernels->number[t->pass] * c->width * c->size);
    }
    ow_row_view_end(&v);
}

static void reduce_rows(row_task *t, char *acc) {
    rows_call *c = t->call;
    int64_t length = c->lines.length, units = (length + UNIT - 1) / UNIT;
    int64_t nbytes = c->kernels->number[t->pass] * c->width * c->size;
    if (units <= 1) {
        reduce_range(t, t->view, 0, length, acc);
        return;
    }
    if (!(t->partials = ow_alloc(units * nbytes))) {
        atomic_store(&c->failed, 1);
        return;
    }
    ow_parallel_for(units, 1, (double)length * (double)c->width * c->cost, run_units, t);
    for (int64_t m = units; m > 1; m = (m + 1) / 2)
        for (int64_t k = 0; k < m / 2; k++)
            c->functions->merge[t->pass](t->partials + k * nbytes, t->partials + (k + (m + 1) / 2) * nbytes);
    memcpy(acc, t->partials, (size_t)nbytes);
    ow_dealloc(t->partials, units * nbytes);
}

static void run_rows(rows_call *c, ow_row_view *v, int64_t line, int64_t count, char *sums) {
    _Alignas(64) char lets[OW_ROW_LETS * OW_ROW_WIDTH * OW_MAX_ITEMSIZE];
    _Alignas(64) char acc[OW_ROW_PASSES * OW_ROW_WIDTH * OW_MAX_ITEMSIZE];
    _Alignas(64) char results[OW_MAX_OUTPUTS * OW_ROW_WIDTH * OW_MAX_ITEMSIZE];
    ow_row_state row = {lets, c->params, c->lines.length};
    row_task t = {.call = c, .row = &row, .view = v, .line = line, .count = count, .sums = sums};
    int64_t item = c->width * c->size;
    ow_row_view_rows(v, line, count);
    for (;; t.pass++) {
        if (c->functions->values[t.pass]) c->functions->values[t.pass](lets, v->x, &row);
        if (t.pass == c->kernels->passes) break;
        reduce_rows(&t, acc);
        memcpy(lets + c->kernels->first[t.pass] * item, acc, (size_t)(c->kernels->number[t.pass] * item));
    }
    if (c->functions->map && c->lines.length <= UNIT) map_range(&t, v, 0, c->lines.length);
    else if (c->functions->map)
        ow_parallel_for((c->lines.length + UNIT - 1) / UNIT, 1, (double)c->lines.length * (double)c->width * c->cost, run_units, &t);
    if (!c->functions->finish) return;
    c->functions->finish(results, v->x, &row);
    for (int k = 0; k < c->nresults; k++) {
        const ow_tensor *to = c->results[k];
        int64_t size = ow_itemsize(to->dtype);
        ow_cast_loop(to->dtype, c->compute)(to->data + line * size, size, results + k * item, c->size, count);
    }
}

/* The same of n rows that lie in memory as kernels take them, for each of which nothing needs to be arranged. Short ones take
 * each step together, so that none waits for the sums of its own row. Kernels of one row read no steps. */
static void run_rows_in_place(const rows_call *c, int64_t line, int64_t n, char *sums) {
    enum { LETS = OW_ROW_LETS * OW_MAX_ITEMSIZE + 64 }; /* rows are no power of two apart: their stores would collide */
    _Alignas(64) char lets[OW_ROW_WIDTH * LETS];
    _Alignas(64) char results[OW_ROW_WIDTH * OW_MAX_OUTPUTS * OW_MAX_ITEMSIZE];
    const ow_row_functions *f = c->functions;
    const int passes = c->kernels->passes, noperands = c->lines.noperands, first = first_output(c);
    const int64_t length = c->lines.length, of_row = c->nresults * c->size, most = length <= TOGETHER ? OW_ROW_WIDTH : 1;
    char *x[OW_ROW_WIDTH][OW_MAX_OPERANDS], *out[OW_MAX_OUTPUTS];
    int64_t step[OW_MAX_OPERANDS], out_step[OW_MAX_OUTPUTS];
    for (int k = 0; k < noperands; k++) step[k] = c->lines.per_row >> k & 1 ? 0 : c->lines.operands[k].item;
    for (int k = 0; k < c->nelements + c->nsums; k++) out_step[k] = c->size;
    ow_row_state row[OW_ROW_WIDTH];
    for (int64_t i = 0; i < most; i++) row[i] = (ow_row_state){lets + i * LETS, c->params, length};
    for (int k = 0; k < c->nsums; k++) out[c->nelements + k] = sums + k * length * c->size;
    for (int64_t done = 0, left = 0, some; done < n; done += some) {
        some = n - done < most ? n - done : most;
        for (int64_t i = 0; i < some; i++, left--) {
            if (!left) left = ow_row_lines_at(&c->lines, line + done + i, x[i]);
            else
                for (int k = 0; k < noperands; k++) x[i][k] = x[i ? i - 1 : most - 1][k] + c->lines.operands[k].apart[0];
        }
        for (int pass = 0;; pass++) {
            for (int64_t i = 0; i < some && f->values[pass]; i++) f->values[pass](lets + i * LETS, x[i], &row[i]);
            if (pass == passes) break;
            for (int64_t i = 0; i < some; i++) {
                char *kept = pass == c->kernels->keeps ? x[i][first] : NULL;
                f->leaf[pass](lets + i * LETS + c->kernels->first[pass] * c->size, x[i], NULL, kept, 0, length, &row[i]);
            }
        }
        for (int64_t i = 0; i < some && f->map; i++) {
            memcpy(out, x[i] + first, (size_t)c->nelements * sizeof *out);
            if (c->lines.piece < length) map_pieces(c, NULL, x[i], step, out, out_step, 0, length, &row[i]);
            else f->map(out, NULL, x[i], NULL, length, &row[i]);
        }
        for (int64_t i = 0; i < some && f->finish; i++) f->finish(results + i * of_row, x[i], &row[i]);
        for (int k = 0; k < c->nresults; k++) {
            const ow_tensor *to = c->results[k];
            int64_t size = ow_itemsize(to->dtype);
            ow_cast_loop(to->dtype, c->compute)(to->data + (line + done) * size, size, results + k * c->size, of_row, some);
        }
    }
}

/* ---- all rows ----------------------------------------------------------------------------------------- */

/* Where the sums of a chunk are added up, which are zero at first; NULL: there are none. */
static char *sums_of(const rows_call *c, int64_t chunk) {
    int64_t nbytes = c->nsums * c->lines.length * c->size;
    return c->sums ? memset(c->sums + chunk * nbytes, 0, (size_t)nbytes) : NULL;
}

static void run_tasks_in_place(void *context, int64_t begin, int64_t end) {
    const rows_call *c = context;
    int64_t some = c->nsums ? 1 : end - begin;
    for (int64_t task = begin; task < end; task += some) {
        int64_t line = task * c->per_chunk, rest = c->lines.number - line;
        run_rows_in_place(c, line, rest < some * c->per_chunk ? rest : some * c->per_chunk, sums_of(c, task));
    }
}

/* A task is `width` rows, or a chunk of them. */
static void run_tasks(void *context, int64_t begin, int64_t end) {
    rows_call *c = context;
    ow_row_view v;
    int is_long = c->lines.length > OW_ROW_PART || c->lines.cut;
    uint32_t whole = c->kernels->keeps >= 0 && is_long ? (uint32_t)1 << first_output(c) : 0;
    if (whole && c->width == 1) {
        const ow_row_operand *o = &c->lines.operands[first_output(c)];
        if (!o->converts && o->is_linear && o->along[0] == o->item) whole = 0;
    }
    if (!ow_row_view_begin(&v, &c->lines, c->width, whole)) {
        atomic_store(&c->failed, 1);
        return;
    }
    for (int64_t task = begin; task < end; task++) {
        int64_t line = task * c->per_chunk, rest = c->lines.number - line;
        int64_t n = rest < c->per_chunk ? rest : c->per_chunk;
        char *sums = sums_of(c, task);
        for (int64_t i = 0; i < n; i += c->width)
            run_rows(c, &v, line + i, n - i < c->width ? n - i : c->width, sums);
    }
    ow_row_view_end(&v);
}

typedef struct {
    const rows_call *call;
    ow_tensor *const *to;
    int64_t chunks;
} sums_task;

/* Places [begin, end) of the sums over all rows, those of several results one after the other. */
static void join_sums(void *context, int64_t begin, int64_t end) {
    const sums_task *t = context;
    const rows_call *c = t->call;
    int64_t all = c->nsums * c->lines.length;
    for (int64_t at = begin, n; at < end; at += n) {
        double sums[OW_BLOCK] = {0}, part[OW_BLOCK];
        int64_t place = at % c->lines.length, left = c->lines.length - place;
        n = end - at < OW_BLOCK ? end - at : OW_BLOCK;
        if (n > left) n = left;
        for (int64_t chunk = 0; chunk < t->chunks; chunk++) {
            ow_cast_loop(OW_FLOAT64, c->compute)((char *)part, sizeof *part, c->sums + (chunk * all + at) * c->size, c->size, n);
            for (int64_t i = 0; i < n; i++) sums[i] += part[i];
        }
        const ow_tensor *to = t->to[at / c->lines.length];
        int64_t item = ow_itemsize(to->dtype);
        ow_cast_loop(to->dtype, OW_FLOAT64)(to->data + place * item, item, (const char *)sums, sizeof *sums, n);
    }
}

/* Are rows quicker where they lie? Side by side the elements of all inputs are moved, those of places for every row. */
static int is_in_place(const rows_call *c) {
    int64_t inputs = 0;
    for (int k = 0; k < first_output(c); k++) inputs += !(c->lines.per_row >> k & 1);
    return c->lines.length * inputs >= (c->op->cost < FUNCTION ? LEAST : LEAST_OF_FUNCTIONS);
}

static int run(rows_call *c, ow_tensor *const *sums) {
    int64_t length = c->lines.length, number = c->lines.number;
    int suits = !c->nsums && ow_row_lines_suit(&c->lines);
    c->in_place = ow_row_lines_lie_as_taken(&c->lines) && (!suits || is_in_place(c));
    c->width = suits && !c->in_place ? OW_ROW_WIDTH : 1;
    c->functions = c->width > 1 ? &c->kernels->several : &c->kernels->one;
    c->per_chunk = c->width;
    if (c->nsums) {
        int64_t least = (number + CHUNKS - 1) / CHUNKS, worth = CHUNK / (length + 1);
        c->per_chunk = least > worth ? least : worth;
        c->per_chunk += !c->per_chunk;
    }
    int64_t tasks = (number + c->per_chunk - 1) / c->per_chunk, nbytes = tasks * c->nsums * length * c->size;
    if (nbytes && !(c->sums = ow_alloc(nbytes))) {
        ow_fail(OW_OUT_OF_MEMORY, "no memory for sums of rows");
        return 0;
    }
    int copies = 0;
    for (int k = 0; k < c->lines.noperands; k++) copies |= c->lines.operands[k].converts;
    double each = (double)c->per_chunk * (double)(length + 8) * c->cost;
    int done = ow_long_for(tasks, 1 + (int64_t)(16384 / each), each * (double)tasks * (copies ? 4 : 1),
                           c->in_place ? run_tasks_in_place : run_tasks, c);
    sums_task t = {c, sums, tasks};
    if (done && c->nsums && length) done = ow_long_for(c->nsums * length, OW_BLOCK, (double)nbytes, join_sums, &t);
    if (c->sums) ow_dealloc(c->sums, nbytes);
    if (c->failed) ow_fail(OW_OUT_OF_MEMORY, "no memory for rows of %lld elements", (long long)length);
    return done && !c->failed;
}

/* ---- the call ----------------------------------------------------------------------------------------- */

/* The dtype of results, by what the inputs promote to or by what was asked for; -1 with the error set. */
static int promoted(const ow_op *op, ow_tensor *const *inputs, int dtype) {
    int result = dtype >= 0 ? dtype : inputs[0]->dtype;
    if (op->ninputs > 1) return ow_check_operands(op, inputs) && ow_promote_operands(op, inputs, &result) ? result : -1;
    if (dtype < 0 && op->promotion == OW_PROMOTE_INT_TO_FLOAT && ow_dtype_kinds[result] < OW_KIND_FLOATING)
        result = ow_default_dtype;
    if (op->dtypes >> result & 1) return result;
    ow_refuse_dtype(op, "", result);
    return -1;
}

static int compute(const ow_plan *plan) {
    rows_call *c = plan->details;
    ow_row_lines_arrange(&c->lines, c->operands, c->ndim, c->shape, plan->along);
    return run(c, c->sums_of) && ow_rescale(plan->op, plan->inputs[0], plan->results, plan->along, c->keepdim, c->params);
}

/* Tensors of which each row, or each place in all rows, has one element have no other dimensions. */
static int check_extents(const ow_op *op, const ow_row_table *table, ow_tensor *const *inputs, int ndim, uint64_t along) {
    for (int k = 0; k < op->ninputs; k++) {
        int per_row = table->per_row >> k & 1, per_place = table->per_place >> k & 1;
        for (int d = 0; (per_row || per_place) && d < inputs[k]->ndim; d++) {
            int64_t size = inputs[k]->sizes[d];
            int is_along = along >> (ndim - inputs[k]->ndim + d) & 1;
            if (size == 1 || is_along != per_row) continue;
            ow_fail(OW_RUNTIME_ERROR, "%s(): argument %d has one element for each %s, so its size at dimension %d must be 1, "
                    "not %lld", op->name, k + 1, per_row ? "row" : "place in a row", d, (long long)size);
            return 0;
        }
    }
    return 1;
}

int ow_rows(const ow_op *op, ow_tensor *const *inputs, const int64_t *dims, int ndims, int all, int keepdim, int dtype,
            ow_tensor *const *params, ow_tensor **results) {
    const ow_row_table *table = op->tables[ow_level];
    int64_t shape[OW_MAX_DIMS], of_rows[OW_MAX_DIMS], of_places[OW_MAX_DIMS];
    int nrows = 0, nplaces = 0, ndim = ow_broadcast_shape(inputs, op->ninputs, shape), result = promoted(op, inputs, dtype);
    uint64_t along;
    ow_tensor whole = *inputs[0];
    whole.ndim = ndim;
    if (result < 0 || ndim < 0 || !ow_read_dims(&whole, dims, ndims, all, &along)) return 0;
    if (!check_extents(op, table, inputs, ndim, along)) return 0;
    rows_call c = {.op = op, .compute = ow_compute_dtype[result]};
    c.kernels = &table->by[c.compute];
    c.size = ow_itemsize(c.compute);
    c.cost = op->cost * (c.kernels->passes + (c.kernels->one.map != NULL));
    c.lines.per_row = table->per_row | table->per_piece;
    c.lines.per_piece = table->per_piece;
    if (!ow_load_all_params(op, params, c.compute, c.params)) return 0;
    for (int d = 0; d < ndim; d++) {
        if (!(along >> d & 1)) of_rows[nrows++] = shape[d];
        else if (keepdim) of_rows[nrows++] = 1;
        if (along >> d & 1) of_places[nplaces++] = shape[d];
    }
    ow_tensor *operands[OW_MAX_OPERANDS], *sums[OW_MAX_OUTPUTS];
    for (int k = 0; k < op->ninputs; k++) {
        operands[k] = inputs[k];
        ow_row_operand_add(&c.lines, inputs[k], op->fixed[k] == OW_PROMOTED ? c.compute : op->fixed[k], 0);
    }
    /* Normalized images, which have statistics beside them, keep their channels last. Results that are nothing but elements,
     * as those of a softmax, are in C order, as torch's are. */
    int64_t strides[OW_MAX_DIMS], *order = NULL;
    int channels_last = !(inputs[0]->flags & OW_CONTIGUOUS) && ow_suggested_order(inputs[0]) != OW_C_ORDER;
    if (channels_last && op->results > 1 && ow_has_shape(inputs[0], ndim, shape))
        ow_channels_last_strides(ndim, shape, order = strides);
    int made = 0, is_empty = 1;
    for (; made < op->results; made++) {
        int own = op->own[made] ? op->own[made] - 1 : result, kind = table->kinds[made];
        const int64_t *sizes = kind == OW_ROW_ELEMENT ? shape : kind == OW_ROW_RESULT ? of_rows : of_places;
        ow_tensor *t = results[made] = ow_tensor_new(own, kind == OW_ROW_ELEMENT ? ndim : kind == OW_ROW_RESULT ? nrows : nplaces,
                                                     sizes, kind == OW_ROW_ELEMENT ? order : NULL);
        if (!t) break;
        is_empty &= !t->numel;
        if (kind == OW_ROW_SUM) sums[c.nsums++] = t;
        else if (kind == OW_ROW_RESULT) c.results[c.nresults++] = t;
        else {
            operands[c.lines.noperands] = t;
            ow_row_operand_add(&c.lines, t, c.compute, 1);
            c.nelements++;
        }
    }
    c.operands = operands;
    c.sums_of = sums;
    c.ndim = ndim;
    c.shape = shape;
    c.keepdim = keepdim;
    const ow_plan plan = {.op = op, .inputs = inputs, .results = results, .nresults = made, .compute = c.compute,
                          .params = c.params, .along = along, .details = &c};
    int done = made == op->results && (is_empty || ow_execute(&plan, compute));
    for (int k = 0; k < made && !done; k++) ow_tensor_free(results[k]);
    return done ? made : 0;
}

/* The driver of folds: lines of all inputs, broadcast together, run through a state of several values.
 *
 * A kernel computes OW_FOLD_LANES lines side by side. Those of a scan, and of a reduction across the rows of memory, are
 * adjacent lines, copied side by side where they do not lie so. A reduction whose lines lie in rows takes as many elements of
 * one line at a time and joins these lanes at its end. Lines are cut into units that threads share, by their length alone, so
 * results do not depend on the number of threads. */
#include <stdlib.h>

#include "elementwise.h"
#include "fold.h"
#include "iterate.h"

#define LANES OW_FOLD_LANES
#define STEPS 32   /* elements of each lane that are copied at a time */
#define UNIT 65536 /* elements of a line that are worth a task of their own */
#define CHUNK (LANES * STEPS)

typedef struct {
    int64_t size;
    int64_t stride[OW_MAX_OPERANDS]; /* bytes; 0 where the operand is the same */
} fold_axis;

typedef struct {
    const ow_op *op;
    const ow_fold_kernels *kernels;
    ow_scalar params[OW_MAX_PARAMS];
    int nresults, noperands; /* results come first */
    int is_scan, within;     /* `within`: the lanes are elements of one line */
    char *data[OW_MAX_OPERANDS];
    int64_t itemsize[OW_MAX_OPERANDS]; /* in the kernel */
    ow_cast cast[OW_MAX_OPERANDS];     /* between memory and the kernel; NULL: none is needed */
    ow_cast move[OW_MAX_OPERANDS];     /* the same, or a copy */
    fold_axis line;
    int naxes;
    fold_axis axes[OW_MAX_DIMS]; /* the other dimensions, fastest first */
    int64_t number, units;
    char *states; /* of all units of all lines, where lines have several; else NULL */
} fold;

/* ---- lanes -------------------------------------------------------------------------------------------- */

/* Where operand k of line `index` begins. */
static char *line_of(const fold *f, int k, int64_t index) {
    char *at = f->data[k];
    for (int d = 0; d < f->naxes && index; d++) {
        at += index % f->axes[d].size * f->axes[d].stride[k];
        index /= f->axes[d].size;
    }
    return at;
}

typedef struct {
    const fold *f;
    int64_t lanes;
    char *base[OW_MAX_OPERANDS][LANES];
    int64_t apart[OW_MAX_OPERANDS]; /* bytes between lanes; -1: it varies */
} lane_group;

static void find_lanes(lane_group *g, int64_t first) {
    const fold *f = g->f;
    for (int k = 0; k < f->noperands; k++) {
        for (int64_t j = 0; j < g->lanes; j++) g->base[k][j] = line_of(f, k, first + j);
        g->apart[k] = g->lanes > 1 ? g->base[k][1] - g->base[k][0] : f->itemsize[k];
        for (int64_t j = 1; j < g->lanes; j++)
            if (g->base[k][j] - g->base[k][j - 1] != g->apart[k]) g->apart[k] = -1;
    }
}

static int is_direct(const lane_group *g, int k) { return !g->f->cast[k] && g->apart[k] == g->f->itemsize[k]; }

/* n elements from `begin` on of all lanes of an input, side by side; or of a result, the way back. */
static void move_lanes(const lane_group *g, int k, char *buffer, int64_t begin, int64_t n) {
    const fold *f = g->f;
    int64_t item = f->itemsize[k], along = f->line.stride[k], row = LANES * item;
    int writes = k < f->nresults, is_dense = !f->cast[k] && along == item && g->apart[k] > 0 && g->lanes > 1;
    char *first = g->base[k][0] + begin * along;
    if (is_dense && writes) {
        ow_transpose(first, g->apart[k], buffer, row, g->lanes, n, item);
    } else if (is_dense) {
        ow_transpose(buffer, row, first, g->apart[k], n, g->lanes, item);
    } else {
        for (int64_t j = 0; j < g->lanes; j++) {
            char *at = g->base[k][j] + begin * along, *in = buffer + j * item;
            if (writes) f->move[k](at, along, in, row, n);
            else f->move[k](in, row, at, along, n);
        }
    }
}

/* Elements [begin, end) of adjacent lines. `started`: the state is that of the elements before. */
static void run_lanes(const lane_group *g, char *state, int64_t begin, int64_t end, int started) {
    const fold *f = g->f;
    _Alignas(64) char buffer[OW_MAX_OPERANDS][CHUNK * OW_MAX_ITEMSIZE];
    int first = f->is_scan ? 0 : f->nresults;
    int64_t chunk = end - begin;
    for (int k = first; k < f->noperands; k++)
        if (!is_direct(g, k)) chunk = STEPS;
    if (!started && begin == end) f->kernels->begin(state, NULL, g->lanes, f->params);
    for (int64_t count; begin < end; begin += count) {
        count = end - begin < chunk ? end - begin : chunk;
        char *x[OW_MAX_OPERANDS];
        int64_t along[OW_MAX_OPERANDS];
        for (int k = first; k < f->noperands; k++) {
            int direct = is_direct(g, k);
            x[k] = direct ? g->base[k][0] + begin * f->line.stride[k] : buffer[k];
            along[k] = direct ? f->line.stride[k] : LANES * f->itemsize[k];
            if (!direct && k >= f->nresults) move_lanes(g, k, buffer[k], begin, count);
        }
        if (!started) f->kernels->begin(state, x + f->nresults, g->lanes, f->params);
        started = 1;
        f->kernels->steps(state, x + first, along + first, count, g->lanes, f->params);
        for (int k = 0; k < f->nresults && f->is_scan; k++)
            if (!is_direct(g, k)) move_lanes(g, k, buffer[k], begin, count);
    }
}

/* ---- elements of one line side by side ----------------------------------------------------------------- */

static void run_within(const fold *f, char *state, int64_t line, int64_t begin, int64_t end) {
    _Alignas(64) char buffer[OW_MAX_INPUTS][CHUNK * OW_MAX_ITEMSIZE];
    char *base[OW_MAX_INPUTS], *x[OW_MAX_INPUTS];
    int64_t along[OW_MAX_INPUTS], chunk = end - begin;
    int ninputs = f->noperands - f->nresults;
    for (int k = 0; k < ninputs; k++) {
        int at = f->nresults + k;
        base[k] = line_of(f, at, line);
        along[k] = LANES * f->itemsize[at];
        if (f->cast[at] || f->line.stride[at] != f->itemsize[at]) chunk = CHUNK;
    }
    f->kernels->begin(state, NULL, LANES, f->params);
    for (int64_t count; begin < end; begin += count) {
        count = end - begin < chunk ? end - begin : chunk;
        for (int k = 0; k < ninputs; k++) {
            int at = f->nresults + k;
            int64_t step = f->line.stride[at];
            x[k] = base[k] + begin * step;
            if (!f->cast[at] && step == f->itemsize[at]) continue;
            f->move[at](buffer[k], f->itemsize[at], x[k], step, count);
            x[k] = buffer[k];
        }
        int64_t whole = count / LANES, rest = count % LANES;
        f->kernels->steps(state, x, along, whole, LANES, f->params);
        for (int k = 0; k < ninputs; k++) x[k] += whole * along[k];
        if (rest) f->kernels->steps(state, x, along, 1, rest, f->params);
    }
}

/* ---- tasks -------------------------------------------------------------------------------------------- */

static void finish(const fold *f, const char *state, int64_t first, int64_t lanes) {
    _Alignas(64) char buffer[OW_MAX_OUTPUTS][LANES * OW_MAX_ITEMSIZE];
    char *out[OW_MAX_OUTPUTS];
    for (int k = 0; k < f->nresults; k++) out[k] = buffer[k];
    f->kernels->finish(out, state, lanes, f->line.size, f->params);
    for (int k = 0; k < f->nresults; k++)
        for (int64_t j = 0; j < lanes; j++) f->move[k](line_of(f, k, first + j), 0, buffer[k] + j * f->itemsize[k], 0, 1);
}

/* A task is a unit of a line, or of a group of adjacent lines. */
static void run_tasks(void *context, int64_t begin, int64_t end) {
    const fold *f = context;
    _Alignas(64) char own[OW_MAX_FOLD_STATE];
    for (int64_t task = begin; task < end; task++) {
        int64_t group = task / f->units, unit = task % f->units;
        int64_t from = unit * UNIT, to = unit == f->units - 1 ? f->line.size : from + UNIT;
        int64_t first = f->within ? group : group * LANES, rest = f->number - first;
        int64_t lanes = f->within ? 1 : rest < LANES ? rest : LANES;
        char *state = f->states ? f->states + task * f->kernels->size : own;
        if (f->within) {
            run_within(f, state, first, from, to);
        } else {
            lane_group g = {.f = f, .lanes = lanes};
            find_lanes(&g, first);
            run_lanes(&g, state, from, to, 0);
        }
        if (f->is_scan || f->states) continue;
        if (f->within) f->kernels->close(state, f->params);
        finish(f, state, first, lanes);
    }
}

/* The units of each line in a tree. */
static void join_units(const fold *f, int64_t groups) {
    int64_t size = f->kernels->size;
    for (int64_t group = 0; group < groups; group++) {
        char *states = f->states + group * f->units * size;
        for (int64_t m = f->units; m > 1; m = (m + 1) / 2)
            for (int64_t k = 0; k < m / 2; k++)
                f->kernels->merge(states + k * size, states + (k + (m + 1) / 2) * size, f->params);
        int64_t first = f->within ? group : group * LANES, rest = f->number - first;
        if (f->within) f->kernels->close(states, f->params);
        finish(f, states, first, f->within ? 1 : rest < LANES ? rest : LANES);
    }
}

static int run(fold *f) {
    if (!f->number || (f->is_scan && !f->line.size)) return 1;
    int64_t groups = f->within ? f->number : (f->number + LANES - 1) / LANES;
    f->units = f->is_scan || f->line.size <= UNIT ? 1 : (f->line.size + UNIT - 1) / UNIT;
    int64_t tasks = groups * f->units, nbytes = f->units > 1 ? tasks * f->kernels->size : 0;
    if (nbytes && !(f->states = ow_alloc(nbytes))) return ow_fail(OW_OUT_OF_MEMORY, "no memory for partial results") != NULL;
    double work = (double)f->number * (double)f->line.size * f->op->cost * (f->is_scan ? 4 : 1);
    int64_t grain = 1 + (int64_t)(16384 / (1 + work / (double)tasks));
    int done = ow_long_for(tasks, grain, work, run_tasks, f);
    if (done && f->states) join_units(f, groups);
    if (f->states) ow_dealloc(f->states, nbytes);
    return done;
}

/* ---- the call ----------------------------------------------------------------------------------------- */

static int by_stride(const void *a, const void *b) {
    const fold_axis *left = a, *right = b;
    for (int k = OW_MAX_OPERANDS - 1; k >= 0; k--) {
        int64_t l = llabs(left->stride[k]), r = llabs(right->stride[k]);
        if (l && r && l != r) return l < r ? -1 : 1;
    }
    return 0;
}

/* Merges dimensions that are adjacent in memory in all operands. */
static int merged(fold_axis *axes, int n, int noperands) {
    int kept = 0;
    for (int d = 0; d < n; d++) {
        if (axes[d].size == 1) continue;
        fold_axis *last = axes + kept - 1;
        int merges = kept > 0;
        for (int k = 0; k < noperands && merges; k++) merges = axes[d].stride[k] == last->stride[k] * last->size;
        if (merges) last->size *= axes[d].size;
        else axes[kept++] = axes[d];
    }
    return kept;
}

/* The geometry of all operands: the lines, and what they are numbered by. 0 where the lines are not one dimension. */
static int arrange(fold *f, ow_tensor *const *tensors, int ndim, const int64_t *shape, uint64_t along) {
    fold_axis lines[OW_MAX_DIMS];
    int nlines = 0;
    f->naxes = 0;
    f->number = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        int is_line = along >> d & 1;
        fold_axis *axis = is_line ? &lines[nlines++] : &f->axes[f->naxes++];
        memset(axis, 0, sizeof *axis);
        axis->size = shape[d];
        if (!is_line) f->number *= shape[d];
        for (int k = 0; k < f->noperands; k++) {
            const ow_tensor *t = tensors[k];
            /* Results of reductions have the other dimensions alone, in their order. */
            int skips = k < f->nresults && !f->is_scan;
            int place = d - (ndim - t->ndim);
            if (skips) {
                place = 0;
                for (int e = 0; e < d; e++) place += t->ndim == ndim || !(along >> e & 1);
            }
            if ((skips && is_line) || place < 0 || t->sizes[place] == 1) continue;
            axis->stride[k] = t->strides[place] * ow_itemsize(t->dtype);
        }
    }
    f->line = (fold_axis){.size = 1};
    for (int d = 0; d < nlines; d++)
        if (!lines[d].size) return f->line.size = 0, 1;
    if (nlines > 1) {
        qsort(lines, (size_t)nlines, sizeof *lines, by_stride);
        nlines = merged(lines, nlines, f->noperands);
    }
    if (nlines > 1) return 0;
    if (nlines) f->line = lines[0];
    qsort(f->axes, (size_t)f->naxes, sizeof *f->axes, by_stride);
    f->naxes = merged(f->axes, f->naxes, f->noperands);
    return 1;
}

static int fold_operands(fold *f, const ow_call *c, ow_tensor *const *tensors, int compute) {
    const ow_op *op = c->op;
    for (int k = 0; k < f->noperands; k++) {
        const ow_tensor *t = tensors[k];
        int input = k - f->nresults, is_result = input < 0;
        int own = is_result ? op->own[k] - 1 : op->fixed[input] == OW_PROMOTED ? -1 : op->fixed[input];
        int in_kernel = own >= 0 ? own : compute;
        f->data[k] = t->data;
        f->itemsize[k] = ow_itemsize(in_kernel);
        f->move[k] = is_result ? ow_cast_loop(t->dtype, in_kernel) : ow_cast_loop(in_kernel, t->dtype);
        f->cast[k] = t->dtype == in_kernel ? NULL : f->move[k];
    }
    return ow_load_all_params(op, c->params, compute, f->params);
}

/* Runs the call; inputs whose reduced dimensions are not one in memory are copied so that they are. */
static int run_call(fold *f, const ow_call *c, ow_tensor **tensors, int ndim, const int64_t *shape, uint64_t along,
                    int compute) {
    ow_tensor *copies[OW_MAX_INPUTS] = {NULL};
    int ninputs = f->noperands - f->nresults, done = 1;
    if (!arrange(f, tensors, ndim, shape, along)) {
        int64_t strides[OW_MAX_DIMS], step = 1;
        for (int lines = 1; lines >= 0; lines--)
            for (int d = ndim - 1; d >= 0; d--)
                if ((int)(along >> d & 1) == lines) strides[d] = step, step *= shape[d];
        for (int k = 0; k < ninputs && done; k++) {
            ow_tensor **t = &tensors[f->nresults + k];
            done = (copies[k] = ow_tensor_new((*t)->dtype, ndim, shape, strides)) && ow_copy(copies[k], *t);
            if (done) *t = copies[k];
        }
        done = done && arrange(f, tensors, ndim, shape, along);
    }
    if (done && fold_operands(f, c, tensors, compute)) {
        int64_t item = f->itemsize[f->nresults], step = llabs(f->line.stride[f->nresults]);
        int is_row = step == item || f->number == 1 || (f->number < LANES && f->line.size >= 4 * LANES);
        f->within = !f->is_scan && is_row && f->line.size >= LANES;
        done = run(f);
    } else {
        done = 0;
    }
    for (int k = 0; k < ninputs; k++)
        if (copies[k]) ow_tensor_free(copies[k]);
    return done;
}

int ow_fold(ow_call *c) {
    const ow_op *op = c->op;
    const ow_fold_table *table = op->tables[ow_level];
    int64_t shape[OW_MAX_DIMS], kept[OW_MAX_DIMS];
    int promoted, nkept = 0, made = 0, ndim = ow_broadcast_shape(c->inputs, op->ninputs, shape);
    if (!ow_check_operands(op, c->inputs) || ndim < 0 || !ow_promote_operands(op, c->inputs, &promoted)) return 0;
    int compute = ow_compute_dtype[promoted];
    fold f = {.op = op, .kernels = &table->by[compute], .nresults = op->results, .noperands = op->results + op->ninputs};
    f.is_scan = !f.kernels->finish;
    uint64_t along = 0;
    ow_tensor whole = *c->inputs[0];
    whole.ndim = ndim;
    const ow_ints *dims = &c->lists[0];
    if (f.is_scan) {
        int64_t dim = dims->n > 0 ? dims->v[0] : -1;
        if (!ow_wrap_dim(&dim, ndim)) return 0;
        along = ndim ? (uint64_t)1 << dim : 0;
    } else if (!ow_read_dims(&whole, dims->v, c->all ? 0 : dims->n, c->all, &along)) {
        return 0;
    }
    for (int d = 0; d < ndim; d++)
        if (f.is_scan || !(along >> d & 1)) kept[nkept++] = shape[d];
        else if (c->keepdim) kept[nkept++] = 1;
    for (; made < op->results; made++) {
        c->results[made] = ow_tensor_new(op->own[made] ? op->own[made] - 1 : promoted, nkept, kept, NULL);
        if (!c->results[made]) break;
    }
    ow_tensor *tensors[OW_MAX_OPERANDS];
    for (int k = 0; k < f.noperands; k++) tensors[k] = k < op->results ? c->results[k] : c->inputs[k - op->results];
    if (made == op->results && (ow_infers() || run_call(&f, c, tensors, ndim, shape, along, compute))) return made;
    while (made) ow_tensor_free(c->results[--made]);
    return 0;
}

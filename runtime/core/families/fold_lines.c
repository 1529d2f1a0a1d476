/* What runs along the lines of a fold, which a kernel computes OW_FOLD_LANES at a time.
 *
 * Those of a scan, and of a reduction across the rows of memory, are adjacent lines, copied side by side where they do not
 * lie so. A reduction whose lines lie in rows takes as many elements of one line at a time and joins these lanes at its end.
 * Lines are cut into units that threads share, by their length alone, so results do not depend on the number of threads. */
#include "fold_lines.h"

#include <stdlib.h>

#define LANES OW_FOLD_LANES
#define STEPS 32   /* elements of each lane that are copied at a time */
#define UNIT 65536 /* elements of a line that are worth a task of their own */
#define CHUNK (LANES * STEPS)

/* ---- lanes -------------------------------------------------------------------------------------------- */

/* Where operand k of line `index` begins. */
static char *line_of(const ow_fold_lines *f, int k, int64_t index) {
    char *at = f->data[k];
    for (int d = 0; d < f->naxes && index; d++) {
        at += index % f->axes[d].size * f->axes[d].stride[k];
        index /= f->axes[d].size;
    }
    return at;
}

typedef struct {
    const ow_fold_lines *f;
    int64_t lanes;
    char *base[OW_MAX_OPERANDS][LANES];
    int64_t apart[OW_MAX_OPERANDS]; /* bytes between lanes; -1: it varies */
} lane_group;

/* The lanes of operands below `end`. Where lanes do not leave the first dimension, they are equally far apart: a division for
 * each of them would take longer than short lines do. */
static void find_lanes(lane_group *g, const ow_fold_lines *f, int64_t first, int64_t lanes, int end) {
    g->f = f;
    g->lanes = lanes;
    int is_even = f->naxes < 2 || first % f->axes[0].size + g->lanes <= f->axes[0].size;
    for (int k = 0; k < end; k++) {
        int64_t step = f->naxes ? f->axes[0].stride[k] : 0;
        g->base[k][0] = line_of(f, k, first);
        for (int64_t j = 1; j < g->lanes; j++) g->base[k][j] = is_even ? g->base[k][0] + j * step : line_of(f, k, first + j);
        g->apart[k] = g->lanes == 1 ? f->itemsize[k] : is_even ? step : g->base[k][1] - g->base[k][0];
        for (int64_t j = 1; j < g->lanes && !is_even; j++)
            if (g->base[k][j] - g->base[k][j - 1] != g->apart[k]) g->apart[k] = -1;
    }
}

static int is_direct(const lane_group *g, int k) { return !g->f->cast[k] && g->apart[k] == g->f->itemsize[k]; }

/* n elements from `begin` on of all lanes of an input, side by side; or of a result, the way back. */
static void move_lanes(const lane_group *g, int k, char *buffer, int64_t begin, int64_t n) {
    const ow_fold_lines *f = g->f;
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
    const ow_fold_lines *f = g->f;
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

static void run_within(const ow_fold_lines *f, char *state, int64_t line, int64_t begin, int64_t end) {
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

static void finish(const ow_fold_lines *f, const char *state, int64_t first, int64_t lanes) {
    _Alignas(64) char buffer[OW_MAX_OUTPUTS][LANES * OW_MAX_ITEMSIZE];
    char *out[OW_MAX_OUTPUTS];
    for (int k = 0; k < f->nresults; k++) out[k] = buffer[k];
    f->kernels->finish(out, state, lanes, f->line.size, f->params);
    lane_group g;
    find_lanes(&g, f, first, lanes, f->nresults);
    for (int k = 0; k < f->nresults; k++) {
        int64_t item = f->itemsize[k];
        if (f->cast[k] || g.apart[k] != item) {
            for (int64_t j = 0; j < lanes; j++) f->move[k](g.base[k][j], 0, buffer[k] + j * item, 0, 1);
        } else {
            memcpy(g.base[k][0], buffer[k], (size_t)(lanes * item));
        }
    }
}

/* A task is a unit of a line, or of a group of adjacent lines. */
static void run_tasks(void *context, int64_t begin, int64_t end) {
    const ow_fold_lines *f = context;
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
            lane_group g;
            find_lanes(&g, f, first, lanes, f->noperands);
            run_lanes(&g, state, from, to, 0);
        }
        if (f->is_scan || f->states) continue;
        if (f->within) f->kernels->close(state, f->params);
        finish(f, state, first, lanes);
    }
}

/* The units of each line in a tree. */
static void join_units(const ow_fold_lines *f, int64_t groups) {
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

int ow_fold_run(ow_fold_lines *f) {
    if (!f->number || (f->is_scan && !f->line.size)) return 1;
    int64_t groups = f->within ? f->number : (f->number + LANES - 1) / LANES;
    f->units = !f->kernels->merge || f->line.size <= UNIT ? 1 : (f->line.size + UNIT - 1) / UNIT;
    int64_t tasks = groups * f->units, nbytes = f->units > 1 ? tasks * f->kernels->size : 0;
    if (nbytes && !(f->states = ow_alloc(nbytes))) return ow_fail(OW_OUT_OF_MEMORY, "no memory for partial results") != NULL;
    double work = (double)f->number * (double)f->line.size * f->op->cost * (f->is_scan ? 4 : 1);
    int64_t grain = 1 + (int64_t)(16384 / (1 + work / (double)tasks));
    int done = ow_long_for(tasks, grain, work, run_tasks, f);
    if (done && f->states) join_units(f, groups);
    if (f->states) ow_dealloc(f->states, nbytes);
    return done;
}

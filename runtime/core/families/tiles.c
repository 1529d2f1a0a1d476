/* Runs calls tile by tile. Threads share the tiles; which of them computes one does not matter. */
#include "tiles.h"

#include <stdatomic.h>

#include "driver.h"
#include "reduce.h"
#include "tensor/storage.h"

typedef struct {
    const ow_tiles *tiles;
    ow_tensor *const *whole; /* the given values and the results */
    int64_t parts;           /* into which the axis is divided */
    struct reduction {
        ow_reduction r;
        char *units; /* the accumulators of all tiles */
    } *reductions;
    atomic_int failed;
} tiled_run;

/* What a thread has in hand: the values of one tile. Parts of whole values are views that move from tile to tile. */
typedef struct {
    ow_tensor **values;
    ow_call *calls;
} tiled_state;

static int is_whole(const ow_tiled_value *v) { return v->kind != OW_TILED_INNER; }

static int64_t nbytes_of(const ow_tiles *t) {
    return t->nvalues * (int64_t)sizeof(ow_tensor *) + t->ncalls * (int64_t)sizeof(ow_call);
}

static void end(const tiled_run *run, tiled_state *s) {
    for (int k = 0; k < run->tiles->nvalues; k++) ow_tensor_free(s->values[k]);
    ow_dealloc(s->calls, nbytes_of(run->tiles));
}

static ow_tensor *reshaped(const ow_tensor *from, int ndim, const int64_t *sizes) {
    int64_t strides[OW_MAX_DIMS], numel;
    if (!(from->flags & OW_CONTIGUOUS) || !ow_numel(ndim, sizes, &numel) || numel != from->numel) return NULL;
    if (!ow_contiguous_strides(ndim, sizes, strides)) return NULL;
    return ow_tensor_view(from->storage, from->data, from->dtype, ndim, sizes, strides);
}

/* Writing to results is counted apart, as each of them is written to once. */
static ow_tensor *part_of(const ow_tiled_value *v, const ow_tensor *whole) {
    int64_t strides[OW_MAX_DIMS];
    if (v->kind == OW_TILED_GIVEN)
        return ow_has_shape(whole, v->ndim, v->sizes) ? ow_tensor_alias(whole) : reshaped(whole, v->ndim, v->sizes);
    ow_storage *apart = ow_storage_apart(whole->storage, 0);
    if (!apart || !ow_contiguous_strides(v->ndim, v->sizes, strides)) return NULL;
    ow_tensor *part = ow_tensor_view(apart, whole->data, whole->dtype, v->ndim, v->sizes, strides);
    ow_storage_release(apart);
    return part;
}

static int begin(const tiled_run *run, tiled_state *s) {
    const ow_tiles *t = run->tiles;
    char *memory = ow_alloc(nbytes_of(t));
    if (!memory) return 0;
    s->calls = (ow_call *)memory;
    s->values = (ow_tensor **)(s->calls + t->ncalls);
    for (int k = 0; k < t->ncalls; k++) s->calls[k] = t->calls[k].call;
    memset(s->values, 0, (size_t)t->nvalues * sizeof *s->values);
    int done = 1;
    for (int k = 0; k < t->nvalues && done; k++)
        if (is_whole(&t->values[k])) done = (s->values[k] = part_of(&t->values[k], run->whole[k])) != NULL;
    if (!done) end(run, s);
    return done;
}

typedef struct {
    int64_t position; /* of the dimensions before the axis */
    int64_t first, size; /* along the axis */
} tile;

/* Sets the sizes of a value in a tile. */
static void take_sizes(const ow_tiles *t, const ow_tiled_value *v, const tile *at, int64_t *sizes) {
    for (int d = 0; d < v->ndim; d++) {
        const int of = d + v->lead;
        const int is_divided = of <= t->axis && v->sizes[d] == t->shape[of];
        sizes[d] = !is_divided ? v->sizes[d] : of == t->axis ? at->size : 1;
    }
}

static void move(const ow_tiles *t, const ow_tiled_value *v, const ow_tensor *whole, const tile *at, ow_tensor *part) {
    int64_t rest = at->position, offset = 0;
    for (int of = t->axis; of >= 0; of--) {
        const int64_t index = of == t->axis ? at->first : rest % t->shape[of];
        if (of < t->axis) rest /= t->shape[of];
        const int d = of - v->lead;
        if (d >= 0 && v->sizes[d] == t->shape[of]) offset += index * part->strides[d];
    }
    take_sizes(t, v, at, part->sizes);
    part->data = whole->data + offset * ow_itemsize(whole->dtype);
    ow_tensor_refresh(part);
}

/* Makes room for what a call writes itself. */
static int make_results(const ow_tiles *t, const ow_tiled_call *step, const tile *at, tiled_state *s) {
    int64_t sizes[OW_MAX_DIMS];
    for (int k = 0; k < step->nresults; k++) {
        const ow_tiled_value *v = &t->values[step->results[k]];
        if (v->kind != OW_TILED_INNER) continue;
        take_sizes(t, v, at, sizes);
        if (!(s->values[step->results[k]] = ow_tensor_new(v->dtype, v->ndim, sizes, NULL))) return 0;
    }
    return 1;
}

/* Takes results that a call has made, which it owns from here on. */
static int take_results(const ow_tiles *t, const ow_tiled_call *step, const ow_call *c, int made, const tile *at, tiled_state *s) {
    int64_t sizes[OW_MAX_DIMS];
    int done = made == step->nresults;
    for (int k = 0; k < made; k++) {
        ow_tensor *result = c->results[k];
        const ow_tiled_value *v = k < step->nresults ? &t->values[step->results[k]] : NULL;
        if (v) take_sizes(t, v, at, sizes);
        done = done && result->dtype == v->dtype && result->flags & OW_CONTIGUOUS && ow_has_shape(result, v->ndim, sizes);
        if (done && v->kind == OW_TILED_INNER) {
            s->values[step->results[k]] = result;
            continue;
        }
        done = done && ow_copy_checked(s->values[step->results[k]], result);
        ow_tensor_free(result);
    }
    return done;
}

static int run_call(const ow_tiles *t, int k, const tile *at, tiled_state *s) {
    const ow_tiled_call *step = &t->calls[k];
    ow_call *c = &s->calls[k];
    if (!step->call.op) {
        const ow_tiled_value *v = &t->values[*step->results];
        int64_t sizes[OW_MAX_DIMS];
        take_sizes(t, v, at, sizes);
        return (s->values[*step->results] = reshaped(s->values[*step->operands], v->ndim, sizes)) != NULL;
    }
    for (int i = 0; i < OW_MAX_INPUTS; i++)
        if (step->operands[i] >= 0) c->inputs[i] = s->values[step->operands[i]];
    for (int i = 0; i < OW_CALL_RESULTS; i++) c->results[i] = NULL;
    c->mode = OW_NEW;
    c->out = NULL;
    const int takes_out = ow_takes_out(c->op) && (c->op->family == OW_ELEMENTWISE || step->nresults == 1);
    if (takes_out) {
        if (!make_results(t, step, at, s)) return 0;
        c->mode = OW_OUT;
        for (int i = 0; i < step->nresults; i++) c->results[i] = s->values[step->results[i]];
        c->out = *c->results;
        return ow_invoke(c) != 0;
    }
    const int made = ow_invoke(c);
    return made && take_results(t, step, c, made, at, s);
}

static int run_tile(const tiled_run *run, const tile *at, tiled_state *s) {
    const ow_tiles *t = run->tiles;
    int done = 1;
    for (int k = 0; k < t->nvalues; k++)
        if (is_whole(&t->values[k])) move(t, &t->values[k], run->whole[k], at, s->values[k]);
    for (int k = 0; k < t->ncalls && done; k++) {
        const ow_tiled_call *step = &t->calls[k];
        done = run_call(t, k, at, s);
        for (int i = 0; i < step->nfrees && done; i++) {
            ow_tensor_free(s->values[step->frees[i]]);
            s->values[step->frees[i]] = NULL;
        }
    }
    for (int k = 0; k < t->nreductions && done; k++) {
        const struct reduction *of = &run->reductions[k];
        const ow_tensor *x = s->values[t->reductions[k].operand];
        ow_reduce_unit(&of->r, x->data, x->numel, of->units + at->first / OW_UNIT * of->r.size);
    }
    for (int k = 0; k < t->nvalues; k++) {
        if (is_whole(&t->values[k])) continue;
        ow_tensor_free(s->values[k]);
        s->values[k] = NULL;
    }
    return done;
}

static void run_tiles(void *context, int64_t begin_at, int64_t end_at) {
    tiled_run *run = context;
    const ow_tiles *t = run->tiles;
    tiled_state s;
    int done = begin(run, &s);
    const int has_begun = done;
    for (int64_t k = begin_at; k < end_at && done && !atomic_load_explicit(&run->failed, memory_order_relaxed); k++) {
        const int64_t first = k % run->parts * t->step, rest = t->size - first;
        const tile at = {k / run->parts, first, rest < t->step ? rest : t->step};
        done = run_tile(run, &at, &s);
    }
    if (has_begun) end(run, &s);
    if (done) return;
    atomic_store(&run->failed, 1);
    ow_error_take(NULL, 0); /* of this thread; the calls say it again where they are made for whole tensors */
}

/* ---- reductions of all elements ------------------------------------------------------------------------ */

static int begin_reductions(tiled_run *run) {
    const ow_tiles *t = run->tiles;
    for (int k = 0; k < t->nreductions; k++) {
        const ow_tiled_reduction *of = &t->reductions[k];
        struct reduction *to = &run->reductions[k];
        const int from = t->values[of->operand].dtype;
        if (!ow_reduction_of_units(&to->r, of->op, from, t->size, of->dtype, run->whole[of->result])) return 0;
        if (!(to->units = ow_alloc(run->parts * to->r.size))) return 0;
    }
    return 1;
}

/* Joins the units if all are `done`. 0 also where a result has to be computed from all elements again. */
static int end_reductions(tiled_run *run, int done) {
    const ow_tiles *t = run->tiles;
    for (int k = 0; k < t->nreductions; k++) {
        struct reduction *of = &run->reductions[k];
        if (done) ow_join_units(&of->r, of->units);
        done = done && !ow_left_range(t->reductions[k].op, run->whole[t->reductions[k].result]);
        if (of->units) ow_dealloc(of->units, run->parts * of->r.size);
    }
    return done;
}

int ow_tiles_run(const ow_tiles *t, ow_tensor *const *given, ow_tensor **results) {
    ow_tensor *whole[t->nvalues];
    struct reduction reductions[t->nreductions + 1];
    tiled_run run = {.tiles = t, .whole = whole, .parts = (t->size + t->step - 1) / t->step, .reductions = reductions};
    int made = 0, done = 1;
    for (int k = 0; k < t->nreductions; k++) reductions[k].units = NULL;
    for (int k = 0; k < t->nvalues && done; k++) {
        const ow_tiled_value *v = &t->values[k];
        whole[k] = given[k];
        if (v->kind != OW_TILED_RESULT) continue;
        whole[k] = results[made] = ow_tensor_new(v->dtype, v->whole_ndim, v->whole_sizes, NULL);
        done = whole[k] != NULL;
        made += done;
    }
    done = done && begin_reductions(&run) && ow_long_for(t->positions * run.parts, 1, t->work, run_tiles, &run);
    if (end_reductions(&run, done && !run.failed)) return 1;
    for (int k = 0; k < made; k++) ow_tensor_free(results[k]);
    ow_error_take(NULL, 0);
    return 0;
}

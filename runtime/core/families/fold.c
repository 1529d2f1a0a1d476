/* The driver of folds: lines of all inputs, broadcast together, run through a state of several values. */
#include "fold.h"

#include <stdlib.h>

#include "fold_lines.h"
#include "plan.h"

static int by_stride(const void *a, const void *b) {
    const ow_fold_axis *left = a, *right = b;
    for (int k = OW_MAX_OPERANDS - 1; k >= 0; k--) {
        int64_t l = llabs(left->stride[k]), r = llabs(right->stride[k]);
        if (l && r && l != r) return l < r ? -1 : 1;
    }
    return 0;
}

/* Merges dimensions that are adjacent in memory in all operands. */
static int merged(ow_fold_axis *axes, int n, int noperands) {
    int kept = 0;
    for (int d = 0; d < n; d++) {
        if (axes[d].size == 1) continue;
        ow_fold_axis *last = axes + kept - 1;
        int merges = kept > 0;
        for (int k = 0; k < noperands && merges; k++) merges = axes[d].stride[k] == last->stride[k] * last->size;
        if (merges) last->size *= axes[d].size;
        else axes[kept++] = axes[d];
    }
    return kept;
}

/* The geometry of all operands: the lines, and what they are numbered by. 0 where the lines are not one dimension. */
static int arrange(ow_fold_lines *f, ow_tensor *const *tensors, int ndim, const int64_t *shape, uint64_t along) {
    ow_fold_axis lines[OW_MAX_DIMS];
    int nlines = 0;
    f->naxes = 0;
    f->number = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        int is_line = along >> d & 1;
        ow_fold_axis *axis = is_line ? &lines[nlines++] : &f->axes[f->naxes++];
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
    f->line = (ow_fold_axis){.size = 1};
    for (int d = 0; d < nlines; d++)
        if (!lines[d].size) return f->line.size = 0, 1;
    if (nlines > 1) {
        /* Elements that follow each other are those of the dimensions in C order. */
        if (f->kernels->merge) qsort(lines, (size_t)nlines, sizeof *lines, by_stride);
        nlines = merged(lines, nlines, f->noperands);
    }
    if (nlines > 1) return 0;
    if (nlines) f->line = lines[0];
    qsort(f->axes, (size_t)f->naxes, sizeof *f->axes, by_stride);
    f->naxes = merged(f->axes, f->naxes, f->noperands);
    return 1;
}

static int fold_operands(ow_fold_lines *f, const ow_call *c, ow_tensor *const *tensors, int compute) {
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

typedef struct {
    ow_fold_lines lines;
    const ow_call *call;
    int ndim;
    const int64_t *shape;
} fold_call;

/* Inputs whose reduced dimensions are not one in memory are copied so that they are. */
static int compute(const ow_plan *plan) {
    fold_call *details = plan->details;
    ow_fold_lines *f = &details->lines;
    const int64_t *shape = details->shape;
    const uint64_t along = plan->along;
    ow_tensor *copies[OW_MAX_INPUTS] = {NULL}, *tensors[OW_MAX_OPERANDS];
    int ninputs = f->noperands - f->nresults, ndim = details->ndim, done = 1;
    for (int k = 0; k < f->noperands; k++) tensors[k] = k < f->nresults ? plan->results[k] : plan->inputs[k - f->nresults];
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
    if (done && fold_operands(f, details->call, tensors, plan->compute)) {
        int64_t item = f->itemsize[f->nresults], step = llabs(f->line.stride[f->nresults]);
        int is_row = step == item || f->number == 1 || (f->number < OW_FOLD_LANES && f->line.size >= 4 * OW_FOLD_LANES);
        f->within = f->kernels->merge && is_row && f->line.size >= OW_FOLD_LANES;
        done = ow_fold_run(f);
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
    fold_call f = {.call = c, .ndim = ndim, .shape = shape};
    f.lines = (ow_fold_lines){.op = op, .kernels = &table->by[ow_compute_dtype[promoted]], .nresults = op->results,
                              .noperands = op->results + op->ninputs};
    f.lines.is_scan = !f.lines.kernels->finish;
    uint64_t along = 0;
    ow_tensor whole = *c->inputs[0];
    whole.ndim = ndim;
    const ow_ints *dims = &c->lists[0];
    if (f.lines.is_scan) {
        int64_t dim = dims->n > 0 ? dims->v[0] : -1;
        if (!ow_wrap_dim(&dim, ndim)) return 0;
        along = ndim ? (uint64_t)1 << dim : 0;
    } else if (!ow_read_dims(&whole, dims->v, c->all ? 0 : dims->n, c->all, &along)) {
        return 0;
    }
    for (int d = 0; d < ndim; d++)
        if (f.lines.is_scan || !(along >> d & 1)) kept[nkept++] = shape[d];
        else if (c->keepdim) kept[nkept++] = 1;
    for (; made < op->results; made++) {
        c->results[made] = ow_tensor_new(op->own[made] ? op->own[made] - 1 : promoted, nkept, kept, NULL);
        if (!c->results[made]) break;
    }
    const ow_plan plan = {.op = op, .inputs = c->inputs, .results = c->results, .nresults = made,
                          .compute = ow_compute_dtype[promoted], .along = along, .details = &f, .call = c};
    if (made == op->results && ow_execute(&plan, compute)) return made;
    while (made) ow_tensor_free(c->results[--made]);
    return 0;
}

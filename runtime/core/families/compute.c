/* The driver of expressions over indices: the call's integers, tensors as kernels read them, results, threads. */
#include "compute.h"

#include <stdatomic.h>

#include "contraction.h"
#include "elementwise.h"
#include "kernel/half.h"
#include "kernel/compute.h"
#include "margins.h"
#include "ow_routines.h" /* generated */
#include "plan.h"

#define CHECK_LIMIT(limit, value) _Static_assert(limit == value, #limit " and its value in codegen/model/compute.py");
OW_COMPUTE_LIMITS(CHECK_LIMIT)

#define WORTHWHILE 8192 /* additions that are worth a share of a thread */

typedef struct {
    const ow_call *call;
    const ow_compute_table *table;
    ow_compute_context context;
    ow_ints shapes[OW_MAX_INPUTS];
    int64_t batch[OW_MAX_DIMS]; /* the sizes of the dimensions in front, to which tensors broadcast */
    int nbatch;
    int64_t flat[OW_MAX_INPUTS][OW_MAX_DIMS]; /* sizes with the dimensions in front as one */
    ow_tensor *read[OW_MAX_INPUTS];     /* as kernels read them: the inputs, or copies */
    ow_tensor *padded[OW_MAX_INPUTS];   /* copies with margins */
    int64_t (*margins)[OW_MAX_VARIABLES][2];
    int64_t (*padded_sizes)[OW_MAX_VARIABLES];
    ow_tensor *written[OW_MAX_OUTPUTS]; /* as kernels write them: the results, or of the dtype of computation */
    int compute, result;
    double work;   /* for an element */
    int64_t parts; /* of each line, which threads share */
    int64_t unit;  /* positions, which one thread runs through in order */
    atomic_int status;
} task;

/* ---- shapes ------------------------------------------------------------------------------------------- */

/* How many of the last dimensions of an input indices are written for. */
static int inner_dims(const task *t, int k) { return t->table->indices[k] - (t->table->flat >> k & 1); }

static int broadcast_batch(task *t) {
    const ow_call *c = t->call;
    for (int k = 0; k < c->op->ninputs; k++) {
        const ow_tensor *x = c->inputs[k];
        int more = x && t->table->batched >> k & 1 ? x->ndim - inner_dims(t, k) : 0;
        for (int d = t->nbatch; d < more; d++) {
            memmove(t->batch + 1, t->batch, sizeof *t->batch * (size_t)d);
            t->batch[0] = 1;
            t->nbatch++;
        }
        for (int d = 0; d < more; d++) {
            int64_t size = x->sizes[d], *to = &t->batch[t->nbatch - more + d];
            if (*to == 1) *to = size;
            if (size != 1 && size != *to) {
                ow_fail(OW_RUNTIME_ERROR, "%s(): size %lld of a dimension in front does not fit to %lld of another tensor",
                        c->op->name, (long long)size, (long long)*to);
                return 0;
            }
        }
    }
    t->context.positions = 1;
    for (int d = 0; d < t->nbatch; d++) t->context.positions *= t->batch[d];
    return 1;
}

static int find_integers(task *t) {
    const ow_call *c = t->call;
    for (int k = 0; k < c->op->ninputs; k++) {
        const ow_tensor *x = c->inputs[k];
        t->shapes[k].n = x ? x->ndim : 0;
        for (int d = 0; d < t->shapes[k].n; d++) t->shapes[k].v[d] = x->sizes[d];
    }
    ow_ints lists[OW_CALL_LISTS];
    for (int k = 0; k < OW_CALL_LISTS; k++) ow_ints_assign(&lists[k], &c->lists[k]);
    ow_view view = {.error = OW_OK, .used = 0};
    view.scalar_name = ow_dtype_scalar_names[c->inputs[0] ? c->inputs[0]->dtype : OW_FLOAT32];
    if (t->table->geometry(&view, t->shapes, c->ints, lists, &t->context, t->margins, &t->work)) return 1;
    ow_fail(view.error, "%s", view.message);
    return 0;
}

/* ---- dtypes ------------------------------------------------------------------------------------------- */

/* May a tensor be read as another dtype? That has to hold its numbers; positions may be any integers, and conditions bytes. */
static int is_read_as(int dtype, int fixed) {
    if (fixed == OW_INT64) return ow_dtype_kinds[dtype] < OW_KIND_FLOATING;
    return ow_promote_types[dtype][fixed] == fixed || (fixed == OW_BOOL && dtype == OW_UINT8);
}

static int find_dtypes(task *t) {
    const ow_op *op = t->call->op;
    ow_tensor *promoted[OW_MAX_INPUTS] = {NULL};
    for (int k = 0; k < op->ninputs; k++) {
        ow_tensor *x = t->call->inputs[k];
        if (!x && !t->table->optional[k]) {
            ow_fail(OW_TYPE_ERROR, "%s(): argument %d must be a Tensor, not None", op->name, k + 1);
            return 0;
        }
        if (op->fixed[k] == OW_PROMOTED) promoted[k] = x;
        else if (x && !is_read_as(x->dtype, op->fixed[k])) {
            ow_fail(OW_RUNTIME_ERROR, "%s(): argument %d is read as %s, which does not hold %s", op->name, k + 1,
                    ow_dtype_names[op->fixed[k]], ow_dtype_names[x->dtype]);
            return 0;
        }
    }
    int common = ow_result_type(promoted, op->ninputs);
    if (common == OW_REFUSED) return 0;
    /* Where all tensors are indices no result depends on the dtype of computation. */
    t->result = ow_promoted_dtype(op, common < 0 ? ow_default_dtype : common);
    t->compute = ow_compute_dtype[t->result];
    return op->dtypes >> t->result & 1 ? 1 : (ow_refuse_dtype(op, "", t->result), 0);
}

/* ---- tensors ------------------------------------------------------------------------------------------ */

/* The tensor in C order and in a dtype; what is not the tensor itself is the caller's. */
static ow_tensor *contiguous(ow_tensor *x, int dtype) {
    return x->dtype == dtype && x->flags & OW_CONTIGUOUS ? x : ow_clone(x, dtype, OW_C_ORDER);
}

/* A view with the dimensions of the batch in front, of which those that the tensor lacks have stride 0. */
static ow_tensor *expanded(const task *t, const ow_tensor *x, int n) {
    int64_t sizes[OW_MAX_DIMS], strides[OW_MAX_DIMS];
    int more = x->ndim - n;
    for (int d = 0; d < t->nbatch; d++) {
        int own = d - (t->nbatch - more);
        sizes[d] = t->batch[d];
        strides[d] = own < 0 || x->sizes[own] == 1 ? 0 : x->strides[own];
    }
    for (int d = 0; d < n; d++) {
        sizes[t->nbatch + d] = x->sizes[more + d];
        strides[t->nbatch + d] = x->strides[more + d];
    }
    return ow_tensor_view(x->storage, x->data, x->dtype, t->nbatch + n, sizes, strides);
}

static int prepare_input(task *t, int k) {
    const ow_op *op = t->call->op;
    ow_tensor *x = t->call->inputs[k];
    t->context.sizes[k] = t->shapes[k].v; /* zeros of what is absent */
    if (!x) return 1;
    int n = inner_dims(t, k), is_flat = t->table->flat >> k & 1, dtype = op->fixed[k] == OW_PROMOTED ? t->compute : op->fixed[k];
    int64_t own = 1, all = t->context.positions, inner = 1;
    for (int d = 0; d < x->ndim - n; d++) own *= x->sizes[d];
    for (int d = x->ndim - n; d < x->ndim; d++) inner *= x->sizes[d];
    if (own == all || (own == 1 && !is_flat)) t->read[k] = contiguous(x, dtype);
    else {
        ow_tensor *view = expanded(t, x, n);
        t->read[k] = view ? ow_clone(view, dtype, OW_C_ORDER) : NULL;
        ow_tensor_free(view);
        own = all;
    }
    if (!t->read[k]) return 0;
    t->context.in[k] = t->read[k]->data;
    t->context.sizes[k] = t->shapes[k].v + t->shapes[k].n - n;
    if (is_flat) {
        t->flat[k][0] = all;
        memcpy(t->flat[k] + 1, t->context.sizes[k], sizeof(int64_t) * (size_t)n);
        t->context.sizes[k] = t->flat[k];
    }
    t->context.batch[k] = own == 1 ? 0 : inner;
    return 1;
}

/* The results in the dtype of computation, which are converted at the end. */
static int prepare_results(task *t, ow_tensor *const *results) {
    for (int k = 0; k < t->table->results; k++) {
        int compute = t->table->dtypes[k] != OW_PROMOTED ? t->table->dtypes[k] : t->compute;
        ow_tensor *made = results[k];
        t->written[k] = compute == made->dtype ? made : ow_tensor_new(compute, made->ndim, made->sizes, NULL);
        if (!t->written[k]) return 0;
        t->context.out[k] = t->written[k]->data;
    }
    return 1;
}

static int make_results(task *t, ow_tensor **results) {
    /* Dimensions in front that kernels see as one are dimensions of the results all the same, or are summed. */
    int first = t->table->over_batch, nbatch = t->table->flat && !first ? 0 : t->nbatch;
    int n = nbatch + t->table->variables - first;
    int64_t sizes[OW_MAX_DIMS];
    if (n > OW_MAX_DIMS) {
        ow_fail(OW_RUNTIME_ERROR, "a tensor has at most %d dimensions", OW_MAX_DIMS);
        return 0;
    }
    for (int d = 0; d < n; d++) sizes[d] = d < nbatch ? t->batch[d] : t->context.range[d - nbatch + first];
    for (int k = 0; k < t->table->results; k++) {
        int is_fixed = t->table->dtypes[k] != OW_PROMOTED;
        results[k] = ow_tensor_new(is_fixed ? t->table->dtypes[k] : t->result, n, sizes, NULL);
        if (!results[k]) return 0;
    }
    return 1;
}

/* ---- margins ------------------------------------------------------------------------------------------ */

enum {
    SHORT_LINE = 256, /* elements, of which the ends are a good part */
    LEAST_READS = 2,  /* of each element, on average, that make a copy pay */
    MOST_MARGINS = 8
};

/* The positions of the variable of lines; 1 if there is none. */
static int64_t line_length(const task *t) {
    return t->table->line ? t->context.range[t->table->variables - t->table->line] : 1;
}

/* 1 if indices of an input run beyond it, for which it may be copied with margins. */
static int has_margins(const task *t, int i) {
    if (!t->read[i] || !t->table->margins[i].rule) return 0;
    for (int d = 0, n = inner_dims(t, i), flat = t->table->flat >> i & 1; d < n; d++)
        if (t->margins[i][d + flat][0] || t->margins[i][d + flat][1]) return 1;
    return 0;
}

/* The elements of an input with margins. */
static double padded_size(const task *t, int i) {
    const ow_tensor *x = t->read[i];
    double all = 1;
    for (int d = 0, n = inner_dims(t, i), flat = t->table->flat >> i & 1; d < n; d++)
        all *= (double)(x->sizes[x->ndim - n + d] + t->margins[i][d + flat][0] + t->margins[i][d + flat][1]);
    for (int d = 0; d < x->ndim - inner_dims(t, i); d++) all *= (double)x->sizes[d];
    return all;
}

/* 1 if lines along the last dimension of an input run beyond it. */
static int has_margins_of_lines(const task *t, int i) {
    const int last = inner_dims(t, i) - 1 + (t->table->flat >> i & 1);
    return last >= 0 && (t->margins[i][last][0] || t->margins[i][last][1]);
}

/* 1 if copies with margins are worth their time: `work` is that of all elements of the result. */
static int suits_margins(const task *t, double work) {
    const ow_compute_table *k = t->table;
    if (!k->has_margins || k->cuts_ranges) return 0;
    double before = 0, after = 0;
    for (int i = 0; i < t->call->op->ninputs; i++) {
        const ow_tensor *x = t->read[i];
        if (!has_margins(t, i)) continue;
        if (!x->numel || (line_length(t) > SHORT_LINE && has_margins_of_lines(t, i))) return 0;
        before += (double)x->numel;
        after += padded_size(t, i);
    }
    return after <= 2 * before && work >= LEAST_READS * after;
}

/* 1 if copies with margins of what a product reads are no more memory than that of the call, by some times. */
static int may_have_margins(const task *t, const ow_contraction *k) {
    double before = (double)t->written[0]->numel, after = 0;
    for (int side = 0; side < 2; side++) {
        const int i = k->tensors[side];
        if (!t->read[i]->numel) return 0;
        before += (double)t->read[i]->numel;
        after += has_margins(t, i) ? padded_size(t, i) : 0;
    }
    return after <= MOST_MARGINS * before;
}

static int add_margins(task *t, int i) {
    int n = inner_dims(t, i), is_flat = t->table->flat >> i & 1;
    const int64_t (*margins)[2] = (const int64_t (*)[2])t->margins[i] + is_flat;
    ow_tensor *x = t->padded[i] = ow_with_margins(t->read[i], n, margins, t->table->margins[i]);
    if (!x) return 0;
    int64_t offset = 0, stride = 1;
    for (int d = n - 1; d >= 0; d--) {
        t->padded_sizes[i][d + is_flat] = x->sizes[x->ndim - n + d];
        offset += margins[d][0] * stride;
        stride *= x->sizes[x->ndim - n + d];
    }
    if (is_flat) t->padded_sizes[i][0] = t->context.sizes[i][0];
    if (t->context.batch[i]) t->context.batch[i] = stride;
    t->context.sizes[i] = t->padded_sizes[i];
    t->context.in[i] = (char *)x->data + offset * ow_itemsize(x->dtype);
    return 1;
}

/* Do zeros in margins add nothing, as what they are multiplied by is finite? */
static int add_nothing(const task *t) {
    for (int i = 0; i < t->call->op->ninputs; i++)
        for (int k = 0; k < t->call->op->ninputs && has_margins(t, i); k++)
            if (t->table->margins[i].finite >> k & 1 && t->read[k] && !ow_is_finite(t->read[k])) return 0;
    return 1;
}

/* Tensors are copied with margins where this makes loops quicker. 0 with the error set. */
static int prepare_margins(task *t, double work) {
    if (!suits_margins(t, work) || !add_nothing(t)) return 1;
    for (int i = 0; i < t->call->op->ninputs; i++)
        if (has_margins(t, i) && !add_margins(t, i)) return 0;
    t->context.inside = 1;
    return 1;
}

/* ---- the call ----------------------------------------------------------------------------------------- */

static void run_part(void *context, int64_t begin, int64_t end) {
    task *t = context;
    int status = t->table->by[t->compute](&t->context, begin * t->unit, end * t->unit);
    if (status != OW_OK) atomic_store(&t->status, status);
}

/* Parts of lines, of which there are `parts` in each. */
static void run_parts(void *context, int64_t begin, int64_t end) {
    task *t = context;
    int64_t size = (line_length(t) + t->parts - 1) / t->parts;
    for (int64_t at = begin; at < end; at++) {
        ow_compute_context c = t->context;
        c.begin = at % t->parts * size;
        c.end = c.begin + size;
        int status = t->table->by[t->compute](&c, at / t->parts, at / t->parts + 1);
        if (status != OW_OK) atomic_store(&t->status, status);
    }
}

/* The elements of an input from that of the first indices on. */
static int64_t readable(const task *t, int i) {
    const ow_tensor *x = t->padded[i] ? t->padded[i] : t->read[i];
    return x->numel - ((const char *)t->context.in[i] - (const char *)x->data) / ow_itemsize(x->dtype);
}

/* 1 if an input is bfloat16, and so is what its margins have. */
static int is_half(const task *t, int i) {
    const ow_margin *margin = &t->table->margins[i];
    return t->call->inputs[i]->dtype == OW_BFLOAT16 &&
           (margin->rule != OW_MARGIN_NUMBER || ow_bf16_to_f32(ow_f32_to_bf16((float)margin->number)) == (float)margin->number);
}

/* 1 if the result has been computed by products of matrices, or if the error is set. Factors may be many more numbers than
 * the result: they are tested only where it is not finite. */
static int run_products(task *t, int64_t lines) {
    const ow_contraction *k = t->table->contraction;
    if (!k || ow_dtype_kinds[t->compute] < OW_KIND_FLOATING) return 0;
    ow_contraction_sizes s;
    k->sizes(&t->context, &s);
    int64_t positions = t->table->flat ? 1 : t->context.positions;
    if (!ow_contraction_suits(k, &s, t->compute, t->context.range[t->table->variables - 1])) return 0;
    const ow_compute_context before = t->context;
    if (!k->gather[t->compute]) {
        if (!may_have_margins(t, k)) return 0;
        for (int side = 0; side < 2; side++)
            if (has_margins(t, k->tensors[side]) && !add_margins(t, k->tensors[side])) return 1;
        k->sizes(&t->context, &s);
    }
    const int left = k->tensors[0], right = k->tensors[1];
    const int64_t n[2] = {readable(t, left), readable(t, right)};
    ow_contraction_run(k, &s, &t->context, t->compute, is_half(t, left) && is_half(t, right), positions, lines / positions, n);
    if (k->gather[t->compute] || ow_error_pending() || ow_is_finite(t->written[0]) || add_nothing(t)) return 1;
    for (int side = 0; side < 2; side++) {
        ow_tensor_free(t->padded[k->tensors[side]]);
        t->padded[k->tensors[side]] = NULL;
    }
    t->context = before;
    return 0;
}

static int run(task *t, ow_tensor *const *results) {
    int64_t outer = t->table->flat ? 1 : t->context.positions, line = 1;
    int first_of_line = t->table->variables - t->table->line, first_in_order = first_of_line - t->table->sequence;
    for (int v = 0; v < t->table->variables; v++) {
        if (v < first_in_order) outer *= t->context.range[v];
        else if (v < first_of_line) t->unit *= t->context.range[v];
        else line *= t->context.range[v];
    }
    double work = t->work * ow_cost_of(t->call->op, t->compute) * (double)(line * t->unit);
    int64_t grain = work > 0 && work < WORTHWHILE ? (int64_t)(WORTHWHILE / work) : 1, threads = ow_num_threads();
    if (!run_products(t, outer)) {
        if (!prepare_margins(t, work * (double)outer)) return 0;
        t->parts = t->table->splits && !t->table->sequence && outer < threads ? (int64_t)(work / WORTHWHILE) : 1;
        if (t->parts > 4 * threads) t->parts = 4 * threads;
        if (t->parts > 1) ow_parallel_for(outer * t->parts, 1, work * (double)outer, run_parts, t);
        else ow_parallel_for(outer, grain, work * (double)outer, run_part, t);
    }
    if (ow_error_pending()) return 0;
    int status = atomic_load(&t->status);
    if (status == OW_INDEX_ERROR) ow_fail(OW_INDEX_ERROR, "%s(): an index is out of range", t->call->op->name);
    else if (status != OW_OK) ow_loop_failed(t->call->op, status);
    for (int k = 0; k < t->table->results && status == OW_OK; k++)
        if (t->written[k] != results[k] && !ow_copy(results[k], t->written[k])) return 0;
    return status == OW_OK;
}

static int load_params(task *t, ow_scalar *values) {
    const ow_call *c = t->call;
    for (int k = 0; k < c->op->nparams; k++) {
        values[k].d = c->op->defaults[k];
        if (ow_dtype_kinds[t->compute] == OW_KIND_COMPLEX) values[k].z = c->op->defaults[k];
        else if (ow_dtype_kinds[t->compute] < OW_KIND_FLOATING) values[k].i = (int64_t)c->op->defaults[k];
        if (c->has_params && c->params[k] && !ow_load_op_param(c->op, k, c->params[k], t->compute, &values[k])) return 0;
    }
    t->context.params = values;
    return 1;
}

static int compute(const ow_plan *plan) {
    task *t = plan->details;
    int done = prepare_results(t, plan->results);
    for (int k = 0; k < plan->op->ninputs && done; k++) done = prepare_input(t, k);
    done = done && run(t, plan->results);
    for (int k = 0; k < plan->op->ninputs; k++) {
        ow_tensor_free(t->padded[k]);
        if (t->read[k] != plan->inputs[k]) ow_tensor_free(t->read[k]);
    }
    for (int k = 0; k < plan->nresults; k++)
        if (t->written[k] != plan->results[k]) ow_tensor_free(t->written[k]);
    return done;
}

int ow_compute(ow_call *c) {
    int64_t margins[OW_MAX_INPUTS][OW_MAX_VARIABLES][2], padded_sizes[OW_MAX_INPUTS][OW_MAX_VARIABLES];
    task t = {
        .call = c,
        .table = c->op->tables[ow_level],
        .context.end = INT64_MAX,
        .margins = margins,
        .padded_sizes = padded_sizes,
        .work = 1,
        .unit = 1,
    };
    ow_scalar values[OW_MAX_PARAMS];
    if (!find_dtypes(&t) || !broadcast_batch(&t) || !find_integers(&t) || !load_params(&t, values)) return 0;
    const ow_plan plan = {.op = c->op, .inputs = c->inputs, .results = c->results, .nresults = t.table->results,
                          .compute = t.compute, .params = values, .details = &t, .call = c};
    if (make_results(&t, c->results) && (!c->results[0]->numel || ow_execute(&plan, compute))) return t.table->results;
    for (int k = 0; k < t.table->results; k++) {
        ow_tensor_free(c->results[k]);
        c->results[k] = NULL;
    }
    return 0;
}

/* The driver of elementwise operators: promotion, broadcasting, allocation, then one pass over memory. Small tensors
 * decide the design: what elementwise_contiguous.c takes skips every general step; all else comes here. */
#include "elementwise.h"
#include "iterate.h"
#include "plan.h"
#include "tensor/storage.h"

/* ---- dtypes ------------------------------------------------------------------------------------------- */

/* What the loop writes as result k when it computes in this dtype. */
static int written_dtype(const ow_op *op, int k, int compute) {
    if (op->own[k]) return op->own[k] - 1;
    return op->promotion == OW_PROMOTE_ALWAYS_BOOL ? OW_BOOL : ow_part_dtype(op, compute);
}

static int dtype_of_result(const ow_op *op, int k, int promoted) { return op->own[k] ? op->own[k] - 1 : promoted; }

static int resolve(const ow_op *op, int common, int default_params, ow_resolved *r) {
    r->common = common;
    r->result = ow_result_dtype(op, common);
    r->taken = op->promotion == OW_PROMOTE_ALWAYS_BOOL ? common : ow_promoted_dtype(op, common);
    r->compute = ow_compute_dtype[r->taken];
    r->loop = ow_loop_of(op, r->compute, default_params);
    if (!r->loop || !(op->dtypes >> common & 1)) return ow_refuse_dtype(op, "", common);
    return 1;
}

/* The dtype in which the loop takes input k. */
static int input_dtype(const ow_op *op, int k, int compute) {
    return op->fixed[k] == OW_PROMOTED ? compute : op->fixed[k];
}

static int defaults_suffice(const ow_op *op, ow_tensor *const *params) {
    for (int k = 0; k < op->nparams; k++)
        if (params && params[k]) return 0;
    return 1;
}

int ow_promote_operands(const ow_op *op, ow_tensor *const *inputs, int *promoted) {
    ow_tensor *promoting[OW_MAX_INPUTS];
    for (int k = 0; k < op->ninputs; k++) promoting[k] = op->fixed[k] == OW_PROMOTED ? inputs[k] : NULL;
    int common = ow_result_type(promoting, op->ninputs);
    if (common == OW_REFUSED) return 0;
    *promoted = ow_promoted_dtype(op, common);
    return op->dtypes >> common & 1 ? 1 : ow_refuse_dtype(op, "", common);
}

/* The operator that computes the same for the number in place of the last input, where it also gives the same dtype. */
static const ow_op *shortcut(const ow_op *op, ow_tensor *const *inputs) {
    const ow_tensor *self = inputs[0], *number = inputs[op->ninputs - 1];
    if (!number || !(number->flags & OW_NUMBER) || self->flags & OW_NUMBER) return op;
    if (ow_dtype_kinds[number->dtype] > ow_dtype_kinds[self->dtype]) return op;
    double value;
    if (number->dtype == OW_FLOAT64) value = *(const double *)number->data;
    else if (number->dtype == OW_INT64) value = (double)*(const int64_t *)number->data;
    else if (number->dtype == OW_BOOL) value = *(const uint8_t *)number->data;
    else return op;
    for (int k = 0; k < OW_MAX_SHORTCUTS && op->shortcuts[k]; k++) {
        const ow_op *other = op->shortcuts[k];
        if (op->shortcut_numbers[k] == value && other->dtypes >> self->dtype & 1
            && ow_promoted_dtype(other, self->dtype) == self->dtype)
            return other;
    }
    return op;
}

/* ---- checks ------------------------------------------------------------------------------------------- */

/* Refusals that are about the inputs themselves, whatever they promote to. */
static int check_dtypes(const ow_op *op, ow_tensor *const *inputs) {
    int refused = -1;
    for (int k = op->refuses_factors; k < op->ninputs; k++) {
        if (!inputs[k]) continue;
        int dtype = inputs[k]->dtype, accepted = op->dtypes >> dtype & 1;
        if (accepted && op->refuses_factors) return 1;
        if (!accepted && ow_refusal(op, dtype)) refused = dtype;
        if (refused >= 0 && !op->refuses_factors) break;
    }
    return refused < 0 || ow_refuse_dtype(op, "", refused);
}

ow_tensor *ow_check_operands(const ow_op *op, ow_tensor *const *inputs) {
    int given = 0, optional = 0, dtype = -1; /* of the first tensor */
    for (int k = 0; k < op->ninputs; k++) {
        const ow_tensor *t = inputs[k];
        if (!t && op->absent[k] == OW_REQUIRED)
            return ow_fail(OW_TYPE_ERROR, "%s(): argument %d must be a Tensor, not None", op->name, k + 1);
        /* uint8 stood for bool before there was bool, and torch still takes it as a condition. */
        int is_condition = t && op->fixed[k] == OW_BOOL && t->dtype == OW_UINT8;
        if (t && op->fixed[k] != OW_PROMOTED && t->dtype != op->fixed[k] && !is_condition)
            return ow_fail(OW_RUNTIME_ERROR, "%s expected argument %d to be a %s tensor, but got a tensor with dtype %s",
                           op->name, k + 1, ow_dtype_names[op->fixed[k]], ow_dtype_names[t->dtype]);
        /* A weight without dimensions stands for a number. */
        if (op->same_dtype && t && !(t->flags & OW_NUMBER) && (k < 2 || t->ndim)) {
            if (dtype >= 0 && t->dtype != dtype)
                return ow_fail(OW_RUNTIME_ERROR, "%s: expected dtype %s for argument %d but got dtype %s", op->name,
                               ow_dtype_names[dtype], k + 1, ow_dtype_names[t->dtype]);
            dtype = t->dtype;
        }
        optional += op->absent[k] != OW_REQUIRED;
        given += t && op->absent[k] != OW_REQUIRED;
    }
    if (!check_dtypes(op, inputs)) return NULL;
    if (optional && !given)
        return ow_fail(OW_RUNTIME_ERROR, "%s: At least one of the optional bounds must not be None", op->name);
    return inputs[0];
}

/* ---- results ------------------------------------------------------------------------------------------ */

/* A tensor of `shape` whose memory order follows the inputs, as torch chooses it: those of another dtype than the
 * common one count as the copies that torch makes of them. */
static ow_tensor *new_result(const ow_op *op, const ow_resolved *r, int dtype, int ndim, const int64_t *shape,
                             ow_tensor *const *inputs) {
    int64_t strides[OW_MAX_INPUTS][OW_MAX_DIMS], numel;
    int order[OW_MAX_DIMS], same = 1, contiguous = 1, count = 0;
    if (!ow_numel(ndim, shape, &numel)) return NULL; /* strides of such a shape could not be computed */
    int converted_to = op->promotion == OW_PROMOTE_ALWAYS_BOOL || op->part ? r->common : r->result;
    const ow_tensor *first = NULL;
    int alike = 1; /* same sizes and strides throughout */
    for (int k = 0; k < op->ninputs; k++) {
        const ow_tensor *t = inputs[k];
        same &= !t || !(t->flags & OW_NUMBER) || !ndim;
        if (!t || t->flags & OW_NUMBER) continue;
        int full = ow_has_shape(t, ndim, shape);
        contiguous &= full && (t->flags & OW_CONTIGUOUS);
        if (!first) first = t;
        alike = alike && full && memcmp(t->strides, first->strides, sizeof(int64_t) * (size_t)ndim) == 0;
    }
    if (!first || (contiguous && same)) return ow_tensor_new(dtype, ndim, shape, NULL);
    if (alike && same && first->flags & OW_DENSE) return ow_tensor_new(dtype, ndim, shape, first->strides);
    for (int k = 0; k < op->ninputs; k++) {
        const ow_tensor *t = inputs[k];
        if (!t || t->flags & OW_NUMBER) continue;
        int64_t converted[OW_MAX_DIMS];
        const int64_t *own = t->strides;
        if (t->dtype != converted_to && op->fixed[k] == OW_PROMOTED) {
            ow_dense_strides(t, converted);
            own = converted;
        }
        int lead = ndim - t->ndim;
        for (int d = 0; d < ndim; d++)
            strides[count][d] = d < lead || t->sizes[d - lead] != shape[d] ? 0 : own[d - lead];
        count++;
    }
    ow_iter_order(ndim, shape, count, strides, order);
    int64_t result[OW_MAX_DIMS], step = 1;
    int permuted = 0;
    for (int i = 0; i < ndim; i++) {
        permuted |= order[i] != ndim - 1 - i;
        result[order[i]] = step;
        step *= shape[order[i]];
    }
    return ow_tensor_new(dtype, ndim, shape, permuted ? result : NULL);
}

/* In place: the target keeps its shape and dtype, so both must be able to take the result. */
static int check_inplace(const ow_op *op, const ow_tensor *out, int result, int ndim, const int64_t *shape) {
    if (!ow_has_shape(out, ndim, shape)) {
        ow_fail_shape_mismatch(out, ndim, shape);
        return 0;
    }
    if (op->promotion == OW_PROMOTE_TO_DOUBLE && out->dtype != result) {
        ow_fail(OW_RUNTIME_ERROR, "the base given to %s_ has dtype %s but the operation's result requires dtype %s", op->name,
                ow_dtype_scalar_names[out->dtype], ow_dtype_scalar_names[result]);
        return 0;
    }
    return ow_check_result_cast(out, result);
}

/* `out=`. What is read as well keeps its shape: with another one the input would be gone. */
static ow_tensor *prepare_out(const ow_op *op, ow_tensor *const *inputs, ow_tensor *out, int dtype, int ndim,
                              const int64_t *shape) {
    for (int k = 0; k < op->ninputs; k++)
        if (inputs[k] == out && !ow_has_shape(out, ndim, shape)) return ow_fail_shape_mismatch(out, ndim, shape);
    return ow_prepare_out(op->name, out, dtype, ndim, shape);
}

/* A complex tensor does not become a real one. */
static int check_part(const ow_op *op, const ow_tensor *out) {
    if (op->part != OW_PART_REAL || ow_dtype_kinds[out->dtype] != OW_KIND_COMPLEX) return 1;
    ow_fail(OW_RUNTIME_ERROR, "In-place %s is not supported for complex tensors.", op->name);
    return 0;
}

/* ---- loops -------------------------------------------------------------------------------------------- */

/* The loop over rows of the half format that all operands have, but for the last of several inputs if it is a number; or
 * NULL. */
static ow_loop loop_of_halves(const ow_op *op, int default_params, const ow_resolved *r, ow_tensor *const *inputs,
                              const ow_tensor *result) {
    ow_loop loop = ow_loop_of(op, r->taken, default_params);
    if (r->compute == r->taken || !loop || op->own[0] || result->dtype != r->taken || r->result != r->taken) return NULL;
    for (int k = 0; k < op->ninputs; k++) {
        const ow_tensor *t = inputs[k];
        int is_number = !t || t->numel == 1;
        if (is_number ? !k || k < op->ninputs - 1 : t->dtype != r->taken || op->fixed[k] != OW_PROMOTED) return NULL;
    }
    return loop;
}

/* Such rows are read and written in place where they have no gaps, else by way of ones that have none. A broadcast last
 * operand stays the number in the dtype of computation that it is cast to. */
static void take_rows_of_halves(ow_iter *iter, int half) {
    int64_t itemsize = ow_itemsize(half);
    iter->rows = iter->noperands > 2 ? iter->noperands - 1 : iter->noperands;
    for (int k = 0; k < iter->noperands; k++) {
        if (k >= iter->rows && !iter->strides[k][0]) continue;
        iter->itemsize[k] = itemsize;
        iter->cast[k] = iter->strides[k][0] == itemsize ? NULL : ow_cast_loop(half, half);
    }
}

/* What a call computes in and where to, before any memory is made. */
typedef struct {
    ow_resolved r;
    ow_scalar values[OW_MAX_PARAMS];
    ow_iter iter;
    int plain; /* all parameters have their defaults */
} elementwise_call;

/* The checks of a call, in torch's order. `out` is what is written in place, or NULL. 1, or 0 with the error set. */
static int begin(elementwise_call *c, const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params,
                 const ow_tensor *out) {
    if (!ow_check_operands(op, inputs)) return 0;
    ow_tensor *promoted[OW_MAX_INPUTS];
    for (int k = 0; k < op->ninputs; k++) promoted[k] = op->fixed[k] == OW_PROMOTED ? inputs[k] : NULL;
    int common = op->promotion == OW_PROMOTE_KEEP        ? inputs[0]->dtype
                                                         : ow_result_type(promoted, op->ninputs);
    if (common == OW_REFUSED) return 0;
    if (op->promotion == OW_PROMOTE_TO_DOUBLE) common = ow_promoted_dtype(op, common);
    c->iter.ndim = ow_broadcast_shape(inputs, op->ninputs, c->iter.shape);
    if (c->iter.ndim < 0) return 0;
    if (!ow_check_natural(op, inputs, common)) return 0;
    for (int k = 0; k < op->ninputs; k++)
        if (!ow_check_fitting(op, inputs[k], common)) return 0;
    if (out && !check_part(op, out)) return 0;
    /* Before the dtype itself is refused, as in torch: what cannot be stored need not be computable. */
    int result = dtype_of_result(op, 0, ow_result_dtype(op, common));
    if (out && !check_inplace(op, out, result, c->iter.ndim, c->iter.shape)) return 0;
    return resolve(op, common, c->plain, &c->r) && ow_load_params(op, params, &c->r, c->values) &&
           ow_check_in_range(op, inputs, params, common);
}

/* Result k as an operand of the loop. */
static void take_result(elementwise_call *c, const ow_op *op, int k, const ow_tensor *result) {
    ow_iter *iter = &c->iter;
    int computed = written_dtype(op, k, c->r.compute), wanted = dtype_of_result(op, k, c->r.result);
    ow_iter_operand(iter, k, result);
    iter->itemsize[k] = ow_itemsize(computed);
    iter->cast[k] = result->dtype == computed ? NULL : ow_cast_loop(result->dtype, computed);
    iter->narrow[k] = NULL;
    if (computed != wanted && result->dtype != wanted) {
        iter->narrow[k] = ow_cast_loop(wanted, computed);
        iter->narrow_size[k] = ow_itemsize(wanted);
        iter->cast[k] = ow_cast_loop(result->dtype, wanted);
    }
}

/* Input k, whose only element, if it has no more, is converted once to `single`, not in every chunk. */
static void take_input(elementwise_call *c, const ow_op *op, int k, const ow_tensor *t, char *single) {
    ow_iter *iter = &c->iter;
    int wanted = input_dtype(op, k, c->r.compute), at = iter->written + k;
    iter->itemsize[at] = ow_itemsize(wanted);
    iter->cast[at] = iter->narrow[at] = NULL;
    int rounds = t && op->fixed[k] == OW_PROMOTED && t->dtype != c->r.taken && c->r.compute != c->r.taken;
    if (rounds) {
        iter->narrow[at] = ow_cast_loop(c->r.taken, wanted);
        iter->widen[at] = ow_cast_loop(wanted, c->r.taken);
        iter->narrow_size[at] = ow_itemsize(c->r.taken);
    }
    if (t && t->numel != 1) {
        ow_iter_operand(iter, at, t);
        iter->cast[at] = t->dtype == wanted ? NULL : ow_cast_loop(wanted, t->dtype);
        return;
    }
    if (t) ow_load_number(t, wanted, single);
    if (rounds && !ow_keeps_element(op, k, t, c->r.taken)) {
        _Alignas(16) char narrow[OW_MAX_ITEMSIZE];
        iter->narrow[at](narrow, 0, single, 0, 1);
        iter->widen[at](single, 0, narrow, 0, 1);
    }
    if (!t) ow_absent_value(op->absent[k], wanted, single);
    iter->data[at] = single;
    memset(iter->strides[at], 0, sizeof(int64_t) * (size_t)iter->ndim);
}

/* Computes all results, whose memory is there. The status of the loop. */
static int run(elementwise_call *c, const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *results, int nresults) {
    _Alignas(16) char single[OW_MAX_INPUTS][OW_MAX_ITEMSIZE];
    c->iter.written = nresults;
    c->iter.noperands = op->ninputs + nresults;
    c->iter.numel = results[0]->numel;
    for (int k = 0; k < nresults; k++) take_result(c, op, k, results[k]);
    for (int k = 0; k < op->ninputs; k++) take_input(c, op, k, inputs[k], single[k]);
    ow_iter_arrange(&c->iter);
    ow_loop of_halves = loop_of_halves(op, c->plain, &c->r, inputs, results[0]);
    c->iter.rows = 0;
    if (of_halves) take_rows_of_halves(&c->iter, c->r.taken);
    return ow_iter_run(&c->iter, of_halves ? of_halves : c->r.loop, c->values, ow_cost_of(op, c->r.compute));
}

static int compute(const ow_plan *plan) {
    int status = run(plan->details, plan->op, plan->inputs, plan->results, plan->nresults);
    if (status) ow_loop_failed(plan->op, status);
    return !status;
}

static int execute(elementwise_call *c, const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *results, int nresults) {
    const ow_plan plan = {.op = op, .inputs = inputs, .results = results, .nresults = nresults, .compute = c->r.compute,
                          .params = c->values, .details = c};
    return ow_execute(&plan, compute);
}

/* Apart from the entrance, whose way for small tensors needs no stack for all of this. */
static __attribute__((noinline)) ow_tensor *any_tensors(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params,
                                                        ow_tensor *out, ow_mode mode, int plain) {
    elementwise_call c;
    c.plain = plain;
    if (!begin(&c, op, inputs, params, mode == OW_INPLACE ? out : NULL)) return NULL;

    ow_tensor *result = out;
    int dtype = dtype_of_result(op, 0, c.r.result);
    if (mode == OW_OUT) {
        result = prepare_out(op, inputs, out, dtype, c.iter.ndim, c.iter.shape);
    } else if (mode == OW_NEW) {
        result = new_result(op, &c.r, dtype, c.iter.ndim, c.iter.shape, inputs);
    }
    if (!result) return NULL;
    if (mode != OW_NEW && !ow_check_writable(result, inputs, op->ninputs)) return NULL;
    if (execute(&c, op, inputs, &result, 1)) return result;
    if (mode == OW_NEW) ow_tensor_free(result);
    return NULL;
}

ow_tensor *ow_elementwise(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, ow_tensor *out,
                          ow_mode mode) {
    if (op->shortcuts[0]) op = shortcut(op, inputs);
    int plain = defaults_suffice(op, params);
    if (inputs[0] && !ow_place) {
        int done;
        ow_tensor *result = ow_elementwise_contiguous(op, inputs, plain ? NULL : params, out, &done);
        if (done) return result;
    }
    return any_tensors(op, inputs, params, out, mode, plain);
}

static int new_results(elementwise_call *c, const ow_op *op, ow_tensor *const *inputs, ow_tensor **results) {
    int made = 0;
    while (made < op->results) {
        int dtype = dtype_of_result(op, made, c->r.result);
        results[made] = new_result(op, &c->r, dtype, c->iter.ndim, c->iter.shape, inputs);
        if (!results[made]) break;
        made++;
    }
    if (made == op->results && execute(c, op, inputs, results, made)) return made;
    for (int k = 0; k < made; k++) ow_tensor_free(results[k]);
    return 0;
}

/* Results that share memory are stored one after the other, so that the last of them stays. */
static int store_in_turn(elementwise_call *c, const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *outs) {
    ow_tensor *results[OW_MAX_OUTPUTS];
    const int made = new_results(c, op, inputs, results);
    int done = made;
    for (int k = 0; k < made; k++) {
        if (done && !ow_copy(outs[k], results[k])) done = 0;
        ow_tensor_free(results[k]);
    }
    return done;
}

static int shares_with_another(ow_tensor *const *results, int n) {
    for (int k = 1; k < n; k++)
        if (ow_shares_memory(results[k], results, k)) return 1;
    return 0;
}

int ow_elementwise_several(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, ow_tensor **results,
                           ow_mode mode) {
    elementwise_call c;
    c.plain = defaults_suffice(op, params);
    if (!begin(&c, op, inputs, params, mode == OW_INPLACE ? results[0] : NULL)) return 0;
    if (mode == OW_NEW) return new_results(&c, op, inputs, results);
    for (int k = 0; k < op->results; k++) {
        int dtype = dtype_of_result(op, k, c.r.result);
        if (mode == OW_OUT && !prepare_out(op, inputs, results[k], dtype, c.iter.ndim, c.iter.shape)) return 0;
        if (mode == OW_INPLACE && k && !check_inplace(op, results[k], dtype, c.iter.ndim, c.iter.shape)) return 0;
    }
    for (int k = 0; k < op->results; k++)
        if (!ow_check_writable(results[k], inputs, op->ninputs)) return 0;
    if (shares_with_another(results, op->results)) return store_in_turn(&c, op, inputs, results);
    return execute(&c, op, inputs, results, op->results) ? op->results : 0;
}

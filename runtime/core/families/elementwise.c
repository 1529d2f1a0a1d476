/* The driver of elementwise operators: promotion, broadcasting, allocation, then one pass over memory. Small tensors
 * decide the design: what elementwise_contiguous.c takes skips every general step; all else comes here. */
#include "elementwise.h"
#include "iterate.h"
#include "tensor/storage.h"

/* ---- dtypes ------------------------------------------------------------------------------------------- */

/* What the loop writes when it computes in this dtype. */
static int written_dtype(const ow_op *op, int compute) {
    return op->promotion == OW_PROMOTE_ALWAYS_BOOL ? OW_BOOL : ow_part_dtype(op, compute);
}

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

static ow_tensor *check_inputs(const ow_op *op, ow_tensor *const *inputs) {
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
static ow_tensor *new_result(const ow_op *op, const ow_resolved *r, int ndim, const int64_t *shape,
                             ow_tensor *const *inputs) {
    int64_t strides[OW_MAX_OPERANDS][OW_MAX_DIMS], numel;
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
    if (!first || (contiguous && same)) return ow_tensor_new(r->result, ndim, shape, NULL);
    if (alike && same && first->flags & OW_DENSE) return ow_tensor_new(r->result, ndim, shape, first->strides);
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
    return ow_tensor_new(r->result, ndim, shape, permuted ? result : NULL);
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
    if (r->compute == r->taken || !loop || result->dtype != r->taken || r->result != r->taken) return NULL;
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

ow_tensor *ow_elementwise(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, ow_tensor *out,
                          ow_mode mode) {
    if (op->shortcuts[0]) op = shortcut(op, inputs);
    int plain = defaults_suffice(op, params);
    if (inputs[0] && !ow_infers()) {
        int done;
        ow_tensor *result = ow_elementwise_contiguous(op, inputs, plain ? NULL : params, out, &done);
        if (done) return result;
    }
    if (!check_inputs(op, inputs)) return NULL;

    ow_tensor *promoted[OW_MAX_INPUTS];
    for (int k = 0; k < op->ninputs; k++) promoted[k] = op->fixed[k] == OW_PROMOTED ? inputs[k] : NULL;
    int common = op->promotion == OW_PROMOTE_KEEP        ? inputs[0]->dtype
                                                         : ow_result_type(promoted, op->ninputs);
    if (op->promotion == OW_PROMOTE_TO_DOUBLE) common = ow_promoted_dtype(op, common);
    ow_resolved r;
    ow_scalar values[OW_MAX_PARAMS];
    ow_iter iter;
    iter.ndim = ow_broadcast_shape(inputs, op->ninputs, iter.shape);
    if (iter.ndim < 0) return NULL;
    if (!ow_check_natural(op, inputs, common)) return NULL;
    for (int k = 0; k < op->ninputs; k++)
        if (!ow_check_fitting(op, inputs[k], common)) return NULL;
    if (mode == OW_INPLACE && !check_part(op, out)) return NULL;
    /* Before the dtype itself is refused, as in torch: what cannot be stored need not be computable. */
    if (mode == OW_INPLACE && !check_inplace(op, out, ow_result_dtype(op, common), iter.ndim, iter.shape)) return NULL;
    if (!resolve(op, common, plain, &r) || !ow_load_params(op, params, &r, values)) return NULL;

    ow_tensor *result = out;
    if (mode == OW_OUT) {
        result = prepare_out(op, inputs, out, r.result, iter.ndim, iter.shape);
    } else if (mode == OW_NEW) {
        result = new_result(op, &r, iter.ndim, iter.shape, inputs);
    }
    if (!result) return NULL;
    if (mode != OW_NEW && !ow_check_writable(result, inputs, op->ninputs)) return NULL;
    if (ow_infers()) return result;

    iter.noperands = op->ninputs + 1;
    iter.numel = result->numel;
    ow_iter_operand(&iter, 0, result);
    int computed = written_dtype(op, r.compute);
    iter.itemsize[0] = ow_itemsize(computed);
    iter.cast[0] = result->dtype == computed ? NULL : ow_cast_loop(result->dtype, computed);
    iter.narrow[0] = NULL;
    if (computed != r.result && result->dtype != r.result) {
        iter.narrow[0] = ow_cast_loop(r.result, computed);
        iter.narrow_size[0] = ow_itemsize(r.result);
        iter.cast[0] = ow_cast_loop(result->dtype, r.result);
    }
    _Alignas(16) char single[OW_MAX_INPUTS][OW_MAX_ITEMSIZE]; /* one-element inputs are converted once, not in every chunk */
    for (int k = 0; k < op->ninputs; k++) {
        const ow_tensor *t = inputs[k];
        int wanted = input_dtype(op, k, r.compute);
        iter.itemsize[k + 1] = ow_itemsize(wanted);
        iter.cast[k + 1] = iter.narrow[k + 1] = NULL;
        int rounds = t && op->fixed[k] == OW_PROMOTED && t->dtype != r.taken && r.compute != r.taken;
        if (rounds) {
            iter.narrow[k + 1] = ow_cast_loop(r.taken, wanted);
            iter.widen[k + 1] = ow_cast_loop(wanted, r.taken);
            iter.narrow_size[k + 1] = ow_itemsize(r.taken);
        }
        if (t && t->numel != 1) {
            ow_iter_operand(&iter, k + 1, t);
            iter.cast[k + 1] = t->dtype == wanted ? NULL : ow_cast_loop(wanted, t->dtype);
            continue;
        }
        if (t) ow_load_number(t, wanted, single[k]);
        if (rounds && !ow_keeps_element(op, k, t, r.taken)) {
            _Alignas(16) char narrow[OW_MAX_ITEMSIZE];
            iter.narrow[k + 1](narrow, 0, single[k], 0, 1);
            iter.widen[k + 1](single[k], 0, narrow, 0, 1);
        }
        if (!t) ow_absent_value(op->absent[k], wanted, single[k]);
        iter.data[k + 1] = single[k];
        memset(iter.strides[k + 1], 0, sizeof(int64_t) * (size_t)iter.ndim);
    }
    ow_iter_arrange(&iter);
    ow_loop of_halves = loop_of_halves(op, plain, &r, inputs, result);
    iter.rows = 0;
    if (of_halves) take_rows_of_halves(&iter, r.taken);
    int status = ow_iter_run(&iter, of_halves ? of_halves : r.loop, values, ow_cost_of(op, r.compute));
    if (!status) return result;
    if (mode == OW_NEW) ow_tensor_free(result);
    return ow_loop_failed(op, status);
}

/* From a call to the driver of its operator's family. */
#include "invoke.h"

#include "families/arg_results.h"
#include "families/compute.h"
#include "families/driver.h"
#include "families/fold.h"
#include "families/loop.h"
#include "families/routine.h"
#include "routines/linalg/lapack.h"
#include "routines/random/random.h"

_Static_assert((int)OW_CALL_RESULTS >= OW_LAPACK_RESULTS && OW_CALL_RESULTS >= OW_MAX_RESULTS, "a call holds all results");
_Static_assert((int)OW_CALL_INTS >= OW_LAPACK_FLAGS, "a call holds all options");

int ow_first_alone(const ow_call *c) {
    return c->op->family == OW_REDUCE && c->op->results == (OW_VALUE | OW_POSITION) && c->all == OW_NO_LIST;
}

static int gives_value(const ow_call *c) { return ow_gives_value(c->op) || ow_first_alone(c); }

int ow_takes_out(const ow_op *op) {
    switch (op->family) {
    case OW_ELEMENTWISE: return op->results == 1;
    case OW_EXTERN:
    case OW_FACTORY:
    case OW_INDEXING: return 1;
    case OW_REDUCE:
    case OW_SCAN: return ow_gives_value(op);
    default: return 0;
    }
}

static ow_tensor *fill(const ow_call *c) {
    ow_random_call f = {.op = c->op,
                        .target = c->inputs[0],
                        .inputs = {c->inputs[1], c->inputs[2]},
                        .numbers = {c->reals[0], c->reals[1]},
                        .integers = {c->ints[0], c->ints[1]},
                        .given = c->given ? 2 : 0,
                        .generator = c->generator};
    return ow_random_fill(&f);
}

static int multi(ow_call *c) {
    const ow_ints *dims = &c->lists[0];
    if (!ow_multi(c->op, c->inputs[0], dims->v, c->all ? 0 : dims->n, c->all ? OW_NO_LIST : 0, c->keepdim, c->dtype,
                    c->params, c->results))
        return 0;
    int n = 0;
    while (n < OW_MAX_RESULTS && c->results[n]) n++;
    return n;
}

int ow_invoke(ow_call *c) {
    ow_tensor *const *params = c->has_params ? c->params : NULL, *result = NULL;
    ow_ints *list = &c->lists[0];
    switch ((ow_family)c->op->family) {
    case OW_ELEMENTWISE:
        if (c->op->results > 1) return ow_elementwise_several(c->op, c->inputs, params, c->results);
        result = ow_elementwise(c->op, c->inputs, params, c->out, c->mode); break;
    case OW_EXTERN: result = ow_extern(c->op, c->inputs, params, c->out, c->mode); break;
    case OW_REDUCE:
        if (!gives_value(c)) return multi(c);
        result = ow_reduce(c->op, c->inputs[0], list->v, c->all ? 0 : list->n, c->all, c->keepdim, c->dtype, c->out);
        break;
    case OW_SCAN:
        if (!gives_value(c)) return multi(c);
        result = ow_scan(c->op, c->inputs[0], list->v[0], c->dtype, c->out, c->mode);
        break;
    case OW_ROWS:
        return ow_rows(c->op, c->inputs, list->v, c->all ? 0 : list->n, c->all ? OW_NO_LIST : 0, c->keepdim, c->dtype,
                       c->params, c->results);
    case OW_VIEW: result = ow_view_call(c->op, c->inputs[0], c->ints, c->lists); break;
    case OW_INDEXING: result = ow_indexing(c->op, c->inputs, c->params[0], c->ints, c->out, c->mode); break;
    case OW_FACTORY: result = ow_factory(c->op, list->v, list->n, c->dtype, params, c->out); break;
    case OW_RANDOM: result = fill(c); break;
    case OW_LAPACK: return ow_lapack_call(c->op, c->inputs, c->ints, c->reals[0], c->results);
    case OW_ROUTINE: return ow_routine(c);
    case OW_COMPUTE: return ow_compute(c);
    case OW_FOLD: return ow_fold(c);
    case OW_LOOP: return ow_loop_call(c);
    }
    c->results[0] = result;
    return result != NULL;
}

/* The same of a call that writes to its first input: without memory that takes any others. */
static int device_of_target(const ow_call *c) {
    for (int k = 1; k < OW_MAX_INPUTS && !ow_is_meta(c->out); k++)
        if (c->inputs[k] && ow_is_meta(c->inputs[k])) {
            ow_fail(OW_NOT_IMPLEMENTED, "Cannot copy out of meta tensor; no data!");
            return -1;
        }
    return ow_is_meta(c->out);
}

/* 1 if the call infers, 0 if not; -1 with the error set where its tensors are not on one device. */
static int device_of(const ow_call *c) {
    if (c->op->family == OW_FACTORY && !c->out) return ow_meta_by_default();
    if (c->op->family == OW_ROUTINE && c->out) return device_of_target(c);
    int listed = c->count && !c->inputs[0]; /* tensors in a list besides others select from these */
    int infers = listed ? ow_common_device(c->list, c->count) : ow_common_device(c->inputs, OW_MAX_INPUTS);
    if (infers < 0 || !c->out || ow_is_meta(c->out) == infers || c->op->family == OW_FACTORY)
        return infers < 0 || !c->out ? infers : ow_is_meta(c->out);
    ow_fail(OW_RUNTIME_ERROR, "Attempting to copy from device %s to device %s, but cross-device copies are not allowed!",
            infers ? "meta" : "cpu", infers ? "cpu" : "meta");
    return -1;
}

int ow_invoke_anywhere(ow_call *c) {
    int infers = device_of(c);
    return infers < 0 ? 0 : OW_CALL(infers, ow_invoke(c));
}

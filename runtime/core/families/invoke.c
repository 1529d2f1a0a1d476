/* From a call to the driver of its operator's family. */
#include "invoke.h"

#include "families/arg_results.h"
#include "families/compute.h"
#include "families/driver.h"
#include "families/fold.h"
#include "families/loop.h"
#include "families/plan.h"
#include "families/core_call.h"
#include "routines/indexing/indexing.h"
#include "routines/linalg/lapack.h"
#include "routines/random/random.h"

_Static_assert((int)OW_CALL_RESULTS >= OW_MAX_RESULTS, "a call holds all results");

int ow_first_alone(const ow_call *c) {
    return c->op->family == OW_REDUCE && c->op->results == (OW_VALUE | OW_POSITION) && c->all == OW_NO_LIST;
}

static int gives_value(const ow_call *c) { return ow_gives_value(c->op) || ow_first_alone(c); }

int ow_takes_out(const ow_op *op) {
    switch (op->family) {
    case OW_ELEMENTWISE:
    case OW_EXTERN:
    case OW_FACTORY:
    case OW_INDEXING: return 1;
    case OW_REDUCE:
    case OW_SCAN: return ow_gives_value(op);
    default: return 0;
    }
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
        if (c->op->results > 1) return ow_elementwise_several(c->op, c->inputs, params, c->results, c->mode);
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
    case OW_INDEXING: return ow_indexing(c);
    case OW_FACTORY: result = ow_factory(c->op, list->v, list->n, c->dtype, params, c->out); break;
    case OW_RANDOM: return ow_random_fill(c);
    case OW_LAPACK: return ow_lapack_call(c);
    case OW_CORE: return ow_core_call(c);
    case OW_COMPUTE: return ow_compute(c);
    case OW_FOLD: return ow_fold(c);
    case OW_LOOP: return ow_loop_call(c);
    }
    c->results[0] = result;
    return result != NULL;
}

static int fail_across(ow_device from, ow_device to) {
    char texts[2][48];
    ow_fail(OW_RUNTIME_ERROR, "Attempting to copy from device %s to device %s, but cross-device copies are not allowed!",
            ow_device_text(texts[0], sizeof *texts, from), ow_device_text(texts[1], sizeof *texts, to));
    return 0;
}

int ow_execute_call(ow_call *c, int made, ow_plan_run *run, void *details) {
    const int is_written = c->mode != OW_NEW;
    if (is_written) c->results[0] = c->out;
    const ow_plan plan = {.op = c->op, .inputs = c->inputs, .results = c->results, .nresults = made,
                          .compute = c->inputs[0] ? c->inputs[0]->dtype : 0, .details = details, .call = c};
    int done = 1;
    for (int k = 0; k < made; k++) done = done && c->results[k];
    if (done && ow_execute(&plan, run)) return made;
    for (int k = 0; k < made; k++) {
        if (!is_written) ow_tensor_free(c->results[k]);
        c->results[k] = NULL;
    }
    return 0;
}

/* Sets *device to that of a tensor that is written to, which takes elements of others. 1, or 0 with the error set. */
static int device_of_target(const ow_call *c, ow_device *device) {
    *device = ow_place_of(c->out);
    for (int k = 1; k < OW_MAX_INPUTS && *device != OW_META; k++) {
        const ow_tensor *t = c->inputs[k];
        if (!t || ow_goes_with_any(t) || ow_place_of(t) == *device) continue;
        if (!ow_is_meta(t)) return fail_across(ow_place_of(t), *device);
        ow_fail(OW_NOT_IMPLEMENTED, "Cannot copy out of meta tensor; no data!");
        return 0;
    }
    return 1;
}

/* Sets *device to where the call computes. 1, or 0 with the error set where its tensors are not on one device. */
static int device_of(const ow_call *c, ow_device *device) {
    *device = ow_default_device;
    if (c->op->family == OW_FACTORY && !c->out) return 1;
    if (c->op->family == OW_CORE && c->out) return device_of_target(c, device);
    int listed = c->count && !c->inputs[0]; /* tensors in a list besides others select from these */
    if (!(listed ? ow_common_device(c->list, c->count, device) : ow_common_device(c->inputs, OW_MAX_INPUTS, device))) return 0;
    const ow_device from = *device;
    if (!c->out) return 1;
    *device = ow_place_of(c->out);
    if (*device != from && c->op->family != OW_FACTORY) return fail_across(from, *device);
    for (int k = 1; c->mode == OW_OUT && k < OW_CALL_RESULTS && c->results[k]; k++)
        if (ow_place_of(c->results[k]) != from) return fail_across(from, ow_place_of(c->results[k]));
    return 1;
}

/* 1 if the call draws from no generator that is given, or from one for the kind of device; else 0 with the error set. */
static int has_generator_for(const ow_call *c, ow_device device) {
    const ow_device of = (ow_device)c->generator_device;
    if (c->generator_device == OW_NONE || device == OW_META || ow_device_kind_of(device) == ow_device_kind_of(of)) return 1;
    ow_fail(OW_RUNTIME_ERROR, "Expected a '%s' device type for generator but found '%s'", ow_device_type(device), ow_device_type(of));
    return 0;
}

int ow_invoke_here(ow_call *c) { return has_generator_for(c, OW_CPU) ? ow_invoke(c) : 0; }

int ow_invoke_anywhere(ow_call *c) {
    ow_device device;
    if (!device_of(c, &device) || !has_generator_for(c, device)) return 0;
    return OW_CALL(device, ow_invoke(c));
}

int ow_describe_results(ow_call *c) {
    ow_device device;
    return device_of(c, &device) ? OW_CALL(OW_META, ow_invoke(c)) : 0;
}

int ow_make_results(ow_call *c) {
    ow_device device;
    return device_of(c, &device) ? OW_CALL(device | OW_PLANNED, ow_invoke(c)) : 0;
}

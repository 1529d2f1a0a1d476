/* Who computes what drivers have planned. */
#include "plan.h"

#include "invoke.h"
#include "ow_routines.h" /* generated */

enum { FAMILIES = OW_LOOP + 1 };

#define NAMED_FAMILY(name, word) [OW_##name] = word,
static const char *const names[FAMILIES] = {OW_FAMILIES(NAMED_FAMILY)};

static ow_device_run *runs[OW_DEVICE_KINDS][FAMILIES];

int ow_set_device_run(int kind, const char *family, ow_device_run *run) {
    for (int f = 0; f < FAMILIES; f++)
        if (strcmp(names[f], family) == 0) return runs[kind][f] = run, 1;
    return 0;
}

int ow_device_has_run(int kind, ow_family family) { return runs[kind][family] != NULL; }

static ow_operand operand(const ow_tensor *t) {
    if (!t) return (ow_operand){0};
    return (ow_operand){t->data, t->dtype, t->ndim, t->flags & OW_NUMBER || !ow_device_of(t), t->sizes, t->strides};
}

static int fail(const ow_plan *plan, ow_device device, const char *why) {
    char text[48];
    ow_fail(OW_NOT_IMPLEMENTED,
            "%s() has no implementation for tensors on the device %s%s: the device has no run for such calls of the family %s. "
            "Register one with opweave.library.Device(runs=), a function with opweave.library.register(), or "
            "opweave.library.cpu_fallback for all operators",
            plan->op->name, ow_device_text(text, sizeof text, device), why, names[plan->op->family]);
    return 0;
}

int ow_execute_on_device(const ow_plan *plan, ow_device device) {
    const int kind = ow_device_kind_of(device);
    ow_device_run *run = runs[kind][plan->op->family];
    if (!run) return fail(plan, device, "");
    ow_operand inputs[OW_MAX_INPUTS], results[OW_MAX_OUTPUTS];
    for (int k = 0; k < plan->op->ninputs; k++) inputs[k] = operand(plan->inputs[k]);
    for (int k = 0; k < plan->nresults; k++) results[k] = operand(plan->results[k]);
    const ow_device_plan given = {.name = plan->op->name,
                                  .family = (ow_family)plan->op->family,
                                  .index = (int)(device >> OW_DEVICE_INDEX),
                                  .ninputs = plan->op->ninputs,
                                  .nresults = plan->nresults,
                                  .nparams = plan->op->nparams,
                                  .inputs = inputs,
                                  .results = results,
                                  .compute = plan->compute,
                                  .params = plan->params,
                                  .along = plan->along,
                                  .ints = plan->call ? plan->call->ints : NULL,
                                  .nints = plan->call ? OW_CALL_INTS : 0,
                                  .reals = plan->call ? plan->call->reals : NULL,
                                  .nreals = plan->call ? OW_CALL_REALS : 0,
                                  .lists = plan->call ? plan->call->lists : NULL,
                                  .nlists = plan->call ? OW_CALL_LISTS : 0};
    int done = run(&given);
    if (done < 0) return fail(plan, device, " with these arguments");
    char text[48];
    if (!done) ow_fail(OW_RUNTIME_ERROR, "%s() failed on the device %s", plan->op->name, ow_device_text(text, sizeof text, device));
    return done;
}

int ow_execute(const ow_plan *plan, ow_plan_run *run) {
    const ow_device place = ow_place;
    if (!place) return run(plan);
    return place == OW_META || place & OW_PLANNED || ow_execute_on_device(plan, place);
}

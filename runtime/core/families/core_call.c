/* Finds the routine of an operator by name. */
#include "core_call.h"

#include "families/driver.h"

#define NAMED_CORE(name) {#name, ow_core_##name},
static const struct {
    const char *name;
    ow_core_routine *routine;
} routines[] = {OW_CORE_ROUTINES(NAMED_CORE)};

int ow_core_call(ow_call *call) {
    const ow_tensor *first = call->inputs[0];
    int overwrites = call->op->name[strlen(call->op->name) - 1] == '_';
    if (overwrites != (call->mode == OW_INPLACE)) {
        ow_fail(OW_TYPE_ERROR, "%s() is %scalled in place", call->op->name, overwrites ? "" : "not ");
        return 0;
    }
    if (first && !(call->op->dtypes >> first->dtype & 1)) return ow_refuse_dtype(call->op, "", first->dtype);
    for (size_t k = 0; k < sizeof routines / sizeof *routines; k++)
        if (strcmp(call->op->library, routines[k].name) == 0) return routines[k].routine(call);
    ow_fail(OW_NOT_IMPLEMENTED, "%s: this opweave has no routine '%s'", call->op->name, call->op->library);
    return 0;
}

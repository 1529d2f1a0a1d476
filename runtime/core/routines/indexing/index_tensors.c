/* Indices that are tensors, as operators: `self[indices]` and `self[indices] = values`. */
#include "families/core_call.h"
#include "index_selection.h"

/* Indices with elements go with a tensor that has none, but not the other way. */
static int check_indices(const ow_call *c) {
    if (c->count > OW_MAX_DIMS) {
        ow_fail(OW_INDEX_ERROR, "too many indices for tensor of dimension %d", c->inputs[0]->ndim);
        return 0;
    }
    for (int k = 0; k < c->count && !ow_is_meta(c->inputs[0]); k++)
        if (c->list[k] && ow_is_meta(c->list[k])) {
            ow_fail(OW_RUNTIME_ERROR, "Tensor on device meta is not on the expected device cpu!");
            return 0;
        }
    return 1;
}

static int get(const ow_plan *plan) { return ow_selection_get(plan->details, plan->results[0]); }

int ow_core_index(ow_call *c) {
    ow_selection s;
    if (!check_indices(c) || !ow_selection_begin(&s, c->inputs[0], c->list, c->count)) return 0;
    c->results[0] = ow_selection_result(&s);
    int made = ow_execute_call(c, 1, get, &s);
    ow_selection_end(&s);
    return made;
}

static int put(const ow_plan *plan) { return ow_put_run(plan->details); }

/* ints: accumulate */
int ow_core_index_put(ow_call *c) {
    ow_putting p;
    if (!check_indices(c) || !ow_put_begin(&p, c->out, c->list, c->count, c->inputs[1], c->ints[0] == 1)) return 0;
    c->out->storage->version++;
    int made = ow_execute_call(c, 1, put, &p);
    ow_put_end(&p);
    return made;
}

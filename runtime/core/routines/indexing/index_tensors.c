/* Indices that are tensors, as operators: `self[indices]` and `self[indices] = values`. */
#include "families/core_call.h"
#include "index_get.h"

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

int ow_core_index(ow_call *c) {
    return check_indices(c) && (c->results[0] = ow_index_get(c->inputs[0], c->list, c->count)) != NULL;
}

/* ints: accumulate */
int ow_core_index_put(ow_call *c) {
    c->results[0] = c->out;
    return check_indices(c) && ow_index_put(c->out, c->list, c->count, c->inputs[1], c->ints[0] == 1);
}

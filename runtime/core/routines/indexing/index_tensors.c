/* Indices that are tensors, as operators: `self[indices]` and `self[indices] = values`. */
#include "families/routine.h"
#include "index_get.h"

static int check_number(const ow_call *c) {
    if (c->count <= OW_MAX_DIMS) return 1;
    ow_fail(OW_INDEX_ERROR, "too many indices for tensor of dimension %d", c->inputs[0]->ndim);
    return 0;
}

int ow_core_index(ow_call *c) {
    return check_number(c) && (c->results[0] = ow_index_get(c->inputs[0], c->list, c->count)) != NULL;
}

/* ints: accumulate */
int ow_core_index_put(ow_call *c) {
    c->results[0] = c->out;
    return check_number(c) && ow_index_put(c->out, c->list, c->count, c->inputs[1], c->ints[0] == 1);
}

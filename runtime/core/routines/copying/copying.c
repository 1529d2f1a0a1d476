/* Copies: clone, conversions to other dtypes, and what writes to all elements. */
#include "copying.h"

#include "families/driver.h"

typedef struct {
    ow_tensor *to, *from;
} copying;

static int copy(const ow_plan *plan) {
    const copying *k = plan->details;
    return !k->from || ow_copy_checked(k->to, k->from);
}

int ow_execute_copy(ow_call *c, ow_tensor *to, ow_tensor *from) {
    copying k = {to, from};
    return ow_execute_call(c, 1, copy, &k);
}

static int copied(ow_call *c, int dtype, int64_t order) {
    c->results[0] = ow_empty_like(c->inputs[0], dtype, (int)order);
    return ow_execute_copy(c, c->results[0], c->inputs[0]);
}

int ow_core_clone(ow_call *c) { return copied(c, c->inputs[0]->dtype, c->ints[0]); }

/* What a conversion from one dtype to another loses is worth a warning. */
static void warn_of_cut(int from, int to) {
    int complex = ow_dtype_kinds[from] == OW_KIND_COMPLEX;
    if (complex && ow_dtype_kinds[to] != OW_KIND_COMPLEX && to != OW_BOOL)
        ow_warn("Casting complex values to real discards the imaginary part");
}

/* ints: non_blocking, order */
int ow_core_to_copy(ow_call *c) {
    int dtype = c->dtype < 0 ? c->inputs[0]->dtype : c->dtype;
    warn_of_cut(c->inputs[0]->dtype, dtype);
    return copied(c, dtype, c->ints[1]);
}

static int written(ow_call *c, ow_tensor *to, ow_tensor *from) {
    if (!ow_check_copy(to, from) || !ow_execute_copy(c, to, from)) return 0;
    c->out->storage->version++;
    return 1;
}

/* A number, which is converted as elements are. */
static int filled(ow_call *c, ow_tensor *number) {
    ow_tensor *once = number ? ow_without_repeats(c->out) : NULL;
    int done = once && written(c, once, number);
    ow_tensor_free(once);
    return done;
}

/* It is refused where it lies outside the dtype's range. */
static int filled_in_range(ow_call *c, ow_tensor *number) {
    ow_scalar unused;
    return (!c->out->numel || ow_load_param(number, c->out->dtype, &unused)) && filled(c, number);
}

int ow_core_copy(ow_call *c) {
    ow_tensor *from = c->inputs[1];
    if (from->flags & OW_NUMBER) return filled_in_range(c, from);
    warn_of_cut(from->dtype, c->out->dtype);
    return written(c, c->out, from);
}

/* Of a tensor the number is converted as elements are: beyond the dtype it becomes infinite, or wraps. So is, as in torch, a
 * number for the only element of a tensor of a floating dtype that is computed in a wider one. */
int ow_core_fill(ow_call *c) {
    ow_tensor *value = c->inputs[1];
    int any = ow_stores_any_number(c->out->dtype, c->out->numel);
    ow_scalar number;
    if (value->flags & OW_NUMBER && !any) return filled_in_range(c, value);
    if (value->flags & OW_NUMBER && !ow_load_param(value, OW_FLOAT64, &number)) return 0;
    if (!value->ndim) return written(c, c->out, value);
    ow_fail(OW_RUNTIME_ERROR, "fill_ only supports 0-dimension value tensor but got tensor with %d dimensions.", value->ndim);
    return 0;
}

int ow_core_zero(ow_call *c) {
    ow_tensor *zero = ow_tensor_number_i(0);
    int done = filled(c, zero); /* of a format without zero the least number */
    ow_tensor_free(zero);
    return done;
}

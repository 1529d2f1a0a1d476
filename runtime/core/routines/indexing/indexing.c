/* The driver of `indexing` bodies: finds the routine by name; and how all of them begin and end. */
#include "indexing.h"

#define NAMED_INDEXING(name) {#name, ow_indexing_##name},
static const struct {
    const char *name;
    ow_indexing_routine *routine;
} routines[] = {OW_INDEXINGS(NAMED_INDEXING)};

ow_tensor *ow_indexing(const ow_op *op, ow_tensor *const *inputs, ow_tensor *param, const int64_t *ints, ow_tensor *out,
                       ow_mode mode) {
    ow_indexing_call call = {op, inputs, param, ints, out, mode};
    if (!(op->dtypes >> inputs[0]->dtype & 1))
        return ow_fail(OW_NOT_IMPLEMENTED, "\"%s\" not implemented for '%s'", op->name,
                       ow_dtype_scalar_names[inputs[0]->dtype]);
    for (size_t k = 0; k < sizeof routines / sizeof *routines; k++)
        if (strcmp(op->library, routines[k].name) == 0) return routines[k].routine(&call);
    return ow_fail(OW_NOT_IMPLEMENTED, "%s: this opweave has no routine '%s'", op->name, op->library);
}

/* Inputs from the `first` on must not share memory with what is written. */
static int check_apart(const ow_indexing_call *call, const ow_tensor *target, int first) {
    for (int k = first; k < call->op->ninputs; k++) {
        if (!ow_memory_overlap(target, call->inputs[k])) continue;
        ow_fail(OW_RUNTIME_ERROR,
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                "memory location. Please clone() the tensor before performing the operation.");
        return 0;
    }
    return 1;
}

/* Gives `out` its shape. It may reach into an input's memory before that or only then. */
static int prepare_apart(const ow_indexing_call *call, int first, int dtype, int ndim, const int64_t *sizes) {
    return check_apart(call, call->out, first) && ow_prepare_out(call->op->name, call->out, dtype, ndim, sizes) &&
           check_apart(call, call->out, first);
}

/* ---- new results -------------------------------------------------------------------------------------- */

ow_tensor *ow_result_begin(const ow_indexing_call *call, int dtype, int ndim, const int64_t *sizes) {
    ow_tensor *out = call->out;
    if (call->mode == OW_NEW) return ow_tensor_new(dtype, ndim, sizes, NULL);
    if (out->dtype != dtype)
        return ow_fail(OW_RUNTIME_ERROR, "Expected out tensor to have dtype %s, but got %s instead", ow_type_names[dtype],
                       ow_type_names[out->dtype]);
    if (!prepare_apart(call, 0, dtype, ndim, sizes) || !ow_check_memory(out)) return NULL;
    return out->flags & OW_CONTIGUOUS ? out : ow_tensor_new(dtype, ndim, sizes, NULL);
}

ow_tensor *ow_result_end(const ow_indexing_call *call, ow_tensor *result, int done) {
    if (!result) return NULL;
    if (!done && !ow_error_pending()) ow_fail_overwritten(); /* none was found when the routine looked again */
    if (done && result != call->out && call->mode != OW_NEW)
        done = prepare_apart(call, 0, result->dtype, result->ndim, result->sizes) && ow_check_memory(call->out) &&
               ow_copy(call->out, result);
    if (result != call->out && (call->mode != OW_NEW || !done)) ow_tensor_free(result);
    if (!done) return NULL;
    return call->mode == OW_NEW ? result : call->out;
}

/* ---- updates of self ---------------------------------------------------------------------------------- */

ow_tensor *ow_update_begin(const ow_indexing_call *call, int contiguous) {
    ow_tensor *self = call->inputs[0], *out = call->out;
    if (call->mode == OW_NEW) return ow_clone(self, self->dtype, contiguous);
    if (call->mode == OW_OUT) {
        if (out->dtype != self->dtype)
            return ow_fail(OW_RUNTIME_ERROR, "Expected out tensor to have dtype %s, but got %s instead",
                           ow_type_names[self->dtype], ow_type_names[out->dtype]);
        if (!prepare_apart(call, 1, self->dtype, self->ndim, self->sizes)) return NULL;
        if (!ow_check_writable(out, &self, 1) || !ow_copy(out, self)) return NULL;
        return out;
    }
    return ow_check_memory(self) && check_apart(call, self, 1) ? self : NULL;
}

ow_tensor *ow_update_end(const ow_indexing_call *call, ow_tensor *target, int done) {
    if (done || !target) return target;
    if (call->mode == OW_NEW) ow_tensor_free(target);
    return NULL;
}

ow_tensor *ow_fill_value(const ow_tensor *value, int dtype) {
    ow_scalar checked;
    ow_tensor *result = ow_tensor_new(dtype, 0, NULL, NULL);
    if (!result) return NULL;
    int never_fits = ow_dtype_kinds[value->dtype] == OW_KIND_COMPLEX && ow_dtype_kinds[dtype] != OW_KIND_COMPLEX;
    if (!(value->flags & OW_NUMBER) && !ow_is_readable(value) && !never_fits) return result;
    if (!ow_load_param(value, dtype, &checked)) {
        ow_tensor_free(result);
        return NULL;
    }
    if (ow_infers()) return result;
    int kind = ow_dtype_kinds[dtype];
    int from = kind == OW_KIND_COMPLEX ? OW_COMPLEX128 : kind == OW_KIND_FLOATING ? OW_FLOAT64 : OW_INT64;
    ow_cast_loop(dtype, from)(result->data, 0, (const char *)&checked, 0, 1);
    return result;
}

/* The driver of `indexing` bodies: finds the routine by name; and how all of them begin and end. */
#include "indexing.h"

#define NAMED_INDEXING(name) {#name, ow_indexing_##name},
static const struct {
    const char *name;
    ow_indexing_routine *routine;
} routines[] = {OW_INDEXINGS(NAMED_INDEXING)};

int ow_indexing(ow_call *c) {
    const ow_op *op = c->op;
    const int dtype = c->inputs[0]->dtype;
    if (!(op->dtypes >> dtype & 1))
        return ow_fail(OW_NOT_IMPLEMENTED, "\"%s\" not implemented for '%s'", op->name, ow_dtype_scalar_names[dtype]) != NULL;
    for (size_t k = 0; k < sizeof routines / sizeof *routines; k++)
        if (strcmp(op->library, routines[k].name) == 0) return routines[k].routine(c);
    return ow_fail(OW_NOT_IMPLEMENTED, "%s: this opweave has no routine '%s'", op->name, op->library) != NULL;
}

int ow_check_apart(const ow_call *c, const ow_tensor *target, int first) {
    for (int k = first; k < c->op->ninputs; k++)
        if (ow_memory_overlap(target, c->inputs[k])) return ow_fail_overlap();
    return 1;
}

/* Gives `out` its shape. It may reach into the memory of an input from the `first` on before that or only then. */
static int prepare_out(const ow_call *c, int first, int dtype, int ndim, const int64_t *sizes) {
    ow_tensor *out = c->out;
    if (out->dtype != dtype) {
        ow_fail(OW_RUNTIME_ERROR, "Expected out tensor to have dtype %s, but got %s instead", ow_type_names[dtype],
                ow_type_names[out->dtype]);
        return 0;
    }
    return ow_check_apart(c, out, first) && ow_prepare_out(c->op->name, out, dtype, ndim, sizes) &&
           ow_check_apart(c, out, first);
}

int ow_make_result(ow_call *c, int dtype, int ndim, const int64_t *sizes) {
    if (c->mode == OW_NEW) return (c->results[0] = ow_tensor_new(dtype, ndim, sizes, NULL)) != NULL;
    return prepare_out(c, 0, dtype, ndim, sizes) && ow_check_memory(c->out);
}

static int prepare_updated(ow_call *c, int ndim, const int64_t *sizes) {
    ow_tensor *self = c->inputs[0];
    if (c->mode == OW_INPLACE) return ow_check_memory(self) && ow_check_apart(c, self, 1);
    return prepare_out(c, 1, self->dtype, ndim, sizes) && ow_check_writable(c->out, &self, 1);
}

int ow_make_updated(ow_call *c, int contiguous) {
    ow_tensor *self = c->inputs[0];
    if (c->mode == OW_NEW) return (c->results[0] = ow_empty_like(self, -1, contiguous)) != NULL;
    return prepare_updated(c, self->ndim, self->sizes);
}

int ow_make_updated_as(ow_call *c, int ndim, const int64_t *sizes) {
    return c->mode == OW_NEW ? ow_make_result(c, c->inputs[0]->dtype, ndim, sizes) : prepare_updated(c, ndim, sizes);
}

int ow_check_filled(const ow_tensor *self) {
    if (ow_is_guarded(self->storage) || !ow_internal_overlap(self)) return ow_check_memory(self);
    self->storage->version++;
    return 1;
}

int ow_load_fill(const ow_tensor *value, int dtype, ow_scalar *number) {
    int never_fits = ow_dtype_kinds[value->dtype] == OW_KIND_COMPLEX && ow_dtype_kinds[dtype] != OW_KIND_COMPLEX;
    if (!(value->flags & OW_NUMBER) && !ow_is_readable(value) && !never_fits) return 1;
    return ow_load_param(value, dtype, number);
}

ow_tensor *ow_fill_value(const ow_scalar *number, int dtype) {
    ow_tensor *result = ow_tensor_new(dtype, 0, NULL, NULL);
    int kind = ow_dtype_kinds[dtype];
    int from = kind == OW_KIND_COMPLEX ? OW_COMPLEX128 : kind == OW_KIND_FLOATING ? OW_FLOAT64 : OW_INT64;
    if (result) ow_cast_loop(dtype, from)(result->data, 0, (const char *)number, 0, 1);
    return result;
}

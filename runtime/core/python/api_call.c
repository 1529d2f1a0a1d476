/* The calling conventions of api.h: unpack handles, refuse those with dispatch keys, call the family's driver. */
#include "abi/api.h"
#include "routines/linalg/lapack.h"
#include "families/arg_results.h"
#include "tensor/tensor.h"

ow_tensor *ow_call(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, ow_tensor *out, ow_mode mode) {
    uint32_t keys = ow_keys(out);
    for (int k = 0; k < op->ninputs; k++) keys |= ow_keys(inputs[k]);
    if (keys) return NULL;
    return op->family == OW_ELEMENTWISE ? ow_elementwise(op, inputs, params, out, mode)
                                        : ow_extern(op, inputs, params, out, mode);
}

double call(int32_t op, double a, double b, double c, double p, double q, double r, double out, int32_t mode) {
    ow_tensor *inputs[OW_MAX_INPUTS] = {ow_unpack(a), ow_unpack(b), ow_unpack(c)};
    ow_tensor *params[OW_MAX_PARAMS] = {ow_unpack(p), ow_unpack(q), ow_unpack(r)};
    const ow_op *called = ow_op_called(op, OW_FAMILY(ELEMENTWISE) | OW_FAMILY(EXTERN));
    if (!called) return 0.0;
    ow_tensor *result = ow_call(called, inputs, params, ow_unpack(out), (ow_mode)mode);
    return mode == OW_NEW ? ow_pack(result) : result ? 1.0 : 0.0;
}

double reduce(int32_t op, double a, const int64_t *dims, int32_t ndims, int32_t all, int32_t keepdim, int32_t dtype,
              double out) {
    ow_tensor *self = ow_unpack(a), *target = ow_unpack(out);
    const ow_op *called = ow_op_called(op, OW_FAMILY(REDUCE));
    if (!called || !(called->results & OW_VALUE) || ow_keys(self) | ow_keys(target)) return 0.0;
    ow_tensor *result = ow_reduce(called, self, dims, ndims, all, keepdim, dtype, target);
    return target ? (result ? 1.0 : 0.0) : ow_pack(result);
}

double scan(int32_t op, double a, int64_t dim, int32_t dtype, double out, int32_t mode) {
    ow_tensor *self = ow_unpack(a), *target = ow_unpack(out);
    const ow_op *called = ow_op_called(op, OW_FAMILY(SCAN));
    if (!called || !ow_gives_value(called) || ow_keys(self) | ow_keys(target)) return 0.0;
    ow_tensor *result = ow_scan(called, self, dim, dtype, target, (ow_mode)mode);
    return target ? (result ? 1.0 : 0.0) : ow_pack(result);
}

int32_t multi(int32_t op, double a, const int64_t *dims, int32_t ndims, int32_t all, int32_t keepdim, int32_t dtype,
                double p, double q, double r, double *results) {
    ow_tensor *self = ow_unpack(a), *found[OW_MAX_RESULTS] = {NULL};
    ow_tensor *params[OW_MAX_PARAMS] = {ow_unpack(p), ow_unpack(q), ow_unpack(r)};
    const ow_op *called = ow_op_called(op, OW_MULTI_FAMILIES);
    if (!called || ow_keys(self) || !ow_multi(called, self, dims, ndims, all, keepdim, dtype, params, found)) return 0;
    int32_t n = 0;
    for (; n < OW_MAX_RESULTS && found[n]; n++) results[n] = ow_pack(found[n]);
    return n;
}

static int load_list(ow_ints *to, const int64_t *from, int32_t n) {
    if (n > OW_MAX_DIMS) {
        ow_fail(OW_RUNTIME_ERROR, "a list of %d dimensions exceeds the limit of %d", (int)n, OW_MAX_DIMS);
        return 0;
    }
    to->n = n;
    if (n > 0) memcpy(to->v, from, sizeof(int64_t) * (size_t)n);
    return 1;
}

double view(int32_t op, double a, int64_t i, int64_t j, int64_t k, int64_t l, const int64_t *list, int32_t n,
            const int64_t *list2, int32_t n2) {
    int64_t ints[] = {i, j, k, l};
    ow_ints lists[2];
    ow_tensor *self = ow_unpack(a);
    const ow_op *called = ow_op_called(op, OW_FAMILY(VIEW));
    if (!called || ow_keys(self) || !load_list(&lists[0], list, n) || !load_list(&lists[1], list2, n2)) return 0.0;
    return ow_pack(ow_view_call(called, self, ints, lists));
}

double factory(int32_t op, const int64_t *sizes, int32_t ndim, int32_t dtype, double p, double q, double r,
               double out) {
    ow_tensor *params[OW_MAX_PARAMS] = {ow_unpack(p), ow_unpack(q), ow_unpack(r)};
    ow_tensor *target = ow_unpack(out);
    const ow_op *called = ow_op_called(op, OW_FAMILY(FACTORY));
    if (!called || ow_keys(target)) return 0.0;
    ow_tensor *result = ow_factory(called, sizes, ndim, dtype, params, target);
    return target ? (result ? 1.0 : 0.0) : ow_pack(result);
}

int32_t lapack(int32_t op, double a, double b, double c, const int64_t *flags, double number, double *results) {
    ow_tensor *inputs[OW_MAX_INPUTS] = {ow_unpack(a), ow_unpack(b), ow_unpack(c)}, *found[OW_LAPACK_RESULTS] = {NULL};
    const ow_op *called = ow_op_called(op, OW_FAMILY(LAPACK));
    if (!called || ow_keys(inputs[0]) | ow_keys(inputs[1]) | ow_keys(inputs[2])) return 0;
    int n = ow_lapack_call(called, inputs, flags, number, found);
    for (int k = 0; k < n; k++) results[k] = ow_pack(found[k]);
    return n;
}

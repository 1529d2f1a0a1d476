/* The calling conventions of indexing (api.h): unpack handles, refuse those with dispatch keys. */
#include "abi/api.h"
#include "routines/indexing/index_get.h"

/* Unpacks handles; 0 when one of them has dispatch keys, or when there are too many. */
static int unpack(const double *handles, int32_t n, ow_tensor **tensors) {
    if (n > OW_MAX_DIMS) {
        ow_fail(OW_INDEX_ERROR, "too many indices: a tensor has at most %d dimensions", OW_MAX_DIMS);
        return 0;
    }
    uint32_t keys = 0;
    for (int32_t k = 0; k < n; k++) {
        tensors[k] = ow_unpack(handles[k]);
        keys |= ow_keys(tensors[k]);
    }
    return !keys;
}

double index_get(double t, const double *indices, int32_t n) {
    ow_tensor *tensors[OW_MAX_DIMS];
    if (ow_keys(ow_unpack(t)) || !unpack(indices, n, tensors)) return 0.0;
    return ow_pack(ow_index_get(ow_unpack(t), tensors, n));
}

double index_put(double t, const double *indices, int32_t n, double values, int32_t accumulate) {
    ow_tensor *tensors[OW_MAX_DIMS];
    if (ow_keys(ow_unpack(t)) | ow_keys(ow_unpack(values)) || !unpack(indices, n, tensors)) return 0.0;
    return ow_index_put(ow_unpack(t), tensors, n, ow_unpack(values), accumulate) ? 1.0 : 0.0;
}

double indexing(int32_t index, double a, double b, double c, double p, int64_t i, int64_t j, int64_t k, double out,
                int32_t mode) {
    const ow_op *op = ow_op_called(index, OW_FAMILY(INDEXING));
    if (!op) return 0.0;
    ow_tensor *inputs[OW_MAX_INPUTS] = {ow_unpack(a), ow_unpack(b), ow_unpack(c)}, *target = ow_unpack(out);
    const int64_t ints[] = {i, j, k};
    uint32_t keys = ow_keys(target);
    for (int n = 0; n < op->ninputs; n++) keys |= ow_keys(inputs[n]);
    if (keys) return 0.0;
    ow_tensor *result = ow_indexing(op, inputs, ow_unpack(p), ints, target, (ow_mode)mode);
    if (mode == OW_NEW) return ow_pack(result);
    return result ? 1.0 : 0.0;
}

int32_t count_values(double values, double counts) {
    ow_tensor *from = ow_unpack(values), *to = ow_unpack(counts);
    return !(ow_keys(from) | ow_keys(to)) && ow_count_values(from, to);
}

/* The calling conventions of indexing (api.h): unpack handles, refuse those with dispatch keys. */
#include "abi/api.h"
#include "routines/indexing/index_get.h"

/* Unpacks what elements of `t` are selected by; 0 when something has dispatch keys, or with the error set. */
static int unpack(double t, const double *handles, int32_t n, ow_tensor **tensors) {
    if (n > OW_MAX_DIMS) {
        ow_fail(OW_INDEX_ERROR, "too many indices: a tensor has at most %d dimensions", OW_MAX_DIMS);
        return 0;
    }
    uint32_t keys = ow_keys(ow_unpack(t));
    for (int32_t k = 0; k < n; k++) keys |= ow_keys(tensors[k] = ow_unpack(handles[k]));
    return !keys;
}

double index_get(double t, const double *indices, int32_t n) {
    ow_tensor *tensors[OW_MAX_DIMS];
    return unpack(t, indices, n, tensors) ? ow_pack(ow_index_get(ow_unpack(t), tensors, n)) : 0.0;
}

double index_put(double t, const double *indices, int32_t n, double values, int32_t accumulate) {
    ow_tensor *tensors[OW_MAX_DIMS];
    if (!unpack(t, indices, n, tensors) || ow_keys(ow_unpack(values))) return 0.0;
    return ow_index_put(ow_unpack(t), tensors, n, ow_unpack(values), accumulate) ? 1.0 : 0.0;
}

int32_t count_values(double values, double counts) {
    ow_tensor *from = ow_unpack(values), *to = ow_unpack(counts);
    return !(ow_keys(from) | ow_keys(to)) && ow_count_values(from, to);
}

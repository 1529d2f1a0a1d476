/* The calling conventions of indexing (api.h): unpack handles, refuse those with dispatch keys. */
#include "abi/api.h"
#include "routines/indexing/index_get.h"

/* Unpacks what elements of `t` are selected by, or what they become; 0 when something has dispatch keys that the core does
 * not answer, or with the error set. What has elements goes with a tensor that has none. */
static int unpack(double t, const double *handles, int32_t n, ow_tensor **tensors) {
    if (n > OW_MAX_DIMS) {
        ow_fail(OW_INDEX_ERROR, "too many indices: a tensor has at most %d dimensions", OW_MAX_DIMS);
        return 0;
    }
    uint32_t own = ow_keys(ow_unpack(t)), keys = own;
    for (int32_t k = 0; k < n; k++) {
        tensors[k] = ow_unpack(handles[k]);
        keys |= ow_keys(tensors[k]);
    }
    if (keys & ~own & OW_KEY_META)
        return ow_fail(OW_RUNTIME_ERROR, "Tensor on device meta is not on the expected device cpu!") != NULL;
    return !(keys & ~(uint32_t)OW_KEY_META);
}

double index_get(double t, const double *indices, int32_t n) {
    ow_tensor *tensors[OW_MAX_DIMS];
    ow_tensor *self = ow_unpack(t);
    if (!unpack(t, indices, n, tensors)) return 0.0;
    return ow_pack(OW_CALL(ow_is_meta(self), ow_index_get(self, tensors, n)));
}

double index_put(double t, const double *indices, int32_t n, double values, int32_t accumulate) {
    ow_tensor *tensors[OW_MAX_DIMS];
    ow_tensor *self = ow_unpack(t), *source = ow_unpack(values);
    if (!unpack(t, indices, n, tensors) || !unpack(t, &values, 1, &source)) return 0.0;
    return OW_CALL(ow_is_meta(self), ow_index_put(self, tensors, n, source, accumulate)) ? 1.0 : 0.0;
}

int32_t count_values(double values, double counts) {
    ow_tensor *from = ow_unpack(values), *to = ow_unpack(counts);
    return !(ow_keys(from) | ow_keys(to)) && ow_count_values(from, to);
}

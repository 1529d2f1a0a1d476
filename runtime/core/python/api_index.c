/* Counting by values, and by the bins that they lie in (api.h). */
#include "abi/api.h"
#include "routines/indexing/index_get.h"

int32_t count_values(double values, double counts) {
    ow_tensor *from = ow_unpack(values), *to = ow_unpack(counts);
    return !(ow_keys(from) | ow_keys(to)) && ow_count_values(from, to);
}

int32_t add_to_bins(double values, double weights, double edges, int32_t rule, double sums) {
    ow_tensor *from = ow_unpack(values), *by = weights ? ow_unpack(weights) : NULL, *at = ow_unpack(edges);
    ow_tensor *to = ow_unpack(sums);
    if (ow_keys(from) | (by ? ow_keys(by) : 0) | ow_keys(at) | ow_keys(to)) return 0;
    return ow_add_to_bins(from, by, at, (ow_bin_rule)rule, to);
}

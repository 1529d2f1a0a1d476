/* Counting by values (api.h). */
#include "abi/api.h"
#include "routines/indexing/index_get.h"

int32_t count_values(double values, double counts) {
    ow_tensor *from = ow_unpack(values), *to = ow_unpack(counts);
    return !(ow_keys(from) | ow_keys(to)) && ow_count_values(from, to);
}

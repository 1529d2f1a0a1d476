/* How often each natural number occurs. */
#include "index_get.h"

int ow_count_values(const ow_tensor *values, ow_tensor *counts) {
    if (values->dtype != OW_INT64 || counts->dtype != OW_INT64 || !(values->flags & counts->flags & OW_CONTIGUOUS)) return 0;
    const int64_t *from = (const int64_t *)values->data;
    int64_t *to = (int64_t *)counts->data, n = values->numel, j = 0;
    uint64_t size = (uint64_t)counts->numel;
    void *token = ow_gil_release(n);
#pragma GCC unroll 4
    for (; j < n; j++) {
        uint64_t index = (uint64_t)from[j]; /* read once: another thread may write it */
        if (index >= size) break;
        to[index]++;
    }
    ow_gil_acquire(token);
    return j == n;
}

/* How often each natural number occurs. */
#include "index_get.h"

enum { COST = 8 /* of counting an element, in units of a float32 add */ };

typedef struct {
    const int64_t *from;
    int64_t step;
    int64_t *to;
    uint64_t size;
    int failed;
} count_state;

static void count_range(void *context, int64_t begin, int64_t end) {
    count_state *s = context;
    const int64_t *from = s->from + begin * s->step;
#pragma GCC unroll 4
    for (int64_t j = begin; j < end; j++, from += s->step) {
        uint64_t index = (uint64_t)*(const volatile int64_t *)from; /* read once: another thread may write it */
        if (index >= s->size) {
            s->failed = 1;
            return;
        }
        s->to[index]++;
    }
}

int ow_count_values(const ow_tensor *values, ow_tensor *counts) {
    if (values->dtype != OW_INT64 || values->ndim != 1 || counts->dtype != OW_INT64 || !(counts->flags & OW_CONTIGUOUS))
        return 0;
    count_state s = {(const int64_t *)values->data, values->strides[0], (int64_t *)counts->data, (uint64_t)counts->numel, 0};
    void *token = ow_gil_release(COST * values->numel);
    int done = ow_serial_for(values->numel, OW_INDEX_CHUNK, COST * (double)values->numel, count_range, &s);
    ow_gil_acquire(token);
    return done && !s.failed;
}

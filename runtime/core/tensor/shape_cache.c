/* Interned shapes: open addressing in a table that never grows. */
#include "shape_cache.h"

#include "tensor.h"

enum { SLOTS = 2 * OW_SHAPES, PROBES = 16 };

typedef struct shape {
    int32_t ndim;
    int64_t sizes[OW_INLINE_DIMS];
} shape;

static shape shapes[OW_SHAPES];
static int32_t slots[SLOTS]; /* index + 1; 0: free */
static int32_t count;

static uint32_t hash(int ndim, const int64_t *sizes) {
    uint64_t h = (uint64_t)ndim;
    for (int d = 0; d < ndim; d++) h = (h ^ (uint64_t)sizes[d]) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 40) % SLOTS;
}

static int is_equal(const shape *s, int ndim, const int64_t *sizes) {
    if (s->ndim != ndim) return 0;
    for (int d = 0; d < ndim; d++)
        if (s->sizes[d] != sizes[d]) return 0;
    return 1;
}

int32_t ow_shape_id(int ndim, const int64_t *sizes) {
    if (ndim > OW_INLINE_DIMS) return -1;
    uint32_t slot = hash(ndim, sizes);
    for (int probe = 0; probe < PROBES; probe++, slot = (slot + 1) % SLOTS) {
        int32_t index = slots[slot] - 1;
        if (index >= 0) {
            if (is_equal(&shapes[index], ndim, sizes)) return index;
            continue;
        }
        if (count == OW_SHAPES) return -1;
        index = count++;
        shapes[index].ndim = ndim;
        for (int d = 0; d < ndim; d++) shapes[index].sizes[d] = sizes[d];
        slots[slot] = index + 1;
        return index;
    }
    return -1;
}

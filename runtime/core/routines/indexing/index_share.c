/* Writing to places of one dimension, in any order and perhaps more than once, by several threads: each goes through all
 * positions and writes to its own part of the places. So the order of what meets in one place is that of the positions,
 * and a part of a long dimension fits in the cache of the core that writes to it. */
#include "isa/target_clones.h"
#include "index_space.h"

enum {
    SINKS = 16,            /* where what is another thread's goes: several, so that writes do not wait for each other */
    LEAST_NUMEL = 1 << 15, /* positions that are worth it */
    LEAST_BYTES = 2 << 20, /* of the dimension: one core writes to a shorter one, which its cache holds, in less time */
    LEAST_PARTS = 4,       /* of fewer, each takes as long as the whole, as every thread reads all indices */
    MOST_PARTS = 8,
};

typedef struct {
    const ow_index_space *space;
    ow_mover mover;
    int64_t begin, end; /* positions */
    int64_t parts;
} shared_write;

OW_CLONES static void write_part(const shared_write *w, int64_t low, int64_t high) {
    const ow_index_space *space = w->space;
    const ow_lookup *lookup = &space->lookups[0];
    const int64_t *indices = (const int64_t *)lookup->data;
    int64_t offsets[OW_INDEX_CHUNK], wraps = lookup->wraps ? lookup->size : 0;
    _Alignas(64) char sinks[SINKS * OW_MAX_ITEMSIZE] = {0};
    int64_t sink = (int64_t)((uintptr_t)sinks - (uintptr_t)space->base);
    for (int64_t done = w->begin; done < w->end; done += OW_INDEX_CHUNK) {
        int64_t n = w->end - done < OW_INDEX_CHUNK ? w->end - done : OW_INDEX_CHUNK;
        for (int64_t j = 0; j < n; j++) {
            int64_t i = __atomic_load_n(&indices[done + j], __ATOMIC_RELAXED); /* once: another thread may overwrite it */
            i += wraps & (i >> 63);
            int64_t other = ((i - low) | (high - 1 - i)) >> 63; /* all bits, where the place is another thread's */
            offsets[j] = ((i * lookup->scale) & ~other) | ((sink + j % SINKS * OW_MAX_ITEMSIZE) & other);
            __builtin_prefetch(space->base + offsets[j], 1); /* writes wait for each other, fetching does not */
        }
        w->mover(space->base, offsets, space->other + done * space->other_stride[0], space->other_stride[0], n,
                 space->itemsize);
    }
}

static void write_parts(void *context, int64_t begin, int64_t end) {
    const shared_write *w = context;
    int64_t size = w->space->lookups[0].size;
    for (int64_t k = begin; k < end; k++) write_part(w, size * k / w->parts, size * (k + 1) / w->parts);
}

int ow_space_share(const ow_index_space *space, ow_mover mover, int64_t begin, int64_t end, double cost) {
    const ow_lookup *lookup = &space->lookups[0];
    int64_t parts = ow_num_threads() < MOST_PARTS ? ow_num_threads() : MOST_PARTS;
    if (parts < LEAST_PARTS || space->ndim != 1 || space->nlookups != 1 || space->base_stride[0] || space->run != 1) return 0;
    if (lookup->index->dtype != OW_INT64 || lookup->stride[0] != sizeof(int64_t) || end - begin < LEAST_NUMEL) return 0;
    if (lookup->scale < 0 || lookup->size * lookup->scale < LEAST_BYTES) return 0;
    shared_write w = {space, mover, begin, end, parts};
    ow_parallel_for(parts, 1, cost * (double)(end - begin), write_parts, &w);
    return 1;
}

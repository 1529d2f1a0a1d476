/* Checks that all indices are inside their dimensions, before anything is written. */
#include "isa/target_clones.h"
#include "index_space.h"

/* Every element of one index tensor, wherever it stands in the space, in order: once where it is expanded, as rows are that
 * one index each stands for. */
static int scan_lookup(const ow_lookup *lookup, int64_t *value) {
    int64_t loaded[OW_INDEX_CHUNK], position[OW_MAX_DIMS] = {0}, sizes[OW_MAX_DIMS] = {1}, strides[OW_MAX_DIMS] = {0};
    const ow_tensor *index = lookup->index;
    int64_t itemsize = ow_itemsize(index->dtype), lowest = lookup->wraps ? -lookup->size : 0;
    int contiguous = (index->flags & OW_CONTIGUOUS) != 0, ndim = 0;
    for (int d = 0; d < index->ndim && !contiguous; d++) {
        if (index->sizes[d] && !index->strides[d]) continue;
        sizes[ndim] = index->sizes[d];
        strides[ndim++] = index->strides[d] * itemsize;
    }
    int last = ndim ? ndim - 1 : 0;
    int64_t length = contiguous ? index->numel : sizes[last], stride = contiguous ? itemsize : strides[last], rows = 1;
    for (int d = 0; d < last; d++) rows *= sizes[d];
    const char *row = index->data;
    ow_cast load = ow_cast_loop(OW_INT64, index->dtype);
    for (; rows > 0; rows--) {
        for (int64_t begin = 0; begin < length; begin += OW_INDEX_CHUNK) {
            int64_t n = length - begin < OW_INDEX_CHUNK ? length - begin : OW_INDEX_CHUNK;
            const int64_t *values = (const int64_t *)(row + begin * stride);
            if (index->dtype != OW_INT64 || stride != 8) {
                load((char *)loaded, 8, row + begin * stride, stride, n);
                values = loaded;
            }
            if (ow_all_inside(values, n, lowest, lookup->size)) continue;
            for (int64_t j = 0; j < n; j++) { /* all of them may be inside by now, where another thread writes */
                *value = __atomic_load_n(values + j, __ATOMIC_RELAXED);
                if (!ow_all_inside(value, 1, lowest, lookup->size)) return 0;
            }
        }
        for (int d = last - 1; d >= 0; d--) {
            row += strides[d];
            if (++position[d] < sizes[d]) break;
            row -= position[d] * strides[d];
            position[d] = 0;
        }
    }
    return 1;
}

/* ---- in parallel ---- */

typedef struct {
    const int64_t *values;
    int64_t lowest, size;
    int outside;
} check_state;

OW_CLONES static void check_range(void *context, int64_t begin, int64_t end) {
    check_state *state = context;
    if (!ow_all_inside(state->values + begin, end - begin, state->lowest, state->size))
        __atomic_store_n(&state->outside, 1, __ATOMIC_RELAXED);
}

/* Indices as they stand in memory; 0 also for others, which scan_lookup goes through, and where it was interrupted. */
static int all_inside(const ow_lookup *lookup) {
    const ow_tensor *index = lookup->index;
    if (index->dtype != OW_INT64 || !(index->flags & OW_CONTIGUOUS)) return 0;
    check_state state = {(const int64_t *)index->data, lookup->wraps ? -lookup->size : 0, lookup->size, 0};
    return ow_long_for(index->numel, 16384, (double)index->numel, check_range, &state) && !state.outside;
}

const ow_lookup *ow_space_find_bad(const ow_index_space *space, int64_t *value) {
    for (int k = 0; k < space->nlookups; k++)
        if (!all_inside(&space->lookups[k]) && (ow_error_pending() || !scan_lookup(&space->lookups[k], value)))
            return &space->lookups[k];
    return NULL;
}

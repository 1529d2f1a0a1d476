/* Runs over index spaces: offsets are computed for a chunk of positions, then a mover does the work on all of them. */
#include "index_space.h"

/* ---- arranging ---------------------------------------------------------------------------------------- */

static int has_lookup(const ow_index_space *space, int d) {
    for (int k = 0; k < space->nlookups; k++)
        if (space->lookups[k].stride[d]) return 1;
    return 0;
}

static void move_dimension(ow_index_space *space, int to, int from) {
    space->shape[to] = space->shape[from];
    space->base_stride[to] = space->base_stride[from];
    space->other_stride[to] = space->other_stride[from];
    for (int k = 0; k < space->nlookups; k++) space->lookups[k].stride[to] = space->lookups[k].stride[from];
}

/* Can dimension d continue dimension e, which is outside of it, in every operand? */
static int continues(const ow_index_space *space, int e, int d) {
    int64_t size = space->shape[d];
    int merges = space->base_stride[e] == space->base_stride[d] * size &&
                 space->other_stride[e] == space->other_stride[d] * size;
    for (int k = 0; merges && k < space->nlookups; k++)
        merges = space->lookups[k].stride[e] == space->lookups[k].stride[d] * size;
    return merges;
}

static void swap_dimensions(ow_index_space *space, int a, int b) {
    space->ndim++; /* room for one */
    move_dimension(space, space->ndim - 1, a);
    move_dimension(space, a, b);
    move_dimension(space, b, space->ndim - 1);
    space->ndim--;
}

#define SHORT_ROW 16

/* Rows shorter than this are better run across. Positions that may meet in one place differ in the dimensions without a
 * stride of the indexed tensor; with at most one of these, no exchange changes the order in which they come. */
static void lengthen_rows(ow_index_space *space) {
    int meeting = 0, last = space->ndim - 1, longest = last;
    if (last < 1 || last + 1 == OW_MAX_DIMS || space->shape[last] >= SHORT_ROW) return;
    for (int d = 0; d <= last; d++) {
        meeting += space->base_stride[d] == 0;
        if (space->shape[d] > space->shape[longest]) longest = d;
    }
    if (meeting <= 1 && space->shape[longest] >= 4 * space->shape[last]) swap_dimensions(space, longest, last);
}

void ow_space_arrange(ow_index_space *space) {
    int n = 0;
    for (int d = 0; d < space->ndim; d++)
        if (space->shape[d] != 1) move_dimension(space, n++, d);
    while (n) {
        int64_t nbytes = space->run * space->itemsize;
        int d = n - 1;
        if (space->base_stride[d] != nbytes || space->other_stride[d] != nbytes || has_lookup(space, d)) break;
        space->run *= space->shape[d];
        n--;
    }
    int merged = 0;
    for (int d = 0; d < n; d++) {
        if (merged && continues(space, merged - 1, d)) {
            int64_t outer = space->shape[merged - 1];
            move_dimension(space, merged - 1, d);
            space->shape[merged - 1] *= outer;
        } else {
            move_dimension(space, merged++, d);
        }
    }
    space->ndim = merged;
    space->numel = 1;
    for (int d = 0; d < merged; d++) space->numel *= space->shape[d];
    lengthen_rows(space);
}

/* ---- offsets ------------------------------------------------------------------------------------------ */

/* Where a walk stands: pointers and offsets at the current position. */
typedef struct {
    int64_t position[OW_MAX_DIMS];
    int64_t offset; /* in the indexed tensor, without lookups */
    char *other;
    const char *index[OW_MAX_DIMS];
} walk;

static void walk_by(const ow_index_space *space, walk *w, int d, int64_t steps) {
    w->position[d] += steps;
    w->offset += steps * space->base_stride[d];
    w->other += steps * space->other_stride[d];
    for (int k = 0; k < space->nlookups; k++) w->index[k] += steps * space->lookups[k].stride[d];
}

static void walk_start(const ow_index_space *space, walk *w, int64_t at) {
    w->offset = 0;
    w->other = space->other;
    for (int k = 0; k < space->nlookups; k++) w->index[k] = space->lookups[k].data;
    for (int d = space->ndim - 1; d >= 0; d--) {
        w->position[d] = 0;
        walk_by(space, w, d, at % space->shape[d]);
        at /= space->shape[d];
    }
}

/* Leaves the row behind. */
static void walk_next_row(const ow_index_space *space, walk *w) {
    int d = space->ndim - 1;
    for (;;) {
        walk_by(space, w, d, -w->position[d]);
        if (--d < 0) return;
        walk_by(space, w, d, 1);
        if (w->position[d] < space->shape[d]) return;
    }
}

static inline int64_t checked(const ow_lookup *lookup, int64_t value, uint64_t *bad) {
    value += lookup->wraps ? lookup->size & (value >> 63) : 0;
    int inside = (uint64_t)value < (uint64_t)lookup->size;
    *bad |= !inside;
    return inside ? value : 0;
}

/* Offsets of n <= OW_INDEX_CHUNK positions of a row. 0 when an index is outside; its offset is then a harmless one. */
static int fill_offsets(const ow_index_space *space, const walk *w, int64_t n, int64_t *offsets) {
    int last = space->ndim - 1;
    int64_t start = w->offset, step = last < 0 ? 0 : space->base_stride[last], filled = 0;
    uint64_t bad = 0;
    int64_t loaded[OW_INDEX_CHUNK];
    for (int k = 0; k < space->nlookups; k++) {
        const ow_lookup *lookup = &space->lookups[k];
        int64_t stride = last < 0 ? 0 : lookup->stride[last], scale = lookup->scale;
        const int64_t *values = (const int64_t *)w->index[k];
        if (lookup->index->dtype != OW_INT64 || (stride && stride != 8)) {
            ow_cast_loop(OW_INT64, lookup->index->dtype)((char *)loaded, 8, w->index[k], stride, stride ? n : 1);
            values = loaded;
        }
        if (!stride) {
            start += checked(lookup, values[0], &bad) * scale;
        } else if (!filled) {
            for (int64_t j = 0; j < n; j++) offsets[j] = checked(lookup, values[j], &bad) * scale;
            filled = 1;
        } else {
            for (int64_t j = 0; j < n; j++) offsets[j] += checked(lookup, values[j], &bad) * scale;
        }
    }
    if (!filled)
        for (int64_t j = 0; j < n; j++) offsets[j] = start + j * step;
    else if (start | step)
        for (int64_t j = 0; j < n; j++) offsets[j] += start + j * step;
    return !bad;
}

/* ---- running ------------------------------------------------------------------------------------------ */

/* Positions [begin, end), in order. 0 when an index was outside. */
static int run_range(const ow_index_space *space, int64_t begin, int64_t end, ow_mover mover) {
    int64_t offsets[OW_INDEX_CHUNK];
    int last = space->ndim - 1, inside = 1;
    int64_t length = last < 0 ? 1 : space->shape[last], stride = last < 0 ? 0 : space->other_stride[last];
    walk w;
    if (begin >= end) return 1;
    walk_start(space, &w, begin);
    while (begin < end) {
        int64_t n = length - (last < 0 ? 0 : w.position[last]);
        if (n > OW_INDEX_CHUNK) n = OW_INDEX_CHUNK;
        if (n > end - begin) n = end - begin;
        inside &= fill_offsets(space, &w, n, offsets);
        mover(space->base, offsets, w.other, stride, n, space->run * space->itemsize);
        begin += n;
        if (last < 0) break;
        walk_by(space, &w, last, n);
        if (w.position[last] == length) walk_next_row(space, &w);
    }
    return inside;
}

typedef struct {
    const ow_index_space *space;
    ow_mover mover;
    int split; /* put: the dimension that threads share; -1: the block */
    int outside;
} run_state;

/* What a position costs, in units of a float32 addition: random access for the block, and the offset. */
static double position_cost(const ow_index_space *space, double cost) {
    return 3.0 + 2.0 * space->nlookups + cost * (double)space->run;
}

static int64_t grain_of(double cost) {
    int64_t grain = (int64_t)(16384 / cost);
    return grain > 0 ? grain : 1;
}

static void get_range(void *context, int64_t begin, int64_t end) {
    run_state *state = context;
    if (!run_range(state->space, begin, end, state->mover)) __atomic_store_n(&state->outside, 1, __ATOMIC_RELAXED);
}

int ow_space_get(const ow_index_space *space) {
    run_state state = {space, ow_mover_get(space->run * space->itemsize), 0, 0};
    double cost = position_cost(space, 0.25), work = cost * (double)space->numel;
    if (!space->numel) return 1;
    void *token = ow_gil_release((int64_t)work);
    ow_parallel_for(space->numel, grain_of(cost), work, get_range, &state);
    ow_gil_acquire(token);
    return !state.outside;
}

/* A thread has part of one dimension, or of every block, for itself. */
static void put_range(void *context, int64_t begin, int64_t end) {
    run_state *state = context;
    ow_index_space part = *state->space;
    if (state->split < 0) {
        part.run = end - begin;
        part.base += begin * part.itemsize;
        part.other += begin * part.itemsize;
    } else {
        int d = state->split;
        part.numel = part.numel / part.shape[d] * (end - begin);
        part.shape[d] = end - begin;
        part.base += begin * part.base_stride[d];
        part.other += begin * part.other_stride[d];
        for (int k = 0; k < part.nlookups; k++) part.lookups[k].data += begin * part.lookups[k].stride[d];
    }
    run_range(&part, 0, part.numel, state->mover);
}

#define BLOCK_TO_SHARE 128 /* elements of a block that are worth dividing: threads then write to different lines */

void ow_space_put(const ow_index_space *space, ow_mover mover, double cost) {
    if (!space->numel) return;
    run_state state = {space, mover, -1, 0};
    int64_t n = space->run < BLOCK_TO_SHARE ? 1 : space->run, divisor = space->numel;
    for (int d = 0; d < space->ndim; d++) /* the indexed tensor's own dimensions: nothing meets across them */
        if (space->base_stride[d] && (n < 2 || (state.split >= 0 && space->shape[d] > n))) {
            state.split = d;
            n = space->shape[d];
        }
    double position = position_cost(space, cost), work = position * (double)space->numel;
    int64_t grain = state.split >= 0 ? grain_of(position * (double)(divisor / n)) : BLOCK_TO_SHARE / 2;
    void *token = ow_gil_release((int64_t)work);
    if (n < 2) run_range(space, 0, space->numel, mover);
    else ow_parallel_for(n, grain, work, put_range, &state);
    ow_gil_acquire(token);
}

/* ---- checking ----------------------------------------------------------------------------------------- */

/* Every element of one index tensor, wherever it stands in the space. */
static int scan_lookup(const ow_lookup *lookup, int64_t *value) {
    int64_t loaded[OW_INDEX_CHUNK], position[OW_MAX_DIMS] = {0};
    const ow_tensor *index = lookup->index;
    int64_t itemsize = ow_itemsize(index->dtype), lowest = lookup->wraps ? -lookup->size : 0;
    int contiguous = (index->flags & OW_CONTIGUOUS) != 0, last = contiguous ? 0 : index->ndim - 1;
    int64_t length = contiguous ? index->numel : index->sizes[last];
    int64_t stride = contiguous ? itemsize : index->strides[last] * itemsize;
    const char *row = index->data;
    ow_cast load = ow_cast_loop(OW_INT64, index->dtype);
    for (int64_t rows = index->numel / (length ? length : 1); rows > 0; rows--) {
        for (int64_t begin = 0; begin < length; begin += OW_INDEX_CHUNK) {
            int64_t n = length - begin < OW_INDEX_CHUNK ? length - begin : OW_INDEX_CHUNK;
            const int64_t *values = (const int64_t *)(row + begin * stride);
            if (index->dtype != OW_INT64 || stride != 8) {
                load((char *)loaded, 8, row + begin * stride, stride, n);
                values = loaded;
            }
            uint64_t range = (uint64_t)(lookup->size - lowest), bad = 0;
            for (int64_t j = 0; j < n; j++) bad |= (uint64_t)(values[j] - lowest) >= range;
            if (!bad) continue;
            while ((uint64_t)(*values - lowest) < range) values++;
            *value = *values;
            return 0;
        }
        for (int d = last - 1; d >= 0 && !contiguous; d--) {
            row += index->strides[d] * itemsize;
            if (++position[d] < index->sizes[d]) break;
            row -= position[d] * index->strides[d] * itemsize;
            position[d] = 0;
        }
    }
    return 1;
}

const ow_lookup *ow_space_find_bad(const ow_index_space *space, int64_t *value) {
    for (int k = 0; k < space->nlookups; k++)
        if (!scan_lookup(&space->lookups[k], value)) return &space->lookups[k];
    return NULL;
}

/* Runs over index spaces: offsets are computed for a chunk of positions, then a mover does the work on all of them. */
#include "isa/target_clones.h"
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

/* 1 if dimension d can be merged with dimension e, which is outside of it, in every operand. */
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
        int runs_on = space->repeats ? 1 : space->other_stride[d] == nbytes;
        if (space->base_stride[d] != nbytes || !runs_on || has_lookup(space, d)) break;
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

/* The indices of n <= OW_INDEX_CHUNK positions, copied: another thread may overwrite the tensor at any time, so what is
 * checked and what is used must be one and the same memory, which is nobody else's. */
static void own_indices(const ow_lookup *lookup, const char *data, int64_t stride, int64_t n, int64_t *copy) {
    if (lookup->index->dtype == OW_INT64 && (stride == sizeof *copy || n == 1)) memcpy(copy, data, sizeof *copy * (size_t)n);
    else ow_cast_loop(OW_INT64, lookup->index->dtype)((char *)copy, sizeof *copy, data, stride, n);
    __asm__ volatile("" : : "r"(copy) : "memory"); /* or the compiler might read the tensor once more */
}

/* Offsets of n <= OW_INDEX_CHUNK positions of a row. 0 when an index is outside; its offset then has no meaning. */
static int fill_offsets(const ow_index_space *space, const walk *w, int64_t n, int64_t *offsets) {
    int last = space->ndim - 1;
    int64_t start = w->offset, step = last < 0 ? 0 : space->base_stride[last], filled = 0;
    uint64_t bad = 0;
    int64_t loaded[OW_INDEX_CHUNK];
    for (int k = 0; k < space->nlookups; k++) {
        const ow_lookup *lookup = &space->lookups[k];
        int64_t stride = last < 0 ? 0 : lookup->stride[last], scale = lookup->scale;
        own_indices(lookup, w->index[k], stride, stride ? n : 1, loaded);
        if (!stride) {
            start += checked(lookup, loaded[0], &bad) * scale;
        } else if (!filled) {
            for (int64_t j = 0; j < n; j++) offsets[j] = checked(lookup, loaded[j], &bad) * scale;
            filled = 1;
        } else {
            for (int64_t j = 0; j < n; j++) offsets[j] += checked(lookup, loaded[j], &bad) * scale;
        }
    }
    if (!filled)
        for (int64_t j = 0; j < n; j++) offsets[j] = start + j * step;
    else if (start | step)
        for (int64_t j = 0; j < n; j++) offsets[j] += start + j * step;
    return !bad;
}

/* ---- running ------------------------------------------------------------------------------------------ */

/* 1 if the indices of a row are the only ones and are used as they are in memory unless one of them is negative. */
static int has_plain_indices(const ow_index_space *space) {
    const ow_lookup *lookup = &space->lookups[0];
    return space->nlookups == 1 && space->ndim && lookup->index->dtype == OW_INT64 &&
           lookup->stride[space->ndim - 1] == sizeof(int64_t);
}

enum { CACHE_LINE = 64, LONGEST_PREFETCH = 16 << 10 };

/* Each line of the next row is going to be read, in an order that processors do not foresee. */
static void prefetch_next_row(const ow_index_space *space, const walk *w, int last) {
    int64_t nbytes = space->lookups[0].size * space->lookups[0].scale;
    if (last < 1 || space->base_stride[last] || !space->base_stride[last - 1]) return;
    if (nbytes > LONGEST_PREFETCH || space->shape[last] < nbytes / CACHE_LINE) return;
    const char *row = space->base + w->offset + space->base_stride[last - 1];
    for (int64_t k = 0; k < nbytes; k += CACHE_LINE) __builtin_prefetch(row + k);
}

/* Positions [begin, end), in order. 0 when an index was outside: nothing moves then of the chunk that it is in. */
OW_CLONES static int run_range(const ow_index_space *space, int64_t begin, int64_t end, ow_movers movers) {
    int64_t offsets[OW_INDEX_CHUNK], indices[OW_INDEX_CHUNK];
    int last = space->ndim - 1, inside = 1, has_plain = has_plain_indices(space);
    int64_t length = last < 0 ? 1 : space->shape[last], stride = last < 0 ? 0 : space->other_stride[last];
    walk w;
    if (begin >= end) return 1;
    walk_start(space, &w, begin);
    while (begin < end) {
        int64_t n = length - (last < 0 ? 0 : w.position[last]);
        if (n > OW_INDEX_CHUNK) n = OW_INDEX_CHUNK;
        if (n > end - begin) n = end - begin;
        if (has_plain) own_indices(&space->lookups[0], w.index[0], sizeof(int64_t), n, indices);
        int plain = has_plain && ow_all_inside(indices, n, 0, space->lookups[0].size);
        if (plain && w.position[last] == 0) prefetch_next_row(space, &w, last);
        if (plain && movers.by_index) {
            movers.by_index(space->base + w.offset, indices, space->lookups[0].scale, space->base_stride[last], w.other,
                            stride, n);
        } else if (plain) {
            int64_t scale = space->lookups[0].scale, step = space->base_stride[last];
            for (int64_t j = 0; j < n; j++) offsets[j] = w.offset + indices[j] * scale + j * step;
            movers.by_offset(space->base, offsets, w.other, stride, n, space->run * space->itemsize);
        } else if (fill_offsets(space, &w, n, offsets)) {
            movers.by_offset(space->base, offsets, w.other, stride, n, space->run * space->itemsize);
        } else {
            inside = 0;
        }
        begin += n;
        if (last < 0) break;
        walk_by(space, &w, last, n);
        if (w.position[last] == length) walk_next_row(space, &w);
    }
    return inside;
}

typedef struct {
    const ow_index_space *space;
    ow_movers movers;
    int split; /* put: the dimension that threads share; -1: the block */
    int outside;
    double cost; /* of a position */
} run_state;

#define MOVED 0.6 /* what an element of a block costs that is copied */

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
    if (!run_range(state->space, begin, end, state->movers)) __atomic_store_n(&state->outside, 1, __ATOMIC_RELAXED);
}

int ow_space_get(const ow_index_space *space, int check_first) {
    int64_t bad;
    double cost = position_cost(space, MOVED), work = cost * (double)space->numel;
    run_state state = {space, ow_movers_get(space->run * space->itemsize), 0, 0, cost};
    if (!space->numel) return 1;
    if (check_first && ow_space_find_bad(space, &bad)) return 0;
    return ow_long_for(space->numel, grain_of(cost), work, get_range, &state) && !state.outside;
}

/* A thread has part of one dimension, or of every block, for itself. */
static void put_range(void *context, int64_t begin, int64_t end) {
    run_state *state = context;
    ow_index_space part; /* large: only the lookups that there are get copied */
    memcpy(&part, state->space, offsetof(ow_index_space, lookups) + sizeof *part.lookups * (size_t)state->space->nlookups);
    if (state->split < 0) {
        part.run = end - begin;
        part.base += begin * part.itemsize;
        if (!part.repeats) part.other += begin * part.itemsize;
    } else {
        int d = state->split;
        part.numel = part.numel / part.shape[d] * (end - begin);
        part.shape[d] = end - begin;
        part.base += begin * part.base_stride[d];
        part.other += begin * part.other_stride[d];
        for (int k = 0; k < part.nlookups; k++) part.lookups[k].data += begin * part.lookups[k].stride[d];
    }
    if (!run_range(&part, 0, part.numel, state->movers)) __atomic_store_n(&state->outside, 1, __ATOMIC_RELAXED);
}

/* Positions that may meet in one place, in order. */
static void put_in_order(void *context, int64_t begin, int64_t end) {
    run_state *state = context;
    if (ow_space_share(state->space, state->movers.by_offset, begin, end, state->cost)) return;
    if (!run_range(state->space, begin, end, state->movers)) __atomic_store_n(&state->outside, 1, __ATOMIC_RELAXED);
}

#define LEAST_ROW 128 /* positions of a row that are worth computing offsets for at once */
#define BLOCK_TO_SHARE 128 /* elements of a block that are worth dividing: threads then write to different lines */

/* 0 when an index was outside, or with the error set where it was interrupted. */
static int put(const ow_index_space *space, ow_movers movers, double cost) {
    if (!space->numel) return 1;
    double position = position_cost(space, cost), work = position * (double)space->numel;
    run_state state = {space, movers, -1, 0, position};
    int64_t n = space->run < BLOCK_TO_SHARE ? 1 : space->run, divisor = space->numel;
    for (int d = 0; d < space->ndim; d++) /* the indexed tensor's own dimensions: nothing meets across them */
        if (space->base_stride[d] && (n < 2 || (state.split >= 0 && space->shape[d] > n))) {
            state.split = d;
            n = space->shape[d];
        }
    int64_t grain = state.split >= 0 ? grain_of(position * (double)(divisor / n)) : BLOCK_TO_SHARE / 2;
    if (state.split == space->ndim - 1 && grain < LEAST_ROW) grain = LEAST_ROW;
    void *token = ow_gil_release((int64_t)work);
    int done = n > 1 ? ow_parallel_for(n, grain, work, put_range, &state)
                     : ow_serial_for(space->numel, OW_INDEX_CHUNK, work, put_in_order, &state);
    ow_gil_acquire(token);
    return done && !state.outside;
}

int ow_fail_overwritten(void) {
    ow_fail(OW_INDEX_ERROR, "an index was overwritten while it was used, and is out of bounds now");
    return 0;
}

int ow_space_write(ow_index_space *space, ow_mover combine) {
    space->repeats = !combine;
    for (int d = 0; d < space->ndim; d++) space->repeats &= space->other_stride[d] == 0;
    ow_space_arrange(space);
    int64_t nbytes = space->run * space->itemsize;
    ow_movers movers = combine                                ? (ow_movers){combine, NULL}
                       : space->repeats && space->run > 1 ? ow_movers_fill(space->itemsize)
                                                          : ow_movers_put(nbytes);
    return put(space, movers, combine ? 1.0 : MOVED) || ow_fail_overwritten();
}

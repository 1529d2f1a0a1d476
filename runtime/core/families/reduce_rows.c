/* Reductions along the slower axes of the input: whole rows fold into a row of accumulators.
 *
 * A block of accumulators stays in the level-1 cache. Rows fold in groups of RADIX, groups of groups and so on, so that
 * rounding errors of long sums grow as in a tree. Narrow rows that lie side by side in memory fold several at a time.
 * The order of combination depends on shapes alone, so results never depend on the number of threads. */
#include "reduce.h"

#define BLOCK_BYTES 4096 /* of a row of accumulators */
#define RADIX 32
#define LEVELS 11 /* RADIX ** LEVELS exceeds the number of bytes that can be addressed */
#define ENOUGH_BLOCKS 32 /* with so many blocks of results, rows are not divided among threads */

typedef struct {
    const ow_reduction *r;
    int64_t columns; /* of a row in memory */
    int64_t side;    /* rows of memory that fold at a time, side by side */
    int64_t most;    /* accumulators of a block */
    int64_t width;   /* of a block */
    int64_t rows;    /* to fold, `side` rows of memory each */
    int64_t blocks;  /* along the columns */
    int64_t chunks, chunk_rows; /* division of the rows of one block */
    char *partials;             /* outer × blocks × chunks × width, when there are several chunks */
    ow_axis reduced[OW_MAX_DIMS];
} rows;

/* Rows of memory, `pitch` bytes apart and converted if need be, are taken in by accumulators; by new ones with `first`. */
static inline void take(const ow_reduction *r, int first, char *acc, const char *x, int64_t pitch, int64_t count,
                        int64_t n) {
    _Alignas(64) char buffer[BLOCK_BYTES];
    int64_t stride = r->kept[0].in, direct = !r->converts && stride == r->size, together = direct ? count : 1;
    for (; count > 0; count -= together, x += together * pitch, first = 0) {
        const char *from = direct ? x : buffer;
        if (!direct) r->load(buffer, r->size, x, stride, n);
        if (first) r->kernels->start(acc, from, n);
        if (together > first) r->kernels->fold(acc, from + first * pitch, pitch, together - first, n);
    }
}

/* Folds rows [begin, end) of the block at x into the first row of acc, which has LEVELS rows of BLOCK_BYTES. */
static void fold_rows(const rows *w, const char *x, int64_t begin, int64_t end, int64_t n, char *acc) {
    const ow_reduction *r = w->r;
    const ow_axis *inner = &w->reduced[0];
    int64_t pitch = BLOCK_BYTES, held[LEVELS] = {0};
    int top = 0;
    while (begin < end) {
        int64_t index = begin % inner->size, count = inner->size - index;
        if (count > end - begin) count = end - begin;
        const char *row = x + ow_axes_offset(w->reduced, r->nreduced, begin, NULL);
        begin += count;
        for (int64_t some; count > 0; count -= some, row += some * inner->in) {
            some = RADIX - held[0] < count ? RADIX - held[0] : count;
            take(r, !held[0], acc, row, inner->in, some, n);
            held[0] += some;
            if (held[0] < RADIX || (begin == end && count == some)) continue;
            for (int level = 0; held[level] == RADIX && level + 1 < LEVELS; level++) {
                char *group = acc + level * pitch;
                if (held[level + 1]) r->kernels->merge(group + pitch, group, n);
                else memcpy(group + pitch, group, (size_t)(n * r->size));
                held[level] = 0;
                held[level + 1]++;
                if (level + 1 > top) top = level + 1;
            }
        }
    }
    for (int level = 1; level <= top; level++)
        if (held[level]) r->kernels->merge(acc, acc + level * pitch, n);
}

/* What is left once all rows are in: rows side by side join, and the rows that did not fill a last one. */
static void complete(const rows *w, int64_t outer, int64_t block, int64_t n, char *acc) {
    const ow_reduction *r = w->r;
    int64_t to, from = ow_axes_offset(r->kept + 1, r->nkept - 1, outer, &to);
    if (w->side > 1) {
        const ow_axis *inner = &r->reduced[0];
        n = w->columns;
        ow_reduce_tree(r, acc, w->side, n);
        int64_t segments = r->count / inner->size;
        for (int64_t s = 0; s < segments && inner->size % w->side; s++) {
            const char *x = r->x + from + ow_axes_offset(r->reduced + 1, r->nreduced - 1, s, NULL);
            int64_t taken = inner->size / w->side * w->side;
            take(r, 0, acc, x + taken * inner->in, inner->in, inner->size - taken, n);
        }
    }
    if (r->kernels->finish) r->kernels->finish(acc, n, r->count);
    r->store(r->out + to + block * w->most * r->kept[0].out, r->kept[0].out, acc, r->size, n);
}

static int64_t block_width(const rows *w, int64_t block) {
    if (w->side > 1) return w->width;
    int64_t rest = w->columns - block * w->most;
    return rest < w->most ? rest : w->most;
}

/* Accumulators of one block lie chunk by chunk without gaps, also in the last block, which may be narrower. */
static inline char *partial(const rows *w, int64_t unit, int64_t n) {
    return w->partials + (unit / w->chunks * w->chunks * w->width + unit % w->chunks * n) * w->r->size;
}

static void run_units(void *context, int64_t begin, int64_t end) {
    const rows *w = context;
    const ow_reduction *r = w->r;
    _Alignas(64) char acc[LEVELS * BLOCK_BYTES];
    for (int64_t k = begin; k < end; k++) {
        int64_t chunk = k % w->chunks, block = k / w->chunks % w->blocks, outer = k / w->chunks / w->blocks;
        int64_t n = block_width(w, block), first = chunk * w->chunk_rows;
        int64_t last = first + w->chunk_rows < w->rows ? first + w->chunk_rows : w->rows;
        const char *x = r->x + ow_axes_offset(r->kept + 1, r->nkept - 1, outer, NULL) + block * w->most * r->kept[0].in;
        fold_rows(w, x, first, last, n, acc);
        if (w->chunks == 1) complete(w, outer, block, n, acc);
        else memcpy(partial(w, k, n), acc, (size_t)(n * r->size));
    }
}

/* The largest power of two of rows that fit in a block, if rows lie side by side; else 1. */
static int64_t rows_side_by_side(const ow_reduction *r) {
    const ow_axis *columns = &r->kept[0];
    if (!r->nreduced || columns->in != r->input_size || r->reduced[0].in != columns->in * columns->size) return 1;
    int64_t side = 1;
    while (2 * side * columns->size * r->size <= BLOCK_BYTES && 2 * side <= r->reduced[0].size) side *= 2;
    return side;
}

int ow_reduce_rows(const ow_reduction *r) {
    rows w = {.r = r, .columns = r->kept[0].size, .side = rows_side_by_side(r), .chunks = 1};
    w.most = BLOCK_BYTES / r->size;
    memcpy(w.reduced, r->reduced, sizeof(ow_axis) * (size_t)r->nreduced);
    w.rows = r->count;
    if (w.side > 1) {
        w.rows = r->count / w.reduced[0].size * (w.reduced[0].size / w.side);
        w.reduced[0].size /= w.side;
        w.reduced[0].in *= w.side;
    }
    if (!r->nreduced) w.reduced[0] = (ow_axis){1, 0, 0};
    w.blocks = w.side > 1 ? 1 : (w.columns + w.most - 1) / w.most;
    w.width = w.side > 1 ? w.side * w.columns : w.columns < w.most ? w.columns : w.most;
    w.chunk_rows = w.rows;
    int64_t outer = r->outputs / w.columns, units = outer * w.blocks;
    if (units < ENOUGH_BLOCKS) {
        int64_t wanted = (OW_UNIT / w.width + RADIX - 1) / RADIX * RADIX;
        if (wanted < w.rows) w.chunk_rows = wanted;
        w.chunks = (w.rows + w.chunk_rows - 1) / w.chunk_rows;
    }
    double work = (double)r->outputs * (double)r->count * r->cost;
    int64_t nbytes = units * w.chunks * w.width * r->size;
    if (w.chunks > 1 && !(w.partials = ow_alloc(nbytes))) return 0;
    int64_t grain = 1 + (int64_t)(8192 / ((double)w.width * (double)w.chunk_rows * r->cost));
    int done = ow_parallel_for(units * w.chunks, grain, work, run_units, &w);
    if (w.chunks == 1) return done;
    for (int64_t k = 0; k < units && done; k++) {
        int64_t n = block_width(&w, k % w.blocks);
        char *acc = partial(&w, k * w.chunks, n);
        ow_reduce_tree(r, acc, w.chunks, n);
        complete(&w, k / w.blocks, k % w.blocks, n, acc);
    }
    ow_dealloc(w.partials, nbytes);
    return done;
}

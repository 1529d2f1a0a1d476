/* Reductions along the faster axes of the input.
 *
 * The elements of one result are cut into pieces of at most LEAF; a piece is reduced by the leaf kernel, and pieces join
 * in a pairwise tree. The cuts depend on shapes alone, so results never depend on the number of threads. */
#include "reduce.h"

#define LEAF 4096
#define PIECES (OW_UNIT / LEAF)
#define LONG_SEGMENT 256 /* an inner axis at least this long is read in place even when there are others */

typedef struct {
    const ow_reduction *r;
    int flat;            /* pieces cut the sequence of all elements, gathered through a buffer */
    int64_t per_segment; /* pieces of one run along the inner axis */
    int64_t pieces, units; /* of one result */
    char *partials;        /* results × units, when there are several units */
} lines;

/* Elements [at, at + n) of the sequence over all reduced axes, as accumulator dtype. */
static void gather(const ow_reduction *r, const char *x, int64_t at, int64_t n, char *buffer) {
    const ow_axis *inner = &r->reduced[0];
    while (n > 0) {
        int64_t index = at % inner->size, count = inner->size - index;
        if (count > n) count = n;
        const char *from = x + index * inner->in + ow_axes_offset(r->reduced + 1, r->nreduced - 1, at / inner->size, NULL);
        r->load(buffer, r->size, from, inner->in, count);
        buffer += count * r->size;
        at += count;
        n -= count;
    }
}

/* acc = piece `index` of the result whose first element is at x. */
static void reduce_piece(const lines *l, const char *x, int64_t index, char *acc) {
    const ow_reduction *r = l->r;
    const ow_axis *inner = &r->reduced[0];
    _Alignas(64) char buffer[OW_BLOCK * OW_MAX_ITEMSIZE], parts[LEAF / OW_BLOCK * OW_MAX_ITEMSIZE];
    int64_t length = l->flat ? r->count : inner->size;
    int64_t at = (l->flat ? index : index % l->per_segment) * LEAF;
    int64_t n = length - at < LEAF ? length - at : LEAF, m = 0;
    if (!l->flat) {
        if (r->nreduced > 1) x += ow_axes_offset(r->reduced + 1, r->nreduced - 1, index / l->per_segment, NULL);
        x += at * inner->in;
        if (!r->converts) {
            r->kernels->leaf(acc, x, inner->in, n);
            return;
        }
    }
    for (int64_t done = 0; done < n; done += OW_BLOCK, m++) {
        int64_t count = n - done < OW_BLOCK ? n - done : OW_BLOCK;
        if (l->flat) gather(r, x, at + done, count, buffer);
        else r->load(buffer, r->size, x + done * inner->in, inner->in, count);
        r->kernels->leaf(parts + m * r->size, buffer, r->size, count);
    }
    ow_reduce_tree(r, parts, m, 1);
    memcpy(acc, parts, (size_t)r->size);
}

static void reduce_pieces(const lines *l, const char *x, int64_t begin, int64_t end, char *acc) {
    _Alignas(64) char parts[PIECES * OW_MAX_ITEMSIZE];
    for (int64_t k = begin; k < end; k++) reduce_piece(l, x, k, parts + (k - begin) * l->r->size);
    ow_reduce_tree(l->r, parts, end - begin, 1);
    memcpy(acc, parts, (size_t)l->r->size);
}

static void finish(const ow_reduction *r, char *acc, int64_t n, char *out, int64_t stride) {
    if (r->kernels->finish) r->kernels->finish(acc, n, r->count);
    r->store(out, stride, acc, r->size, n);
}

/* Results [begin, end), one unit each. */
static void reduce_outputs(void *context, int64_t begin, int64_t end) {
    const lines *l = context;
    const ow_reduction *r = l->r;
    _Alignas(64) char acc[OW_BLOCK * OW_MAX_ITEMSIZE];
    const ow_axis *run = &r->kept[0];
    int simple = l->pieces == 1 && !l->flat && !r->converts;
    while (begin < end) {
        int64_t to, n = run->size - begin % run->size;
        if (n > end - begin) n = end - begin;
        if (n > OW_BLOCK) n = OW_BLOCK;
        const char *x = r->x + ow_axes_offset(r->kept, r->nkept, begin, &to);
        if (simple) {
            for (int64_t i = 0; i < n; i++)
                r->kernels->leaf(acc + i * r->size, x + i * run->in, r->reduced[0].in, r->count);
        } else {
            for (int64_t i = 0; i < n; i++) reduce_pieces(l, x + i * run->in, 0, l->pieces, acc + i * r->size);
        }
        finish(r, acc, n, r->out + to, run->out);
        begin += n;
    }
}

/* Units [begin, end) of all results, counted result by result. */
static void reduce_units(void *context, int64_t begin, int64_t end) {
    const lines *l = context;
    const ow_reduction *r = l->r;
    for (int64_t k = begin; k < end; k++) {
        const char *x = r->x + ow_axes_offset(r->kept, r->nkept, k / l->units, NULL);
        int64_t first = k % l->units * PIECES;
        int64_t last = first + PIECES < l->pieces ? first + PIECES : l->pieces;
        reduce_pieces(l, x, first, last, l->partials + k * r->size);
    }
}

static void join(const ow_reduction *r, char *units, int64_t n, char *out) {
    ow_reduce_tree(r, units, n, 1);
    finish(r, units, 1, out, r->size);
}

void ow_reduce_unit(const ow_reduction *r, const char *x, int64_t n, char *acc) {
    ow_reduction unit = *r;
    unit.reduced[0].size = n;
    const lines l = {.r = &unit, .per_segment = (n + LEAF - 1) / LEAF};
    reduce_pieces(&l, x, 0, l.per_segment, acc);
}

void ow_join_units(const ow_reduction *r, char *units) { join(r, units, (r->count + OW_UNIT - 1) / OW_UNIT, r->out); }

int ow_reduce_lines(const ow_reduction *r) {
    lines l = {.r = r, .flat = r->nreduced > 1 && r->reduced[0].size < LONG_SEGMENT};
    double work = (double)r->outputs * (double)r->count * r->cost;
    l.per_segment = (r->reduced[0].size + LEAF - 1) / LEAF;
    l.pieces = l.flat ? (r->count + LEAF - 1) / LEAF : r->count / r->reduced[0].size * l.per_segment;
    l.units = (l.pieces + PIECES - 1) / PIECES;
    if (l.units == 1) {
        int64_t grain = 1 + (int64_t)(8192 / ((double)r->count * r->cost));
        return ow_parallel_for(r->outputs, grain, work, reduce_outputs, &l);
    }
    int64_t nbytes = r->outputs * l.units * r->size;
    l.partials = ow_alloc(nbytes);
    if (!l.partials) return 0;
    int done = ow_parallel_for(r->outputs * l.units, 1, work, reduce_units, &l);
    for (int64_t k = 0; k < r->outputs && done; k++) {
        int64_t to;
        ow_axes_offset(r->kept, r->nkept, k, &to);
        join(r, l.partials + k * l.units * r->size, l.units, r->out + to);
    }
    ow_dealloc(l.partials, nbytes);
    return done;
}

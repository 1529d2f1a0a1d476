/* One long line is sorted by its significant bits only: those by which the largest key exceeds the least.
 *
 * A record is a word with a key above and its position below, or a key alone where the value follows from it and nobody
 * asks for positions. Of a key of 64 bits it has the highest ones: those few that agree in them are put in order in the
 * end. Each pass of the radix sort is stable: every thread counts the digits of its piece of the line, and
 * then moves its records behind those of the pieces before. The order does not depend on the number of pieces. */
#include "sort_long.h"

#include "sort_keys.h"

enum { BLOCK = 256, DIGIT = 11, BUCKETS = 1 << DIGIT };

typedef struct {
    int64_t counts[BUCKETS]; /* of each digit; then where the next record goes that has it */
    uint64_t least, largest;
} piece;

typedef struct {
    const ow_tensor *x, *values, *indices;
    int dim;
    int64_t n, length; /* of the line and of a piece */
    int64_t count;     /* of pieces */
    uint64_t flip, least;
    int position_bits; /* 0: no positions */
    int left_out;   /* lowest bits of the keys for which records have no room */
    int failed;     /* 1 if too many records agree in all other bits */
    int shift, mask; /* of the digit of this pass */
    uint64_t *from, *to;
    piece *pieces;
} line;

static int64_t piece_end(const line *l, int64_t p) { return (p + 1) * l->length < l->n ? (p + 1) * l->length : l->n; }

OW_CLONES static void load(void *context, int64_t begin, int64_t end) {
    line *l = context;
    int64_t stride = l->x->strides[l->dim] * ow_itemsize(l->x->dtype);
    for (int64_t p = begin; p < end; p++) {
        uint64_t least = UINT64_MAX, largest = 0;
        int64_t stop = piece_end(l, p);
        for (int64_t i = p * l->length; i < stop; i += BLOCK) {
            int64_t n = stop - i < BLOCK ? stop - i : BLOCK;
            uint64_t low = ow_load_keys(l->x->dtype, l->x->data + i * stride, stride, n, l->flip, l->from + i);
            least = low < least ? low : least;
            for (int64_t j = i; j < i + n; j++) largest = l->from[j] > largest ? l->from[j] : largest;
        }
        l->pieces[p].least = least;
        l->pieces[p].largest = largest;
    }
}

static void pack(void *context, int64_t begin, int64_t end) {
    line *l = context;
    int64_t stop = piece_end(l, end - 1);
    for (int64_t i = begin * l->length; i < stop; i++)
        l->from[i] = l->position_bits ? (l->from[i] - l->least) >> l->left_out << l->position_bits | (uint64_t)i
                                   : l->from[i] - l->least;
}

static uint64_t whole_key(const line *l, uint64_t record) {
    int64_t stride = l->x->strides[l->dim] * ow_itemsize(l->x->dtype);
    uint64_t key;
    ow_load_keys(l->x->dtype, l->x->data + (int64_t)(record & (((uint64_t)1 << l->position_bits) - 1)) * stride, stride, 1,
                 l->flip, &key);
    return key;
}

/* Records [begin, end) agree in what they have of their keys, and are in the order of their positions. How many moves it
 * took to sort them by the whole keys; -1 when it takes too many. */
static int64_t sort_by_whole_keys(const line *l, int64_t begin, int64_t end, int64_t most) {
    uint64_t top = whole_key(l, l->from[begin]);
    int64_t moves = 0;
    for (int64_t i = begin + 1; i < end; i++) {
        uint64_t moved = l->from[i], key = whole_key(l, moved);
        int64_t j = i;
        if (key < top)
            for (; j > begin && whole_key(l, l->from[j - 1]) > key && moves < most; j--, moves++) l->from[j] = l->from[j - 1];
        else top = key;
        l->from[j] = moved;
    }
    return moves < most ? moves : -1;
}

static int same_prefix(const line *l, int64_t i) { return l->from[i] >> l->position_bits == l->from[i - 1] >> l->position_bits; }

/* Sorts by their whole keys the groups of records that agree in the bits so far and begin in this piece. */
static void complete(void *context, int64_t begin, int64_t end) {
    line *l = context;
    int64_t i = begin * l->length, stop = piece_end(l, end - 1), moves = 4 * (stop - i);
    while (i && i < stop && same_prefix(l, i)) i++;
    for (int64_t first; (first = i) < stop && moves >= 0;) {
        for (i++; i < l->n && same_prefix(l, i);) i++;
        if (i > first + 1) {
            int64_t used = sort_by_whole_keys(l, first, i, moves);
            moves = used < 0 ? -1 : moves - used;
        }
    }
    if (moves < 0) __atomic_store_n(&l->failed, 1, __ATOMIC_RELAXED);
}

static void count(void *context, int64_t begin, int64_t end) {
    line *l = context;
    for (int64_t p = begin; p < end; p++) {
        int64_t *counts = l->pieces[p].counts, stop = piece_end(l, p);
        memset(counts, 0, sizeof l->pieces[p].counts);
        for (int64_t i = p * l->length; i < stop; i++) counts[l->from[i] >> l->shift & (uint64_t)l->mask]++;
    }
}

static void move(void *context, int64_t begin, int64_t end) {
    line *l = context;
    for (int64_t p = begin; p < end; p++) {
        int64_t *starts = l->pieces[p].counts, stop = piece_end(l, p);
        for (int64_t i = p * l->length; i < stop; i++)
            l->to[starts[l->from[i] >> l->shift & (uint64_t)l->mask]++] = l->from[i];
    }
}

#define FETCH(type)                                                                 \
    for (int64_t i = first; i < stop; i++) {                                        \
        int64_t position = (int64_t)(l->from[i] & position_mask);                   \
        *(type *)(values + i * to) = *(const type *)(l->x->data + position * from); \
        if (indices) *(int64_t *)(indices + i * to_index) = position;               \
    }

/* What ow_load_keys did to integers, undone. */
#define VALUE(type)                                                                                  \
    for (int64_t i = first; i < stop; i++) *(type *)(values + i * to) = (type)((l->from[i] + l->least) ^ flip);

static void store(void *context, int64_t begin, int64_t end) {
    const line *l = context;
    int64_t first = begin * l->length, stop = piece_end(l, end - 1), size = ow_itemsize(l->x->dtype);
    int64_t from = l->x->strides[l->dim] * size, to = l->values->strides[l->dim] * size;
    int64_t to_index = l->indices ? l->indices->strides[l->dim] * 8 : 0;
    char *values = l->values->data, *indices = l->indices ? l->indices->data : NULL;
    uint64_t position_mask = ((uint64_t)1 << l->position_bits) - 1;
    uint64_t flip = l->flip ^ (ow_dtype_bounds[l->x->dtype][0] < 0 ? (uint64_t)1 << (8 * size - 1) : 0);
    if (l->position_bits) {
        if (size == 1) FETCH(uint8_t)
        else if (size == 2) FETCH(uint16_t)
        else if (size == 4) FETCH(uint32_t)
        else FETCH(uint64_t)
    }
    else if (size == 1) VALUE(uint8_t)
    else if (size == 2) VALUE(uint16_t)
    else if (size == 4) VALUE(uint32_t)
    else VALUE(uint64_t)
}

/* 1, or 0 with the error set where it was interrupted: no further call does anything then. */
static int for_pieces(line *l, ow_task task) { return ow_parallel_for(l->count, 1, 4 * (double)l->n, task, l); }

/* From counts to places: digit by digit, and of one digit piece by piece. 0 when all records have one digit. */
static int place_digits(line *l) {
    int64_t total = 0;
    for (int digit = 0; digit <= l->mask; digit++) {
        int64_t before = total;
        for (int64_t p = 0; p < l->count; p++) {
            int64_t *counts = l->pieces[p].counts, count = counts[digit];
            counts[digit] = total;
            total += count;
        }
        if (total - before == l->n) return 0;
    }
    return 1;
}

static int bits_of(uint64_t value) { return value ? 64 - __builtin_clzll(value) : 0; }

/* Sorts the keys in `from`. 0 when too many agree in all bits for which there is room beside positions. */
static int sort(line *l, int with_positions) {
    uint64_t largest = 0;
    l->least = UINT64_MAX;
    for (int64_t p = 0; p < l->count; p++) {
        if (l->pieces[p].least < l->least) l->least = l->pieces[p].least;
        if (l->pieces[p].largest > largest) largest = l->pieces[p].largest;
    }
    int key_bits = bits_of(largest - l->least);
    l->position_bits = with_positions ? bits_of((uint64_t)l->n - 1) : 0;
    if (key_bits + l->position_bits > 64) l->left_out = key_bits + l->position_bits - 64;
    key_bits -= l->left_out;
    for_pieces(l, pack);
    int passes = (key_bits + DIGIT - 1) / DIGIT;
    for (int pass = 0, done = 0; pass < passes; pass++) {
        int bits = (key_bits - done + passes - pass - 1) / (passes - pass);
        l->shift = l->position_bits + done;
        l->mask = (1 << bits) - 1;
        done += bits;
        for_pieces(l, count);
        if (!place_digits(l)) continue;
        for_pieces(l, move);
        uint64_t *swap = l->from;
        l->from = l->to;
        l->to = swap;
    }
    if (l->left_out) for_pieces(l, complete);
    return !l->failed;
}

int ow_order_long(const ow_tensor *x, int dim, int descending, const ow_tensor *values, const ow_tensor *indices) {
    int64_t size = ow_itemsize(x->dtype), n = x->sizes[dim], room = 2 * n * (int64_t)sizeof(uint64_t);
    line l = {.x = x, .values = values, .indices = indices, .dim = dim, .n = n};
    l.flip = descending ? UINT64_MAX >> (64 - 8 * size) : 0;
    l.count = ow_num_threads();
    l.length = (n + l.count - 1) / l.count;
    l.count = (n + l.length - 1) / l.length;
    int64_t nbytes = l.count * (int64_t)sizeof(piece);
    l.from = ow_alloc(room);
    l.pieces = ow_alloc(nbytes);
    int done = 0;
    if (l.from && l.pieces) {
        l.to = l.from + n;
        uint64_t *memory = l.from;
        void *token = ow_gil_release(n);
        /* Keys of floating values do not tell one zero or NaN from another. */
        int with_positions = indices || ow_dtype_kinds[x->dtype] == OW_KIND_FLOATING;
        done = for_pieces(&l, load) && sort(&l, with_positions) && for_pieces(&l, store);
        ow_gil_acquire(token);
        l.from = memory;
    }
    if (l.from) ow_dealloc(l.from, room);
    if (l.pieces) ow_dealloc(l.pieces, nbytes);
    return done;
}

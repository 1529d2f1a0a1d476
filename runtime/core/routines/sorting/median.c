/* The median of all elements: the lower one of two in the middle, found by their keys without sorting them.
 *
 * Counts of the leading bits of all keys tell which of these bits the median has; the keys that have them are the candidates
 * of the next turn, and mostly few. */
#include "families/driver.h"
#include "sort_keys.h"
#include "python/python_types.h"

#define BLOCK 512 /* keys at a time */
#define DIGIT 11  /* bits at a time */
#define FEW 48    /* are sorted by insertion */
#define PASS 4.0  /* work for each element */

typedef struct {
    const ow_tensor *x;
    int bits;
    int has_missing;
    uint64_t missing; /* the key of NaN, the largest of all */
} elements;

/* The digit of `width` bits above the lowest `shift` ones. */
static inline uint64_t digit(uint64_t key, int shift, int width) { return key >> shift & ((1u << width) - 1); }

static int64_t load_block(const elements *e, int64_t i, uint64_t *keys) {
    int64_t n = e->x->numel - i < BLOCK ? e->x->numel - i : BLOCK, size = ow_itemsize(e->x->dtype);
    ow_load_keys(e->x->dtype, e->x->data + i * size, size, n, 0, keys);
    return n;
}

/* The digit in which the element of this rank lies; *rank becomes its rank among those, *n their number. */
static uint64_t find_digit(const int64_t *counts, int64_t *rank, int64_t *n) {
    uint64_t chosen = 0;
    while (*rank >= counts[chosen]) *rank -= counts[chosen++];
    *n = counts[chosen];
    return chosen;
}

static uint64_t of_few(uint64_t *keys, int64_t n, int64_t rank) {
    for (int64_t i = 1; i < n; i++) {
        uint64_t key = keys[i];
        int64_t j = i;
        for (; j > 0 && keys[j - 1] > key; j--) keys[j] = keys[j - 1];
        keys[j] = key;
    }
    return keys[rank];
}

/* The key of this rank among n candidates, which agree in all but the lowest `shift` bits. */
static uint64_t of_candidates(uint64_t *keys, int64_t n, int64_t rank, int shift) {
    while (n > FEW && shift > 0) {
        int width = shift < DIGIT ? shift : DIGIT;
        int64_t counts[1 << DIGIT] = {0}, kept = 0, all = n;
        shift -= width;
        for (int64_t i = 0; i < all; i++) counts[digit(keys[i], shift, width)]++;
        uint64_t chosen = find_digit(counts, &rank, &n);
        for (int64_t i = 0; i < all; i++) {
            uint64_t key = keys[i];
            keys[kept] = key;
            kept += digit(key, shift, width) == chosen;
        }
    }
    return n > FEW ? keys[0] : of_few(keys, n, rank);
}

static int64_t count_missing(const elements *e, const uint64_t *keys, int64_t n) {
    int64_t missing = 0;
    for (int64_t j = 0; j < n && e->has_missing; j++) missing += keys[j] == e->missing;
    return missing;
}

/* The rank of the median among n elements; -1 when it is NaN. */
static int64_t median_rank(int64_t n, int64_t missing, int ignore_missing) {
    return missing == n || (missing && !ignore_missing) ? -1 : (n - missing - 1) / 2;
}

/* What the elements are asked for: how often each of the leading digits occurs, then the keys that have one of them. */
typedef struct {
    const elements *e;
    int width, shift; /* of the leading digit */
    int64_t counts[1 << DIGIT], missing;
    uint64_t chosen, *candidates;
    int64_t count, kept; /* of the candidates */
} search;

static void count_digits(void *context, int64_t begin, int64_t end) {
    search *s = context;
    uint64_t block[BLOCK];
    for (int64_t i = begin; i < end; i += BLOCK) {
        int64_t m = load_block(s->e, i, block);
        s->missing += count_missing(s->e, block, m);
        for (int64_t j = 0; j < m; j++) s->counts[digit(block[j], s->shift, s->width)]++;
    }
}

/* A key is written before it is known whether it counts. There may be more of them than were counted, or fewer, where another
 * thread overwrites the elements meanwhile: none of those is the median, but it must be one of the keys. */
static void keep_candidates(void *context, int64_t begin, int64_t end) {
    search *s = context;
    uint64_t block[BLOCK];
    for (int64_t i = begin; i < end; i += BLOCK) {
        int64_t m = load_block(s->e, i, block);
        for (int64_t j = 0; j < m; j++) {
            s->candidates[s->kept] = block[j];
            s->kept += digit(block[j], s->shift, s->width) == s->chosen && s->kept < s->count;
        }
    }
}

/* 1, or 0 with the error set. */
static int find_median(const elements *e, int ignore_missing, uint64_t *key) {
    int64_t n = e->x->numel, rank;
    if (n <= FEW) {
        uint64_t block[BLOCK];
        load_block(e, 0, block);
        rank = median_rank(n, count_missing(e, block, n), ignore_missing);
        *key = rank < 0 ? e->missing : of_few(block, n, rank);
        return 1;
    }
    search s = {.e = e, .width = e->bits < DIGIT ? e->bits : DIGIT};
    s.shift = e->bits - s.width;
    if (!ow_serial_for(n, BLOCK, PASS * (double)n, count_digits, &s)) return 0;
    *key = e->missing;
    if ((rank = median_rank(n, s.missing, ignore_missing)) < 0) return 1;
    s.chosen = find_digit(s.counts, &rank, &s.count);
    int64_t nbytes = (s.count + 1) * (int64_t)sizeof *s.candidates;
    if (!(s.candidates = ow_alloc(nbytes))) return 0;
    int done = ow_serial_for(n, BLOCK, PASS * (double)n, keep_candidates, &s);
    if (s.kept) *key = of_candidates(s.candidates, s.kept, rank < s.kept ? rank : s.kept - 1, s.shift);
    ow_dealloc(s.candidates, nbytes);
    return done;
}

/* The first element with this key; the first one of all where it has been overwritten. */
static const char *find_element(const elements *e, uint64_t key) {
    uint64_t block[BLOCK];
    for (int64_t i = 0; i < e->x->numel; i += BLOCK) {
        int64_t m = load_block(e, i, block);
        for (int64_t j = 0; j < m; j++)
            if (block[j] == key) return e->x->data + (i + j) * ow_itemsize(e->x->dtype);
    }
    return e->x->data;
}

PyObject *ow_call_median(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    ow_tensor *x = n == 3 && arguments[1] == Py_None ? ow_plain_tensor(arguments[0]) : NULL;
    if (!x || !(x->flags & OW_CONTIGUOUS) || !x->numel || ow_dtype_kinds[x->dtype] == OW_KIND_COMPLEX ||
        x->dtype == OW_BOOL || x->dtype >= OW_NDTYPES)
        Py_RETURN_NONE;
    int64_t size = ow_itemsize(x->dtype);
    elements e = {.x = x, .bits = 8 * (int)size, .has_missing = ow_dtype_kinds[x->dtype] == OW_KIND_FLOATING,
                  .missing = UINT64_MAX >> (64 - 8 * size)};
    ow_tensor *result = ow_tensor_new(x->dtype, 0, NULL, NULL);
    uint64_t key;
    void *token = ow_gil_release(4 * x->numel);
    int done = result && find_median(&e, arguments[2] == Py_True, &key);
    if (done) memcpy(result->data, find_element(&e, key), (size_t)size);
    ow_gil_acquire(token);
    if (done) return ow_new_owner(result);
    ow_tensor_free(result);
    return ow_declined(); /* the composite meets it again */
}

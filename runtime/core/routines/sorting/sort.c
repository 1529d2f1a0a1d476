/* Sorts lines of a tensor, or finds the first elements of their order.
 *
 * Every dtype has unsigned keys in whose order torch puts its values: NaN last, both zeros alike. A descending order
 * complements the keys, so that equal elements stay in the order of their positions. Records of a key and a position are
 * sorted by radix; the values are then fetched from where they were. */
#include "families/driver.h"
#include "families/core_call.h"
#include "sort_keys.h"
#include "sort_long.h"

/* Keys of up to four bytes share a word with their position; larger ones stand beside it. */
typedef struct {
    uint64_t key;
    int64_t position;
} wide;

#define RECORD uint64_t
#define KEY(r) ((r) >> 32)
#define KEY_BYTES 4
#define NAME(f) narrow_##f
#include "radix.h"
#undef RECORD
#undef KEY
#undef KEY_BYTES
#undef NAME

#define RECORD wide
#define KEY(r) ((r).key)
#define KEY_BYTES 8
#define NAME(f) wide_##f
#include "radix.h"

enum {
    KEY_BLOCK = 256,
    KEY_GROUP = 16,  /* keys of a block that are compared at once */
    MOST_FEW = 32,   /* as many as are kept in order while the others come */
    LINES_WORK = 10000000, /* of what a thread sorts at a time, so that signals need not wait for more */
    APART = 256,     /* bytes: threads do not write to the same or neighbouring lines of the cache */
};

typedef struct ordering {
    const ow_tensor *self, *values, *indices;
    int dim, narrow, bytes;
    int64_t n, keep; /* length of a line, and how many of it are wanted */
    int64_t kept;    /* records gathered before these are chosen; as many for a few, more than n for all at once */
    uint64_t flip;
    int64_t scratch; /* bytes of working memory for a line or piece */
    int64_t length;  /* of the pieces of a line that several threads share */
    char *memory;    /* for these pieces */
    int failed;      /* to allocate */
} ordering;

/* ---- one line ----------------------------------------------------------------------------------------- */

static void *sort_records(const ordering *o, void *records, int64_t n) {
    return o->narrow ? (void *)narrow_radix_sort(records, n, o->bytes) : (void *)wide_radix_sort(records, n, o->bytes);
}

/* Which of the keys lie below the limit: a bit for each. */
static inline __attribute__((always_inline)) uint32_t below(const uint64_t *keys, int64_t n, uint64_t limit) {
    uint32_t bits = 0;
    if (n == KEY_GROUP)
        for (int j = 0; j < KEY_GROUP; j++) bits |= (uint32_t)(keys[j] < limit) << j;
    else
        for (int64_t j = 0; j < n; j++) bits |= (uint32_t)(keys[j] < limit) << j;
    return bits;
}

static int64_t line_stride(const ordering *o) { return o->self->strides[o->dim] * ow_itemsize(o->self->dtype); }

/* The records of all positions [begin, end) of a line. Returns how many these are. */
OW_CLONES static int64_t gather_all(const ordering *o, const char *x, int64_t begin, int64_t end, char *memory) {
    int64_t stride = line_stride(o);
    uint64_t keys[KEY_BLOCK], *narrow = (uint64_t *)memory;
    wide *records = (wide *)memory;
    for (int64_t i = begin; i < end; i += KEY_BLOCK, narrow += KEY_BLOCK, records += KEY_BLOCK) {
        int64_t n = end - i < KEY_BLOCK ? end - i : KEY_BLOCK;
        ow_load_keys(o->self->dtype, x + i * stride, stride, n, o->flip, keys);
        if (o->narrow)
            for (int64_t j = 0; j < n; j++) narrow[j] = keys[j] << 32 | (uint64_t)(i + j);
        else
            for (int64_t j = 0; j < n; j++) records[j] = (wide){keys[j], i + j};
    }
    return end - begin;
}

/* Gathers the records that may be among the first `keep`: a key no less than that of `keep` records before it is passed
 * over. */
OW_CLONES static int64_t gather_first(const ordering *o, const char *x, int64_t begin, int64_t end, char *memory) {
    int64_t stride = line_stride(o), used = 0;
    uint64_t keys[KEY_BLOCK], *narrow = (uint64_t *)memory, limit = 0;
    wide *records = (wide *)memory;
    int limited = 0;
    for (int64_t i = begin; i < end; i += KEY_BLOCK) {
        int64_t n = end - i < KEY_BLOCK ? end - i : KEY_BLOCK;
        uint64_t least = ow_load_keys(o->self->dtype, x + i * stride, stride, n, o->flip, keys);
        if (limited && least >= limit) continue;
        for (int64_t group = 0; group < n; group += KEY_GROUP) {
            int64_t size = n - group < KEY_GROUP ? n - group : KEY_GROUP;
            uint32_t wanted = limited ? below(keys + group, size, limit) : (1u << size) - 1;
            for (; wanted; wanted &= wanted - 1) {
                int64_t j = group + __builtin_ctz(wanted), before = used;
                if (limited && keys[j] >= limit) continue;
                if (o->narrow)
                    used = narrow_gather(narrow, used, o->keep, o->kept, o->bytes, keys[j] << 32 | (uint64_t)(i + j));
                else
                    used = wide_gather(records, used, o->keep, o->kept, o->bytes, (wide){keys[j], i + j});
                if (used > before) continue;
                limited = 1;
                limit = o->narrow ? narrow[o->keep - 1] >> 32 : records[o->keep - 1].key;
            }
        }
    }
    return used;
}

/* Where the first records of positions [begin, end) of a line are, in order. */
static void *order_line(const ordering *o, const char *x, int64_t begin, int64_t end, char *memory) {
    int64_t n = o->kept > o->n ? gather_all(o, x, begin, end, memory) : gather_first(o, x, begin, end, memory);
    return sort_records(o, memory, n);
}

#define FETCH(type)                                                                                                           \
    for (int64_t j = 0; j < o->keep; j++) {                                                                                   \
        int64_t position = o->narrow ? (int64_t)(uint32_t)((const uint64_t *)sorted)[j] : ((const wide *)sorted)[j].position; \
        *(type *)(values + j * to) = *(const type *)(x + position * from);                                                    \
        if (indices) *(int64_t *)(indices + j * to_index) = position;                                                         \
    }

static void store_line(const ordering *o, const void *sorted, const char *x, char *values, char *indices) {
    int64_t size = ow_itemsize(o->self->dtype), from = o->self->strides[o->dim] * size;
    int64_t to = o->values->strides[o->dim] * size, to_index = o->indices ? o->indices->strides[o->dim] * 8 : 0;
    if (size == 1) FETCH(uint8_t)
    else if (size == 2) FETCH(uint16_t)
    else if (size == 4) FETCH(uint32_t)
    else FETCH(uint64_t)
}

/* ---- all lines ---------------------------------------------------------------------------------------- */

/* The first element of line number `line`, counted in C order of the other dimensions. */
static char *line_start(const ow_tensor *t, int dim, int64_t line) {
    int64_t at = 0;
    for (int d = t->ndim - 1; d >= 0 && line; d--) {
        if (d == dim) continue;
        at += line % t->sizes[d] * t->strides[d];
        line /= t->sizes[d];
    }
    return t->data + at * ow_itemsize(t->dtype);
}

static void order_lines(void *context, int64_t begin, int64_t end) {
    ordering *o = context;
    char *memory = ow_alloc(o->scratch);
    if (!memory) __atomic_store_n(&o->failed, 1, __ATOMIC_RELAXED);
    for (int64_t line = begin; line < end && memory; line++) {
        const char *x = line_start(o->self, o->dim, line);
        const void *sorted = order_line(o, x, 0, o->n, memory);
        char *indices = o->indices ? line_start(o->indices, o->dim, line) : NULL;
        store_line(o, sorted, x, line_start(o->values, o->dim, line), indices);
    }
    if (memory) ow_dealloc(memory, o->scratch);
}

/* ---- one long line ------------------------------------------------------------------------------------- */

/* Moves the first records of each piece of the line to the beginning of the piece's memory. */
static void order_pieces(void *context, int64_t begin, int64_t end) {
    const ordering *o = context;
    int64_t size = o->narrow ? (int64_t)sizeof(uint64_t) : (int64_t)sizeof(wide);
    for (int64_t piece = begin; piece < end; piece++) {
        char *memory = o->memory + piece * o->scratch;
        int64_t first = piece * o->length, last = first + o->length < o->n ? first + o->length : o->n;
        const void *sorted = order_line(o, o->self->data, first, last, memory);
        memmove(memory, sorted, (size_t)(o->keep * size));
    }
}

/* The first elements of the only line are among the first ones of its pieces. 1, or 0 with the error set. */
static int order_by_pieces(ordering *o, int64_t pieces, double work) {
    int64_t size = o->narrow ? (int64_t)sizeof(uint64_t) : (int64_t)sizeof(wide), nbytes = pieces * o->scratch;
    o->length = (o->n - 1) / pieces + 1;
    if (!(o->memory = ow_alloc(nbytes))) return 0;
    int done = ow_long_for(pieces, 1, work, order_pieces, o);
    if (done) {
        for (int64_t piece = 1; piece < pieces; piece++)
            memmove(o->memory + piece * o->keep * size, o->memory + piece * o->scratch, (size_t)(o->keep * size));
        const void *sorted = sort_records(o, o->memory, pieces * o->keep);
        store_line(o, sorted, o->self->data, o->values->data, o->indices ? o->indices->data : NULL);
    }
    ow_dealloc(o->memory, nbytes);
    return done;
}

/* The first `keep` values of every line in order, and their positions (NULL: not wanted), in tensors that have that shape.
 * 1, or 0 with the error set. */
static int order_all(ow_tensor *x, int dim, int64_t keep, int descending, ow_tensor *values, ow_tensor *indices) {
    int64_t n = x->sizes[dim], lines = n ? x->numel / n : 0;
    if (!lines || !keep) return 1;
    if (lines == 1 && keep == n && n >= OW_LONG_LINE) {
        if (ow_order_long(x, dim, descending, values, indices)) return 1;
        if (ow_error_pending()) return 0;
    }
    int bytes = (int)ow_itemsize(x->dtype), narrow = bytes <= 4 && n <= UINT32_MAX;
    ordering o = {.self = x, .values = values, .indices = indices, .dim = dim};
    o.n = n;
    o.keep = keep;
    o.kept = keep >= n / 4 ? n + 1 : keep <= MOST_FEW ? keep : 4 * keep;
    o.narrow = narrow;
    o.bytes = bytes;
    o.flip = descending ? UINT64_MAX >> (64 - 8 * bytes) : 0;
    o.scratch = 2 * o.kept * (narrow ? (int64_t)sizeof(uint64_t) : (int64_t)sizeof(wide));
    o.scratch = (o.scratch + APART - 1) / APART * APART;
    int64_t threads = ow_num_threads(), grain = (lines + threads - 1) / threads;
    double each = (double)n * (o.kept < n ? 2 : 4 * bytes), work = each * (double)lines;
    if (lines == 1 && threads > 1 && o.kept <= n / (2 * threads)) return order_by_pieces(&o, threads, work);
    int64_t most = 1 + (int64_t)(LINES_WORK / each);
    int done = ow_long_for(lines, grain < most ? grain : most, work, order_lines, &o);
    if (o.failed) ow_fail(OW_OUT_OF_MEMORY, "no memory to sort lines of %lld elements", (long long)n);
    return done && !o.failed;
}

/* ---- operators ------------------------------------------------------------------------------------------ */

/* What a call wants of the order. Either result may be NULL: it is not wanted. */
typedef struct {
    int dim, descending;
    int64_t keep;
    ow_tensor *values, *indices;
} wanted;

static int compute(const ow_plan *plan) {
    const wanted *w = plan->details;
    ow_tensor *self = plan->inputs[0], *values = w->values ? w->values : ow_empty_like(self, -1, OW_PRESERVE_ORDER);
    int done = values != NULL;
    if (done && self->ndim) {
        done = order_all(self, w->dim, w->keep, w->descending, values, w->indices);
    } else if (done) {
        if (w->indices) memset(w->indices->data, 0, sizeof(int64_t));
        done = ow_copy(values, self);
    }
    if (values != w->values) ow_tensor_free(values);
    return done;
}

static int64_t length_of(const ow_tensor *t, int64_t dim) { return t->ndim ? t->sizes[dim] : 1; }

/* Of whole lines; ints: dim, descending */
static int sort(ow_call *c, int wants_values) {
    ow_tensor *self = c->inputs[0];
    int64_t dim = c->ints[0];
    if (!ow_wrap_dim(&dim, self->ndim)) return 0;
    wanted w = {.dim = (int)dim, .descending = c->ints[1] == 1, .keep = length_of(self, dim)};
    if (wants_values) w.values = c->results[0] = ow_empty_like(self, -1, OW_PRESERVE_ORDER);
    w.indices = c->results[wants_values] = ow_empty_like(self, OW_INT64, OW_PRESERVE_ORDER);
    return ow_execute_call(c, 1 + wants_values, compute, &w);
}

/* ints: dim, descending, stable */
int ow_core_sort(ow_call *c) { return sort(c, 1); }

int ow_core_argsort(ow_call *c) { return sort(c, 0); }

/* ints: k, dim, largest, sorted */
int ow_core_topk(ow_call *c) {
    ow_tensor *self = c->inputs[0];
    int64_t keep = c->ints[0], dim = c->ints[1], sizes[OW_MAX_DIMS];
    if (!ow_wrap_dim(&dim, self->ndim)) return 0;
    if (keep < 0 || keep > length_of(self, dim)) {
        ow_fail(OW_RUNTIME_ERROR, "selected index k out of range");
        return 0;
    }
    for (int d = 0; d < self->ndim; d++) sizes[d] = d == dim ? keep : self->sizes[d];
    c->results[0] = ow_tensor_new(self->dtype, self->ndim, sizes, NULL);
    c->results[1] = ow_tensor_new(OW_INT64, self->ndim, sizes, NULL);
    wanted w = {(int)dim, c->ints[2] == 1, keep, c->results[0], c->results[1]};
    return ow_execute_call(c, 2, compute, &w);
}

/* Of a vector, without positions. */
int ow_core_sort_values(ow_call *c) {
    ow_tensor *self = c->inputs[0];
    if (self->ndim != 1) {
        ow_fail(OW_RUNTIME_ERROR, "sort_values() expects a vector, but got %d dimensions", self->ndim);
        return 0;
    }
    c->results[0] = ow_tensor_new(self->dtype, 1, self->sizes, NULL);
    wanted w = {.keep = self->sizes[0], .values = c->results[0]};
    return ow_execute_call(c, 1, compute, &w);
}

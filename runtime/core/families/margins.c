/* Copies of tensors with margins: the elements around them that indices outside of them mean. */
#include "margins.h"

#include <stdatomic.h>

#include "isa/target_clones.h"

typedef struct {
    const ow_tensor *from;
    ow_tensor *to;
    const int64_t (*margins)[2]; /* of the last n dimensions */
    int n;
    ow_margin rule;
    const char *outside; /* a row of nothing but the number */
} task;

/* The position that one outside means; -1: none, but the number. */
OW_INLINE int64_t place(const task *t, int64_t i, int64_t size) {
    if (i >= 0 && i < size) return i;
    switch (t->rule.rule) {
    case OW_MARGIN_NEAREST: return ow_at_nearest(i, size);
    case OW_MARGIN_WRAP: return ow_at_wrap(i, size);
    case OW_MARGIN_REFLECT: return ow_at_reflect(i, size);
    default: return -1;
    }
}

/* The same item n times; margins are too short for a call of memcpy. */
static void repeat(char *to, const char *item, int itemsize, int64_t n) {
    if (itemsize == 4)
        for (int64_t k = 0; k < n; k++) memcpy(to + 4 * k, item, 4);
    else if (itemsize == 8)
        for (int64_t k = 0; k < n; k++) memcpy(to + 8 * k, item, 8);
    else
        memcpy(to, item, (size_t)(n * itemsize));
}

/* The margin of a row of `size` elements at `from`, whose first element is the i-th. */
OW_INLINE void fill_margin(const task *t, char *to, const char *from, int64_t i, int64_t n, int64_t size) {
    int itemsize = ow_itemsize(t->to->dtype);
    if (t->rule.rule == OW_MARGIN_NUMBER) repeat(to, t->outside, itemsize, n);
    else
        for (int64_t k = 0; k < n; k++) memcpy(to + k * itemsize, from + place(t, i + k, size) * itemsize, (size_t)itemsize);
}

/* The offset of what the indices of dimensions [first, last) of the copy mean; -1: the number. */
OW_INLINE int64_t offset_of(const task *t, const int64_t *at, int first, int last) {
    const int own = t->to->ndim - t->n;
    int64_t offset = 0;
    for (int d = first; d < last; d++) {
        const int64_t i = place(t, at[d] - (d < own ? 0 : t->margins[d - own][0]), t->from->sizes[d]);
        if (i < 0) return -1;
        offset += i * t->from->strides[d];
    }
    return offset;
}

static void copy_rows(void *context, int64_t begin, int64_t end) {
    const task *t = context;
    const int last = t->to->ndim - 1, rows = last > 0 ? last - 1 : 0, itemsize = ow_itemsize(t->to->dtype);
    int64_t width = t->to->sizes[last], size = t->from->sizes[last], at[OW_MAX_DIMS], rest = begin;
    const int64_t *beside = t->margins[t->n - 1];
    for (int d = last - 1; d >= 0; d--) {
        at[d] = rest % t->to->sizes[d];
        rest /= t->to->sizes[d];
    }
    char *to = (char *)t->to->data + begin * width * itemsize;
    int64_t around = offset_of(t, at, 0, rows); /* the same for all rows that follow one another */
    for (int64_t row = begin; row < end; row++, to += width * itemsize) {
        const int64_t here = offset_of(t, at, rows, last), source = around < 0 || here < 0 ? -1 : around + here;
        if (last && ++at[rows] == t->to->sizes[rows]) {
            at[rows] = 0;
            for (int d = rows - 1; d >= 0 && ++at[d] == t->to->sizes[d]; d--) at[d] = 0;
            around = offset_of(t, at, 0, rows);
        }
        if (source < 0) {
            memcpy(to, t->outside, (size_t)(width * itemsize));
            continue;
        }
        const char *from = (const char *)t->from->data + source * itemsize;
        fill_margin(t, to, from, -beside[0], beside[0], size);
        memcpy(to + beside[0] * itemsize, from, (size_t)(size * itemsize));
        fill_margin(t, to + (beside[0] + size) * itemsize, from, size, beside[1], size);
    }
}

ow_tensor *ow_with_margins(const ow_tensor *x, int n, const int64_t (*margins)[2], ow_margin rule) {
    int64_t sizes[OW_MAX_DIMS];
    for (int d = 0; d < x->ndim; d++) {
        int own = d - (x->ndim - n);
        sizes[d] = x->sizes[d] + (own < 0 ? 0 : margins[own][0] + margins[own][1]);
    }
    int64_t width = sizes[x->ndim - 1], nbytes = width * ow_itemsize(x->dtype);
    char *outside = ow_alloc(nbytes);
    ow_tensor *result = outside ? ow_tensor_new(x->dtype, x->ndim, sizes, NULL) : NULL;
    if (result) {
        ow_cast_loop(x->dtype, OW_FLOAT64)(outside, ow_itemsize(x->dtype), (const char *)&rule.number, 0, width);
        task t = {x, result, margins, n, rule, outside};
        ow_parallel_for(result->numel / width, 1, (double)result->numel, copy_rows, &t);
    }
    if (outside) ow_dealloc(outside, nbytes);
    else ow_fail(OW_OUT_OF_MEMORY, "no memory for %lld bytes", (long long)nbytes);
    if (!ow_error_pending()) return result;
    ow_tensor_free(result);
    return NULL;
}

/* ---- finite factors --------------------------------------------------------------------------------------- */

typedef struct {
    const void *data;
    atomic_int differs; /* from a finite number */
} numbers;

/* Numbers without their signs are ordered as integers are; infinity is the least that is not finite. */
#define FIND_GREATEST(bits)                                                                \
    OW_CLONES static void test_##bits(void *context, int64_t begin, int64_t end) {         \
        numbers *n = context;                                                              \
        const uint##bits##_t *x = n->data, infinity = (uint##bits##_t)INFINITY_##bits;     \
        uint##bits##_t greatest = 0;                                                       \
        for (int64_t i = begin; i < end; i++) {                                            \
            const uint##bits##_t each = x[i] & ~((uint##bits##_t)1 << (bits - 1));         \
            greatest = each > greatest ? each : greatest;                                  \
        }                                                                                  \
        if (greatest >= infinity) atomic_store(&n->differs, 1);                            \
    }
#define INFINITY_32 0x7f800000
#define INFINITY_64 0x7ff0000000000000
FIND_GREATEST(32)
FIND_GREATEST(64)

int ow_is_finite(const ow_tensor *x) {
    if (ow_dtype_kinds[x->dtype] < OW_KIND_FLOATING) return 1;
    const int is_complex = ow_dtype_kinds[x->dtype] == OW_KIND_COMPLEX, nbytes = ow_itemsize(x->dtype) >> is_complex;
    const int64_t n = x->numel << is_complex;
    numbers all = {.data = x->data};
    ow_parallel_for(n, 1 << 16, (double)n / 8, nbytes == 4 ? test_32 : test_64, &all);
    return !atomic_load(&all.differs);
}

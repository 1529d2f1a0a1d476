/* Places of the elements of sparse tensors, from one form to another in one pass each: coordinates to places in an array,
 * rows to their starts and back, and elements in the order of their columns.
 *
 * Users may write to the indices that they have given, also meanwhile: an index is read once and checked where it is read,
 * and nothing is written outside of a result. What an error says is found in a pass of its own.
 */
#include "families/core_call.h"
#include "families/driver.h"

#define GRAIN 4096
#define ELEMENT_WORK 2.0 /* in units of a float32 addition */
#define ORDER_WORK 6.0

typedef struct {
    const int64_t *in;
    int64_t n;           /* elements */
    int64_t count;       /* rows, or columns */
    const ow_ints *sizes; /* of the array whose coordinates are given */
    int64_t *out, *order;
    int64_t *counts; /* of each block of elements, for every column */
    int64_t blocks;
    int is_bad; /* an index is not what it must be */
} places;

static void set_bad(places *p) { __atomic_store_n(&p->is_bad, 1, __ATOMIC_RELAXED); }

static int is_within(int64_t index, int64_t size) { return (uint64_t)index < (uint64_t)size; }

/* ---- what every call does ------------------------------------------------------------------------------------ */

typedef int computation(places *p);

/* Computes with the indices in memory of int64, row by row. */
static int with_indices(const ow_plan *plan, places p, computation *compute) {
    ow_tensor *given = plan->inputs[0];
    const int is_direct = given->dtype == OW_INT64 && given->flags & OW_CONTIGUOUS;
    ow_tensor *indices = is_direct ? given : ow_clone(given, OW_INT64, 1);
    if (!indices) return 0;
    p.in = (const int64_t *)indices->data;
    p.out = (int64_t *)plan->results[0]->data;
    const int done = compute(&p);
    if (!is_direct) ow_tensor_free(indices);
    return done;
}

static int check_indices(const ow_call *c, int ndim) {
    const ow_tensor *t = c->inputs[0];
    if (t->ndim == ndim && (t->dtype == OW_INT64 || t->dtype == OW_INT32)) return 1;
    ow_fail(OW_RUNTIME_ERROR, "expected sparse indices in a tensor of int64 or int32 with %d dimensions", ndim);
    return 0;
}

static int check_count(const ow_call *c) {
    if (c->ints[0] >= 0 && c->ints[0] <= (int64_t)1 << 40) return 1;
    ow_fail(OW_RUNTIME_ERROR, "a sparse tensor cannot have %lld rows, columns or elements", (long long)c->ints[0]);
    return 0;
}

static int fail_outside(int64_t index, int dim, int64_t size) {
    ow_fail(OW_INDEX_ERROR, "sparse index %lld is out of bounds for dimension %d with size %lld", (long long)index, dim,
            (long long)size);
    return 0;
}

static int fail_changed(void) {
    ow_fail(OW_RUNTIME_ERROR, "sparse indices have changed while they were read");
    return 0;
}

/* ---- places of coordinates ----------------------------------------------------------------------------------- */

static void add_places(void *context, int64_t begin, int64_t end) {
    places *p = context;
    int outside = 0;
    memset(p->out + begin, 0, sizeof(int64_t) * (size_t)(end - begin));
    for (int dim = 0; dim < p->sizes->n; dim++) {
        const int64_t *indices = p->in + dim * p->n, size = p->sizes->v[dim];
        for (int64_t k = begin; k < end; k++) {
            const int64_t index = indices[k];
            outside |= !is_within(index, size);
            p->out[k] = (int64_t)((uint64_t)p->out[k] * (uint64_t)size + (uint64_t)index);
        }
    }
    if (outside) set_bad(p);
}

static int find_places(places *p) {
    if (!ow_long_for(p->n, GRAIN, ELEMENT_WORK * (double)p->n * p->sizes->n, add_places, p)) return 0;
    for (int dim = 0; dim < p->sizes->n && p->is_bad; dim++) {
        int64_t low = 0, high = 0;
        for (int64_t k = 0; k < p->n; k++) {
            const int64_t index = p->in[dim * p->n + k];
            low = index < low ? index : low;
            high = index > high ? index : high;
        }
        if (low < 0 || high >= p->sizes->v[dim]) return fail_outside(low < 0 ? low : high, dim, p->sizes->v[dim]);
    }
    return !p->is_bad || fail_changed();
}

static int compute_places(const ow_plan *plan) {
    const ow_ints *sizes = &plan->call->lists[0];
    return with_indices(plan, (places){.n = plan->results[0]->numel, .sizes = sizes}, find_places);
}

/* inputs: coordinates, a column for each element; lists: sizes */
int ow_core_coo_places(ow_call *c) {
    if (!check_indices(c, 2)) return 0;
    if (c->lists[0].n != c->inputs[0]->sizes[0]) {
        ow_fail(OW_RUNTIME_ERROR, "expected as many sizes as there are rows of sparse indices");
        return 0;
    }
    c->results[0] = ow_tensor_new(OW_INT64, 1, &c->inputs[0]->sizes[1], NULL);
    return ow_execute_call(c, 1, compute_places, NULL);
}

/* ---- starts of rows ------------------------------------------------------------------------------------------ */

/* Each element writes the starts of its row and of the empty ones before it, if it is the first of its row. */
static void write_starts(void *context, int64_t begin, int64_t end) {
    places *p = context;
    int64_t before = begin ? p->in[begin - 1] : -1;
    for (int64_t k = begin; k < end; k++) {
        const int64_t row = p->in[k];
        if (row < before || !is_within(row, p->count) || before < -1) {
            set_bad(p);
            return;
        }
        while (before < row) p->out[++before] = k;
    }
}

static int find_starts(places *p) {
    if (!ow_long_for(p->n, GRAIN, ELEMENT_WORK * (double)(p->n + p->count), write_starts, p)) return 0;
    for (int64_t k = 0; k < p->n && p->is_bad; k++) {
        if (!is_within(p->in[k], p->count)) return fail_outside(p->in[k], 0, p->count);
        if (k && p->in[k] < p->in[k - 1]) {
            ow_fail(OW_RUNTIME_ERROR, "the indices of a coalesced tensor must ascend, but row %lld follows row %lld",
                    (long long)p->in[k], (long long)p->in[k - 1]);
            return 0;
        }
    }
    if (p->is_bad) return fail_changed();
    const int64_t last = p->n ? p->in[p->n - 1] : -1;
    for (int64_t row = p->count; row > last && row >= 0; row--) p->out[row] = p->n;
    return 1;
}

static int compute_starts(const ow_plan *plan) {
    return with_indices(plan, (places){.n = plan->inputs[0]->numel, .count = plan->call->ints[0]}, find_starts);
}

/* inputs: the row of each element, in order; ints: the number of rows */
int ow_core_csr_starts(ow_call *c) {
    if (!check_indices(c, 1) || !check_count(c)) return 0;
    const int64_t size = c->ints[0] + 1;
    c->results[0] = ow_tensor_new(OW_INT64, 1, &size, NULL);
    return ow_execute_call(c, 1, compute_starts, NULL);
}

/* ---- rows of elements ---------------------------------------------------------------------------------------- */

static void write_rows(void *context, int64_t begin, int64_t end) {
    places *p = context;
    for (int64_t row = begin; row < end; row++) {
        const int64_t start = p->in[row], stop = p->in[row + 1];
        if (start < 0 || start > stop || stop > p->n) {
            set_bad(p);
            return;
        }
        for (int64_t k = start; k < stop; k++) p->out[k] = row;
    }
}

static int find_rows(places *p) {
    const int64_t first = p->in[0], last = p->in[p->count];
    if (first || last != p->n) set_bad(p);
    else if (!ow_long_for(p->count, GRAIN, ELEMENT_WORK * (double)(p->n + p->count), write_rows, p)) return 0;
    if (!p->is_bad) return 1;
    int64_t least = INT64_MAX;
    for (int64_t row = 0; row < p->count; row++) {
        const int64_t step = (int64_t)((uint64_t)p->in[row + 1] - (uint64_t)p->in[row]);
        least = step < least ? step : least;
    }
    ow_fail(OW_INDEX_ERROR, "the starts of %lld rows must count up from 0 to %lld, but they begin with %lld, end with %lld, and "
                            "the smallest step is %lld",
            (long long)p->count, (long long)p->n, (long long)first, (long long)last, (long long)(p->count ? least : 0));
    return 0;
}

static int compute_rows(const ow_plan *plan) {
    return with_indices(plan, (places){.n = plan->results[0]->numel, .count = plan->inputs[0]->numel - 1}, find_rows);
}

/* inputs: where each row starts, and the end of the last one; ints: the number of elements */
int ow_core_csr_rows(ow_call *c) {
    if (!check_indices(c, 1) || !check_count(c)) return 0;
    if (!c->inputs[0]->numel) {
        ow_fail(OW_RUNTIME_ERROR, "expected the starts of rows and the end of the last one");
        return 0;
    }
    c->results[0] = ow_tensor_new(OW_INT64, 1, &c->ints[0], NULL);
    return ow_execute_call(c, 1, compute_rows, NULL);
}

/* ---- the order of columns ------------------------------------------------------------------------------------ */

static int64_t first_of(const places *p, int64_t block) { return p->n / p->blocks * block + (block == p->blocks ? p->n % p->blocks : 0); }

static void count_columns(void *context, int64_t begin, int64_t end) {
    places *p = context;
    for (int64_t block = begin; block < end; block++) {
        int64_t *counts = p->counts + block * p->count;
        memset(counts, 0, sizeof *counts * (size_t)p->count);
        for (int64_t k = first_of(p, block), stop = first_of(p, block + 1); k < stop; k++) {
            const int64_t column = p->in[k];
            if (is_within(column, p->count)) counts[column]++;
            else set_bad(p);
        }
    }
}

/* Counts become the places of the first element of each column and block. */
static void sum_counts(const places *p) {
    int64_t place = 0;
    for (int64_t column = 0; column < p->count; column++) {
        p->out[column] = place;
        for (int64_t block = 0; block < p->blocks; block++) {
            int64_t *count = p->counts + block * p->count + column, first = place;
            place += *count;
            *count = first;
        }
    }
    p->out[p->count] = place;
}

static void write_order(void *context, int64_t begin, int64_t end) {
    places *p = context;
    for (int64_t block = begin; block < end; block++) {
        int64_t *next = p->counts + block * p->count;
        for (int64_t k = first_of(p, block), stop = first_of(p, block + 1); k < stop; k++) {
            const int64_t column = p->in[k];
            if (is_within(column, p->count) && next[column] < p->n) p->order[next[column]++] = k;
            else set_bad(p);
        }
    }
}

static int sort_columns(places *p) {
    const int64_t nbytes = (p->blocks * p->count + 1) * (int64_t)sizeof(int64_t);
    if (!(p->counts = ow_alloc(nbytes))) return 0;
    const double work = ORDER_WORK * (double)p->n;
    int done = ow_long_for(p->blocks, 1, work, count_columns, p);
    if (done && !p->is_bad) {
        sum_counts(p);
        done = ow_long_for(p->blocks, 1, work, write_order, p);
    }
    ow_dealloc(p->counts, nbytes);
    for (int64_t k = 0; k < p->n && done && p->is_bad; k++)
        if (!is_within(p->in[k], p->count)) return fail_outside(p->in[k], 1, p->count);
    return done && (!p->is_bad || fail_changed());
}

static int compute_order(const ow_plan *plan) {
    const int64_t n = plan->inputs[0]->numel, count = plan->call->ints[0];
    /* Blocks have counts of their own, which must be few beside the elements. */
    const int64_t blocks = count < n / 16 ? ow_num_threads() : 1;
    return with_indices(plan, (places){.n = n, .count = count, .blocks = blocks, .order = (int64_t *)plan->results[1]->data},
                        sort_columns);
}

/* inputs: the column of each element; ints: the number of columns */
int ow_core_csr_order(ow_call *c) {
    if (!check_indices(c, 1) || !check_count(c)) return 0;
    const int64_t size = c->ints[0] + 1;
    c->results[0] = ow_tensor_new(OW_INT64, 1, &size, NULL);
    c->results[1] = ow_tensor_new(OW_INT64, 1, &c->inputs[0]->numel, NULL);
    return ow_execute_call(c, 2, compute_order, NULL);
}

/* Decides whether tensors share memory, which out= and in-place operations must refuse.
 *
 * Two tensors overlap when  D + sum(i_k * s_k) - sum(j_k * t_k) + (p - q) = 0  has a solution, where D is the distance
 * of their first elements, s and t their strides in bytes, i and j indices and p and q bytes inside an element. That is
 * one bounded linear Diophantine equation. It is solved exactly by a search that interval and divisor tests prune;
 * when the search grows beyond a limit the answer is "perhaps".
 */
#include "storage.h"

typedef __int128 wide;

enum { MAX_TERMS = 2 * OW_MAX_DIMS + 1, SEARCH_LIMIT = 4096 };

/* coefficient * x with low <= x <= high, and what this and the following terms can add up to. */
typedef struct term {
    int64_t coefficient, low, high;
    wide least, most;
    int64_t divisor;
} term;

typedef struct search {
    int n, budget;
    term terms[MAX_TERMS];
} search;

static int64_t gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static wide floor_div(wide a, wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static void add_term(search *s, int64_t coefficient, int64_t low, int64_t high) {
    if (coefficient == 0 || low == high) return;
    if (coefficient < 0) {
        coefficient = -coefficient;
        int64_t swap = low;
        low = -high;
        high = -swap;
    }
    int k = 0;
    while (k < s->n && s->terms[k].coefficient > coefficient) k++;
    if (k < s->n && s->terms[k].coefficient == coefficient) {
        s->terms[k].low += low;
        s->terms[k].high += high;
        return;
    }
    memmove(&s->terms[k + 1], &s->terms[k], (size_t)(s->n - k) * sizeof(term));
    s->terms[k] = (term){.coefficient = coefficient, .low = low, .high = high};
    s->n++;
}

static void add_tensor(search *s, const ow_tensor *t, int sign) {
    int64_t itemsize = ow_itemsize(t->dtype);
    for (int d = 0; d < t->ndim; d++) add_term(s, sign * t->strides[d] * itemsize, 0, t->sizes[d] - 1);
}

/* x in [low, high] with coefficient * x congruent to target modulo m: first such x, or high + 1. All by Euclid. */
static wide first_congruent(const term *t, wide low, wide target, int64_t m) {
    int64_t a = (int64_t)(t->coefficient % m), g = gcd(m, a), step = m / g;
    if (step == 1) return low;
    wide old = 0, x = 1; /* inverse of a / g modulo step */
    int64_t r0 = step, r1 = a / g;
    while (r1 > 1) {
        int64_t q = r0 / r1, r = r0 - q * r1;
        wide next = old - q * x;
        old = x;
        x = next;
        r0 = r1;
        r1 = r;
    }
    wide residue = (target / g) % step * (x % step) % step;
    wide shift = (residue - low) % step;
    return low + (shift < 0 ? shift + step : shift);
}

/* 1: solvable, 0: not, 2: the budget ran out. */
static int solve(search *s, int k, wide target) {
    if (k == s->n) return target == 0;
    const term *t = &s->terms[k];
    if (target < t->least || target > t->most || target % t->divisor) return 0;
    wide rest_least = k + 1 < s->n ? s->terms[k + 1].least : 0, rest_most = k + 1 < s->n ? s->terms[k + 1].most : 0;
    wide low = -floor_div(rest_most - target, t->coefficient), high = floor_div(target - rest_least, t->coefficient);
    if (low < t->low) low = t->low;
    if (high > t->high) high = t->high;
    if (k + 2 >= s->n) /* at most one more term: the remaining condition is a congruence */
        return low <= high && (k + 1 == s->n || first_congruent(t, low, target, s->terms[k + 1].coefficient) <= high);
    for (wide x = low; x <= high; x++) {
        if (s->budget-- <= 0) return 2;
        int solution = solve(s, k + 1, target - x * t->coefficient);
        if (solution) return solution;
    }
    return 0;
}

static void prepare(search *s) {
    wide least = 0, most = 0;
    int64_t divisor = 0;
    for (int k = s->n - 1; k >= 0; k--) {
        term *t = &s->terms[k];
        least += (wide)t->coefficient * t->low;
        most += (wide)t->coefficient * t->high;
        divisor = gcd(t->coefficient, divisor);
        t->least = least;
        t->most = most;
        t->divisor = divisor;
    }
}

/* First byte and the byte after the last one. */
static void bounds(const ow_tensor *t, uintptr_t *begin, uintptr_t *end) {
    int64_t itemsize = ow_itemsize(t->dtype);
    *begin = (uintptr_t)t->data;
    *end = (uintptr_t)t->data + (uintptr_t)itemsize;
    for (int d = 0; d < t->ndim; d++) {
        int64_t span = (t->sizes[d] - 1) * t->strides[d] * itemsize;
        if (span < 0) *begin += (uintptr_t)span;
        else *end += (uintptr_t)span;
    }
}

/* The same elements in the same order; dimensions of size 1 do not matter. */
static int is_same(const ow_tensor *a, const ow_tensor *b) {
    if (a->data != b->data || a->numel != b->numel || ow_itemsize(a->dtype) != ow_itemsize(b->dtype)) return 0;
    if (a->flags & b->flags & OW_CONTIGUOUS) return 1;
    int i = 0, j = 0;
    for (;; i++, j++) {
        while (i < a->ndim && a->sizes[i] == 1) i++;
        while (j < b->ndim && b->sizes[j] == 1) j++;
        if (i == a->ndim || j == b->ndim) return i == a->ndim && j == b->ndim;
        if (a->sizes[i] != b->sizes[j] || a->strides[i] != b->strides[j]) return 0;
    }
}

int ow_memory_overlap(const ow_tensor *a, const ow_tensor *b) {
    if (a->numel == 0 || b->numel == 0) return 0;
    if (ow_is_meta(a) && ow_is_meta(b) && ow_storage_memory(a->storage) != ow_storage_memory(b->storage)) return 0;
    if (a == b || is_same(a, b)) return 1;
    uintptr_t a_begin, a_end, b_begin, b_end;
    bounds(a, &a_begin, &a_end);
    bounds(b, &b_begin, &b_end);
    if (a_end <= b_begin || b_end <= a_begin) return 0;
    if (a->flags & b->flags & OW_DENSE) return 2;
    search s = {.n = 0, .budget = SEARCH_LIMIT};
    add_tensor(&s, a, 1);
    add_tensor(&s, b, -1);
    int64_t a_item = ow_itemsize(a->dtype), b_item = ow_itemsize(b->dtype), distance = b->data - a->data;
    prepare(&s);
    if (a_item == b_item && distance % a_item == 0) return solve(&s, 0, distance) ? 2 : 0;
    for (int64_t byte = 1 - a_item; byte < b_item; byte++) /* elements may share some of their bytes only */
        if (solve(&s, 0, distance + byte)) return 2;
    return 0;
}

/* Like torch, reports only dimensions of stride 0; overlapping windows made by as_strided pass. */
int ow_internal_overlap(const ow_tensor *t) {
    if (t->flags & OW_DENSE || t->numel == 0) return 0;
    for (int d = 0; d < t->ndim; d++)
        if (t->sizes[d] > 1 && t->strides[d] == 0) return 1;
    return 0;
}

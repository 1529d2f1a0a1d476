/* Results made of sums of squares, or of elements, that left the range of their dtype: these rows are computed again, in
 * float64 and divided by a power of two that makes their largest element about 1.
 *
 * Nearly all results lie well within the range, which is all that is looked at for them. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "kernel/rows.h"
#include "reduce.h"

typedef struct {
    const ow_op *op;
    const ow_reduction *r;
    ow_tensor *const *results;
    const ow_scalar *params;
    int single; /* 1 if rows reduce in float32 */
} rescaling;

/* 1 if a sum of squares is so small or so large that some of the squares may have been lost; also for NaN, which
 * infinities of different signs give. Of sums of elements only what is not finite has. */
static int left_range(double value, int degree, int single) {
    if (degree < 0) return !(fabs(value) <= DBL_MAX);
    double squares = degree == 1 ? value * value : value;
    return !(squares >= (single ? 0x1p-90 : 0x1p-900) && squares <= (single ? 0x1p126 : 0x1p1020));
}

static int is_rescaled(const ow_op *op, const ow_tensor *result) {
    return op->degrees[0] && ow_dtype_kinds[result->dtype] != OW_KIND_COMPLEX;
}

static int is_single(const ow_tensor *result) { return ow_compute_dtype[result->dtype] == OW_FLOAT32; }

int ow_left_range(const ow_op *op, const ow_tensor *result) {
    if (!is_rescaled(op, result)) return 0;
    double values[OW_BLOCK];
    int64_t item = ow_itemsize(result->dtype);
    for (int64_t done = 0; done < result->numel; done += OW_BLOCK) {
        int64_t n = result->numel - done < OW_BLOCK ? result->numel - done : OW_BLOCK, left = 0;
        ow_cast_loop(OW_FLOAT64, result->dtype)((char *)values, sizeof *values, result->data + done * item, item, n);
        for (int64_t i = 0; i < n; i++) left |= left_range(values[i], op->degrees[0], is_single(result));
        if (left) return 1;
    }
    return 0;
}

/* ---- one row ------------------------------------------------------------------------------------------ */

/* Elements [at, at + n) of a row, times `scale`. */
static void gather(const ow_reduction *r, const char *x, int64_t at, int64_t n, double scale, double *to) {
    for (int64_t i = 0, some; i < n; i += some) {
        int64_t index = r->nreduced ? (at + i) % r->reduced[0].size : 0;
        some = r->nreduced && r->reduced[0].size - index < n - i ? r->reduced[0].size - index : n - i;
        const char *from = x + ow_axes_offset(r->reduced, r->nreduced, at + i, NULL);
        r->load((char *)(to + i), sizeof *to, from, r->nreduced ? r->reduced[0].in : 0, some);
    }
    for (int64_t i = 0; i < n; i++) to[i] *= scale;
}

/* The exponent of the largest magnitude, or INT32_MIN where the row is zero, not finite, or squares stay in the range. */
static int exponent_of(const rescaling *c, const char *x) {
    double some[OW_BLOCK], largest = 0;
    int exponent, finite = 1;
    for (int64_t at = 0; at < c->r->count && finite; at += OW_BLOCK) {
        int64_t n = c->r->count - at < OW_BLOCK ? c->r->count - at : OW_BLOCK;
        gather(c->r, x, at, n, 1, some);
        for (int64_t i = 0; i < n; i++) {
            finite &= fabs(some[i]) <= DBL_MAX;
            largest = fabs(some[i]) > largest ? fabs(some[i]) : largest;
        }
    }
    frexp(largest, &exponent);
    int usual = c->op->degrees[0] < 0 ? 0 : c->single ? exponent > -30 && exponent < 50 : exponent > -400 && exponent < 450;
    if (usual || !finite || largest == 0) return INT32_MIN;
    return exponent < -1000 ? -1000 : exponent;
}

static void reduce_row(const rescaling *c, const char *x, double scale, double *values) {
    const ow_reduce_kernels *kernels = &((const ow_reduce_table *)c->op->tables[ow_level])->by[OW_FLOAT64];
    double some[OW_BLOCK], part;
    for (int64_t at = 0; at < c->r->count; at += OW_BLOCK) {
        int64_t n = c->r->count - at < OW_BLOCK ? c->r->count - at : OW_BLOCK;
        gather(c->r, x, at, n, scale, some);
        kernels->leaf((char *)(at ? &part : values), (const char *)some, sizeof *some, n);
        if (at) kernels->merge((char *)values, (const char *)&part, 1);
    }
    if (kernels->finish) kernels->finish((char *)values, 1, c->r->count);
}

static void finish_row(const rescaling *c, const char *x, double scale, double *values) {
    const ow_row_kernels *kernels = &((const ow_row_table *)c->op->tables[ow_level])->by[OW_FLOAT64];
    double some[OW_BLOCK], lets[OW_ROW_LETS], part[OW_ROW_PASSES];
    char *elements[] = {(char *)some};
    int64_t step = sizeof *some;
    ow_row_state row = {(const char *)lets, c->params, c->r->count};
    for (int pass = 0;; pass++) {
        if (kernels->one.values[pass]) kernels->one.values[pass]((char *)lets, elements, &row);
        if (pass == kernels->passes) break;
        for (int64_t at = 0; at < c->r->count; at += OW_BLOCK) {
            int64_t n = c->r->count - at < OW_BLOCK ? c->r->count - at : OW_BLOCK;
            char *of_pass = (char *)(lets + kernels->first[pass]);
            gather(c->r, x, at, n, scale, some);
            kernels->one.leaf[pass](at ? (char *)part : of_pass, elements, &step, NULL, 0, n, &row);
            if (at) kernels->one.merge[pass](of_pass, (const char *)part);
        }
    }
    kernels->one.finish((char *)values, elements, &row);
}

static void run(void *context, int64_t begin, int64_t end) {
    const rescaling *c = context;
    const ow_tensor *first = c->results[0];
    for (int64_t k = begin; k < end; k++) {
        int64_t to;
        const char *x = c->r->x + ow_axes_offset(c->r->kept, c->r->nkept, k, &to);
        double value, values[OW_MAX_RESULTS];
        ow_cast_loop(OW_FLOAT64, first->dtype)((char *)&value, 0, first->data + to, 0, 1);
        if (!left_range(value, c->op->degrees[0], c->single)) continue;
        int exponent = exponent_of(c, x);
        if (exponent == INT32_MIN) continue;
        (c->op->family == OW_REDUCE ? reduce_row : finish_row)(c, x, ldexp(1, -exponent), values);
        for (int i = 0; i < (c->op->family == OW_REDUCE ? 1 : c->op->results); i++) {
            value = ldexp(values[i], exponent * abs(c->op->degrees[i]));
            ow_cast_loop(first->dtype, OW_FLOAT64)(c->results[i]->data + to, 0, (const char *)&value, 0, 1);
        }
    }
}

/* ---- the call ----------------------------------------------------------------------------------------- */

int ow_rescale(const ow_op *op, const ow_tensor *self, ow_tensor *const *results, uint64_t reduced, int keepdim,
               const ow_scalar *params) {
    ow_tensor *first = results[0];
    if (!is_rescaled(op, first) || !self->numel || !first->numel) return 1;
    ow_reduction r = {.load = ow_cast_loop(OW_FLOAT64, self->dtype), .x = self->data};
    rescaling c = {op, &r, results, params, is_single(first)};
    if (first->flags & OW_CONTIGUOUS && !ow_left_range(op, first)) return 1;
    ow_reduction_axes(&r, self, first, reduced, keepdim);
    return ow_long_for(r.outputs, 1 + 4096 / r.count, (double)self->numel * 16, run, &c);
}

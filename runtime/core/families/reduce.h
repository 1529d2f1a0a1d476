/* A reduction in the form that its loops take: axes sorted by the input's strides, dtypes resolved to functions. */
#ifndef OPWEAVE_REDUCE_H
#define OPWEAVE_REDUCE_H

#include "driver.h"

typedef struct ow_reduction {
    const ow_reduce_kernels *kernels;
    ow_cast load;  /* input to accumulator */
    ow_cast store; /* accumulator to result */
    int converts;  /* 1 if input and accumulator differ in dtype */
    int64_t input_size, size; /* bytes of an element of the input and of the accumulator */
    const char *x;
    char *out;
    int nkept, nreduced;
    ow_axis kept[OW_MAX_DIMS], reduced[OW_MAX_DIMS]; /* fastest first, adjacent ones merged; `out` of reduced ones is 0 */
    int64_t outputs, count; /* products of the sizes */
    double cost;
} ow_reduction;

/* Fills in the axes, for which the strides of `out` count in its own elements' bytes. (reduce.c) */
void ow_reduction_axes(ow_reduction *r, const ow_tensor *self, const ow_tensor *out, uint64_t reduced, int keepdim);

/* Computes again what lost squares of elements that are very large or very small: operators with degrees. `results` are
 * alike in memory. 1, or 0 with the error set where it was interrupted. (rescale.c) */
int ow_rescale(const ow_op *op, const ow_tensor *self, ow_tensor *const *results, uint64_t reduced, int keepdim,
               const ow_scalar *params);

/* The reduced axes are the faster ones: each result is a line of input. 1, or 0 with the error set. (reduce_lines.c) */
int ow_reduce_lines(const ow_reduction *r);
/* The kept axes are: rows of input fold into a row of results. 1, or 0 with the error set. (reduce_rows.c) */
int ow_reduce_rows(const ow_reduction *r);

#define OW_UNIT 65536 /* elements of one result that are worth a task of their own */

/* A reduction of `count` elements of a dtype to the one element of `out`, whose caller has them unit by unit, in any order:
 * OW_UNIT elements, fewer in the last. It gives what ow_reduce gives for a tensor of them. 0 where the operator is no such
 * thing, with the error set where it refuses the dtype. (reduce.c) */
int ow_reduction_of_units(ow_reduction *r, const ow_op *op, int from, int64_t count, int dtype, ow_tensor *out);
/* The accumulator of a unit of n elements, which lie at x without gaps. (reduce_lines.c) */
void ow_reduce_unit(const ow_reduction *r, const char *x, int64_t n, char *acc);
/* The result of the accumulators of all units, which are overwritten. (reduce_lines.c) */
void ow_join_units(const ow_reduction *r, char *units);
/* Would ow_rescale compute this result again? (rescale.c) */
int ow_left_range(const ow_op *op, const ow_tensor *result);

/* Joins m rows of n accumulators pairwise into the first; the order follows from m alone. */
static inline void ow_reduce_tree(const ow_reduction *r, char *rows, int64_t m, int64_t n) {
    while (m > 1) {
        int64_t half = (m + 1) / 2;
        r->kernels->merge(rows, rows + half * n * r->size, (m - half) * n);
        m = half;
    }
}

#endif

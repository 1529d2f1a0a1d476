/* Indexing with tensors: what index_get.c, nonzero.c and the routines share. */
#ifndef OPWEAVE_INDEX_H
#define OPWEAVE_INDEX_H

#include "index_space.h"

/* `self[indices]`, where a NULL index keeps its dimension whole; integer tensors and masks (bool, uint8). NULL with the
 * error set. (index_get.c) */
ow_tensor *ow_index_get(ow_tensor *self, ow_tensor *const *indices, int n);
/* `self[indices] = values`, or `+=` with every duplicate counted. Everything is checked before anything is written, which
 * the caller counts as a write. 1, or 0 with the error set. (index_put.c) */
int ow_index_put(ow_tensor *self, ow_tensor *const *indices, int n, ow_tensor *values, int accumulate);

/* In place, which the caller counts as well; `value` has the dtype of self and no dimensions, the mask broadcasts to self.
 * (masked_fill.c) */
int ow_masked_fill(ow_tensor *self, ow_tensor *mask, ow_tensor *value);

/* Adds 1 to counts[v] for every v of values; both have one dimension and int64, and counts is contiguous. 0 when a value is
 * no index of counts, or with the error set where a handler of a signal has raised: the counts have no meaning then.
 * (index_count.c) */
int ow_count_values(const ow_tensor *values, ow_tensor *counts);

/* How a value finds its bin: from the ends of the range alone; from them and then by the edges, which are evenly spaced; or
 * by the edges. The last bin has its upper edge. */
typedef enum { OW_BINS_OF_RANGE, OW_BINS_EVEN, OW_BINS_LISTED } ow_bin_rule;

/* Adds to the sum of each bin the weights (NULL: 1 each) of the values in it, which are of float32 or float64 as weights and
 * edges are; the sums are of float64. All are contiguous vectors, the edges two where they are the ends of the range and
 * otherwise one more than there are bins. 0 where they are not, or with the error set. (histogram.c) */
int ow_add_to_bins(const ow_tensor *values, const ow_tensor *weights, const ow_tensor *edges, ow_bin_rule rule,
                   ow_tensor *sums);

/* The places of the elements that are not zero: a matrix with a row for each, stored by columns. (nonzero.c) */
ow_tensor *ow_nonzero(ow_tensor *t);

/* The mover by which a reduction's kernels combine elements of a dtype with what is there already; NULL: the reduction
 * has none for it. (index_write.c) */
ow_mover ow_mover_combine(const ow_op *reduction, int dtype);

#endif

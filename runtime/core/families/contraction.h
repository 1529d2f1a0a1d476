/* Expressions over indices that are computed as products of matrices. */
#ifndef OPWEAVE_CONTRACTION_H
#define OPWEAVE_CONTRACTION_H

#include "kernel/compute.h"
#include "tensor/tensor.h"

/* 1 if the product is the quicker way to a result of a dtype, whose last dimension has the size `line`. */
int ow_contraction_suits(const ow_contraction *k, const ow_contraction_sizes *s, int dtype, int64_t line);

/* Writes the results of a call, whose inputs have `positions` of the dimensions in front; `lines` of all but the last variable
 * of the result belong to each position. All indices lie inside. `readable` elements of each tensor are in memory from its
 * first position on. Both are bfloat16 that became float32 if `is_half`. */
void ow_contraction_run(const ow_contraction *k, const ow_contraction_sizes *s, const ow_compute_context *c, int dtype,
                        int is_half, int64_t positions, int64_t lines, const int64_t *readable);

#endif

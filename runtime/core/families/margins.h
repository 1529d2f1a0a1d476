/* Copies of tensors with margins, and whether zeros in these add nothing. */
#ifndef OPWEAVE_MARGINS_H
#define OPWEAVE_MARGINS_H

#include "kernel/compute.h"
#include "tensor/tensor.h"

/* 1 if no element of a contiguous tensor is infinite or undefined. */
int ow_is_finite(const ow_tensor *x);
/* A copy of a contiguous tensor, which has elements, with so many more before and behind each of its last `n` dimensions; NULL
 * with the error set. */
ow_tensor *ow_with_margins(const ow_tensor *x, int n, const int64_t (*margins)[2], ow_margin rule);

#endif

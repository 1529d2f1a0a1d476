/* Copies of tensors with margins. */
#ifndef OPWEAVE_MARGINS_H
#define OPWEAVE_MARGINS_H

#include "kernel/compute.h"
#include "tensor/tensor.h"

/* A copy of a contiguous tensor, which has elements, with so many more before and behind each of its last `n` dimensions; NULL
 * with the error set. */
ow_tensor *ow_with_margins(const ow_tensor *x, int n, const int64_t (*margins)[2], ow_margin rule);

#endif

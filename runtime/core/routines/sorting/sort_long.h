/* Sorts one long line by several threads. */
#ifndef OPWEAVE_ORDER_LONG_H
#define OPWEAVE_ORDER_LONG_H

#include "tensor/tensor.h"

enum { OW_LONG_LINE = 16384 };

/* Writes the values of the line along `dim` of x, its only one, in order, and (unless `indices` is NULL) where they were.
 * 0, with nothing written, where too many keys differ only in bits for which a record has no room beside the position; or
 * with the error set. */
int ow_order_long(const ow_tensor *x, int dim, int descending, const ow_tensor *values, const ow_tensor *indices);

#endif

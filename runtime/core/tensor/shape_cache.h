/* A table of the shapes in use, so that Python builds the tuple of a shape once. */
#ifndef OPWEAVE_SHAPES_H
#define OPWEAVE_SHAPES_H

#include <stdint.h>

#define OW_SHAPES 4096 /* places in the table */

/* Index of the shape, counted from 0 in the order of first use and valid for ever; -1 when the table is full or the
 * shape has more than OW_INLINE_DIMS dimensions. The caller holds the interpreter's lock. */
int32_t ow_shape_id(int ndim, const int64_t *sizes);

#endif

/* How routines end whose results are copies. */
#ifndef OPWEAVE_COPYING_H
#define OPWEAVE_COPYING_H

#include "families/core_call.h"

/* The only result, or the tensor that is written, is computed by a copy between tensors whose shapes fit, which may be other
 * views of the same memory. from NULL: there is nothing to copy. 1, or 0 with the error set. */
int ow_execute_copy(ow_call *call, ow_tensor *to, ow_tensor *from);

#endif

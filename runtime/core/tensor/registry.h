/* The table of operators: those compiled in, then those of the libraries loaded since. */
#ifndef OPWEAVE_REGISTRY_H
#define OPWEAVE_REGISTRY_H

#include "tensor.h"

extern const ow_op *const ow_builtin_ops[]; /* generated */
extern const int32_t ow_builtin_count;

int32_t ow_op_count(void);
/* Where an operator that is compiled in stands in the table. */
int32_t ow_op_number(const ow_op *op);
/* Loads a woven library. Index of its first operator, the same one when it is loaded again; -1 with the error set.
 * Changes the table, so the caller holds the interpreter's lock. */
int32_t ow_op_load(const char *path);

#endif

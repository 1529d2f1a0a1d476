/* The table of operators: those compiled in, then those of the libraries loaded since. */
#ifndef OPWEAVE_REGISTRY_H
#define OPWEAVE_REGISTRY_H

#include "tensor.h"

struct ow_vector_function; /* libmvec.h */

extern const ow_op *const ow_builtin_ops[]; /* generated */
extern const int32_t ow_builtin_count;
/* Generated as well. Writes the addresses of a library's vector functions to where it keeps them; 0 if one is not known. */
int ow_find_vector_functions(const struct ow_vector_function *wanted);

int32_t ow_op_count(void);
/* Where an operator that is compiled in stands in the table. */
int32_t ow_op_number(const ow_op *op);
/* Loads a woven library. Index of its first operator, the same one when it is loaded again; -1 with the error set.
 * Changes the table, so the caller holds the interpreter's lock. */
int32_t ow_op_load(const char *path);

#endif

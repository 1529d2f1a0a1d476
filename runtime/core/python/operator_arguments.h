/* Arguments in schema order on their way to the core: what kind each value is, and what it is in an ow_call. */
#ifndef OPWEAVE_OPERATOR_ARGUMENTS_H
#define OPWEAVE_OPERATOR_ARGUMENTS_H

#include "operator_function.h"
#include "python_numbers.h"

/* What is read so far of the arguments of a call, and the memory of its numbers. */
typedef struct {
    ow_call call;
    int inputs, params, ints, lists, reals;
    int any; /* are tensors of subclasses, and with dispatch keys, taken as well? */
    ow_number numbers[OW_MAX_INPUTS + OW_MAX_PARAMS];
    int nnumbers;
} ow_reader;

/* The kind of a value, one of OW_IS_...; of a list that is empty, both kinds of lists. */
uint32_t ow_kind_of(PyObject *value);

/* Reads all arguments of a call. 0 where they are not for the core as they are, or with the core's error set. */
int ow_read_call(ow_reader *r, const ow_function *f, PyObject *const *values, PyObject *out, ow_mode mode);

/* The same of one argument. */
int ow_read_list(ow_reader *r, PyObject *value);
int ow_read_dtype(ow_reader *r, PyObject *value);
ow_tensor *ow_number_in(ow_reader *r, PyObject *value);
/* The dtype of a factory that is asked for none, by its `count` numbers. */
void ow_infer_dtype(ow_call *call, int count);

int ow_is_dtype(PyObject *value);
/* The classes dtype and Generator. Returns None, or NULL with Python's error set. */
PyObject *ow_set_argument_types(PyObject *dtype, PyObject *generator);

#endif

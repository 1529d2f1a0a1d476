/* Arguments in schema order on their way to the core: what kind each value is, and what it is in an ow_call. */
#ifndef OPWEAVE_OPERATOR_ARGUMENTS_H
#define OPWEAVE_OPERATOR_ARGUMENTS_H

#include "operator_function.h"
#include "python_numbers.h"

enum { OW_FEW_TENSORS = 16 };

/* A call of plain tensors; of any; of any, whose results are only made where these are, or only described. */
enum { OW_QUICK, OW_ANYWHERE, OW_MADE, OW_DESCRIBED };

/* What is read so far of the arguments of a call, and the memory of its numbers. */
typedef struct {
    ow_call call;
    int inputs, params, ints, lists, reals;
    int any; /* unless it is OW_QUICK, tensors of subclasses, and with dispatch keys, are taken as well */
    ow_number numbers[OW_MAX_INPUTS + OW_MAX_PARAMS];
    int nnumbers;
    /* The tensors of a list and their objects, which are kept: another thread may take one out of the list while this one has
     * dropped the interpreter's lock. */
    PyObject **items;
    int nitems;
    int64_t nbytes; /* of memory for more of them than there is room for here */
    PyObject *few_items[OW_FEW_TENSORS];
    ow_tensor *few_tensors[OW_FEW_TENSORS];
} ow_reader;

/* The kind of a value, one of OW_IS_...; of a list that is empty, both kinds of lists. */
uint32_t ow_kind_of(PyObject *value);

/* Reads all arguments of a call. 0 where they are not for the core as they are, or with the core's error set. Whatever it
 * says, the reader has to be ended once the call is over. */
int ow_read_call(ow_reader *r, const ow_function *f, PyObject *const *values, PyObject *out, ow_mode mode);

void ow_read_end(ow_reader *r);

/* The same of one argument. */
int ow_read_list(ow_reader *r, PyObject *value);
int ow_read_dtype(ow_reader *r, PyObject *value);
ow_tensor *ow_number_in(ow_reader *r, PyObject *value);
/* The dtype of a factory that is asked for none, by its `count` numbers. */
void ow_infer_dtype(ow_call *call, int count);

/* A memory format as ow_order; that of None keeps the order of the input. */
int ow_read_order(PyObject *value, int64_t *order);
int ow_is_dtype(PyObject *value);
/* The classes dtype, Generator and memory_format. Returns None, or NULL with Python's error set. */
PyObject *ow_set_argument_types(PyObject *const *classes);

#endif

/* Numbers of Python as operands: tensors of one element without memory of their own. */
#ifndef OPWEAVE_PYTHON_NUMBERS_H
#define OPWEAVE_PYTHON_NUMBERS_H

#include "python_types.h"
#include "tensor/tensor.h"

/* Stays where it is while the tensor is used, which points to the value. */
typedef struct {
    ow_tensor tensor;
    union {
        double d;
        int64_t i;
    } value;
} ow_number;

static inline ow_tensor *ow_number_tensor(ow_number *number, int dtype) {
    number->tensor = (ow_tensor){.dtype = (uint8_t)dtype, .flags = OW_NUMBER | OW_CONTIGUOUS | OW_DENSE, .numel = 1,
                                 .data = (char *)&number->value};
    return &number->tensor;
}

/* An int of 64 bits or a float; NULL for anything else. */
static inline ow_tensor *ow_read_number(PyObject *object, ow_number *number) {
    if (ow_read_int(object, &number->value.i)) return ow_number_tensor(number, OW_INT64);
    if (!PyFloat_CheckExact(object)) return NULL;
    number->value.d = PyFloat_AsDouble(object);
    return ow_number_tensor(number, OW_FLOAT64);
}

#endif

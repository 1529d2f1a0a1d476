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
        uint64_t u;
        uint8_t b;
        double z[2];
    } value;
} ow_number;

static inline ow_tensor *ow_number_tensor(ow_number *number, int dtype) {
    number->tensor = (ow_tensor){.dtype = (uint8_t)dtype, .flags = OW_NUMBER | OW_CONTIGUOUS | OW_DENSE, .numel = 1,
                                 .data = (char *)&number->value};
    return &number->tensor;
}

/* Of an int beyond int64: uint64 holds it, or nothing does. */
static inline ow_tensor *ow_read_unsigned(PyObject *object, ow_number *number) {
    number->value.u = PyLong_AsUnsignedLongLong(object);
    if (!PyErr_Occurred()) return ow_number_tensor(number, OW_UINT64);
    PyErr_Clear();
    return NULL;
}

/* A number of Python itself, an int of at most 64 bits; NULL for anything else. */
static inline ow_tensor *ow_read_number(PyObject *object, ow_number *number) {
    if (ow_read_int(object, &number->value.i)) return ow_number_tensor(number, OW_INT64);
    if (PyFloat_CheckExact(object)) {
        number->value.d = PyFloat_AsDouble(object);
        return ow_number_tensor(number, OW_FLOAT64);
    }
    if (PyBool_Check(object)) {
        number->value.b = object == Py_True;
        return ow_number_tensor(number, OW_BOOL);
    }
    if (PyComplex_CheckExact(object)) {
        number->value.z[0] = PyComplex_RealAsDouble(object);
        number->value.z[1] = PyComplex_ImagAsDouble(object);
        return ow_number_tensor(number, OW_COMPLEX128);
    }
    return PyLong_CheckExact(object) ? ow_read_unsigned(object, number) : NULL;
}

#endif

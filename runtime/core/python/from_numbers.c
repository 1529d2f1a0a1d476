/* Tensors of Python's own numbers in nested lists and tuples: one walk that looks at kinds and lengths, one that writes. No
 * code of users runs in between, so nothing changes meanwhile. Whatever is unusual is for construct.py, which knows all
 * rules and has all errors. */
#include "python_types.h"
#include "families/driver.h"

#define LARGEST ((int64_t)1 << 31) /* elements: lists may contain one another many times */

enum { BOOLS = 1, INTS = 2, FLOATS = 4, COMPLEX = 8 };

static int64_t length_of(PyObject *object) {
    if (PyList_CheckExact(object)) return PyList_Size(object);
    return PyTuple_CheckExact(object) ? PyTuple_Size(object) : -1;
}

static PyObject *item_of(PyObject *sequence, int64_t k) {
    return PyList_CheckExact(sequence) ? PyList_GetItem(sequence, k) : PyTuple_GetItem(sequence, k);
}

/* 0 for anything but one of Python's own numbers. */
static int kind_of(PyObject *object) {
    if (PyFloat_CheckExact(object)) return FLOATS;
    if (PyLong_CheckExact(object)) return INTS;
    if (PyBool_Check(object)) return BOOLS;
    return PyComplex_CheckExact(object) ? COMPLEX : 0;
}

/* The lengths of the first sequence, of its first item, and so on. Returns how many, -1 for too many or too much. */
static int shape_of(PyObject *data, int64_t *sizes) {
    int64_t numel = 1, length;
    int ndim = 0;
    for (; (length = length_of(data)) >= 0; data = item_of(data, 0)) {
        if (ndim == OW_MAX_DIMS || (length && numel > LARGEST / length)) return -1;
        numel *= length;
        sizes[ndim++] = length;
        if (!length) break;
    }
    return ndim;
}

/* The kinds of all numbers; -1 where something is none, or a length differs. */
static int kinds_in(PyObject *data, const int64_t *sizes, int ndim) {
    if (!ndim) {
        const int kind = kind_of(data);
        return kind ? kind : -1;
    }
    if (length_of(data) != *sizes) return -1;
    int kinds = 0;
    for (int64_t k = 0; k < *sizes && kinds >= 0; k++) {
        const int found = kinds_in(item_of(data, k), sizes + 1, ndim - 1);
        kinds = found < 0 ? -1 : kinds | found;
    }
    return kinds;
}

static int inferred_dtype(int kinds) {
    if (kinds & COMPLEX) return ow_complex_dtype[ow_default_dtype];
    if (!kinds || kinds & FLOATS) return ow_default_dtype;
    return kinds & INTS ? OW_INT64 : OW_BOOL;
}

/* The kinds of numbers that a dtype takes as they are, but for ints out of its range. */
static int kinds_of(int dtype) {
    switch (dtype) {
    case OW_BOOL: return BOOLS;
    case OW_UINT8: case OW_INT8: case OW_INT16: case OW_INT32: case OW_INT64: return BOOLS | INTS;
    case OW_FLOAT16: case OW_BFLOAT16: case OW_FLOAT32: case OW_FLOAT64: return BOOLS | INTS | FLOATS;
    case OW_COMPLEX64: case OW_COMPLEX128: return BOOLS | INTS | FLOATS | COMPLEX;
    default: return 0;
    }
}

typedef union {
    int64_t i;
    double d;
    double z[2];
} value;

/* The dtype in which numbers are read before they are converted. */
static int wide_dtype(int dtype) {
    if (ow_dtype_kinds[dtype] == OW_KIND_COMPLEX) return OW_COMPLEX128;
    return ow_dtype_kinds[dtype] == OW_KIND_FLOATING ? OW_FLOAT64 : OW_INT64;
}

static int in_range(int64_t number, int dtype) {
    switch (dtype) {
    case OW_UINT8: return number >= 0 && number <= UINT8_MAX;
    case OW_INT8: return number >= INT8_MIN && number <= INT8_MAX;
    case OW_INT16: return number >= INT16_MIN && number <= INT16_MAX;
    case OW_INT32: return number >= INT32_MIN && number <= INT32_MAX;
    default: return 1;
    }
}

typedef struct {
    value buffer[OW_BLOCK];
    int n, dtype, wide;
    char *to;
} writer;

static void flush(writer *w) {
    const int64_t itemsize = ow_itemsize(w->dtype);
    ow_cast_loop(w->dtype, w->wide)(w->to, itemsize, (const char *)w->buffer, sizeof *w->buffer, w->n);
    w->to += itemsize * w->n;
    w->n = 0;
}

/* 0 for a number out of range. */
static int read_value(PyObject *object, const writer *w, value *v) {
    if (w->wide == OW_INT64) {
        if (PyBool_Check(object)) v->i = object == Py_True;
        else if (!ow_read_int(object, &v->i)) return 0;
        return in_range(v->i, w->dtype);
    }
    const int is_complex = PyComplex_CheckExact(object);
    v->z[0] = is_complex ? PyComplex_RealAsDouble(object) : PyFloat_AsDouble(object);
    v->z[1] = is_complex ? PyComplex_ImagAsDouble(object) : 0;
    if (v->z[0] != -1 || !PyErr_Occurred()) return 1;
    PyErr_Clear(); /* an int beyond all floats */
    return 0;
}

static int write_numbers(writer *w, PyObject *data, const int64_t *sizes, int ndim) {
    if (!ndim) {
        if (w->n == OW_BLOCK) flush(w);
        return read_value(data, w, &w->buffer[w->n++]);
    }
    for (int64_t k = 0; k < *sizes; k++)
        if (!write_numbers(w, item_of(data, k), sizes + 1, ndim - 1)) return 0;
    return 1;
}

/* from_numbers(data, dtype): -1 for the dtype that follows from the numbers. None where construct.py has to look. */
PyObject *ow_from_numbers(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    int64_t wanted, sizes[OW_MAX_DIMS];
    (void)module;
    if (n != 2 || !ow_read_int(arguments[1], &wanted) || wanted < -1 || wanted >= OW_NSTORED)
        return PyErr_Format(PyExc_TypeError, "from_numbers() takes numbers and the number of a dtype");
    const int ndim = ow_default_device ? -1 : shape_of(arguments[0], sizes);
    const int kinds = ndim < 0 ? -1 : kinds_in(arguments[0], sizes, ndim);
    if (kinds < 0) Py_RETURN_NONE;
    writer w = {.dtype = wanted < 0 ? inferred_dtype(kinds) : (int)wanted};
    if (kinds & ~kinds_of(w.dtype) || !kinds_of(w.dtype)) Py_RETURN_NONE;
    w.wide = wide_dtype(w.dtype);
    ow_tensor *t = ow_tensor_new(w.dtype, ndim, sizes, NULL);
    if (!t) return ow_declined();
    w.to = t->data;
    if (!write_numbers(&w, arguments[0], sizes, ndim)) {
        ow_tensor_free(t);
        Py_RETURN_NONE;
    }
    flush(&w);
    return ow_new_owner(t);
}

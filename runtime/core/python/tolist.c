/* Elements as nested lists of Python numbers: a row at a time through a buffer of int64, uint64, float64 or complex128. */
#include "python_types.h"
#include "families/driver.h"

typedef union {
    uint8_t b;
    int64_t i;
    uint64_t u;
    double d;
    double z[2];
} value;

/* The dtype in which elements are read. */
static int wide_dtype(int dtype) {
    if (ow_dtype_kinds[dtype] == OW_KIND_COMPLEX) return OW_COMPLEX128;
    if (ow_dtype_kinds[dtype] == OW_KIND_FLOATING) return OW_FLOAT64;
    return dtype == OW_UINT64 || dtype == OW_BOOL ? dtype : OW_INT64;
}

static PyObject *number(int wide, value v) {
    switch (wide) {
    case OW_COMPLEX128: return PyComplex_FromDoubles(v.z[0], v.z[1]);
    case OW_FLOAT64: return PyFloat_FromDouble(v.d);
    case OW_UINT64: return PyLong_FromUnsignedLongLong(v.u);
    case OW_BOOL: return PyBool_FromLong(v.b != 0);
    default: return PyLong_FromLongLong(v.i);
    }
}

/* `n` elements from `data` on. */
static PyObject *row(const ow_tensor *t, const char *data, int64_t n, int64_t stride) {
    int wide = wide_dtype(t->dtype);
    ow_cast cast = ow_cast_loop(wide, t->dtype);
    value buffer[OW_BLOCK];
    PyObject *list = PyList_New(n);
    for (int64_t begin = 0; list && begin < n; begin += OW_BLOCK) {
        int64_t count = n - begin < OW_BLOCK ? n - begin : OW_BLOCK;
        cast((char *)buffer, sizeof *buffer, data + begin * stride, stride, count);
        for (int64_t k = 0; list && k < count; k++) {
            PyObject *object = number(wide, buffer[k]);
            if (!object || PyList_SetItem(list, begin + k, object) < 0) Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *nested(const ow_tensor *t, const char *data, int dim) {
    int64_t stride = t->numel && t->sizes[dim] > 1 ? t->strides[dim] * ow_itemsize(t->dtype) : 0; /* else it is never used */
    if (dim == t->ndim - 1) return row(t, data, t->sizes[dim], stride);
    PyObject *list = PyList_New(t->sizes[dim]);
    for (int64_t k = 0; list && k < t->sizes[dim]; k++) {
        PyObject *inner = nested(t, data + k * stride, dim + 1);
        if (!inner || PyList_SetItem(list, k, inner) < 0) Py_CLEAR(list);
    }
    return list;
}

PyObject *ow_element(const ow_tensor *t) {
    value v;
    int wide = wide_dtype(t->dtype);
    ow_cast_loop(wide, t->dtype)((char *)&v, sizeof v, t->data, 0, 1);
    return number(wide, v);
}

PyObject *ow_tolist(const ow_tensor *t) {
    if (ow_is_meta(t)) return PyErr_Format(PyExc_NotImplementedError, "Cannot copy out of meta tensor; no data!");
    if (!ow_is_readable(t)) return PyErr_Format(PyExc_RuntimeError, "the elements are not in memory of the CPU; use cpu()");
    if (!t->ndim) return ow_element(t);
    /* Making objects can run Python code that gives the tensor other memory: a view keeps what it has now. */
    ow_tensor *view = ow_tensor_alias(t);
    if (!view) return PyErr_NoMemory();
    PyObject *list = nested(view, view->data, 0);
    ow_tensor_free(view);
    return list;
}

/* Shapes and strides as Python sees them. The base of class Size is a tuple whose slices are of its own class; it and the
 * table of shapes are in C because every program that looks at `x.shape[0]` pays for them. */
#include "python_types.h"
#include "tensor/shape_cache.h"
#include "tensor/tensor.h"

/* Functions of tuple itself. */
static binaryfunc tuple_subscript;
static newfunc tuple_new;

/* The class Size, once _base/types.py has made it. */
static PyObject *size_class;

/* A tuple (or any sequence) as an object of a class derived from tuple. */
static PyObject *convert(PyTypeObject *type, PyObject *values) {
    PyObject *arguments = PyTuple_Pack(1, values);
    if (!arguments) return NULL;
    PyObject *size = tuple_new(type, arguments, NULL);
    Py_DECREF(arguments);
    return size;
}

static PyObject *size_subscript(PyObject *self, PyObject *key) {
    PyObject *part = tuple_subscript(self, key);
    if (!part || Py_TYPE(key) != &PySlice_Type) return part;
    PyObject *size = convert(Py_TYPE(self), part);
    Py_DECREF(part);
    return size;
}

static PyType_Slot size_slots[] = {
    {Py_mp_subscript, size_subscript},
    {Py_tp_doc, "A tuple whose slices are of its own class."},
    {0, NULL},
};

static PyType_Spec size_spec = {
    .name = "opweave._handle.SizeBase",
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = size_slots,
};

PyObject *ow_size_base(void) {
    tuple_subscript = (binaryfunc)PyType_GetSlot(&PyTuple_Type, Py_mp_subscript);
    tuple_new = (newfunc)PyType_GetSlot(&PyTuple_Type, Py_tp_new);
    return PyType_FromSpecWithBases(&size_spec, (PyObject *)&PyTuple_Type);
}

PyObject *ow_set_size_class(PyObject *module, PyObject *type) {
    (void)module;
    if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, &PyTuple_Type))
        return PyErr_Format(PyExc_TypeError, "set_size_class() takes a class of tuples");
    Py_XDECREF(size_class);
    size_class = Py_NewRef(type);
    Py_RETURN_NONE;
}

int ow_is_size_class(PyTypeObject *type) { return (PyObject *)type == size_class; }

/* ---- interned ------------------------------------------------------------------------------------------- */

/* By the core's number of an interned list: the Size, and the tuple of strides. */
static PyObject *sizes_by_id[OW_SHAPES], *strides_by_id[OW_SHAPES];

/* The values as a tuple, or as an object of `type`; the same one for every tensor of a common list. */
static PyObject *interned(PyObject **table, int ndim, const int64_t *values, PyObject *type) {
    int32_t id = ow_shape_id(ndim, values);
    if (id >= 0 && table[id]) return Py_NewRef(table[id]);
    int64_t copy[OW_MAX_DIMS]; /* making objects can run Python code that resizes the tensor */
    for (int d = 0; d < ndim; d++) copy[d] = values[d];
    PyObject *result = PyTuple_New(ndim);
    for (int d = 0; result && d < ndim; d++) {
        PyObject *value = PyLong_FromLongLong(copy[d]);
        if (!value || PyTuple_SetItem(result, d, value) < 0) Py_CLEAR(result);
    }
    if (result && type) {
        PyObject *plain = result;
        result = convert((PyTypeObject *)type, plain);
        Py_DECREF(plain);
    }
    if (result && id >= 0 && !table[id]) table[id] = Py_NewRef(result);
    return result;
}

PyObject *ow_shape_of(const ow_tensor *t) { return interned(sizes_by_id, t->ndim, t->sizes, size_class); }

PyObject *ow_strides_of(const ow_tensor *t) { return interned(strides_by_id, t->ndim, t->strides, NULL); }

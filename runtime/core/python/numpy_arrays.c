/* New arrays of NumPy, by the table of functions that it gives to C. Its entries have had their numbers since NumPy 1.7 (they
 * are NumPy's ABI), so neither its headers nor its version are needed when opweave is built. */
#include "python_types.h"

#include "tensor/tensor.h"

enum { ARRAY_TYPE = 2, NEW_FROM_DESCRIPTOR = 94, SET_BASE_OBJECT = 282 };
enum { ALIGNED = 0x100, WRITEABLE = 0x400 };

typedef PyObject *(*new_from_descriptor)(PyObject *class, PyObject *descriptor, int ndim, const Py_ssize_t *sizes,
                                         const Py_ssize_t *strides, void *data, int flags, PyObject *like);
typedef int (*set_base_object)(PyObject *array, PyObject *base);

PyObject *ow_array_class;
static new_from_descriptor new_array;
static set_base_object set_base;
static PyObject *descriptors; /* by the number of the dtype: NumPy's, or None */

/* set_numpy(table, descriptors): NumPy is loaded. */
PyObject *ow_set_numpy(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    if (n != 2 || !PyTuple_Check(arguments[1]) || PyTuple_Size(arguments[1]) != OW_NSTORED)
        return PyErr_Format(PyExc_TypeError, "set_numpy() takes a capsule, and NumPy's dtype or None for each dtype");
    void **table = PyCapsule_GetPointer(arguments[0], NULL);
    if (!table) return NULL;
    Py_XDECREF(descriptors);
    descriptors = Py_NewRef(arguments[1]);
    new_array = (new_from_descriptor)table[NEW_FROM_DESCRIPTOR];
    set_base = (set_base_object)table[SET_BASE_OBJECT];
    ow_array_class = table[ARRAY_TYPE];
    Py_RETURN_NONE;
}

int ow_dtype_of_array(const ow_array *array) {
    for (int dtype = 0; dtype < OW_NSTORED; dtype++)
        if (PyTuple_GetItem(descriptors, dtype) == array->descriptor) return dtype;
    return -1;
}

PyObject *ow_new_array(int dtype, int ndim, const Py_ssize_t *sizes, const Py_ssize_t *strides, void *data, int writeable,
                       PyObject *owner) {
    PyObject *descriptor = Py_NewRef(PyTuple_GetItem(descriptors, dtype)); /* the new array takes it, as it takes the owner */
    PyObject *array =
        new_array(ow_array_class, descriptor, ndim, sizes, strides, data, ALIGNED | (writeable ? WRITEABLE : 0), NULL);
    if (!array) Py_DECREF(owner);
    else if (set_base(array, owner) < 0) Py_CLEAR(array);
    return array;
}

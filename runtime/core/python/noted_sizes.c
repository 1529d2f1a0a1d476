/* What Python reads of sizes, for Python: while a call is recorded, the recorder asks which sizes the function was told. */
#include "tensor/size_reads.h"
#include "tensor_object.h"

static PyObject *shape_reader;

PyObject *ow_set_shape_reader(PyObject *module, PyObject *function) {
    (void)module;
    Py_XDECREF(shape_reader);
    shape_reader = Py_NewRef(function);
    Py_RETURN_NONE;
}

int ow_tell_shape(PyObject *object) {
    if (!ow_noted_sizes || !shape_reader) return 1;
    PyObject *result = PyObject_CallFunctionObjArgs(shape_reader, object, NULL);
    Py_XDECREF(result);
    return result != NULL;
}

static PyObject *list_of(const ow_size_reads *all) {
    PyObject *list = PyList_New(0);
    for (int k = 0; list && all && k < all->count + all->is_full; k++) {
        const int is_known = k < all->count && all->reads[k].tensor;
        const double handle = is_known ? ow_pack((ow_tensor *)all->reads[k].tensor) : 0.0;
        PyObject *pair = Py_BuildValue("di", handle, is_known ? all->reads[k].dim : OW_LAYOUT);
        if (!pair || PyList_Append(list, pair) < 0) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

PyObject *ow_size_reads_of(PyObject *module, PyObject *is_on) {
    (void)module;
    ow_size_reads *all = ow_noted_sizes, *next = NULL;
    if (is_on == Py_True && !(next = PyMem_Calloc(1, sizeof *next))) return PyErr_NoMemory();
    ow_noted_sizes = next;
    PyObject *list = list_of(all);
    PyMem_Free(all);
    return list;
}

/* NumPy's arrays seen through `__array_struct__`, the C side of its array interface: a capsule around one struct. It is
 * read and written here because the same facts as Python objects take longer to make than a tensor. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "api.h"
#include "array_struct.h"
#include "tensor.h"

/* PyArrayInterface of NumPy's documentation. */
typedef struct {
    int two; /* a sanity check */
    int nd;
    char typekind;
    int itemsize;
    int flags;
    Py_ssize_t *shape, *strides; /* strides in bytes */
    void *data;
    PyObject *descr;
} array_interface;

enum { C_CONTIGUOUS = 0x1, ALIGNED = 0x100, NOTSWAPPED = 0x200, WRITEABLE = 0x400 };

/* read_array(array, dtype, owner): a handle over the array's memory, or None where anything about it is unusual: then
 * Python finds out what. */
PyObject *ow_read_array(PyObject *module, PyObject *args) {
    PyObject *array;
    int dtype;
    long long owner;
    (void)module;
    if (!PyArg_ParseTuple(args, "OiL", &array, &dtype, &owner)) return NULL;
    PyObject *capsule = PyObject_GetAttrString(array, "__array_struct__");
    if (!capsule) return NULL;
    const array_interface *a = PyCapsule_GetPointer(capsule, NULL);
    int64_t sizes[OW_MAX_DIMS], strides[OW_MAX_DIMS], nbytes = 0, itemsize = ow_itemsize(dtype);
    const int needed = ALIGNED | NOTSWAPPED | WRITEABLE;
    int usual = a && a->two == 2 && a->nd <= OW_MAX_DIMS && a->itemsize == itemsize && (a->flags & needed) == needed;
    if (usual) {
        nbytes = itemsize;
        for (int d = 0; d < a->nd; d++) {
            int64_t stride = a->strides[d];
            sizes[d] = a->shape[d];
            strides[d] = stride / itemsize;
            usual &= stride % itemsize == 0;
            nbytes = sizes[d] && nbytes ? nbytes + (sizes[d] - 1) * (stride < 0 ? -stride : stride) : 0;
        }
    }
    double handle = 0.0;
    if (usual) handle = from_memory((uintptr_t)a->data, nbytes, sizes, strides, a->nd, dtype, owner, 0);
    Py_DECREF(capsule);
    if (PyErr_Occurred()) return NULL;
    if (usual) return PyFloat_FromDouble(handle);
    Py_RETURN_NONE;
}

static void free_interface(PyObject *capsule) { PyMem_Free(PyCapsule_GetPointer(capsule, NULL)); }

/* array_struct(handle, kind, readonly): the capsule that describes a tensor's memory; kind is NumPy's letter. */
PyObject *ow_array_struct(PyObject *module, PyObject *args) {
    double handle;
    const char *kind;
    Py_ssize_t length;
    int readonly;
    (void)module;
    if (!PyArg_ParseTuple(args, "ds#p", &handle, &kind, &length, &readonly)) return NULL;
    const ow_tensor *t = ow_unpack(handle);
    array_interface *a = PyMem_Calloc(1, sizeof *a + 2 * (size_t)t->ndim * sizeof(Py_ssize_t));
    if (!a) return PyErr_NoMemory();
    a->two = 2;
    a->nd = t->ndim;
    a->typekind = *kind;
    a->itemsize = (int)ow_itemsize(t->dtype);
    a->flags = ALIGNED | NOTSWAPPED | (readonly ? 0 : WRITEABLE) | (t->flags & OW_CONTIGUOUS ? C_CONTIGUOUS : 0);
    a->shape = (Py_ssize_t *)(a + 1);
    a->strides = a->shape + t->ndim;
    a->data = t->data;
    for (int d = 0; d < t->ndim; d++) {
        a->shape[d] = t->sizes[d];
        a->strides[d] = t->strides[d] * a->itemsize;
    }
    PyObject *capsule = PyCapsule_New(a, NULL, free_interface);
    if (!capsule) PyMem_Free(a);
    return capsule;
}

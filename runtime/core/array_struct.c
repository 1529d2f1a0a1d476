/* NumPy's arrays seen through `__array_struct__`, the C side of its array interface: a capsule around one struct. It is
 * read and written here because the same facts as Python objects take longer to make than a tensor. */
#include "python_types.h"

#include "api.h"
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

/* ---- owners of memory ----------------------------------------------------------------------------------- */

static void release_object(int64_t owner) { Py_DECREF((PyObject *)(intptr_t)owner); }

/* retain_owner(object): the number by which the core knows the owner of memory; a tensor over that memory releases it. */
PyObject *ow_retain_owner(PyObject *module, PyObject *owner) {
    (void)module;
    return PyLong_FromLongLong((int64_t)(intptr_t)Py_NewRef(owner));
}

/* release_owner(number): for an owner whose memory became no tensor. */
PyObject *ow_release_owner(PyObject *module, PyObject *number) {
    (void)module;
    int64_t owner = PyLong_AsLongLong(number);
    if (owner == -1 && PyErr_Occurred()) return NULL;
    release_object(owner);
    Py_RETURN_NONE;
}

void ow_array_struct_init(void) { set_release_owner((uintptr_t)release_object); }

/* ---- dtypes --------------------------------------------------------------------------------------------- */

/* NumPy's letter for the kind of a dtype; 0 for bfloat16 and complex32, which it does not have. */
static char typekind(int dtype) {
    if (dtype == OW_BFLOAT16 || dtype == OW_COMPLEX32) return 0;
    if (ow_dtype_kinds[dtype] == OW_KIND_COMPLEX) return 'c';
    if (ow_dtype_kinds[dtype] == OW_KIND_FLOATING) return 'f';
    if (ow_dtype_kinds[dtype] == OW_KIND_BOOL) return 'b';
    return ow_dtype_bounds[dtype][0] < 0 ? 'i' : 'u';
}

/* -1: none. */
static int dtype_of(char kind, int itemsize) {
    for (int dtype = 0; dtype < OW_NDTYPES; dtype++)
        if (ow_itemsize(dtype) == itemsize && typekind(dtype) == kind) return dtype;
    return -1;
}

/* ---- from arrays ---------------------------------------------------------------------------------------- */

/* read_array(array): a handle over the array's memory, or None where anything about it is unusual: then Python finds out
 * what. */
PyObject *ow_read_array(PyObject *module, PyObject *array) {
    (void)module;
    PyObject *capsule = PyObject_GetAttrString(array, "__array_struct__");
    if (!capsule) return NULL;
    const array_interface *a = PyCapsule_GetPointer(capsule, NULL);
    int64_t sizes[OW_MAX_DIMS], strides[OW_MAX_DIMS], nbytes = 0;
    const int needed = ALIGNED | NOTSWAPPED | WRITEABLE;
    int dtype = a && a->two == 2 && a->nd <= OW_MAX_DIMS && (a->flags & needed) == needed
                    ? dtype_of(a->typekind, a->itemsize)
                    : -1;
    int usual = dtype >= 0;
    if (usual) {
        nbytes = a->itemsize;
        for (int d = 0; d < a->nd; d++) {
            int64_t stride = a->strides[d];
            sizes[d] = a->shape[d];
            strides[d] = stride / a->itemsize;
            usual &= stride % a->itemsize == 0;
            nbytes = sizes[d] && nbytes ? nbytes + (sizes[d] - 1) * (stride < 0 ? -stride : stride) : 0;
        }
    }
    double handle = 0.0;
    if (usual) {
        int64_t owner = (int64_t)(intptr_t)Py_NewRef(array);
        handle = from_memory((uintptr_t)a->data, nbytes, sizes, strides, a->nd, dtype, owner, 0);
        if (handle == 0.0) release_object(owner);
    }
    Py_DECREF(capsule);
    if (PyErr_Occurred()) return NULL;
    if (usual) return PyFloat_FromDouble(handle);
    Py_RETURN_NONE;
}

/* ---- to arrays ------------------------------------------------------------------------------------------ */

static void free_interface(PyObject *capsule) { PyMem_Free(PyCapsule_GetPointer(capsule, NULL)); }

/* The capsule that describes a tensor's memory. AttributeError, on which NumPy asks for `__array__`, where there is no
 * memory or no such dtype in NumPy. */
PyObject *ow_array_struct(const ow_tensor *t) {
    if (!typekind(t->dtype) || !t->numel) {
        PyErr_SetString(PyExc_AttributeError, "__array_struct__");
        return NULL;
    }
    array_interface *a = PyMem_Calloc(1, sizeof *a + 2 * (size_t)t->ndim * sizeof(Py_ssize_t));
    if (!a) return PyErr_NoMemory();
    int readonly = t->storage->flags & OW_STORAGE_READONLY;
    a->two = 2;
    a->nd = t->ndim;
    a->typekind = typekind(t->dtype);
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

/* The memory of NumPy's arrays as tensors, and that of tensors as arrays: directly where NumPy is loaded (numpy_arrays.c), and
 * by `__array_struct__`, the C side of its array interface, a capsule around one struct. */
#include "abi/api.h"
#include "operator_function.h"
#include "tensor_object.h"

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

double ow_from_owner(PyObject *owner, uintptr_t data, int64_t nbytes, const int64_t *sizes, const int64_t *strides,
                     int32_t ndim, int32_t dtype, int readonly) {
    int64_t number = (int64_t)(intptr_t)Py_NewRef(owner);
    double handle = from_memory(data, nbytes, sizes, strides, ndim, dtype, number, readonly);
    if (handle == 0.0) release_object(number);
    return handle;
}

/* over_memory(owner, address, nbytes, sizes, strides, dtype, readonly): a handle over memory that lives as long as its
 * owner does; 0.0 with the core's error pending. The address is that of the first element, strides count elements. */
PyObject *ow_over_memory(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *owner, *lists[2];
    unsigned long long address;
    long long nbytes;
    int dtype, readonly;
    ow_ints sizes, strides;
    if (!PyArg_ParseTuple(arguments, "OKLOOip", &owner, &address, &nbytes, &lists[0], &lists[1], &dtype, &readonly)) return NULL;
    if (!ow_read_ints(lists[0], &sizes) || !ow_read_ints(lists[1], &strides) || sizes.n != strides.n || dtype < 0 ||
        dtype >= OW_NSTORED)
        return PyErr_Format(PyExc_TypeError, "over_memory() takes sizes, as many strides and the number of a dtype");
    return PyFloat_FromDouble(
        ow_from_owner(owner, (uintptr_t)address, nbytes, sizes.v, strides.v, sizes.n, dtype, readonly));
}

/* ---- dtypes --------------------------------------------------------------------------------------------- */

/* NumPy's letter for the kind of a dtype; 0 for those that it does not have. */
static char typekind(int dtype) {
    if (!ow_dtype_in_numpy[dtype]) return 0;
    if (ow_dtype_kinds[dtype] == OW_KIND_COMPLEX) return 'c';
    if (ow_dtype_kinds[dtype] == OW_KIND_FLOATING) return 'f';
    if (ow_dtype_kinds[dtype] == OW_KIND_BOOL) return 'b';
    return ow_dtype_bounds[dtype][0] < 0 ? 'i' : 'u';
}

/* ---- from arrays ---------------------------------------------------------------------------------------- */

/* read_array(array): a tensor over the array's memory, or None where it is no array of the class itself, or anything about
 * it is unusual: then Python finds out what. */
PyObject *ow_read_array(PyObject *module, PyObject *array) {
    (void)module;
    if ((PyObject *)Py_TYPE(array) != ow_array_class) Py_RETURN_NONE;
    const ow_array *a = (const ow_array *)array;
    int64_t strides[OW_MAX_DIMS], nbytes, itemsize;
    const int needed = ALIGNED | WRITEABLE; /* and the dtype is one in native byte order */
    int dtype = a->ndim <= OW_MAX_DIMS && (a->flags & needed) == needed ? ow_dtype_of_array(a) : -1;
    if (dtype < 0) Py_RETURN_NONE;
    nbytes = itemsize = ow_itemsize(dtype);
    for (int d = 0; d < a->ndim; d++) {
        int64_t size = a->sizes[d], stride = a->strides[d], span;
        if (stride % itemsize || stride == INT64_MIN ||
            __builtin_mul_overflow(size - 1, stride < 0 ? -stride : stride, &span) || __builtin_add_overflow(nbytes, span, &span))
            Py_RETURN_NONE;
        strides[d] = stride / itemsize;
        nbytes = size && nbytes ? span : 0;
    }
    double handle = ow_from_owner(array, (uintptr_t)a->data, nbytes, a->sizes, strides, a->ndim, dtype, 0);
    if (PyErr_Occurred()) return NULL;
    return handle == 0.0 ? ow_raise_pending() : ow_new_owner(ow_unpack(handle));
}

/* ---- to arrays ------------------------------------------------------------------------------------------ */

/* What an array over the memory of a tensor refers to: a handle of its own, which keeps the storage. The tensor may be
 * given another one meanwhile (`data`, `set_`, `resize_`), and may be gone before the array is. */
typedef struct {
    PyObject_HEAD
    ow_tensor *tensor;
    Py_ssize_t *geometry; /* what a buffer refers to besides, or NULL */
} exported;

static PyTypeObject *exported_type;

static void exported_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    if (((exported *)self)->tensor) ow_tensor_free(((exported *)self)->tensor);
    PyMem_Free(((exported *)self)->geometry);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static void free_interface(PyObject *capsule) { PyMem_Free(PyCapsule_GetPointer(capsule, NULL)); }

/* The capsule that describes the memory. */
static PyObject *exported_array_struct(PyObject *self, void *closure) {
    (void)closure;
    const ow_tensor *t = ((exported *)self)->tensor;
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

static PyGetSetDef exported_properties[] = {
    {"__array_struct__", exported_array_struct, NULL, "The memory as NumPy's array interface describes it.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot exported_slots[] = {
    {Py_tp_dealloc, exported_dealloc},
    {Py_tp_getset, exported_properties},
    {Py_tp_doc, "Owner of a tensor's memory for an array."},
    {0, NULL},
};

static PyType_Spec exported_spec = {
    .name = "opweave._handle.Exported",
    .basicsize = sizeof(exported),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = exported_slots,
};

int ow_export_init(void) {
    set_release_owner((uintptr_t)release_object);
    return (exported_type = (PyTypeObject *)PyType_FromSpec(&exported_spec)) != NULL;
}

static PyObject *new_exported(const ow_tensor *t, int lasting, Py_ssize_t *geometry) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(exported_type, Py_tp_alloc);
    exported *result = (exported *)allocate(exported_type, 0);
    if (!result) return PyMem_Free(geometry), NULL;
    result->geometry = geometry;
    if (!(result->tensor = ow_tensor_alias(t))) {
        Py_DECREF(result);
        return PyErr_NoMemory();
    }
    if (lasting) ow_storage_memory(t->storage)->flags |= OW_STORAGE_EXPORTED;
    return (PyObject *)result;
}

PyObject *ow_new_exported(const ow_tensor *t, Py_ssize_t *geometry) { return new_exported(t, 1, geometry); }

/* exported(tensor, lasting): an object with `__array_struct__` that keeps the memory; None where there is no memory, or no
 * such dtype in NumPy. What is lasting may be known to somebody for ever, so that the memory stays where it is; else the
 * caller is done with it before it returns. */
PyObject *ow_exported(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    const ow_tensor *t = n == 2 && PyBool_Check(arguments[1]) ? ow_any_tensor(arguments[0]) : NULL;
    if (!t) return PyErr_Format(PyExc_TypeError, "exported() takes a tensor and a bool");
    char device[48];
    if (!ow_is_readable(t))
        return PyErr_Format(PyExc_TypeError, "can't convert %s device type tensor to numpy. Use Tensor.cpu() to copy the "
                                             "tensor to host memory first.",
                            ow_device_text(device, sizeof device, ow_place_of(t)));
    if (!typekind(t->dtype) || !t->numel) Py_RETURN_NONE;
    return new_exported(t, arguments[1] == Py_True, NULL);
}

/* array_of(tensor): a lasting array over the memory of a tensor that is as most are; None of any other, and as long as NumPy
 * is not loaded. */
PyObject *ow_array_of(PyObject *module, PyObject *tensor) {
    (void)module;
    const ow_tensor *t = ow_array_class ? ow_plain_tensor(tensor) : NULL;
    if (!t || !typekind(t->dtype) || !t->numel) Py_RETURN_NONE;
    Py_ssize_t sizes[OW_MAX_DIMS], strides[OW_MAX_DIMS];
    for (int d = 0; d < t->ndim; d++) {
        sizes[d] = t->sizes[d];
        strides[d] = t->strides[d] * ow_itemsize(t->dtype);
    }
    PyObject *owner = new_exported(t, 1, NULL);
    if (!owner) return NULL;
    t = ((exported *)owner)->tensor;
    return ow_new_array(t->dtype, t->ndim, sizes, strides, t->data, !(t->storage->flags & OW_STORAGE_READONLY), owner);
}


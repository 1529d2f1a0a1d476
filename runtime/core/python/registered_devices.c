/* Devices whose memory functions of Python manage (_base/devices.py). */
#include <string.h>

#include "operator_function.h"
#include "families/plan.h"
#include "tensor/storage.h"
#include "tensor_object.h"

/* What a kind of device is registered with; borrowed by the table for as long as the process runs. */
typedef struct {
    PyObject *allocate, *release, *copy, *allocate_pinned, *release_pinned;
} functions;

/* The calling thread may be one of the pool's, or free a tensor while an exception is raised. */
typedef struct {
    PyGILState_STATE lock;
    PyObject *type, *value, *traceback;
} python_state;

static python_state enter(void) {
    python_state s = {.lock = PyGILState_Ensure()};
    PyErr_Fetch(&s.type, &s.value, &s.traceback);
    return s;
}

static void leave(python_state s) {
    PyErr_Restore(s.type, s.value, s.traceback);
    PyGILState_Release(s.lock);
}

static int index_of(ow_device device) { return (int)(device >> OW_DEVICE_INDEX); }

/* Where the device has no more memory, it gets back what no tensor uses, and is asked once more. */
static PyObject *new_address(const functions *f, ow_device device, int64_t nbytes) {
    PyObject *result = PyObject_CallFunction(f->allocate, "iL", index_of(device), (long long)nbytes);
    if (result || !PyErr_ExceptionMatches(PyExc_Exception)) return result;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (!ow_device_empty_cache(device)) {
        PyErr_Restore(type, value, traceback);
        return NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return PyObject_CallFunction(f->allocate, "iL", index_of(device), (long long)nbytes);
}

/* The address that a function has returned; NULL with the error set, as where it has raised. Takes the result. */
static void *address_in(PyObject *result, const ow_device_kind *kind, const char *function) {
    void *address = result ? PyLong_AsVoidPtr(result) : NULL;
    if (!address && !PyErr_Occurred())
        PyErr_Format(PyExc_RuntimeError, "%s() of the device %s gave no address, but %R", function, kind->name, result);
    if (!address) ow_keep_exception();
    Py_XDECREF(result);
    return address;
}

static void *allocate(const ow_device_kind *kind, ow_device device, int64_t nbytes) {
    python_state state = enter();
    void *address = address_in(new_address(kind->context, device, nbytes), kind, "allocate");
    leave(state);
    return address;
}

static void call_release_pinned(const ow_device_kind *kind, void *data, int64_t nbytes) {
    const functions *f = kind->context;
    PyObject *result = PyObject_CallFunction(f->release_pinned, "KL", (unsigned long long)(uintptr_t)data, (long long)nbytes);
    if (!result) PyErr_WriteUnraisable(f->release_pinned);
    Py_XDECREF(result);
}

/* Kernels read numbers of 16 bytes where their size says, and no closer. */
static void *allocate_pinned(const ow_device_kind *kind, int64_t nbytes) {
    const functions *f = kind->context;
    python_state state = enter();
    void *address = address_in(PyObject_CallFunction(f->allocate_pinned, "L", (long long)nbytes), kind, "allocate_pinned");
    if ((uintptr_t)address % _Alignof(max_align_t)) {
        call_release_pinned(kind, address, nbytes);
        address = ow_fail(OW_RUNTIME_ERROR, "allocate_pinned() of the device %s gave %p, which is no multiple of %d",
                          kind->name, address, (int)_Alignof(max_align_t));
    }
    leave(state);
    return address;
}

static void release_pinned(const ow_device_kind *kind, void *data, int64_t nbytes) {
    if (!Py_IsInitialized()) return;
    python_state state = enter();
    call_release_pinned(kind, data, nbytes);
    leave(state);
}

/* Of a process that ends, the device's memory goes with it. */
static void release(const ow_device_kind *kind, ow_device device, void *data, int64_t nbytes) {
    const functions *f = kind->context;
    if (!Py_IsInitialized()) return;
    python_state state = enter();
    PyObject *result = PyObject_CallFunction(f->release, "iKL", index_of(device), (unsigned long long)(uintptr_t)data, (long long)nbytes);
    if (!result) PyErr_WriteUnraisable(f->release);
    Py_XDECREF(result);
    leave(state);
}

static int copy(const ow_device_kind *kind, ow_device device, void *to, const void *from, int64_t nbytes) {
    const functions *f = kind->context;
    python_state state = enter();
    PyObject *result = PyObject_CallFunction(f->copy, "iKKL", index_of(device), (unsigned long long)(uintptr_t)to,
                                             (unsigned long long)(uintptr_t)from, (long long)nbytes);
    if (!result) ow_keep_exception();
    int done = result != NULL;
    Py_XDECREF(result);
    leave(state);
    return done;
}

/* register_device(name, count, keeps_blocks, allocate, release, copy, allocate_pinned, release_pinned): the number of the new
 * kind. The last two are None where it has no memory of the CPU. */
PyObject *ow_register_device(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *name;
    int count;
    functions given, *kept;
    ow_device_kind kind = {.allocate = allocate, .release = release, .copy = copy};
    if (!PyArg_ParseTuple(arguments, "sipOOOOO", &name, &count, &kind.keeps_blocks, &given.allocate, &given.release, &given.copy,
                          &given.allocate_pinned, &given.release_pinned))
        return NULL;
    if (given.allocate_pinned != Py_None) kind.allocate_pinned = allocate_pinned, kind.release_pinned = release_pinned;
    if (strlen(name) >= sizeof kind.name || count < 1 || count > OW_DEVICES_OF_KIND)
        return PyErr_Format(PyExc_ValueError, "a device has a name of at most %d characters, and there are 1 to %d of a kind",
                            (int)sizeof kind.name - 1, OW_DEVICES_OF_KIND);
    if (!(kept = PyMem_Malloc(sizeof *kept))) return PyErr_NoMemory();
    *kept = given;
    kind.context = kept;
    kind.count = count;
    memcpy(kind.name, name, strlen(name) + 1);
    int number = ow_device_register(&kind);
    if (!number) {
        PyMem_Free(kept);
        return ow_raise_pending();
    }
    PyObject *held[] = {kept->allocate, kept->release, kept->copy, kept->allocate_pinned, kept->release_pinned};
    for (size_t k = 0; k < sizeof held / sizeof *held; k++) Py_INCREF(held[k]);
    return PyLong_FromLong(number);
}

/* pinned_like(tensor, device): a tensor of the same dtype, sizes and strides, whose elements are not set, in memory of the CPU
 * that a kind of device allocates. */
PyObject *ow_pinned_like(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    int64_t device;
    const ow_tensor *like = n == 2 ? ow_any_tensor(arguments[0]) : NULL;
    if (!like || !ow_read_int(arguments[1], &device))
        return PyErr_Format(PyExc_TypeError, "pinned_like() takes a tensor and the number of a device");
    const int64_t nbytes = ow_extent(like->ndim, like->sizes, like->strides, like->numel, ow_itemsize(like->dtype));
    ow_storage *s = nbytes < 0 ? NULL : ow_storage_pinned((ow_device)device, nbytes);
    ow_tensor *t = s ? ow_tensor_view(s, s->data, like->dtype, like->ndim, like->sizes, like->strides) : NULL;
    if (s) ow_storage_release(s);
    return t ? ow_new_owner(t) : ow_raise_pending();
}

/* set_device_run(kind, family, address): has a function of C compute the plans of a family on a kind of device. */
PyObject *ow_set_device_run_python(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *family;
    int kind;
    unsigned long long address;
    if (!PyArg_ParseTuple(arguments, "isK", &kind, &family, &address)) return NULL;
    if (kind < OW_REGISTERED_DEVICES || kind >= OW_DEVICE_KINDS || !ow_set_device_run(kind, family, (ow_device_run *)address))
        return PyErr_Format(PyExc_ValueError, "there is no family %s of operators", family);
    Py_RETURN_NONE;
}

/* device_memory(device, resets_peaks): the bytes that tensors hold, the most they held, those that the device has given, and the
 * most that it gave. */
PyObject *ow_device_memory_python(PyObject *module, PyObject *arguments) {
    (void)module;
    unsigned int device;
    int resets_peaks;
    if (!PyArg_ParseTuple(arguments, "Ip", &device, &resets_peaks)) return NULL;
    if (!ow_device_row(device)) return PyErr_Format(PyExc_ValueError, "the device of number %u is not registered", device);
    const ow_device_memory m = ow_device_memory_of(device, resets_peaks);
    return Py_BuildValue("LLLL", (long long)m.allocated, (long long)m.most_allocated, (long long)m.reserved, (long long)m.most_reserved);
}

/* empty_device_cache(device): how many bytes the device got back. */
PyObject *ow_empty_device_cache(PyObject *module, PyObject *number) {
    (void)module;
    const unsigned long device = PyLong_AsUnsignedLong(number);
    if (PyErr_Occurred()) return NULL;
    if (!ow_device_row((ow_device)device)) return PyErr_Format(PyExc_ValueError, "the device of number %lu is not registered", device);
    return PyLong_FromLongLong(ow_device_empty_cache((ow_device)device));
}

/* with_device(device, function, argument, ...): what the function returns while the device is the default one. */
PyObject *ow_with_device(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    int64_t device;
    if (n < 2 || !ow_read_int(arguments[0], &device) || device < 0 || !ow_device_exists((ow_device)device))
        return PyErr_Format(PyExc_TypeError, "with_device() takes the number of a device, a function and its arguments");
    PyObject *rest = PyTuple_New(n - 2);
    for (Py_ssize_t k = 2; rest && k < n; k++) PyTuple_SetItem(rest, k - 2, Py_NewRef(arguments[k]));
    if (!rest) return NULL;
    const ow_device before = ow_default_device;
    ow_default_device = (ow_device)device;
    PyObject *result = PyObject_Call(arguments[1], rest, NULL);
    ow_default_device = before;
    Py_DECREF(rest);
    return result;
}

PyObject *ow_default_device_number(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    return PyLong_FromUnsignedLong(ow_default_device);
}

/* What compiled calls compare before they run a program: the tensors that they are given, and entries of dictionaries. */
#include "operator_function.h"
#include "tensor_object.h"

/* Of a thread: what its calls depend on besides their tensors. */
typedef struct {
    uint32_t excluded;
    int32_t dtype;
    ow_device device;
    uint32_t count;
} thread_part;

/* Of a tensor, before its sizes and strides. */
typedef struct {
    uintptr_t type;
    int16_t same, shares; /* the first tensor that is this one, and the first one in the same memory */
    uint8_t dtype, ndim, needs_grad, unused;
} tensor_part;
_Static_assert(sizeof(tensor_part) == 16, "the bytes have no gaps");

static int64_t written_size(const ow_tensor *t) {
    return (int64_t)sizeof(tensor_part) + 2 * t->ndim * (int64_t)sizeof(int64_t);
}

/* signature(tensors): bytes that are the same for tensors that no call can tell apart but by their elements, in
 * threads that compute alike. None where one of them is of another class, or has a dispatch key other than that of autograd,
 * or all calls of the thread have such keys. */
PyObject *ow_signature(PyObject *module, PyObject *tensors) {
    (void)module;
    if (!PyTuple_Check(tensors)) return PyErr_Format(PyExc_TypeError, "signature() takes a tuple");
    const Py_ssize_t n = PyTuple_Size(tensors);
    int64_t size = (int64_t)sizeof(thread_part);
    if (ow_included_keys || n > INT16_MAX) Py_RETURN_NONE;
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *object = PyTuple_GetItem(tensors, k);
        const ow_tensor *t = ow_is_tensor_class(Py_TYPE(object)) ? ow_any_tensor(object) : NULL;
        if (!t || t->keys & ~(uint32_t)OW_KEY_AUTOGRAD || t->flags & OW_NUMBER) Py_RETURN_NONE;
        size += written_size(t);
    }
    PyObject *result = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (!result) return NULL;
    char *to = PyBytes_AsString(result);
    const thread_part thread = {ow_excluded_keys, ow_default_dtype, ow_default_device, (uint32_t)n};
    memcpy(to, &thread, sizeof thread);
    to += sizeof thread;
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *object = PyTuple_GetItem(tensors, k);
        const ow_tensor *t = ow_any_tensor(object);
        tensor_part part = {.type = (uintptr_t)Py_TYPE(object), .dtype = t->dtype, .ndim = t->ndim, .same = (int16_t)k, .shares = (int16_t)k};
        part.needs_grad = t->keys & OW_KEY_AUTOGRAD || ow_follows_base((const owner *)object, t);
        for (Py_ssize_t j = k; j--;) {
            PyObject *other = PyTuple_GetItem(tensors, j);
            if (other == object) part.same = (int16_t)j;
            if (ow_any_tensor(other)->storage == t->storage) part.shares = (int16_t)j;
        }
        const size_t dims = (size_t)t->ndim * sizeof(int64_t);
        memcpy(to, &part, sizeof part);
        memcpy(to + sizeof part, t->sizes, dims);
        memcpy(to + sizeof part + dims, t->strides, dims);
        to += written_size(t);
    }
    return result;
}

/* are_unchanged(entries): whether each dictionary still has the very value under a key, or so many keys: a tuple of dictionary,
 * key, value, or of dictionary, the dictionary again, number, and so on. */
PyObject *ow_are_unchanged(PyObject *module, PyObject *entries) {
    (void)module;
    if (!PyTuple_Check(entries) || PyTuple_Size(entries) % 3)
        return PyErr_Format(PyExc_TypeError, "are_unchanged() takes a tuple of dictionaries, keys and values");
    for (Py_ssize_t k = 0; k < PyTuple_Size(entries); k += 3) {
        PyObject *dictionary = PyTuple_GetItem(entries, k), *key = PyTuple_GetItem(entries, k + 1);
        PyObject *value = PyTuple_GetItem(entries, k + 2);
        if (key == dictionary) {
            if (PyDict_Size(dictionary) != PyLong_AsSsize_t(value)) Py_RETURN_FALSE;
            continue;
        }
        PyObject *found = PyDict_GetItemWithError(dictionary, key);
        if (!found && PyErr_Occurred()) return NULL;
        if (found != value) Py_RETURN_FALSE;
    }
    Py_RETURN_TRUE;
}

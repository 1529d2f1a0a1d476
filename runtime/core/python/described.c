/* Tensors that are only described: dtype, shape, strides and device, and an object of whoever computes for them, which all
 * tensors of the storage share. */
#include "operator_function.h"
#include "tensor/storage.h"
#include "tensor_object.h"

static void release_payload(ow_storage *s) {
    if (!s->context || !Py_IsInitialized()) return;
    PyGILState_STATE lock = PyGILState_Ensure();
    Py_DECREF((PyObject *)s->context);
    PyGILState_Release(lock);
}

/* The storage whose payload a tensor has; NULL with TypeError set for what is not described in this way. */
static ow_storage *storage_of(PyObject *object, const char *function) {
    const ow_tensor *t = ow_any_tensor(object);
    ow_storage *s = t ? ow_storage_memory(t->storage) : NULL;
    if (s && s->deleter == release_payload) return s;
    PyErr_Format(PyExc_TypeError, "%s() takes a tensor that describe() has made, but got %s", function,
                 t ? "another one" : "no tensor");
    return NULL;
}

/* describe(dtype, sizes, strides, offset, device, keys, payload): a tensor without memory, which stands for the payload. */
PyObject *ow_describe(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    int64_t dtype, offset, device, keys, numel, contiguous[OW_MAX_DIMS];
    ow_ints sizes, strides;
    int is_strided = n == 7 && arguments[2] != Py_None;
    if (n != 7 || !ow_read_int(arguments[0], &dtype) || !ow_read_ints(arguments[1], &sizes) ||
        (is_strided && !ow_read_ints(arguments[2], &strides)) || !ow_read_int(arguments[3], &offset) ||
        !ow_read_int(arguments[4], &device) || !ow_read_int(arguments[5], &keys))
        return PyErr_Format(PyExc_TypeError, "describe() takes a dtype, sizes, strides, an offset, a device, keys and an object");
    if (is_strided && strides.n != sizes.n)
        return PyErr_Format(PyExc_RuntimeError, "describe(): %d sizes need as many strides, but got %d", sizes.n, strides.n);
    if (!ow_numel(sizes.n, sizes.v, &numel)) return ow_raise_pending();
    if (!is_strided && !ow_contiguous_strides(sizes.n, sizes.v, contiguous)) return ow_raise_pending();
    const int64_t *steps = is_strided ? strides.v : contiguous, itemsize = ow_itemsize((int)dtype);
    int64_t extent = ow_extent(sizes.n, sizes.v, steps, numel, itemsize), begin;
    if (extent < 0) return ow_raise_pending();
    if (offset < 0 || __builtin_mul_overflow(offset, itemsize, &begin) || __builtin_add_overflow(begin, extent, &extent))
        return PyErr_Format(PyExc_RuntimeError, "describe(): the storage offset %lld is negative or too large", (long long)offset);
    uint32_t flags = OW_STORAGE_DESCRIBED | (uint32_t)device << OW_STORAGE_DEVICE;
    flags |= ((uint32_t)keys & OW_KEY_ADDED) >> (OW_KEY_FIRST_ADDED - OW_STORAGE_KEYS);
    ow_storage *s = ow_storage_foreign(OW_NOWHERE, extent, release_payload, NULL, flags);
    ow_tensor *t = s ? ow_tensor_view(s, s->data + begin, (int)dtype, sizes.n, sizes.v, steps) : NULL;
    if (t) s->context = Py_NewRef(arguments[6]);
    if (s) ow_storage_release(s);
    return t ? ow_new_owner(t) : ow_raise_pending();
}

/* payload(tensor): the object that a described tensor stands for. */
PyObject *ow_payload(PyObject *module, PyObject *object) {
    (void)module;
    ow_storage *s = storage_of(object, "payload");
    return s ? Py_NewRef((PyObject *)s->context) : NULL;
}

/* set_payload(tensor, object): what it stands for from now on, as do all tensors that share its storage. */
PyObject *ow_set_payload(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    ow_storage *s = n == 2 ? storage_of(arguments[0], "set_payload") : NULL;
    if (!s) return n == 2 ? NULL : PyErr_Format(PyExc_TypeError, "set_payload() takes a tensor and an object");
    PyObject *before = s->context;
    s->context = Py_NewRef(arguments[1]);
    s->version++;
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

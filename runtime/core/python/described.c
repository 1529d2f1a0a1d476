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
    if (s && s->deleter == release_payload && s->context) return s;
    PyErr_Format(PyExc_TypeError, "%s() takes a tensor that describe() has made, but got %s", function,
                 t ? "another one" : "no tensor");
    return NULL;
}

/* describe(class, dtype, sizes, strides, offset, device, keys, payload): a tensor without memory, which stands for the
 * payload. Without one the class knows by itself what the tensor stands for. */
PyObject *ow_describe(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    int64_t dtype, offset, device, keys, numel, contiguous[OW_MAX_DIMS];
    ow_ints sizes, strides;
    const int fits = n == 7 || n == 8, is_strided = fits && arguments[3] != Py_None;
    if (!fits || !ow_derives_from_tensor(arguments[0]) || !ow_read_int(arguments[1], &dtype) ||
        !ow_read_ints(arguments[2], &sizes) || (is_strided && !ow_read_ints(arguments[3], &strides)) ||
        !ow_read_int(arguments[4], &offset) || !ow_read_int(arguments[5], &device) || !ow_read_int(arguments[6], &keys))
        return PyErr_Format(PyExc_TypeError, "describe() takes a class of tensors, a dtype, sizes, strides, an offset, a "
                                             "device, keys and an object");
    if (is_strided && strides.n != sizes.n)
        return PyErr_Format(PyExc_RuntimeError, "dimensionality of sizes (%d) must match dimensionality of strides (%d)",
                            sizes.n, strides.n);
    if (!ow_numel(sizes.n, sizes.v, &numel)) return ow_raise_pending();
    if (!is_strided && !ow_contiguous_strides(sizes.n, sizes.v, contiguous)) return ow_raise_pending();
    const int64_t *steps = is_strided ? strides.v : contiguous, itemsize = ow_itemsize((int)dtype);
    int64_t extent = ow_extent(sizes.n, sizes.v, steps, numel, itemsize), begin;
    if (extent < 0) return ow_raise_pending();
    if (offset < 0 || __builtin_mul_overflow(offset, itemsize, &begin) || __builtin_add_overflow(begin, extent, &extent))
        return PyErr_Format(PyExc_RuntimeError, "describe(): the storage offset %lld is negative or too large", (long long)offset);
    const uint32_t flags = ow_described_flags((ow_device)device, (uint32_t)keys);
    ow_storage *s = ow_storage_foreign(OW_NOWHERE, extent, n == 8 ? release_payload : NULL, NULL, flags);
    ow_tensor *t = s ? ow_tensor_view(s, s->data + begin, (int)dtype, sizes.n, sizes.v, steps) : NULL;
    if (t && n == 8) s->context = Py_NewRef(arguments[7]);
    if (s) ow_storage_release(s);
    PyObject *result = t ? ow_new_owner_of((PyTypeObject *)arguments[0], t) : ow_raise_pending();
    if (result && n == 8) ow_track(result);
    return result;
}

PyObject **ow_own_payload(const owner *of) {
    const ow_tensor *t = of->handle ? ow_unpack(PyFloat_AsDouble(of->handle)) : NULL;
    ow_storage *s = t ? t->storage : NULL;
    if (!s || s->deleter != release_payload || __atomic_load_n(&s->refs, __ATOMIC_ACQUIRE) != 1) return NULL;
    return (PyObject **)&s->context;
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
    Py_DECREF(before);
    Py_RETURN_NONE;
}

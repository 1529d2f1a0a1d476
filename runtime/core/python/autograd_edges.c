/* Histories: which tensors a gradient is asked for, and what they were computed by. The graph is Python's
 * (autograd/); here is what every recorded call needs of it. */
#include "tensor/size_reads.h"
#include "tensor_object.h"

/* Gives a view whose base was overwritten in between the edge that belongs to it now: refresh(view). */
static PyObject *refresh;

int ow_follows_base(const owner *of, const ow_tensor *t) {
    if (!of->base || ow_dtype_kinds[t->dtype] < OW_KIND_FLOATING || t->storage->flags & OW_STORAGE_INFERENCE) return 0;
    const ow_tensor *base = ow_any_tensor(of->base);
    return base && base->keys & OW_KEY_AUTOGRAD;
}

/* 1 if the object is a tensor whose operations are recorded. */
static int needs_grad(PyObject *object) {
    const ow_tensor *t = ow_any_tensor(object);
    if (!t || ow_excluded_keys & OW_KEY_AUTOGRAD) return 0;
    return t->keys & OW_KEY_AUTOGRAD || ow_follows_base((const owner *)object, t);
}

static int any_needs_grad(PyObject *sequence, int is_tuple) {
    Py_ssize_t n = is_tuple ? PyTuple_Size(sequence) : PyList_Size(sequence);
    for (Py_ssize_t k = 0; k < n; k++)
        if (needs_grad(is_tuple ? PyTuple_GetItem(sequence, k) : PyList_GetItem(sequence, k))) return 1;
    return 0;
}

int ow_any_records(PyObject *const *values, Py_ssize_t n) {
    if (ow_excluded_keys & OW_KEY_AUTOGRAD) return 0;
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *value = values[k];
        if (PyTuple_Check(value)  ? any_needs_grad(value, 1)
            : PyList_Check(value) ? any_needs_grad(value, 0)
                                  : needs_grad(value))
            return 1;
    }
    return 0;
}

/* needs_grad(value, ...) */
PyObject *ow_needs_grad(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    return PyBool_FromLong(ow_any_records(arguments, n));
}

PyObject *ow_edge_of(PyObject *object) {
    if (!needs_grad(object)) Py_RETURN_NONE;
    const owner *of = (const owner *)object;
    if (of->base && of->version != ow_any_tensor(object)->storage->version) {
        PyObject *done = PyObject_CallFunctionObjArgs(refresh, object, NULL);
        if (!done) return NULL;
        Py_DECREF(done);
    }
    return Py_NewRef(of->edge ? of->edge : Py_None);
}

/* edges(value, ...): of tensors whose history is recorded; None in the place of anything else. */
PyObject *ow_edges(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    PyObject *edges = PyTuple_New(n);
    for (Py_ssize_t k = 0; edges && k < n; k++) {
        PyObject *edge = ow_edge_of(arguments[k]);
        if (edge) PyTuple_SetItem(edges, k, edge);
        else Py_CLEAR(edges);
    }
    return edges;
}

/* versions(values): how often the memory of each was written to; 0 of what is no tensor. */
PyObject *ow_versions(PyObject *module, PyObject *values) {
    (void)module;
    Py_ssize_t n = PyTuple_Check(values) ? PyTuple_Size(values) : 0;
    PyObject *versions = PyTuple_New(n);
    for (Py_ssize_t k = 0; versions && k < n; k++) {
        const ow_tensor *t = ow_any_tensor(PyTuple_GetItem(values, k));
        if (t && t->storage && t->storage->flags & OW_STORAGE_INFERENCE) {
            PyErr_SetString(PyExc_RuntimeError, "Inference tensors cannot be saved for backward. To work around you can make "
                                                "a clone to get a normal tensor and use it in autograd.");
            Py_CLEAR(versions);
            break;
        }
        PyObject *version = PyLong_FromUnsignedLong(t && t->storage ? t->storage->version : 0);
        if (version) PyTuple_SetItem(versions, k, version);
        else Py_CLEAR(versions);
    }
    return versions;
}

void ow_give_edge(PyObject *tensor, PyObject *edge) {
    ow_tensor *t = ow_any_tensor(tensor);
    owner *of = (owner *)tensor;
    PyObject *before = of->edge;
    of->edge = edge ? Py_NewRef(edge) : NULL;
    of->version = t->storage->version;
    t->keys = edge ? t->keys | OW_KEY_AUTOGRAD : t->keys & ~(uint32_t)OW_KEY_AUTOGRAD;
    if (edge) ow_track(tensor);
    Py_XDECREF(before);
}

/* set_edge(tensor, edge or None): it is part of the graph from now on, or no longer. */
PyObject *ow_set_edge(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    int is_edge = n == 2 && (arguments[1] == Py_None || (PyTuple_Check(arguments[1]) && PyTuple_Size(arguments[1]) == 2));
    if (!is_edge || !ow_any_tensor(arguments[0]))
        return PyErr_Format(PyExc_TypeError, "set_edge() takes a tensor and an edge");
    ow_give_edge(arguments[0], arguments[1] == Py_None ? NULL : arguments[1]);
    Py_RETURN_NONE;
}

/* alias(tensor): the same elements without any history, and no view of it. */
PyObject *ow_alias(PyObject *module, PyObject *object) {
    (void)module;
    const ow_tensor *t = ow_any_tensor(object);
    if (!t) return PyErr_Format(PyExc_TypeError, "alias() takes a tensor");
    ow_tensor *same = ow_tensor_alias(t);
    return same ? ow_new_owner(same) : PyErr_NoMemory();
}

/* apart(tensor, version): the same without any history, as which writing is counted apart: no graph learns of it. */
PyObject *ow_apart(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    const ow_tensor *t = n == 2 ? ow_any_tensor(arguments[0]) : NULL;
    if (!t) return PyErr_Format(PyExc_TypeError, "apart() takes a tensor and how often it counts as written to");
    unsigned long version = PyLong_AsUnsignedLong(arguments[1]);
    if (PyErr_Occurred()) return NULL;
    ow_storage *apart = ow_storage_apart(t->storage, (uint32_t)version);
    ow_tensor *same = apart ? ow_tensor_view(apart, t->data, t->dtype, t->ndim, t->sizes, t->strides) : NULL;
    if (apart) ow_storage_release(apart);
    if (same) same->keys |= t->keys & OW_OF_ELEMENTS;
    return same ? ow_new_owner(same) : PyErr_NoMemory();
}

PyObject *ow_excluded(PyObject *module, PyObject *nothing) {
    (void)module;
    (void)nothing;
    return PyLong_FromUnsignedLong(ow_excluded_keys);
}

/* kept(tensor): the same elements without a history, and how often they were written to. */
PyObject *ow_kept(PyObject *module, PyObject *object) {
    PyObject *same = ow_alias(module, object);
    return same ? Py_BuildValue("(Nk)", same, (unsigned long)ow_any_tensor(same)->storage->version) : NULL;
}

/* meta(tensor): the shape, the dtype's number, and the device's. */
PyObject *ow_meta(PyObject *module, PyObject *object) {
    (void)module;
    const ow_tensor *t = ow_any_tensor(object);
    if (!t) return PyErr_Format(PyExc_TypeError, "meta() takes a tensor");
    ow_note_size(t, OW_ALL_SIZES);
    PyObject *shape = ow_shape_of(t), *dtype = shape ? PyLong_FromLong(t->dtype) : NULL;
    PyObject *device = dtype ? PyLong_FromUnsignedLong(ow_device_of(t)) : NULL;
    PyObject *meta = device ? PyTuple_Pack(3, shape, dtype, device) : NULL;
    Py_XDECREF(shape);
    Py_XDECREF(dtype);
    Py_XDECREF(device);
    return meta;
}

/* fits(tensor, meta): True if these are the tensor's shape, the number of its dtype, and its device. */
PyObject *ow_fits(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    const ow_tensor *t = n == 2 && PyTuple_Check(arguments[1]) ? ow_any_tensor(arguments[0]) : NULL;
    if (!t) return PyErr_Format(PyExc_TypeError, "fits() takes a tensor and what meta() gives");
    ow_note_size(t, OW_ALL_SIZES);
    PyObject *shape = PyTuple_GetItem(arguments[1], 0), *dtype = PyTuple_GetItem(arguments[1], 1);
    PyObject *device = PyTuple_GetItem(arguments[1], 2);
    int fits = shape && dtype && device && PyLong_AsLong(dtype) == t->dtype && PyLong_AsLong(device) == (long)ow_device_of(t) &&
               PyTuple_Size(shape) == t->ndim;
    for (int k = 0; fits && k < t->ndim; k++) fits = PyLong_AsLongLong(PyTuple_GetItem(shape, k)) == t->sizes[k];
    return PyErr_Occurred() ? NULL : PyBool_FromLong(fits);
}

PyObject *ow_set_refresh(PyObject *module, PyObject *function) {
    (void)module;
    Py_XDECREF(refresh);
    refresh = Py_NewRef(function);
    Py_RETURN_NONE;
}

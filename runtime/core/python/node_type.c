/* The base of class Node. Every recorded call makes a node and every backward pass asks it for what it has kept, so both
 * are here; whatever is not as usual (saved tensors that hooks have packed, or that were overwritten since) is Python's. */
#include "node.h"

#include <structmember.h>

#include "tensor_object.h"

/* Called with each new node while anomalies are looked for. */
static PyObject *watcher;

PyObject *ow_set_watcher(PyObject *module, PyObject *function) {
    (void)module;
    Py_XDECREF(watcher);
    watcher = Py_NewRef(function);
    Py_RETURN_NONE;
}

static int watched(PyObject *self) {
    PyObject *done = watcher && ow_anomaly & OW_ANOMALY ? PyObject_CallFunctionObjArgs(watcher, self, NULL) : Py_NewRef(Py_None);
    Py_XDECREF(done);
    return done != NULL;
}

static PyObject *allocated(PyTypeObject *type) {
    static uint64_t count;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    node *self = (node *)allocate(type, 0);
    if (!self) return NULL;
    self->number = count++;
    self->tensors = PyTuple_New(0);
    return (PyObject *)self;
}

PyObject *ow_new_node(PyTypeObject *type, PyObject *edges) {
    PyObject *self = allocated(type);
    if (!self) {
        Py_DECREF(edges);
        return NULL;
    }
    ((node *)self)->edges = edges;
    if (watched(self)) return self;
    Py_DECREF(self);
    return NULL;
}

static PyObject *node_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    (void)arguments;
    (void)keywords;
    return allocated(type);
}

static int node_init(PyObject *self, PyObject *arguments, PyObject *keywords) {
    PyObject *edges, *before = ((node *)self)->edges;
    if (keywords && PyDict_Size(keywords)) {
        PyErr_SetString(PyExc_TypeError, "a node takes no keyword arguments");
        return -1;
    }
    if (!PyArg_ParseTuple(arguments, "O!", &PyTuple_Type, &edges)) return -1;
    ((node *)self)->edges = Py_NewRef(edges);
    Py_XDECREF(before);
    return watched(self) ? 0 : -1;
}

static int node_traverse(PyObject *self, visitproc visit, void *arg) {
    node *of = (node *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(of->edges);
    Py_VISIT(of->metas);
    Py_VISIT(of->tensors);
    Py_VISIT(of->versions);
    Py_VISIT(of->values);
    Py_VISIT(of->results);
    Py_VISIT(of->hooks);
    return 0;
}

static int node_clear(PyObject *self) {
    node *of = (node *)self;
    Py_CLEAR(of->edges);
    Py_CLEAR(of->metas);
    Py_CLEAR(of->tensors);
    Py_CLEAR(of->versions);
    Py_CLEAR(of->values);
    Py_CLEAR(of->results);
    Py_CLEAR(of->hooks);
    return 0;
}

static void node_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    node_clear(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static void put(PyObject **field, PyObject *value) {
    PyObject *before = *field;
    *field = value;
    Py_XDECREF(before);
}

/* keep(tensor, ...): saves inputs. */
static PyObject *node_keep(PyObject *self, PyObject *const *arguments, Py_ssize_t n) {
    PyObject *tensors = PyTuple_New(n);
    for (Py_ssize_t k = 0; tensors && k < n; k++) PyTuple_SetItem(tensors, k, Py_NewRef(arguments[k]));
    PyObject *versions = tensors ? ow_versions(NULL, tensors) : NULL;
    if (!versions) {
        Py_XDECREF(tensors);
        return NULL;
    }
    put(&((node *)self)->tensors, tensors);
    put(&((node *)self)->versions, versions);
    Py_RETURN_NONE;
}

int ow_keep_result(node *of, PyObject *result) {
    PyObject *pair = ow_kept(NULL, result), *results = pair ? PyTuple_Pack(1, pair) : NULL;
    Py_XDECREF(pair);
    if (results) put(&of->results, results);
    return results != NULL;
}

/* 1 if the tensor's memory still has this version. Not of what is no number, as users may have put into the node. */
static int is_version(const ow_tensor *t, PyObject *version) {
    return PyLong_CheckExact(version) && PyLong_AsUnsignedLongMask(version) == t->storage->version;
}

/* 1 if the memory of any of these tensors was written to since it was saved. */
static int overwritten(PyObject *tensors, PyObject *versions) {
    Py_ssize_t n = PyTuple_Size(tensors);
    if (!versions || !PyTuple_Check(versions) || PyTuple_Size(versions) != n) return 1;
    for (Py_ssize_t k = 0; k < n; k++) {
        const ow_tensor *t = ow_any_tensor(PyTuple_GetItem(tensors, k));
        if (t && t->storage && !is_version(t, PyTuple_GetItem(versions, k))) return 1;
    }
    return 0;
}

/* saved(): the inputs that were kept. */
static PyObject *node_saved(PyObject *self, PyObject *nothing) {
    (void)nothing;
    const node *of = (const node *)self;
    if (of->tensors && PyTuple_CheckExact(of->tensors) && !overwritten(of->tensors, of->versions))
        return Py_NewRef(of->tensors);
    return PyObject_CallMethod(self, "_unpacked", NULL);
}

/* saved_results(): the outputs that were kept; with a history, which is Python's to give, where one is recorded. */
static PyObject *node_saved_results(PyObject *self, PyObject *nothing) {
    (void)nothing;
    PyObject *results = ((node *)self)->results;
    Py_ssize_t n = results && PyTuple_Check(results) && ow_excluded_keys & OW_KEY_AUTOGRAD ? PyTuple_Size(results) : 0;
    PyObject *tensors = n ? PyTuple_New(n) : NULL;
    for (Py_ssize_t k = 0; tensors && k < n; k++) {
        PyObject *pair = PyTuple_GetItem(results, k);
        PyObject *tensor = PyTuple_Check(pair) && PyTuple_Size(pair) == 2 ? PyTuple_GetItem(pair, 0) : NULL;
        const ow_tensor *t = tensor ? ow_any_tensor(tensor) : NULL;
        if (t ? is_version(t, PyTuple_GetItem(pair, 1)) : tensor == Py_None) PyTuple_SetItem(tensors, k, Py_NewRef(tensor));
        else Py_CLEAR(tensors);
    }
    return tensors || PyErr_Occurred() ? tensors : PyObject_CallMethod(self, "_unpacked_results", NULL);
}

/* release(): lets go of what was saved. */
static PyObject *node_release(PyObject *self, PyObject *nothing) {
    (void)nothing;
    node *of = (node *)self;
    int is_empty = of->tensors && PyTuple_Check(of->tensors) && !PyTuple_Size(of->tensors);
    if (of->tensors && of->tensors != Py_None && !is_empty) put(&of->tensors, Py_NewRef(Py_None));
    if (of->results) put(&of->results, Py_NewRef(Py_None));
    Py_RETURN_NONE;
}

static PyObject *node_number(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromUnsignedLongLong(((node *)self)->number);
}

static PyGetSetDef node_properties[] = {
    {"number", node_number, NULL, "Nodes are numbered as they are made.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define FAST(f) ((PyCFunction)(void (*)(void))(f))

static PyMethodDef node_methods[] = {
    {"keep", FAST(node_keep), METH_FASTCALL, "Saves inputs."},
    {"saved", node_saved, METH_NOARGS,
     "The inputs that were kept. Raises RuntimeError when they are released, or were overwritten since."},
    {"saved_results", node_saved_results, METH_NOARGS,
     "The outputs that were kept; with their history where one is recorded, for derivatives of derivatives."},
    {"release", node_release, METH_NOARGS, "Lets go of what was saved."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef node_members[] = {
    {"edges", T_OBJECT, offsetof(node, edges), 0, "where the gradient by each input goes"},
    {"metas", T_OBJECT, offsetof(node, metas), 0, "shape and dtype of each output"},
    {"tensors", T_OBJECT, offsetof(node, tensors), 0, "what is kept of the inputs"},
    {"versions", T_OBJECT, offsetof(node, versions), 0, "how often each of them had been written to"},
    {"values", T_OBJECT, offsetof(node, values), 0, "what is kept that is no tensor"},
    {"results", T_OBJECT, offsetof(node, results), 0, "what is kept of the outputs"},
    {"hooks", T_OBJECT, offsetof(node, hooks), 0, "what users have it do besides"},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot node_slots[] = {
    {Py_tp_new, node_new},
    {Py_tp_init, node_init},
    {Py_tp_dealloc, node_dealloc},
    {Py_tp_traverse, node_traverse},
    {Py_tp_clear, node_clear},
    {Py_tp_getset, node_properties},
    {Py_tp_members, node_members},
    {Py_tp_methods, node_methods},
    {Py_tp_doc, "Base class of all nodes of the graph."},
    {0, NULL},
};

static PyType_Spec node_spec = {
    .name = "opweave._handle.NodeBase",
    .basicsize = sizeof(node),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = node_slots,
};

static PyTypeObject *node_base;

PyObject *ow_node_type(void) {
    node_base = (PyTypeObject *)PyType_FromSpec(&node_spec);
    return Py_XNewRef((PyObject *)node_base);
}

int ow_is_node_class(PyObject *object) {
    return PyType_Check(object) && PyType_IsSubtype((PyTypeObject *)object, node_base);
}

/* The type of the attributes of class Tensor that are operators' functions.
 *
 * Python calls such a method without making a bound one first, which costs as much as the addition of two small tensors. Functions
 * themselves must not promise that: Python would then call `A().act(x)`, of any class with `act = opweave.relu`, with the object
 * in front. The class gives the function itself, so that `Tensor.add is opweave.add`. */
#include "operator_function.h"

#include <structmember.h>

typedef struct ow_method {
    PyObject_HEAD
    ow_vectorcall *vectorcall;
    PyObject *function;
} ow_method;

static PyObject *method_vectorcall(PyObject *self, PyObject *const *arguments, size_t flags, PyObject *names) {
    PyObject *function = ((const ow_method *)self)->function;
    return ((const ow_function *)function)->vectorcall(function, arguments, flags, names);
}

static PyObject *method_call(PyObject *self, PyObject *arguments, PyObject *keywords) {
    return PyObject_Call(((const ow_method *)self)->function, arguments, keywords);
}

static PyObject *method_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    PyObject *function;
    if (!PyArg_ParseTuple(arguments, "O!", (PyTypeObject *)ow_function_type(), &function)) return NULL;
    (void)keywords;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    ow_method *method = (ow_method *)allocate(type, 0);
    if (!method) return NULL;
    method->vectorcall = method_vectorcall;
    method->function = Py_NewRef(function);
    return (PyObject *)method;
}

static int method_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((ow_method *)self)->function);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static void method_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_DECREF(((ow_method *)self)->function);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyObject *method_get(PyObject *self, PyObject *object, PyObject *type) {
    (void)type;
    PyObject *function = ((const ow_method *)self)->function;
    return object ? ow_bound_method(function, object) : Py_NewRef(function);
}

static PyMemberDef method_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ow_method, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot method_slots[] = {
    {Py_tp_new, method_new},          {Py_tp_dealloc, method_dealloc}, {Py_tp_traverse, method_traverse},
    {Py_tp_call, method_call},        {Py_tp_descr_get, method_get},   {Py_tp_members, method_members},
    {0, NULL},
};

static PyType_Spec method_spec = {
    .name = "opweave._handle.Method",
    .basicsize = sizeof(ow_method),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | OW_HAVE_VECTORCALL | OW_METHOD_DESCRIPTOR,
    .slots = method_slots,
};

int ow_add_method(PyObject *module) {
    PyObject *type = PyType_FromSpec(&method_spec);
    int done = type && PyModule_AddObjectRef(module, "Method", type) == 0;
    Py_XDECREF(type);
    return done;
}

/* The base of class Tensor: an object that owns one handle, in the slot `_h`, and frees it when it dies.
 *
 * A Python class with __del__ would do the same, but calling that method takes longer than adding four numbers; and a
 * finalizer can be shown an object that it has finalized before, which a deallocator cannot. Objects refer to nothing
 * but a float, so they need no garbage collector; subclasses that add attributes get it from Python.
 *
 * It is a module of its own within the shared object of `_C`, because cffi's modules cannot hold types.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "array_struct.h"
#include "tensor.h"

typedef struct {
    PyObject_HEAD
    PyObject *handle; /* a float, or NULL before it is set */
    PyObject *weak_references;
} owner;

static void owner_dealloc(PyObject *self) {
    owner *object = (owner *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (object->weak_references) PyObject_ClearWeakRefs(self);
    if (object->handle) {
        if (PyFloat_Check(object->handle)) ow_tensor_free(ow_unpack(PyFloat_AsDouble(object->handle)));
        Py_DECREF(object->handle);
    }
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMemberDef owner_members[] = {
    {"_h", T_OBJECT_EX, offsetof(owner, handle), 0, "the handle of the core, as a float"},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(owner, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot owner_slots[] = {
    {Py_tp_dealloc, owner_dealloc},
    {Py_tp_members, owner_members},
    {Py_tp_doc, "Owns the handle of a tensor."},
    {0, NULL},
};

static PyType_Spec owner_spec = {
    .name = "opweave._handle.Owner",
    .basicsize = sizeof(owner),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = owner_slots,
};

static PyMethodDef functions[] = {
    {"read_array", ow_read_array, METH_VARARGS, "A handle over the memory of a NumPy array."},
    {"array_struct", ow_array_struct, METH_VARARGS, "The memory of a tensor as NumPy's array interface."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "opweave._handle", .m_doc = "The base of class Tensor.", .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__handle(void);
PyMODINIT_FUNC PyInit__handle(void) {
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    PyObject *type = PyType_FromSpec(&owner_spec);
    if (!type || PyModule_AddObject(module, "Owner", type) < 0) {
        Py_XDECREF(type);
        Py_DECREF(module);
        return NULL;
    }
    return module;
}

/* Changes, for a while, of the dispatch keys that a thread does not look at: around a call, and by the context managers of
 * autograd/grad_mode.py.
 *
 * Ctrl-C raises between any two instructions of Python, so a state that Python code changes and is to restore may stay as it
 * is. A function of C is not interrupted: a call restores what was before whatever happens within, and `with` enters and
 * leaves a block by one C function each. */
#include "owner.h"

#include <structmember.h>

/* Of no tensor: the thread is in a backward pass that leads to some inputs alone. Beside the keys of tensor.h. */
enum { CONFINED = 1 << 9 };

/* with_keys(cleared, set, function, argument, ...): what the function returns while these keys are looked at, or not. */
PyObject *ow_with_keys(PyObject *module, PyObject *arguments) {
    (void)module;
    unsigned int cleared, set;
    PyObject *changes = PyTuple_GetSlice(arguments, 0, 2), *rest = PyTuple_GetSlice(arguments, 3, PyTuple_Size(arguments));
    PyObject *result = NULL;
    if (changes && rest && PyTuple_Size(arguments) > 2 && PyArg_ParseTuple(changes, "II", &cleared, &set)) {
        uint32_t before = ow_excluded_keys;
        ow_excluded_keys = (before & ~cleared) | set;
        result = PyObject_Call(PyTuple_GetItem(arguments, 2), rest, NULL);
        ow_excluded_keys = before;
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "with_keys() takes two numbers, a function and its arguments");
    }
    Py_XDECREF(changes);
    Py_XDECREF(rest);
    return result;
}

/* ---- context managers ------------------------------------------------------------------------------------ */

typedef struct {
    PyObject_HEAD
    unsigned int cleared, set; /* the keys that it changes */
    int64_t outer;             /* what was before it was applied without a block; -1: it was not, or its block has come */
    uint32_t *before;          /* of each block that it was entered for, which may be nested */
    int depth, room;
} mode;

static PyObject *mode_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    (void)arguments, (void)keywords;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    mode *made = (mode *)allocate(type, 0);
    if (made) made->outer = -1;
    return (PyObject *)made;
}

static void mode_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyMem_Free(((mode *)self)->before);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static void apply(const mode *m) { ow_excluded_keys = (ow_excluded_keys & ~m->cleared) | m->set; }

static PyObject *mode_apply(PyObject *self, PyObject *nothing) {
    (void)nothing;
    ((mode *)self)->outer = ow_excluded_keys;
    apply((mode *)self);
    Py_RETURN_NONE;
}

static PyObject *mode_unapply(PyObject *self, PyObject *nothing) {
    (void)nothing;
    mode *m = (mode *)self;
    if (m->outer >= 0) ow_excluded_keys = (uint32_t)m->outer;
    m->outer = -1;
    Py_RETURN_NONE;
}

static PyObject *mode_enter(PyObject *self, PyObject *nothing) {
    (void)nothing;
    mode *m = (mode *)self;
    if (m->depth == m->room) {
        int room = 2 * m->room + 1;
        uint32_t *larger = PyMem_Realloc(m->before, (size_t)room * sizeof *larger);
        if (!larger) return PyErr_NoMemory();
        m->before = larger;
        m->room = room;
    }
    m->before[m->depth++] = m->outer < 0 ? ow_excluded_keys : (uint32_t)m->outer;
    m->outer = -1;
    apply(m);
    Py_RETURN_NONE;
}

static PyObject *mode_exit(PyObject *self, PyObject *exception) {
    (void)exception;
    mode *m = (mode *)self;
    if (m->depth) ow_excluded_keys = m->before[--m->depth];
    Py_RETURN_NONE;
}

static PyMethodDef mode_methods[] = {
    {"_apply", mode_apply, METH_NOARGS, "Changes the keys at once; the block that may follow ends with those before."},
    {"_unapply", mode_unapply, METH_NOARGS, "Takes that back."},
    {"__enter__", mode_enter, METH_NOARGS, NULL},
    {"__exit__", mode_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef mode_members[] = {
    {"_cleared", T_UINT, offsetof(mode, cleared), 0, "keys that are looked at within"},
    {"_set", T_UINT, offsetof(mode, set), 0, "keys that are not"},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot mode_slots[] = {
    {Py_tp_new, mode_new},
    {Py_tp_dealloc, mode_dealloc},
    {Py_tp_methods, mode_methods},
    {Py_tp_members, mode_members},
    {Py_tp_doc, "A change of the dispatch keys that a thread does not look at, as a context manager."},
    {0, NULL},
};

static PyType_Spec mode_spec = {
    .name = "opweave._handle.ModeBase",
    .basicsize = sizeof(mode),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = mode_slots,
};

PyObject *ow_mode_type(PyObject *module) {
    PyObject *type = PyType_FromSpec(&mode_spec);
    return type && PyModule_AddIntConstant(module, "CONFINED", CONFINED) == 0 ? type : NULL;
}

/* What holds for a while: the dispatch keys that a thread does not look at, around a call and by the context managers of
 * autograd/grad_mode.py; whether anomalies are looked for; the hooks that pack what the graph saves.
 *
 * Ctrl-C raises between any two instructions of Python, so a state that Python code changes and is to restore may stay as it
 * is. A function of C is not interrupted: a call restores what was before whatever happens within, and `with` enters and
 * leaves a block by one C function each. */
#include "tensor_object.h"

#include <structmember.h>

#include "threads/thread.h"

uint32_t ow_anomaly;

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

/* include(keys): the thread's calls have these keys besides those of their tensors. What they had before. */
PyObject *ow_include(PyObject *module, PyObject *keys) {
    (void)module;
    unsigned long bits = PyLong_AsUnsignedLong(keys);
    if (PyErr_Occurred()) return NULL;
    uint32_t before = ow_included_keys;
    ow_included_keys = (uint32_t)bits;
    return PyLong_FromUnsignedLong(before);
}

/* ---- blocks within blocks -------------------------------------------------------------------------------- */

/* The first members of every context manager: what was before each block that it was entered for. */
typedef struct {
    PyObject_HEAD
    uintptr_t *before;
    int depth, room;
} blocks;

/* 1, or 0 with Python's error set. */
static int remember(PyObject *self, uintptr_t before) {
    blocks *b = (blocks *)self;
    if (b->depth == b->room) {
        int room = 2 * b->room + 1;
        uintptr_t *larger = PyMem_Realloc(b->before, (size_t)room * sizeof *larger);
        if (!larger) return PyErr_NoMemory() != NULL;
        b->before = larger;
        b->room = room;
    }
    b->before[b->depth++] = before;
    return 1;
}

static void release(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyMem_Free(((blocks *)self)->before);
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(self);
    Py_DECREF(type);
}

/* ---- bits that a block changes ---------------------------------------------------------------------------- */

/* Of which word they are: the keys that the thread does not look at, ow_anomaly, or the thread's default device. */
enum { OF_KEYS, OF_ANOMALY, OF_DEVICE };

typedef struct {
    blocks blocks;
    unsigned int cleared, set; /* the bits that it changes */
    unsigned char word;        /* whose bits these are */
    int64_t outer;             /* what was before it was applied without a block; -1: it was not, or its block has come */
} mode;

static uint32_t *word_of(const mode *m) {
    return m->word == OF_ANOMALY ? &ow_anomaly : m->word == OF_DEVICE ? &ow_default_device : &ow_excluded_keys;
}

static PyObject *mode_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    (void)arguments, (void)keywords;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    mode *self = (mode *)allocate(type, 0);
    if (self) self->outer = -1;
    return (PyObject *)self;
}

static void apply(const mode *m) { *word_of(m) = (*word_of(m) & ~m->cleared) | m->set; }

static void unapply(mode *m) {
    if (m->outer >= 0) *word_of(m) = (uint32_t)m->outer;
    m->outer = -1;
}

static PyObject *mode_enter(PyObject *self, PyObject *nothing) {
    (void)nothing;
    mode *m = (mode *)self;
    if (!remember(self, m->outer < 0 ? *word_of(m) : (uint32_t)m->outer)) return NULL;
    m->outer = -1;
    apply(m);
    Py_RETURN_NONE;
}

static PyObject *mode_exit(PyObject *self, PyObject *exception) {
    (void)exception;
    mode *m = (mode *)self;
    if (m->blocks.depth) *word_of(m) = (uint32_t)m->blocks.before[--m->blocks.depth];
    Py_RETURN_NONE;
}

static PyMethodDef mode_methods[] = {
    {"__enter__", mode_enter, METH_NOARGS, NULL},
    {"__exit__", mode_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef mode_members[] = {
    {"_cleared", T_UINT, offsetof(mode, cleared), 0, "bits that are zero within"},
    {"_set", T_UINT, offsetof(mode, set), 0, "bits that are one"},
    {"_word", T_UBYTE, offsetof(mode, word), 0, "whose bits these are: 0 of excluded(), 1 of anomaly(), 2 of the default device"},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot mode_slots[] = {
    {Py_tp_new, mode_new},
    {Py_tp_dealloc, release},
    {Py_tp_methods, mode_methods},
    {Py_tp_members, mode_members},
    {Py_tp_doc, "Context manager that changes the dispatch keys that a thread does not look at, its default device, or anomaly()."},
    {0, NULL},
};

static PyType_Spec mode_spec = {
    .name = "opweave._handle.ModeBase",
    .basicsize = sizeof(mode),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = mode_slots,
};

/* ---- the same at once ------------------------------------------------------------------------------------- */

/* Asks Python what changes, and changes it: no code of Python's runs between the change and the caller's `with`. */
static int switch_init(PyObject *self, PyObject *arguments, PyObject *keywords) {
    PyObject *configure = PyObject_GetAttrString(self, "_configure");
    PyObject *done = configure ? PyObject_Call(configure, arguments, keywords) : NULL;
    Py_XDECREF(configure);
    if (!done) return -1;
    Py_DECREF(done);
    mode *m = (mode *)self;
    if (m->outer < 0) m->outer = *word_of(m);
    apply(m);
    return 0;
}

/* As a decorator it changes the mode during calls of the function only. */
static PyObject *switch_call(PyObject *self, PyObject *arguments, PyObject *keywords) {
    unapply((mode *)self);
    PyObject *decorate = PyObject_GetAttrString(self, "_decorated");
    PyObject *result = decorate ? PyObject_Call(decorate, arguments, keywords) : NULL;
    Py_XDECREF(decorate);
    return result;
}

/* Where an exception, as that of Ctrl-C, came between the change and the block, the change is taken back. */
static void switch_dealloc(PyObject *self) {
    if (PyErr_Occurred()) unapply((mode *)self);
    release(self);
}

static PyType_Slot switch_slots[] = {
    {Py_tp_init, switch_init},
    {Py_tp_call, switch_call},
    {Py_tp_dealloc, switch_dealloc},
    {Py_tp_doc, "A mode that is changed at once; the block that may follow ends with what was before."},
    {0, NULL},
};

static PyType_Spec switch_spec = {
    .name = "opweave._handle.SwitchBase",
    .basicsize = sizeof(mode),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = switch_slots,
};

PyObject *ow_anomaly_bits(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    return PyLong_FromUnsignedLong(ow_anomaly);
}

/* ---- hooks ------------------------------------------------------------------------------------------------ */

/* The innermost hooks of a thread count, or what refuses others within: either is in force where no other is. */
typedef struct {
    blocks blocks;
    PyObject *refusal; /* text of the error where hooks meet what refuses them; NULL: they are hooks */
} hooks;

static PyObject *hooks_enter(PyObject *self, PyObject *nothing) {
    (void)nothing;
    ow_thread *t = ow_thread_get();
    if (!t) return PyErr_NoMemory();
    PyObject *refusal = ((hooks *)self)->refusal, *other = t->hooks ? ((hooks *)t->hooks)->refusal : refusal;
    if (!refusal != !other) {
        PyErr_SetObject(PyExc_RuntimeError, refusal ? refusal : other);
        return NULL;
    }
    if (!remember(self, (uintptr_t)t->hooks)) return NULL;
    t->hooks = Py_NewRef(self);
    Py_RETURN_NONE;
}

static PyObject *hooks_exit(PyObject *self, PyObject *exception) {
    (void)exception;
    blocks *b = (blocks *)self;
    if (!b->depth || !ow_self) Py_RETURN_NONE;
    PyObject *left = ow_self->hooks;
    ow_self->hooks = (void *)b->before[--b->depth];
    Py_XDECREF(left);
    Py_RETURN_NONE;
}

static void hooks_dealloc(PyObject *self) {
    Py_XDECREF(((hooks *)self)->refusal);
    release(self);
}

PyObject *ow_packing(void) {
    PyObject *hooks_of_thread = ow_self ? ow_self->hooks : NULL;
    return hooks_of_thread && !((hooks *)hooks_of_thread)->refusal ? hooks_of_thread : NULL;
}

PyObject *ow_packing_hooks(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    PyObject *hooks_of_thread = ow_packing();
    return Py_NewRef(hooks_of_thread ? hooks_of_thread : Py_None);
}

static PyMethodDef hooks_methods[] = {
    {"__enter__", hooks_enter, METH_NOARGS, NULL},
    {"__exit__", hooks_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef hooks_members[] = {
    {"_refusal", T_OBJECT, offsetof(hooks, refusal), 0, "the error that hooks within raise; not set: it is hooks"},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot hooks_slots[] = {
    {Py_tp_dealloc, hooks_dealloc},
    {Py_tp_methods, hooks_methods},
    {Py_tp_members, hooks_members},
    {Py_tp_doc, "Context manager of hooks that pack what the graph saves in this thread, or of their refusal."},
    {0, NULL},
};

static PyType_Spec hooks_spec = {
    .name = "opweave._handle.HooksBase",
    .basicsize = sizeof(hooks),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = hooks_slots,
};

int ow_add_modes(PyObject *module) {
    PyObject *mode_type = PyType_FromSpec(&mode_spec);
    PyObject *bases = mode_type ? PyTuple_Pack(1, mode_type) : NULL;
    PyObject *switch_type = bases ? PyType_FromSpecWithBases(&switch_spec, bases) : NULL;
    PyObject *hooks_type = PyType_FromSpec(&hooks_spec);
    int done = mode_type && switch_type && hooks_type && PyModule_AddObjectRef(module, "ModeBase", mode_type) == 0 &&
               PyModule_AddObjectRef(module, "SwitchBase", switch_type) == 0 &&
               PyModule_AddObjectRef(module, "HooksBase", hooks_type) == 0 &&
               PyModule_AddIntConstant(module, "ANOMALY", OW_ANOMALY) == 0;
    Py_XDECREF(mode_type);
    Py_XDECREF(bases);
    Py_XDECREF(switch_type);
    Py_XDECREF(hooks_type);
    return done;
}

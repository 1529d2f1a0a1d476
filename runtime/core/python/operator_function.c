/* The type of operators' functions, and how their arguments are bound. */
#include "operator_function.h"

#include "ow_routines.h" /* generated */
#include "tensor_object.h"

#include <structmember.h>

/* Python that goes on where the quick way ends: bound(function, arguments, out), unbound(function, arguments, keywords) and
 * operands(function, left, right). describe(function, what) gives documentation and signature. */
static PyObject *bound, *unbound, *operands, *describe;
static PyObject *method_type; /* types.MethodType */

PyObject *ow_set_slow_path(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    if (n != 12) return PyErr_Format(PyExc_TypeError, "set_slow_path() takes eight functions and four classes");
    bound = Py_NewRef(arguments[0]);
    unbound = Py_NewRef(arguments[1]);
    operands = Py_NewRef(arguments[2]);
    describe = Py_NewRef(arguments[3]);
    method_type = Py_NewRef(arguments[11]);
    return ow_set_call_types(arguments + 4, arguments + 8);
}

/* ---- binding ------------------------------------------------------------------------------------------------- */

/* The place of an argument by its name; -1: there is none. Names are interned, in calls as well as here. */
static int place_of(const ow_function *f, PyObject *name) {
    int n = f->narguments + f->has_out;
    for (int k = 0; k < n; k++)
        if (PyTuple_GetItem(f->names, k) == name) return k;
    for (int k = 0; k < n; k++)
        if (PyUnicode_Compare(PyTuple_GetItem(f->names, k), name) == 0) return k;
    return -1;
}

/* Are these integers, or several tensors, given one by one where the schema has a list of them? */
static int is_separate(const ow_function *f, PyObject *const *arguments, Py_ssize_t n) {
    if (f->separate < 0 || n <= f->separate) return 0;
    PyObject *first = arguments[f->separate];
    return PyLong_CheckExact(first) || (n - f->separate > 1 && ow_is_tensor_class(Py_TYPE(first)));
}

/* One value in the place of a list of tensors that is none: what it stands for, binding.py knows. */
static int is_no_list(const ow_function *f, PyObject *value) {
    if (!(f->kinds[f->separate] & OW_IS_TENSORS)) return 0;
    int is_tuple = PyTuple_Check(value);
    if (!is_tuple && !PyList_Check(value)) return 1;
    if (!(is_tuple ? PyTuple_Size(value) : PyList_Size(value))) return 0;
    return ow_any_tensor(is_tuple ? PyTuple_GetItem(value, 0) : PyList_GetItem(value, 0)) == NULL;
}

/* Sets a value for each argument and `out`. What is given one by one becomes a tuple, which the caller owns then. 0 where the
 * arguments do not fit, or fit only by what _dispatch/binding.py knows; perhaps with Python's error set. */
static int bind(const ow_function *f, PyObject *const *arguments, Py_ssize_t n, PyObject *names, PyObject **values,
                PyObject **owned) {
    Py_ssize_t given = n;
    int count = f->narguments + f->has_out;
    if (is_separate(f, arguments, n)) {
        given = f->separate + 1;
        *owned = PyTuple_New(n - f->separate);
        if (!*owned) return 0;
        for (Py_ssize_t k = f->separate; k < n; k++) PyTuple_SetItem(*owned, k - f->separate, Py_NewRef(arguments[k]));
    }
    if (f->separate >= 0 && given > f->separate && !*owned && is_no_list(f, arguments[f->separate])) return 0;
    if (given > f->npositional) return 0;
    for (int k = 0; k < count; k++) values[k] = k < given ? arguments[k] : NULL;
    if (f->leads && given) {
        for (int k = 0; k < f->leads; k++) values[k] = k + 1 < given ? arguments[k + 1] : NULL;
        values[f->leads] = arguments[0];
    }
    if (*owned) values[f->separate] = *owned;
    for (Py_ssize_t k = 0; names && k < PyTuple_Size(names); k++) {
        int place = place_of(f, PyTuple_GetItem(names, k));
        if (place < 0 || values[place]) return 0;
        values[place] = arguments[n + k];
    }
    for (int k = 0; k < f->narguments; k++) {
        if (!values[k]) values[k] = f->standards[k];
        if (values[k] == Py_Ellipsis) return 0;
    }
    if (!f->has_out || !values[f->narguments]) values[f->narguments] = Py_None;
    return 1;
}

static PyObject *tuple_of(PyObject *const *values, Py_ssize_t n) {
    PyObject *tuple = PyTuple_New(n);
    for (Py_ssize_t k = 0; tuple && k < n; k++) PyTuple_SetItem(tuple, k, Py_NewRef(values[k]));
    return tuple;
}

static PyObject *function_vectorcall(PyObject *self, PyObject *const *arguments, size_t flags, PyObject *names);

static PyObject *call_unbound(PyObject *self, PyObject *const *arguments, Py_ssize_t n, PyObject *names) {
    PyObject *positional = tuple_of(arguments, n), *keywords = positional ? PyDict_New() : NULL;
    for (Py_ssize_t k = 0; keywords && names && k < PyTuple_Size(names); k++)
        if (PyDict_SetItem(keywords, PyTuple_GetItem(names, k), arguments[n + k]) < 0) Py_CLEAR(keywords);
    PyObject *result = keywords ? PyObject_CallFunctionObjArgs(unbound, self, positional, keywords, NULL) : NULL;
    Py_XDECREF(positional);
    Py_XDECREF(keywords);
    return result;
}

static PyObject *call_bound(PyObject *self, PyObject *const *values) {
    const ow_function *f = (const ow_function *)self;
    PyObject *tuple = tuple_of(values, f->narguments);
    PyObject *result = tuple ? PyObject_CallFunctionObjArgs(bound, self, tuple, values[f->narguments], NULL) : NULL;
    Py_XDECREF(tuple);
    return result;
}

/* The function that a text stands for in a call without `out`, borrowed; NULL: this one, or it is for binding.py to say. */
static PyObject *chosen(const ow_function *f, PyObject *const *values) {
    if (f->choices == Py_None || values[f->narguments] != Py_None) return NULL;
    PyObject *text = values[PyLong_AsLong(PyTuple_GetItem(f->choices, 0))];
    PyObject *function = PyUnicode_CheckExact(text) ? PyDict_GetItemWithError(PyTuple_GetItem(f->choices, 1), text) : NULL;
    return function && ow_is_for_subclass(f, values) ? NULL : function;
}

/* The call of what was chosen, by the other arguments. */
static PyObject *call_chosen(const ow_function *f, PyObject *function, PyObject *const *values) {
    PyObject *rest[OW_MAX_ARGUMENTS];
    int place = (int)PyLong_AsLong(PyTuple_GetItem(f->choices, 0)), n = 0;
    for (int k = 0; k < f->narguments; k++)
        if (k != place) rest[n++] = values[k];
    return function_vectorcall(function, rest, (size_t)n, NULL);
}

static PyObject *call_operator(PyObject *self, PyObject *const *arguments, Py_ssize_t n, PyObject *names) {
    const ow_function *f = (const ow_function *)self;
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    if (n + named != 2 || named > 1 || (named && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "other")))
        return PyErr_Format(PyExc_TypeError, "%U() takes two operands, but got %zd arguments", f->name, n + named);
    int reflected = f->form == OW_REFLECTED;
    PyObject *result = ow_quick_operands(f, arguments[reflected], arguments[!reflected]);
    if (result || PyErr_Occurred()) return result;
    return PyObject_CallFunctionObjArgs(operands, self, arguments[reflected], arguments[!reflected], NULL);
}

static PyObject *function_vectorcall(PyObject *self, PyObject *const *arguments, size_t flags, PyObject *names) {
    const ow_function *f = (const ow_function *)self;
    Py_ssize_t n = (Py_ssize_t)(flags & ~((size_t)1 << (8 * sizeof flags - 1))); /* PY_VECTORCALL_ARGUMENTS_OFFSET */
    if (f->form >= OW_BINARY) return call_operator(self, arguments, n, names);
    PyObject *values[OW_MAX_ARGUMENTS + 1], *owned = NULL, *result = NULL;
    if (bind(f, arguments, n, names, values, &owned)) {
        PyObject *other = chosen(f, values);
        result = other ? call_chosen(f, other, values) : ow_quick_call(f, values, values[f->narguments]);
        if (!result && !PyErr_Occurred()) result = call_bound(self, values);
    } else if (!PyErr_Occurred()) {
        result = call_unbound(self, arguments, n, names);
    }
    Py_XDECREF(owned);
    return result;
}

/* The same for callers that have a tuple and a dictionary. */
static PyObject *function_call(PyObject *self, PyObject *arguments, PyObject *keywords) {
    Py_ssize_t n = PyTuple_Size(arguments), more = keywords ? PyDict_Size(keywords) : 0, place = 0, k = n;
    PyObject **all = PyMem_Malloc((size_t)(n + more + 1) * sizeof *all), *names = PyTuple_New(more), *name, *value;
    PyObject *result = NULL;
    if (!all) PyErr_NoMemory();
    if (all && names) {
        for (Py_ssize_t i = 0; i < n; i++) all[i] = PyTuple_GetItem(arguments, i);
        while (more && PyDict_Next(keywords, &place, &name, &value)) {
            PyTuple_SetItem(names, k - n, Py_NewRef(name));
            all[k++] = value;
        }
        result = function_vectorcall(self, all, (size_t)n, names);
    }
    PyMem_Free(all);
    Py_XDECREF(names);
    return result;
}

/* ---- the type ------------------------------------------------------------------------------------------------ */

/* What is said of each argument. */
static int read_kinds(ow_function *f, PyObject *kinds) {
    for (int k = 0; k < f->narguments; k++) {
        unsigned long bits = PyLong_AsUnsignedLong(PyTuple_GetItem(kinds, k));
        if (PyErr_Occurred()) return 0;
        f->kinds[k] = (uint32_t)bits;
        f->standards[k] = PyTuple_GetItem(f->defaults, k);
    }
    return 1;
}

static PyObject *function_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    static char *words[] = {"op", "name", "form", "number", "names", "defaults", "npositional", "leads", "layout", "kinds", "separate",
                            "has_out", "takes_out", "refused", "differentiable", "body", "fast", "results", "words", NULL};
    PyObject *op, *name, *names, *defaults, *kinds, *body, *fast, *results, *texts;
    int form, npositional, leads, separate, has_out, takes_out, differentiable;
    long number;
    unsigned int refused;
    const char *layout;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OUilO!O!iisO!ippIpOOOO", words, &op, &name, &form, &number,
                                     &PyTuple_Type, &names, &PyTuple_Type, &defaults, &npositional, &leads, &layout, &PyTuple_Type,
                                     &kinds, &separate, &has_out, &takes_out, &refused, &differentiable, &body, &fast, &results, &texts))
        return NULL;
    Py_ssize_t n = PyTuple_Size(defaults);
    if (n > OW_MAX_ARGUMENTS || PyTuple_Size(names) != n + has_out || PyTuple_Size(kinds) != n || (Py_ssize_t)strlen(layout) != n ||
        npositional < 0 || npositional > n || leads < 0 || leads > npositional || separate >= n || form < 0 || form >= OW_NFORMS)
        return PyErr_Format(PyExc_ValueError, "%U: an operator takes at most %d arguments, each with a name, a default and a "
                                              "letter of the layout", name, OW_MAX_ARGUMENTS);
    const ow_op *core = number < 0 ? NULL : ow_op_called((int32_t)number, ~0u);
    if (number >= 0 && !core) return ow_raise_pending();
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    ow_function *f = (ow_function *)allocate(type, 0);
    if (!f) return NULL;
    f->vectorcall = function_vectorcall;
    f->op = Py_NewRef(op);
    f->name = Py_NewRef(name);
    f->names = Py_NewRef(names);
    f->defaults = Py_NewRef(defaults);
    f->body = Py_NewRef(body);
    f->fast = Py_NewRef(fast);
    f->results = Py_NewRef(results);
    f->words = Py_NewRef(texts);
    f->choices = Py_NewRef(Py_None);
    f->core = core;
    f->number = number;
    f->form = (ow_form)form;
    f->narguments = (int)n;
    f->npositional = npositional;
    f->leads = leads;
    f->separate = separate;
    f->has_out = has_out;
    f->takes_out = takes_out && core && ow_takes_out(core);
    f->refused = refused;
    f->differentiable = differentiable;
    memcpy(f->layout, layout, (size_t)n + 1);
    if (!read_kinds(f, kinds)) Py_CLEAR(f);
    return (PyObject *)f;
}

static int function_traverse(PyObject *self, visitproc visit, void *arg) {
    ow_function *f = (ow_function *)self;
    PyObject *parts[] = {f->op, f->name, f->names, f->defaults, f->body, f->fast, f->results, f->words, f->choices, (PyObject *)Py_TYPE(self)};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) Py_VISIT(parts[k]);
    Py_VISIT(f->attributes);
    return 0;
}

static int function_clear(PyObject *self) {
    ow_function *f = (ow_function *)self;
    PyObject **parts[] = {&f->op, &f->body, &f->fast, &f->results, &f->words, &f->choices};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        PyObject *part = *parts[k];
        *parts[k] = Py_NewRef(Py_None); /* whoever calls it yet finds nothing to do */
        Py_XDECREF(part);
    }
    Py_CLEAR(f->attributes);
    return 0;
}

static void function_dealloc(PyObject *self) {
    ow_function *f = (ow_function *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (f->weak_references) PyObject_ClearWeakRefs(self);
    PyObject *parts[] = {f->op, f->name, f->names, f->defaults, f->body, f->fast, f->results, f->words, f->choices};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) Py_XDECREF(parts[k]);
    Py_XDECREF(f->attributes);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

PyObject *ow_bound_method(PyObject *function, PyObject *object) {
    return PyObject_CallFunctionObjArgs(method_type, function, object, NULL);
}

/* It becomes a method of tensors whose class has it. All other objects have it as it is, as they have torch's functions, which
 * are builtin. */
static PyObject *function_get(PyObject *self, PyObject *object, PyObject *type) {
    (void)type;
    int binds = object && PyObject_TypeCheck(object, ow_owner_type);
    return binds ? ow_bound_method(self, object) : Py_NewRef(self);
}

static PyObject *function_repr(PyObject *self) {
    return PyUnicode_FromFormat("<operator function %U>", ((ow_function *)self)->name);
}

/* Pickled and copied as what it is called where users find it: some forms are methods only. */
static PyObject *function_reduce(PyObject *self, PyObject *nothing) {
    (void)nothing;
    const ow_function *f = (const ow_function *)self;
    int is_method = f->form >= OW_BINARY || (f->leads && f->form == OW_FUNCTION);
    return is_method ? PyUnicode_FromFormat("Tensor.%U", f->name) : Py_NewRef(f->name);
}

static PyObject *described(PyObject *self, void *what) {
    return PyObject_CallFunction(describe, "Os", self, (const char *)what);
}

static PyGetSetDef function_properties[] = {
    {"__doc__", described, NULL, NULL, "doc"},
    {"__signature__", described, NULL, NULL, "signature"},
    {"__module__", described, NULL, NULL, "module"},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* choose(place, functions): which functions texts in the place of an argument stand for. */
static PyObject *choose(PyObject *self, PyObject *arguments) {
    ow_function *f = (ow_function *)self;
    int place;
    PyObject *functions;
    if (!PyArg_ParseTuple(arguments, "iO!", &place, &PyDict_Type, &functions)) return NULL;
    Py_ssize_t k = 0;
    PyObject *text, *function;
    while (PyDict_Next(functions, &k, &text, &function))
        if (place < 0 || place >= f->narguments || (PyObject *)Py_TYPE(function) != ow_function_type())
            return PyErr_Format(PyExc_TypeError, "choose() takes the place of an argument and functions by texts");
    PyObject *choices = Py_BuildValue("(iN)", place, PyDict_Copy(functions)), *before = f->choices;
    if (!choices) return NULL;
    f->choices = choices;
    Py_DECREF(before);
    Py_RETURN_NONE;
}

static PyMethodDef function_methods[] = {
    {"choose", choose, METH_VARARGS, "Says which functions the texts of an argument stand for."},
    {"__reduce__", function_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef function_members[] = {
    {"op", T_OBJECT, offsetof(ow_function, op), READONLY, "the operator"},
    {"form", T_INT, offsetof(ow_function, form), READONLY, "how it is called"},
    {"takes_out", T_BOOL, offsetof(ow_function, takes_out), READONLY, "whether the core writes to `out` itself"},
    {"names", T_OBJECT, offsetof(ow_function, names), READONLY, "the names of its arguments"},
    {"leads", T_INT, offsetof(ow_function, leads), READONLY, "the place of the argument that is given first"},
    {"__name__", T_OBJECT, offsetof(ow_function, name), READONLY, NULL},
    {"__qualname__", T_OBJECT, offsetof(ow_function, name), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ow_function, weak_references), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(ow_function, attributes), READONLY, NULL},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ow_function, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot function_slots[] = {
    {Py_tp_new, function_new},         {Py_tp_dealloc, function_dealloc}, {Py_tp_traverse, function_traverse},
    {Py_tp_clear, function_clear},     {Py_tp_call, function_call},       {Py_tp_descr_get, function_get},
    {Py_tp_repr, function_repr},       {Py_tp_getset, function_properties}, {Py_tp_members, function_members},
    {Py_tp_methods, function_methods}, {0, NULL},
};

static PyType_Spec function_spec = {
    .name = "opweave._handle.Function",
    .basicsize = sizeof(ow_function),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | OW_HAVE_VECTORCALL,
    .slots = function_slots,
};

PyObject *ow_function_type(void) {
    static PyObject *type;
    if (!type) type = PyType_FromSpec(&function_spec);
    return type;
}

#define NAME(name) #name,
#define WORD(name, word) word,

static int add_names(PyObject *module, const char *table, const char *const *names, int n) {
    PyObject *all = PyTuple_New(n);
    for (int k = 0; all && k < n; k++) {
        PyObject *name = PyUnicode_FromString(names[k]);
        if (name) PyTuple_SetItem(all, k, name);
        else Py_CLEAR(all);
    }
    int done = all && PyModule_AddObjectRef(module, table, all) == 0;
    Py_XDECREF(all);
    return done;
}

int ow_add_function(PyObject *module) {
    static const char *const keys[] = {OW_KEYS(NAME)}, *const values[] = {OW_VALUES(NAME)}, *const forms[] = {OW_FORMS(NAME)},
                      *const families[] = {OW_FAMILIES(WORD)};
    PyObject *type = ow_function_type();
    return type && PyModule_AddObjectRef(module, "Function", type) == 0 && add_names(module, "KEYS", keys, OW_NKEYS) &&
           PyModule_AddIntConstant(module, "ELSEWHERE", OW_ELSEWHERE) == 0 &&
           add_names(module, "VALUES", values, OW_NVALUES) && add_names(module, "FORMS", forms, OW_NFORMS) &&
           add_names(module, "FAMILIES", families, sizeof families / sizeof *families);
}

/* The result of a quick call becomes part of the graph: a node is made for it as the operator's derivative wants it. */
#include <stdlib.h>

#include "node.h"
#include "tensor_object.h"
#include "tensor/registry.h"

/* What a call of one operator needs to have its node made here. */
typedef struct {
    char known;
    char simple;             /* 1 if this file records it */
    int listed;              /* the place of the list whose tensors have gradients; -1: it is no list */
    PyTypeObject *kind;      /* the class of its nodes; NULL: its results have no gradients */
    PyObject *save;          /* called as save(node, argument, ...); NULL: only outputs are kept, or nothing */
    int keeps_result;        /* bits of the inputs whose gradients need it; negative: it is always kept */
    int ninputs;
    int inputs[OW_MAX_INPUTS]; /* the places of the arguments that have gradients */
} plan;

static plan *plans; /* by the operators' numbers */
static long capacity;

/* plan_of(operator) and attach(operator, arguments, result). */
static PyObject *plan_of, *attach;

PyObject *ow_set_recorder(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    if (n != 2) return PyErr_Format(PyExc_TypeError, "set_recorder() takes two functions");
    PyObject **targets[] = {&plan_of, &attach};
    for (int k = 0; k < 2; k++) {
        Py_XDECREF(*targets[k]);
        *targets[k] = Py_NewRef(arguments[k]);
    }
    Py_RETURN_NONE;
}

/* The tuple (class or None, save or None, inputs that need the result as bits, places of inputs, or the place of a list of
 * them, or None) as a plan. */
static int read_plan(plan *to, PyObject *tuple) {
    PyObject *kind, *save, *inputs;
    if (!PyArg_Parse(tuple, "(OOiO)", &kind, &save, &to->keeps_result, &inputs)) return 0;
    if (kind != Py_None && !ow_is_node_class(kind)) {
        PyErr_Format(PyExc_TypeError, "expected a class of nodes, but got %R", kind);
        return 0;
    }
    to->listed = PyLong_Check(inputs) ? (int)PyLong_AsLong(inputs) : -1;
    to->simple = to->listed >= 0 || (PyTuple_Check(inputs) && PyTuple_Size(inputs) <= OW_MAX_INPUTS);
    to->ninputs = PyTuple_Check(inputs) && to->simple ? (int)PyTuple_Size(inputs) : 0;
    for (int k = 0; k < to->ninputs; k++) to->inputs[k] = (int)PyLong_AsLong(PyTuple_GetItem(inputs, k));
    to->kind = kind == Py_None ? NULL : (PyTypeObject *)Py_NewRef(kind);
    to->save = save == Py_None ? NULL : Py_NewRef(save);
    to->known = 1;
    return 1;
}

/* A copy: Python, which may be called meanwhile, can have the table move. */
static int planned(long number, plan *to) {
    if (number < capacity && plans[number].known) {
        *to = plans[number];
        return 1;
    }
    PyObject *tuple = PyObject_CallFunction(plan_of, "l", number);
    if (!tuple) return 0;
    if (number >= capacity) {
        long wanted = number + number / 2 + 64;
        plan *larger = realloc(plans, (size_t)wanted * sizeof *plans);
        if (!larger) {
            Py_DECREF(tuple);
            PyErr_NoMemory();
            return 0;
        }
        for (long k = capacity; k < wanted; k++) larger[k].known = 0;
        plans = larger;
        capacity = wanted;
    }
    int done = read_plan(plans + number, tuple);
    Py_DECREF(tuple);
    if (done) *to = plans[number];
    return done;
}

static int save(PyObject *self, const plan *of, PyObject *const *arguments, Py_ssize_t n) {
    PyObject *all = PyTuple_New(n + 1);
    if (!all) return 0;
    PyTuple_SetItem(all, 0, Py_NewRef(self));
    for (Py_ssize_t k = 0; k < n; k++) PyTuple_SetItem(all, k + 1, Py_NewRef(arguments[k]));
    PyObject *done = PyObject_Call(of->save, all, NULL);
    Py_DECREF(all);
    Py_XDECREF(done);
    return done != NULL;
}

/* Of each tensor of a list. */
static PyObject *edges_of_list(PyObject *list) {
    int is_tuple = PyTuple_Check(list);
    Py_ssize_t n = is_tuple ? PyTuple_Size(list) : PyList_Check(list) ? PyList_Size(list) : 0;
    PyObject *edges = PyTuple_New(n);
    for (Py_ssize_t k = 0; edges && k < n; k++) {
        PyObject *item = is_tuple ? PyTuple_GetItem(list, k) : PyList_GetItem(list, k);
        PyObject *edge = item ? ow_edge_of(item) : NULL; /* user code may have made the list shorter meanwhile */
        if (edge) PyTuple_SetItem(edges, k, edge);
        else Py_CLEAR(edges);
    }
    return edges;
}

static PyObject *edges_of(const plan *of, PyObject *const *arguments, Py_ssize_t n) {
    if (of->listed >= 0 && of->listed < n) return edges_of_list(arguments[of->listed]);
    PyObject *edges = PyTuple_New(of->ninputs);
    for (int k = 0; edges && k < of->ninputs; k++) {
        PyObject *edge = ow_edge_of(of->inputs[k] < n ? arguments[of->inputs[k]] : Py_None);
        if (edge) PyTuple_SetItem(edges, k, edge);
        else Py_CLEAR(edges);
    }
    return edges;
}

static PyObject *meta_of(PyObject *result) {
    PyObject *meta = ow_meta(NULL, result), *metas = meta ? PyTuple_Pack(1, meta) : NULL;
    Py_XDECREF(meta);
    return metas;
}

static int needs_result(const plan *of, PyObject *edges) {
    int needs = of->keeps_result < 0;
    for (int k = 0; k < of->ninputs && !needs; k++)
        needs = of->keeps_result >> k & 1 && PyTuple_GetItem(edges, k) != Py_None;
    return needs;
}

/* The node of a call, which has kept what its formulas need. */
static PyObject *new_node(const plan *of, PyObject *result, PyObject *const *arguments, Py_ssize_t n) {
    PyObject *edges = edges_of(of, arguments, n);
    PyObject *self = edges ? ow_new_node(of->kind, edges) : NULL;
    if (!self) return NULL;
    int done = (((node *)self)->metas = meta_of(result)) != NULL;
    done = done && (!of->save || save(self, of, arguments, n));
    done = done && (!needs_result(of, ((node *)self)->edges) || ow_keep_result((node *)self, result));
    if (!done) Py_CLEAR(self);
    return self;
}

static PyObject *attached_by_python(PyObject *result, long number, PyObject *const *arguments, Py_ssize_t n) {
    PyObject *all = PyTuple_New(n);
    for (Py_ssize_t k = 0; all && k < n; k++) PyTuple_SetItem(all, k, Py_NewRef(arguments[k]));
    PyObject *part = all ? PyObject_CallFunction(attach, "lOO", number, all, result) : NULL;
    Py_XDECREF(all);
    Py_DECREF(result);
    return part;
}

PyObject *ow_recorded(PyObject *result, long number, PyObject *const *arguments, Py_ssize_t n) {
    plan of = {0};
    if (!result || !planned(number, &of)) {
        Py_XDECREF(result);
        return NULL;
    }
    if (!of.kind) return result;
    const ow_tensor *t = ow_any_tensor(result);
    if (t && (ow_dtype_kinds[t->dtype] < OW_KIND_FLOATING || t->storage->flags & OW_STORAGE_INFERENCE)) return result;
    if (!of.simple || !t || ow_dtype_kinds[t->dtype] == OW_KIND_COMPLEX || ow_packing())
        return attached_by_python(result, number, arguments, n);
    PyObject *self = new_node(&of, result, arguments, n);
    PyObject *edge = self ? Py_BuildValue("(Ni)", self, 0) : NULL;
    if (!edge) {
        Py_DECREF(result);
        return NULL;
    }
    ow_give_edge(result, edge);
    Py_DECREF(edge);
    return result;
}

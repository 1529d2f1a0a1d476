/* Results that are views of what a call has made on its way. Nobody else has that tensor, so they count as tensors of their own:
 * they can be detached in place, and their history is theirs alone. */
#include "tensor_object.h"

static Py_ssize_t size_of(PyObject *sequence) {
    return PyTuple_Check(sequence) ? PyTuple_Size(sequence) : PyList_Check(sequence) ? PyList_Size(sequence) : -1;
}

static PyObject *item_of(PyObject *sequence, Py_ssize_t k) {
    return PyTuple_Check(sequence) ? PyTuple_GetItem(sequence, k) : PyList_GetItem(sequence, k);
}

/* Is a tensor, or one of a sequence, over this memory? Lists of tensors are at most two deep. */
static int has_memory(PyObject *value, const ow_storage *storage, int depth) {
    const ow_tensor *t = ow_any_tensor(value);
    if (t) return t->storage == storage;
    Py_ssize_t n = depth ? size_of(value) : 0;
    for (Py_ssize_t k = 0; k < n; k++)
        if (has_memory(item_of(value, k), storage, depth - 1)) return 1;
    return 0;
}

/* Is the history of a view its own? It comes from the other tensor where that was overwritten since. */
static int has_its_edge(PyObject *value, const ow_tensor *t) {
    if (!ow_follows_base((owner *)value, t)) return 1;
    if (ow_excluded_keys & OW_KEY_AUTOGRAD) return 0;
    PyObject *edge = ow_edge_of(value);
    if (!edge) PyErr_Clear();
    Py_XDECREF(edge);
    return edge != NULL;
}

/* Tensors among the results are not on the way: what is a view of one of them stays it. */
static void own(PyObject *value, PyObject *results, PyObject *const *arguments, int n) {
    const ow_tensor *t = ow_any_tensor(value);
    owner *view = (owner *)value;
    if (!t || !view->base) return;
    for (int k = 0; k < n; k++)
        if (has_memory(arguments[k], t->storage, 2)) return;
    Py_ssize_t count = size_of(results);
    for (Py_ssize_t k = 0; k < count; k++)
        if (item_of(results, k) == view->base) return;
    if (!has_its_edge(value, t)) return;
    Py_CLEAR(view->base);
    view->origin = OW_USUAL_VIEW;
}

void ow_own_results(PyObject *results, PyObject *const *arguments, int n) {
    own(results, results, arguments, n);
    Py_ssize_t count = size_of(results);
    for (Py_ssize_t k = 0; k < count; k++) own(item_of(results, k), results, arguments, n);
}

/* own_results(results, arguments): for a tensor or a sequence of them, and the arguments of the call. */
PyObject *ow_own_results_of(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    if (n != 2) return PyErr_Format(PyExc_TypeError, "own_results() takes results and arguments");
    ow_own_results(arguments[0], arguments + 1, 1);
    Py_RETURN_NONE;
}

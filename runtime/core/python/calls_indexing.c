/* The quick calls of `t[index]` and `t[index] = value` for indices that tensors are part of. */
#include "routines/indexing/index_get.h"
#include "operator_function.h"
#include "python_numbers.h"

/* A tensor that selects, or NULL: positions or a mask, but no mask of bytes, about which Python warns. */
static ow_tensor *read_selector(PyObject *object) {
    ow_tensor *t = ow_plain_tensor(object);
    return t && t->ndim && (t->dtype == OW_INT64 || t->dtype == OW_INT32 || t->dtype == OW_BOOL) ? t : NULL;
}

static int is_whole_slice(PyObject *object) {
    Py_ssize_t start, stop, step;
    if (!PySlice_Check(object)) return 0;
    if (PySlice_Unpack(object, &start, &stop, &step) < 0) {
        PyErr_Clear(); /* the general way raises it again */
        return 0;
    }
    return start == 0 && stop == PY_SSIZE_T_MAX && step == 1;
}

/* A selector or a tuple of selectors and whole slices; how many there are, 0 for any other index. */
static int read_selectors(PyObject *index, ow_tensor **selectors) {
    if (!PyTuple_Check(index)) return (selectors[0] = read_selector(index)) != NULL;
    Py_ssize_t n = PyTuple_Size(index), found = 0;
    if (n > OW_MAX_DIMS) return 0;
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *part = PyTuple_GetItem(index, k);
        if ((selectors[k] = read_selector(part))) found++;
        else if (!is_whole_slice(part)) return 0;
    }
    return found ? (int)n : 0;
}

ow_tensor *ow_selected(ow_tensor *self, PyObject *index) {
    ow_tensor *selectors[OW_MAX_DIMS];
    int count = read_selectors(index, selectors);
    ow_tensor *found = count ? ow_index_get(self, selectors, count) : NULL;
    if (count && !found) ow_error_take(NULL, 0); /* the general way finds it again */
    return found;
}

/* The same of a tensor with a history, by a call of the operator, which is recorded. */
PyObject *ow_recorded_selection(const ow_index_functions *f, PyObject *self, PyObject *index) {
    ow_tensor *selectors[OW_MAX_DIMS];
    int count = read_selectors(index, selectors);
    PyObject *list = count ? PyList_New(count) : NULL;
    if (!list) return NULL;
    for (int k = 0; k < count; k++) {
        PyObject *part = PyTuple_Check(index) ? PyTuple_GetItem(index, k) : index;
        PyList_SetItem(list, k, Py_NewRef(selectors[k] ? part : Py_None));
    }
    PyObject *values[2] = {self, list}, *result = ow_quick_call((const ow_function *)f->index, values, Py_None);
    Py_DECREF(list);
    return result;
}

/* assign(tensor, index, value, accumulate): True when it is done. */
PyObject *ow_call_assign(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    ow_tensor *self = n == 4 ? ow_plain_tensor(arguments[0]) : NULL, *selectors[OW_MAX_DIMS], *value;
    int count = self ? read_selectors(arguments[1], selectors) : 0;
    if (!count) Py_RETURN_NONE;
    ow_number number;
    if (!(value = ow_plain_tensor(arguments[2])) && !(value = ow_read_number(arguments[2], &number))) Py_RETURN_NONE;
    if (!ow_index_put(self, selectors, count, value, arguments[3] == Py_True)) return ow_declined(); /* it finds it again */
    self->storage->version++;
    Py_RETURN_TRUE;
}

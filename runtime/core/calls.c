/* What generated functions do first: call an operator with tensors and numbers as Python has them.
 *
 * Each call gives the finished tensor, or None where it is not for the quick way: an argument of another type, a tensor of
 * a subclass or with dispatch keys, an error that is pending now. The function then goes on to dispatch.py, which knows
 * what to do or to say. The first argument is the operator's number. */
#include "driver.h"
#include "python_types.h"

/* The inputs of an operator: tensors, and numbers that need no memory of their own. Zero strides and no dimensions: of
 * numbers nothing else is read. */
typedef struct {
    ow_tensor *inputs[OW_MAX_INPUTS];
    ow_tensor numbers[OW_MAX_INPUTS];
    union {
        double d;
        int64_t i;
    } values[OW_MAX_INPUTS];
} operands;

static PyObject *nothing(void) { Py_RETURN_NONE; }

static PyObject *finished(ow_tensor *t) { return t ? ow_new_owner(t) : nothing(); }

/* An int of 64 bits; bool is another type. */
static int read_int(PyObject *object, int64_t *value) {
    int overflow;
    if (!PyLong_CheckExact(object)) return 0;
    *value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return !overflow;
}

/* The tensor, or NULL. */
static ow_tensor *read_tensor(PyObject *object) {
    ow_tensor *t = ow_plain_tensor(object);
    return t && !t->keys ? t : NULL;
}

static int read_operand(operands *to, int k, PyObject *object) {
    if ((to->inputs[k] = read_tensor(object))) return 1;
    int dtype = OW_FLOAT64;
    if (PyFloat_CheckExact(object)) to->values[k].d = PyFloat_AsDouble(object);
    else if (read_int(object, &to->values[k].i)) dtype = OW_INT64;
    else return 0;
    to->numbers[k] = (ow_tensor){.dtype = (uint8_t)dtype, .flags = OW_NUMBER | OW_CONTIGUOUS | OW_DENSE,
                                 .data = (char *)&to->values[k], .numel = 1};
    to->inputs[k] = &to->numbers[k];
    return 1;
}

/* The result of the operator for `n` operands, the first of which is a tensor. */
static ow_tensor *call(PyObject *op, PyObject *const *arguments, Py_ssize_t n, ow_tensor *out, ow_mode mode) {
    operands all;
    if (n < 1 || n > OW_MAX_INPUTS || !(all.inputs[0] = read_tensor(arguments[0]))) return NULL;
    for (int k = 1; k < n; k++)
        if (!read_operand(&all, k, arguments[k])) return NULL;
    for (Py_ssize_t k = n; k < OW_MAX_INPUTS; k++) all.inputs[k] = NULL;
    return ow_call(ow_op_get((int32_t)PyLong_AsLong(op)), all.inputs, NULL, mode == OW_INPLACE ? all.inputs[0] : out, mode);
}

PyObject *ow_call_new(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    if (n < 2) return nothing();
    return finished(call(arguments[0], arguments + 1, n - 1, NULL, OW_NEW));
}

PyObject *ow_call_inplace(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    if (n < 2) return nothing();
    return call(arguments[0], arguments + 1, n - 1, NULL, OW_INPLACE) ? Py_NewRef(arguments[1]) : nothing();
}

PyObject *ow_call_out(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    ow_tensor *out = n > 1 ? read_tensor(arguments[1]) : NULL;
    if (!out) return nothing();
    return call(arguments[0], arguments + 2, n - 2, out, OW_OUT) ? Py_NewRef(arguments[1]) : nothing();
}

/* reduce(op, tensor, dim, keepdim): `dim` is an int, or None or () for every dimension. */
PyObject *ow_call_reduce(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    ow_tensor *self = n == 4 ? read_tensor(arguments[1]) : NULL;
    PyObject *dim = n == 4 ? arguments[2] : Py_None;
    int64_t dims[1];
    int all = dim == Py_None || (PyTuple_Check(dim) && PyTuple_Size(dim) == 0);
    if (!self || !PyBool_Check(arguments[3]) || (!all && !read_int(dim, dims))) return nothing();
    const ow_op *op = ow_op_get((int32_t)PyLong_AsLong(arguments[0]));
    return finished(ow_reduce(op, self, dims, !all, all, arguments[3] == Py_True, -1, NULL));
}

/* scan(op, tensor, dim) */
PyObject *ow_call_scan(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    ow_tensor *self = n == 3 ? read_tensor(arguments[1]) : NULL;
    int64_t dim;
    if (!self || !read_int(arguments[2], &dim)) return nothing();
    return finished(ow_scan(ow_op_get((int32_t)PyLong_AsLong(arguments[0])), self, dim, -1, NULL, OW_NEW));
}

/* view(op, tensor, integer, ...) */
PyObject *ow_call_view(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    int64_t ints[] = {OW_NONE, OW_NONE, OW_NONE, OW_NONE};
    ow_tensor *self = n > 1 && n <= 6 ? read_tensor(arguments[1]) : NULL;
    for (Py_ssize_t k = 2; self && k < n; k++)
        if (!read_int(arguments[k], &ints[k - 2])) self = NULL;
    if (!self) return nothing();
    return finished(ow_view_call(ow_op_get((int32_t)PyLong_AsLong(arguments[0])), self, ints, NULL));
}

/* An int, or a tuple or list of them. */
static int read_list(PyObject *object, ow_ints *list) {
    int is_tuple = PyTuple_Check(object), is_list = PyList_Check(object);
    Py_ssize_t n = is_tuple ? PyTuple_Size(object) : is_list ? PyList_Size(object) : 1;
    if (n > OW_MAX_DIMS) return 0;
    list->n = (int32_t)n;
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *item = is_tuple ? PyTuple_GetItem(object, k) : is_list ? PyList_GetItem(object, k) : object;
        if (!read_int(item, &list->v[k])) return 0;
    }
    return 1;
}

/* view_list(op, tensor, list): by a list of integers, one integer or None. */
PyObject *ow_call_view_list(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    static const int64_t ints[] = {OW_NONE, OW_NONE, OW_NONE, OW_NONE};
    ow_ints lists[1] = {{.n = -1}};
    ow_tensor *self = n == 3 ? read_tensor(arguments[1]) : NULL;
    if (!self || (arguments[2] != Py_None && !read_list(arguments[2], lists))) return nothing();
    return finished(ow_view_call(ow_op_get((int32_t)PyLong_AsLong(arguments[0])), self, ints, lists));
}

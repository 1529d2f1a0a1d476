/* What generated functions do first: call an operator with tensors and numbers as Python has them.
 *
 * Each call gives the finished tensor, or None where it is not for the quick way: an argument of another type, a tensor of
 * a subclass or with dispatch keys, an error that is pending now. The function then goes on to _dispatch/dispatcher.py, which knows
 * what to do or to say. The first argument is the operator's number. */
#include "families/driver.h"
#include "routines/linalg/lapack.h"
#include "families/arg_results.h"
#include "python_numbers.h"

/* The inputs of an operator: tensors, and numbers that need no memory of their own. */
typedef struct {
    ow_tensor *inputs[OW_MAX_INPUTS]; /* NULL: absent */
    int tensors;                      /* is any of them one? */
    ow_number numbers[OW_MAX_INPUTS];
} operands;

_Static_assert(OW_MAX_PARAMS <= OW_MAX_INPUTS, "a factory's numbers are read as operands");

static PyObject *nothing(void) { Py_RETURN_NONE; }

static PyObject *finished(ow_tensor *t) { return t ? ow_new_owner(t) : nothing(); }

static PyObject *finished_view(ow_tensor *t, PyObject *of) { return t ? ow_new_view(t, of) : nothing(); }

static int read_number(operands *to, int k, PyObject *object) {
    return (to->inputs[k] = ow_read_number(object, &to->numbers[k])) != NULL;
}

static int read_operand(const ow_op *op, operands *to, int k, PyObject *object) {
    if ((to->inputs[k] = ow_plain_tensor(object))) return to->tensors = 1;
    if (object == Py_None) return op->absent[k] != OW_REQUIRED;
    return read_number(to, k, object);
}

/* The operator of that number, of one of these families; NULL for any other object. */
static const ow_op *operator_of(PyObject *number, unsigned families) {
    int64_t index;
    return ow_read_int(number, &index) ? ow_op_get(index, families) : NULL;
}

/* The result of the operator of this number for `n` operands, or for its operands and all its parameters. */
static ow_tensor *call(PyObject *number, PyObject *const *arguments, Py_ssize_t n, ow_tensor *out, ow_mode mode) {
    operands all, params;
    const ow_op *op = operator_of(number, OW_FAMILY(ELEMENTWISE) | OW_FAMILY(EXTERN));
    if (!op) return NULL;
    int with_params = op->nparams && n == op->ninputs + op->nparams;
    if (with_params) n = op->ninputs;
    all.tensors = 0;
    for (int k = 0; k < OW_MAX_INPUTS; k++) {
        all.inputs[k] = NULL;
        if (k < n && !read_operand(op, &all, k, arguments[k])) return NULL;
    }
    for (int k = 0; k < op->nparams && with_params; k++)
        if (!read_number(&params, k, arguments[n + k])) return NULL;
    if (!all.tensors) return NULL;
    if (mode == OW_INPLACE && !(out = ow_plain_tensor(arguments[0]))) return NULL;
    return ow_call(op, all.inputs, with_params ? params.inputs : NULL, out, mode);
}

/* A quick call by itself: the operator's number and its arguments to the result, or None. */
typedef PyObject *quick_call(PyObject *const *arguments, Py_ssize_t n);

/* Where a history is recorded, the call is not plain: it is made once more without a look at histories, and then the
 * result gets its own. */
static PyObject *perhaps_recorded(quick_call *call, PyObject *const *arguments, Py_ssize_t n) {
    PyObject *result = n > 1 ? call(arguments, n) : nothing();
    if (result != Py_None || !ow_any_records(arguments + 1, n - 1)) return result;
    Py_DECREF(result);
    ow_excluded_keys |= OW_KEY_AUTOGRAD;
    result = call(arguments, n);
    ow_excluded_keys &= ~(uint32_t)OW_KEY_AUTOGRAD;
    return result == Py_None ? result : ow_recorded(result, arguments, n);
}

static PyObject *quick_new(PyObject *const *arguments, Py_ssize_t n) {
    return finished(call(arguments[0], arguments + 1, n - 1, NULL, OW_NEW));
}

PyObject *ow_call_new(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    return perhaps_recorded(quick_new, arguments, n);
}

PyObject *ow_call_inplace(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    if (n < 2) return nothing();
    return call(arguments[0], arguments + 1, n - 1, NULL, OW_INPLACE) ? Py_NewRef(arguments[1]) : nothing();
}

PyObject *ow_call_out(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    ow_tensor *out = n > 1 ? ow_plain_tensor(arguments[1]) : NULL;
    if (!out) return nothing();
    return call(arguments[0], arguments + 2, n - 2, out, OW_OUT) ? Py_NewRef(arguments[1]) : nothing();
}

/* The arguments (op, tensor, dim, keepdim): `dim` is an int, or None or () for every dimension. */
typedef struct {
    const ow_op *op;
    ow_tensor *self;
    int64_t dims[1];
    int ndims, all, keepdim;
} along;

static int read_along(along *to, unsigned families, PyObject *const *arguments, Py_ssize_t n) {
    if (n != 4 || !(to->self = ow_plain_tensor(arguments[1])) || !PyBool_Check(arguments[3])) return 0;
    PyObject *dim = arguments[2];
    if (!(to->op = operator_of(arguments[0], families))) return 0;
    to->all = dim == Py_None ? OW_NO_LIST : PyTuple_Check(dim) && PyTuple_Size(dim) == 0 ? OW_EMPTY_LIST : 0;
    to->ndims = !to->all;
    to->keepdim = arguments[3] == Py_True;
    return to->all || ow_read_int(dim, to->dims);
}

static PyObject *quick_reduce(PyObject *const *arguments, Py_ssize_t n) {
    along a;
    if (!read_along(&a, OW_FAMILY(REDUCE), arguments, n) || !(a.op->results & OW_VALUE)) return nothing();
    return finished(ow_reduce(a.op, a.self, a.dims, a.ndims, a.all, a.keepdim, -1, NULL));
}

PyObject *ow_call_reduce(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    return perhaps_recorded(quick_reduce, arguments, n);
}

/* One tensor, or a tuple of several. */
static PyObject *finished_multi(ow_tensor **found, int count) {
    return count == 1 ? ow_new_owner(found[0]) : ow_new_owners(found, count);
}

static PyObject *quick_multi(PyObject *const *arguments, Py_ssize_t n) {
    along a;
    ow_tensor *found[OW_MAX_RESULTS] = {NULL}, *params[OW_MAX_PARAMS] = {NULL};
    if (!read_along(&a, OW_MULTI_FAMILIES, arguments, n) || (a.all && arguments[2] != Py_None)) return nothing();
    if (!ow_multi(a.op, a.self, a.dims, a.ndims, a.all, a.keepdim, -1, params, found)) return nothing();
    int count = 0;
    while (count < OW_MAX_RESULTS && found[count]) count++;
    return finished_multi(found, count);
}

PyObject *ow_call_multi(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    return perhaps_recorded(quick_multi, arguments, n);
}

/* lapack(op, tensor, ..., option, ...): options are bools and ints, and perhaps one float. */
PyObject *ow_call_lapack(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    const ow_op *op = n ? operator_of(arguments[0], OW_FAMILY(LAPACK)) : NULL;
    if (!op) return nothing();
    ow_tensor *inputs[OW_MAX_INPUTS] = {NULL}, *found[OW_LAPACK_RESULTS] = {NULL};
    int64_t flags[OW_LAPACK_FLAGS] = {0};
    double number = 0;
    int count = 0;
    for (int k = 0; k < op->ninputs; k++)
        if (k + 1 >= n || !(inputs[k] = ow_plain_tensor(arguments[k + 1]))) return nothing();
    for (Py_ssize_t k = 1 + op->ninputs; k < n; k++) {
        if (PyFloat_CheckExact(arguments[k])) number = PyFloat_AsDouble(arguments[k]);
        else if (count == OW_LAPACK_FLAGS) return nothing();
        else if (PyBool_Check(arguments[k])) flags[count++] = arguments[k] == Py_True;
        else if (!ow_read_int(arguments[k], &flags[count++])) return nothing();
    }
    int results = ow_lapack_call(op, inputs, flags, number, found);
    return results ? finished_multi(found, results) : nothing();
}

/* scan(op, tensor, dim) */
static PyObject *quick_scan(PyObject *const *arguments, Py_ssize_t n) {
    ow_tensor *self = n == 3 ? ow_plain_tensor(arguments[1]) : NULL;
    const ow_op *op = self ? operator_of(arguments[0], OW_FAMILY(SCAN)) : NULL;
    int64_t dim;
    if (!op || !ow_gives_value(op) || !ow_read_int(arguments[2], &dim)) return nothing();
    return finished(ow_scan(op, self, dim, -1, NULL, OW_NEW));
}

PyObject *ow_call_scan(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    return perhaps_recorded(quick_scan, arguments, n);
}

/* view(op, tensor, integer, ...) */
static PyObject *quick_view(PyObject *const *arguments, Py_ssize_t n) {
    int64_t ints[] = {OW_NONE, OW_NONE, OW_NONE, OW_NONE};
    ow_tensor *self = n <= 6 ? ow_plain_tensor(arguments[1]) : NULL;
    const ow_op *op = self ? operator_of(arguments[0], OW_FAMILY(VIEW)) : NULL;
    ow_ints lists[2];
    lists[0].n = lists[1].n = -1;
    for (Py_ssize_t k = 2; op && k < n; k++)
        if (!ow_read_int(arguments[k], &ints[k - 2])) op = NULL;
    if (!op) return nothing();
    return finished_view(ow_view_call(op, self, ints, lists), arguments[1]);
}

PyObject *ow_call_view(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    return perhaps_recorded(quick_view, arguments, n);
}

int ow_read_ints(PyObject *object, ow_ints *list) {
    int is_tuple = PyTuple_Check(object), is_list = PyList_Check(object);
    Py_ssize_t n = is_tuple ? PyTuple_Size(object) : is_list ? PyList_Size(object) : 1;
    if (n > OW_MAX_DIMS) return 0;
    list->n = (int32_t)n;
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *item = is_tuple ? PyTuple_GetItem(object, k) : is_list ? PyList_GetItem(object, k) : object;
        if (!ow_read_int(item, &list->v[k])) return 0;
    }
    return 1;
}

/* view_list(op, tensor, list): by a list of integers, one integer or None. */
static PyObject *quick_view_list(PyObject *const *arguments, Py_ssize_t n) {
    static const int64_t ints[] = {OW_NONE, OW_NONE, OW_NONE, OW_NONE};
    ow_ints lists[2];
    lists[0].n = lists[1].n = -1;
    ow_tensor *self = n == 3 ? ow_plain_tensor(arguments[1]) : NULL;
    const ow_op *op = self ? operator_of(arguments[0], OW_FAMILY(VIEW)) : NULL;
    if (!op || (arguments[2] != Py_None && !ow_read_ints(arguments[2], lists))) return nothing();
    return finished_view(ow_view_call(op, self, ints, lists), arguments[1]);
}

PyObject *ow_call_view_list(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    return perhaps_recorded(quick_view_list, arguments, n);
}

/* factory(op, sizes, dtype, number, ...): without a dtype, -1, integers make int64 and others the default dtype. */
PyObject *ow_call_factory(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    operands numbers;
    ow_ints sizes;
    int count = n < 3 || n > 3 + OW_MAX_INPUTS ? -1 : (int)n - 3, integers = count > 0;
    const ow_op *op = count < 0 ? NULL : operator_of(arguments[0], OW_FAMILY(FACTORY));
    int64_t dtype;
    if (!op || (count && count != op->nparams) || !ow_read_ints(arguments[1], &sizes)) return nothing();
    if (!ow_read_int(arguments[2], &dtype) || dtype >= OW_NDTYPES) return nothing();
    for (int k = 0; k < count; k++) {
        if (!read_number(&numbers, k, arguments[k + 3])) return nothing();
        integers &= numbers.inputs[k]->dtype == OW_INT64;
    }
    if (dtype < 0) dtype = integers ? OW_INT64 : ow_default_dtype;
    return finished(ow_factory(op, sizes.v, sizes.n, (int)dtype, count ? numbers.inputs : NULL, NULL));
}

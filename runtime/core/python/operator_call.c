/* Calls of operators with arguments in schema order: what each argument is for the core, and what becomes of the result. */
#include "operator_function.h"

#include "python_numbers.h"
#include "routines/random/random.h"
#include "tensor/registry.h"
#include "tensor_object.h"

static PyObject *take_pending, *code_name, *address_name;
static PyTypeObject *dtype_class, *generator_class;

PyObject *ow_set_call_types(PyObject *pending, PyObject *dtype, PyObject *generator) {
    take_pending = Py_NewRef(pending);
    dtype_class = (PyTypeObject *)Py_NewRef(dtype);
    generator_class = (PyTypeObject *)Py_NewRef(generator);
    code_name = PyUnicode_InternFromString("code");
    address_name = PyUnicode_InternFromString("_address");
    return code_name && address_name ? Py_NewRef(Py_None) : NULL;
}

PyObject *ow_raise_pending(void) {
    PyObject *error = PyObject_CallNoArgs(take_pending);
    if (!error) return NULL;
    if (PyExceptionInstance_Check(error)) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    else PyErr_SetString(PyExc_RuntimeError, "an operator failed without saying why");
    Py_DECREF(error);
    return NULL;
}

/* ---- kinds of values ---------------------------------------------------------------------------------------- */

static uint32_t kind_of_items(PyObject *sequence, int is_tuple) {
    Py_ssize_t n = is_tuple ? PyTuple_Size(sequence) : PyList_Size(sequence);
    uint32_t kinds = OW_IS_INTS | OW_IS_TENSORS;
    for (Py_ssize_t k = 0; k < n && kinds; k++) {
        PyObject *item = is_tuple ? PyTuple_GetItem(sequence, k) : PyList_GetItem(sequence, k);
        kinds &= PyLong_CheckExact(item) ? OW_IS_INTS : ow_is_tensor_class(Py_TYPE(item)) ? OW_IS_TENSORS : 0;
    }
    return kinds ? kinds : OW_IS_OTHER;
}

static uint32_t kind_of(PyObject *value) {
    PyTypeObject *type = Py_TYPE(value);
    if (ow_is_tensor_class(type)) return OW_IS_TENSOR;
    if (type == &PyLong_Type) return OW_IS_INT;
    if (value == Py_None) return OW_IS_NONE;
    if (type == &PyFloat_Type) return OW_IS_FLOAT;
    if (type == &PyBool_Type) return OW_IS_BOOL;
    if (type == &PyTuple_Type || ow_is_size_class(type)) return kind_of_items(value, 1);
    if (type == &PyList_Type) return kind_of_items(value, 0);
    if (type == &PyUnicode_Type) return OW_IS_STR;
    if (type == &PyComplex_Type) return OW_IS_COMPLEX;
    if (type == dtype_class) return OW_IS_DTYPE;
    return type == generator_class ? OW_IS_GENERATOR : OW_IS_OTHER;
}

/* ---- arguments of the core ---------------------------------------------------------------------------------- */

/* What is read so far of the arguments of a call, and the memory of its numbers. */
typedef struct {
    ow_call call;
    int inputs, params, ints, lists, reals;
    int any; /* are tensors of subclasses, and with dispatch keys, taken as well? */
    ow_number numbers[OW_MAX_INPUTS + OW_MAX_PARAMS];
    int nnumbers;
} reader;

static ow_tensor *tensor_in(const reader *r, PyObject *value) {
    return r->any ? ow_any_tensor(value) : ow_plain_tensor(value);
}

static ow_tensor *number_in(reader *r, PyObject *value) { return ow_read_number(value, &r->numbers[r->nnumbers++]); }

static int read_number(reader *r, PyObject *value) {
    ow_tensor **input = &r->call.inputs[r->inputs++];
    return value == Py_None || (*input = number_in(r, value)) != NULL;
}

/* Loops are compiled for default parameters, so it matters whether one has another value. */
static int is_default(PyObject *value, PyObject *standard) {
    if (value == standard) return 1;
    if (!PyLong_CheckExact(standard)) return 0;
    int overflow;
    long number = PyLong_AsLong(standard);
    if (PyFloat_CheckExact(value)) return PyFloat_AsDouble(value) == (double)number;
    return PyLong_CheckExact(value) && PyLong_AsLongAndOverflow(value, &overflow) == number && !overflow;
}

static int read_param(reader *r, PyObject *value, PyObject *standard) {
    ow_tensor **param = &r->call.params[r->params++];
    if (!is_default(value, standard)) r->call.has_params = 1;
    return value == Py_None || (*param = number_in(r, value)) != NULL;
}

static int read_integer(reader *r, PyObject *value) {
    int64_t *to = &r->call.ints[r->ints++];
    if (value == Py_None) return 1;
    r->call.given = r->ints;
    if (!PyBool_Check(value)) return ow_read_int(value, to);
    *to = value == Py_True;
    return 1;
}

/* A list that is longer than any tensor has dimensions is an error of the core. */
static int read_ints(PyObject *value, ow_ints *list) {
    Py_ssize_t n = PyTuple_Check(value) ? PyTuple_Size(value) : PyList_Check(value) ? PyList_Size(value) : 1;
    if (n <= OW_MAX_DIMS) return ow_read_ints(value, list);
    ow_fail(OW_RUNTIME_ERROR, "a tensor has at most %d dimensions, but the list is of %lld", OW_MAX_DIMS, (long long)n);
    return 0;
}

static int read_list(reader *r, PyObject *value) {
    ow_ints *list = &r->call.lists[r->lists++];
    return value == Py_None || read_ints(value, list);
}

/* Dimensions to reduce: one or several, or None or an empty list for all of them. */
static int read_dims(reader *r, PyObject *value) {
    ow_ints *list = &r->call.lists[r->lists++];
    if (value == Py_None) r->call.all = OW_NO_LIST;
    else if (!read_ints(value, list)) return 0;
    else if (!list->n) r->call.all = OW_EMPTY_LIST;
    return 1;
}

static int read_dtype(reader *r, PyObject *value) {
    if (value == Py_None) return 1;
    PyObject *code = PyObject_GetAttr(value, code_name);
    int64_t number;
    int done = code && ow_read_int(code, &number) && number >= 0 && number < OW_NDTYPES;
    Py_XDECREF(code);
    if (done) r->call.dtype = (int)number;
    return done;
}

static int read_real(reader *r, PyObject *value) {
    double number = PyFloat_Check(value) ? PyFloat_AsDouble(value) : PyLong_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    r->call.reals[r->reals++] = number;
    return 1;
}

static int read_word(reader *r, PyObject *words, PyObject *value) {
    PyObject *number = PyDict_Check(words) ? PyDict_GetItemWithError(words, value) : NULL;
    return number && ow_read_int(number, &r->call.ints[r->ints++]);
}

static int read_generator(reader *r, PyObject *value) {
    uintptr_t address = 0;
    if (value != Py_None) {
        PyObject *number = PyObject_GetAttr(value, address_name);
        address = number ? (uintptr_t)PyLong_AsUnsignedLongLong(number) : 0;
        Py_XDECREF(number);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            return 0;
        }
    }
    r->call.generator = ow_generator_at((ow_generator *)address);
    if (!r->call.generator) ow_fail(OW_RUNTIME_ERROR, "there is no generator at address 0x%llx", (unsigned long long)address);
    return r->call.generator != NULL;
}

/* The dispatcher has checked what is nothing to the core, such as a device. */
static int has_kind(const reader *r, const ow_function *f, int k, PyObject *value) {
    return (r->any && f->layout[k] == '-') || (kind_of(value) & f->kinds[k]) != 0;
}

/* One argument, by the letter of the layout that codegen/model/layout.py explains. Tensors, and parameters that are left at
 * their default, are most of all arguments. */
static int read_argument(reader *r, const ow_function *f, int k, PyObject *value) {
    PyObject *standard = f->standards[k];
    char letter = f->layout[k];
    if (letter == 't') {
        ow_tensor *t = tensor_in(r, value);
        if (t) {
            r->call.inputs[r->inputs++] = t;
            return 1;
        }
    } else if (value == standard && letter == '-') {
        return 1;
    }
    if (!has_kind(r, f, k, value)) return 0;
    switch (letter) {
    case 't': return read_number(r, value);
    case 'n': return read_param(r, value, standard);
    case 'i': return read_integer(r, value);
    case 'l': return read_list(r, value);
    case 'd': return read_dims(r, value);
    case 'k': return (r->call.keepdim = value == Py_True) || value == Py_False;
    case 'y': return read_dtype(r, value);
    case 'f': return read_real(r, value);
    case 'w': return read_word(r, f->words, value);
    case 'g': return read_generator(r, value);
    default: return r->any;
    }
}

/* A factory's dtype follows from its numbers: bool or int64 where all are such, complex where one is, else the default one. */
static void infer_dtype(ow_call *c, int count) {
    int bools = 0, integers = 0, complex = 0;
    if (c->op->family != OW_FACTORY || c->dtype >= 0 || c->out) return;
    for (int k = 0; k < count; k++) {
        int dtype = c->params[k] ? c->params[k]->dtype : OW_FLOAT64;
        bools += dtype == OW_BOOL;
        integers += dtype == OW_INT64 || dtype == OW_UINT64;
        complex += dtype == OW_COMPLEX128;
    }
    if (complex) c->dtype = ow_complex_dtype[ow_default_dtype];
    else if (!count || bools + integers < count) c->dtype = ow_default_dtype;
    else c->dtype = integers ? OW_INT64 : OW_BOOL;
}

static int read_call(reader *r, const ow_function *f, PyObject *const *values, PyObject *out, ow_mode mode) {
    ow_call_begin(&r->call, f->core);
    r->inputs = r->params = r->ints = r->lists = r->reals = r->nnumbers = 0;
    for (int k = 0; k < f->narguments; k++)
        if (!read_argument(r, f, k, values[k])) return 0;
    r->call.mode = mode;
    if (mode == OW_INPLACE && !(r->call.out = tensor_in(r, values[0]))) return 0;
    if (mode == OW_OUT && (!ow_takes_out(f->core) || !(r->call.out = tensor_in(r, out)))) return 0;
    if (r->call.out && f->core->family == OW_FACTORY && r->call.dtype >= 0 && !r->any) return 0; /* it may contradict `out` */
    if (r->call.keepdim && ow_first_alone(&r->call)) return 0; /* it has no dimensions to keep */
    infer_dtype(&r->call, r->params);
    return 1;
}

/* ---- results ------------------------------------------------------------------------------------------------ */

static PyObject *named(const ow_function *f, PyObject *results) {
    if (!results || f->results == Py_None || !PyTuple_Check(results)) return results;
    PyObject *made = PyObject_CallFunctionObjArgs(f->results, results, NULL);
    Py_DECREF(results);
    return made;
}

static PyObject *finished(const ow_function *f, ow_call *c, int count, PyObject *const *values, PyObject *out) {
    if (c->mode == OW_INPLACE) return Py_NewRef(values[f->leads]);
    if (c->mode == OW_OUT) return Py_NewRef(out);
    if (f->core->family == OW_VIEW) return ow_new_view(c->results[0], values[0]);
    return count == 1 ? ow_new_owner(c->results[0]) : named(f, ow_new_owners(c->results, count));
}

static PyObject *core_call(const ow_function *f, PyObject *const *values, PyObject *out, ow_mode mode, int any) {
    reader r;
    r.any = any;
    if (!read_call(&r, f, values, out, mode)) return ow_error_pending() ? ow_raise_pending() : NULL;
    if (!any && f->core->family == OW_ELEMENTWISE) {
        int tensors = 0;
        for (int k = 0; k < f->core->ninputs; k++) tensors |= r.call.inputs[k] && !(r.call.inputs[k]->flags & OW_NUMBER);
        if (!tensors) return NULL;
    }
    int count = ow_invoke(&r.call);
    if (!count) return ow_error_pending() ? ow_raise_pending() : NULL;
    return finished(f, &r.call, count, values, out);
}

/* Where a history is recorded, the call is not plain: it is made once more without a look at histories, and then the
 * result gets its own. */
static PyObject *recorded_call(const ow_function *f, PyObject *const *values) {
    ow_excluded_keys |= OW_KEY_AUTOGRAD;
    PyObject *result = core_call(f, values, Py_None, OW_NEW, 0);
    ow_excluded_keys &= ~(uint32_t)OW_KEY_AUTOGRAD;
    return result ? ow_recorded(result, f->number, values, f->narguments) : NULL;
}

/* Lists of tensors are at most two deep; a list may contain itself. */
static uint32_t keys_of(PyObject *value, int depth) {
    if (PyTuple_Check(value) || PyList_Check(value)) {
        uint32_t keys = 0;
        int is_tuple = PyTuple_Check(value);
        Py_ssize_t n = depth ? is_tuple ? PyTuple_Size(value) : PyList_Size(value) : 0;
        for (Py_ssize_t k = 0; k < n; k++)
            keys |= keys_of(is_tuple ? PyTuple_GetItem(value, k) : PyList_GetItem(value, k), depth - 1);
        return keys;
    }
    const ow_tensor *t = ow_any_tensor(value);
    if (!t) return 0;
    uint32_t keys = t->keys;
    if (ow_follows_base((const owner *)value, t)) keys |= OW_KEY_AUTOGRAD;
    if (!ow_is_tensor_class(Py_TYPE(value))) keys |= OW_KEY_SUBCLASS;
    return keys & ~ow_excluded_keys;
}

/* ---- composites --------------------------------------------------------------------------------------------- */

/* Is a tensor for the body as it is? With a gradient it is where the operators that the body calls record it. */
static int is_dense(const ow_function *f, PyObject *value) {
    if (f->differentiable && f->fast == Py_None) return ow_plain_tensor(value) != NULL;
    const ow_tensor *t = ow_any_tensor(value);
    return t && !(ow_keys(t) & ~(uint32_t)OW_KEY_AUTOGRAD);
}

static int are_dense(const ow_function *f, PyObject *sequence) {
    int is_tuple = PyTuple_Check(sequence);
    Py_ssize_t n = is_tuple ? PyTuple_Size(sequence) : PyList_Size(sequence);
    for (Py_ssize_t k = 0; k < n; k++)
        if (!is_dense(f, is_tuple ? PyTuple_GetItem(sequence, k) : PyList_GetItem(sequence, k))) return 0;
    return 1;
}

/* The dtype that a composite may refuse is the one asked for, or that of its first tensor. */
static int is_refused(const ow_function *f, PyObject *const *values) {
    if (!f->refused) return 0;
    const ow_tensor *first = NULL;
    for (int k = 0; k < f->narguments; k++) {
        if (f->layout[k] == 'y' && values[k] != Py_None) return 1; /* the dispatcher reads it */
        if (!k) first = ow_any_tensor(values[k]);
    }
    return f->refused >> (first ? first->dtype : ow_default_dtype) & 1;
}

static PyObject *called(PyObject *function, PyObject *const *values, int n) {
    PyObject *arguments = PyTuple_New(n);
    for (int k = 0; arguments && k < n; k++) PyTuple_SetItem(arguments, k, Py_NewRef(values[k]));
    PyObject *result = arguments ? PyObject_Call(function, arguments, NULL) : NULL;
    Py_XDECREF(arguments);
    return result;
}

/* (function, argument, ...): an argument is the place of one of the values, or a tuple with a constant. */
static PyObject *fast_call(const ow_function *f, PyObject *const *values) {
    Py_ssize_t n = PyTuple_Size(f->fast) - 1;
    PyObject *arguments = PyTuple_New(n);
    for (Py_ssize_t k = 0; arguments && k < n; k++) {
        PyObject *argument = PyTuple_GetItem(f->fast, k + 1);
        PyObject *value = PyTuple_Check(argument) ? PyTuple_GetItem(argument, 0) : values[PyLong_AsLong(argument)];
        PyTuple_SetItem(arguments, k, Py_NewRef(value));
    }
    PyObject *result = arguments ? PyObject_Call(PyTuple_GetItem(f->fast, 0), arguments, NULL) : NULL;
    Py_XDECREF(arguments);
    return result;
}

/* Ints beyond 64 bits are none for a body; the slow path says so. */
static int fits(PyObject *value, uint32_t kind) {
    int64_t number;
    ow_ints list;
    if (kind == OW_IS_INT) return ow_read_int(value, &number);
    return !(kind & OW_IS_INTS) || ow_read_ints(value, &list);
}

static PyObject *composite_call(const ow_function *f, PyObject *const *values) {
    for (int k = 0; k < f->narguments; k++) {
        uint32_t kind = kind_of(values[k]);
        if (!(kind & f->kinds[k]) || !fits(values[k], kind)) return NULL;
        if (kind == OW_IS_TENSOR && !is_dense(f, values[k])) return NULL;
        if (kind == OW_IS_TENSORS && !are_dense(f, values[k])) return NULL;
        if (kind == OW_IS_OTHER && keys_of(values[k], 3)) return NULL; /* where the body judges what a value is */
    }
    if (f->fast != Py_None) {
        PyObject *result = fast_call(f, values);
        if (!result) return NULL;
        if (result != Py_None) return named(f, result);
        Py_DECREF(result);
        if (f->differentiable && ow_any_records(values, f->narguments)) return NULL;
    }
    return is_refused(f, values) ? NULL : named(f, called(f->body, values, f->narguments));
}

/* A factory that Python finishes: its body is given what makes the tensor as well. */
static PyObject *body_call(const ow_function *f, PyObject *const *values) {
    PyObject *all[OW_MAX_ARGUMENTS + 1];
    for (int k = 0; k < f->narguments; k++) {
        uint32_t kind = kind_of(values[k]);
        if (!(kind & f->kinds[k]) || kind == OW_IS_OTHER || keys_of(values[k], 3)) return NULL;
        all[k] = values[k];
    }
    all[f->narguments] = f->fast;
    return called(f->body, all, f->narguments + 1);
}

/* ---- entrances ---------------------------------------------------------------------------------------------- */

PyObject *ow_quick_call(const ow_function *f, PyObject *const *values, PyObject *out) {
    ow_mode mode = f->form == OW_IN_PLACE || f->form == OW_AUGMENTED ? OW_INPLACE : out != Py_None ? OW_OUT : OW_NEW;
    if (!f->core) return mode == OW_NEW && f->body != Py_None ? composite_call(f, values) : NULL;
    if (f->body != Py_None) return mode == OW_NEW ? body_call(f, values) : NULL;
    if (mode == OW_INPLACE && f->core->family == OW_VIEW) return NULL; /* the tensor becomes the view */
    PyObject *result = core_call(f, values, out, mode, 0);
    if (result || PyErr_Occurred() || mode != OW_NEW || !ow_any_records(values, f->narguments)) return result;
    return recorded_call(f, values);
}

PyObject *ow_quick_operands(const ow_function *f, PyObject *left, PyObject *right) {
    PyObject *values[OW_MAX_ARGUMENTS] = {left, right};
    for (int k = 2; k < f->narguments; k++) values[k] = f->standards[k];
    return ow_quick_call(f, values, Py_None);
}

static int is_function(PyObject *object) { return (PyObject *)Py_TYPE(object) == ow_function_type(); }

PyObject *ow_invoke_python(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    int64_t mode;
    const ow_function *f = n == 4 && is_function(arguments[0]) ? (const ow_function *)arguments[0] : NULL;
    if (!f || !f->core || !PyTuple_Check(arguments[1]) || PyTuple_Size(arguments[1]) != f->narguments ||
        !ow_read_int(arguments[3], &mode) || mode < OW_NEW || mode > OW_OUT)
        return PyErr_Format(PyExc_TypeError, "invoke() takes a function of the core, its arguments, a tensor and a mode");
    PyObject *values[OW_MAX_ARGUMENTS];
    for (int k = 0; k < f->narguments; k++) values[k] = PyTuple_GetItem(arguments[1], k);
    if (ow_error_pending()) return ow_raise_pending();
    PyObject *result = core_call(f, values, arguments[2], (ow_mode)mode, 1);
    if (!result && !PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%U() got arguments that do not fit its schema", f->name);
    return result;
}

PyObject *ow_keys_of(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    uint32_t keys = 0;
    for (Py_ssize_t k = 0; k < n; k++) keys |= keys_of(arguments[k], 3);
    return PyLong_FromUnsignedLong(keys);
}

PyObject *ow_recorded_operands(const ow_op *op, PyObject *const *operands) {
    ow_excluded_keys |= OW_KEY_AUTOGRAD;
    ow_tensor *inputs[OW_MAX_INPUTS] = {ow_plain_tensor(operands[0]), ow_plain_tensor(operands[1])};
    ow_tensor *result = inputs[0] && inputs[1] ? ow_extern(op, inputs, NULL, NULL, OW_NEW) : NULL;
    ow_excluded_keys &= ~(uint32_t)OW_KEY_AUTOGRAD;
    return result ? ow_recorded(ow_new_owner(result), ow_op_number(op), operands, 2) : ow_declined();
}

/* call_kernel(number, operand, ...): an elementwise kernel of dense operands and all its parameters, as derivatives call
 * theirs; None where they are not dense, or do not fit together. */
PyObject *ow_call_kernel(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    int64_t number;
    ow_tensor *inputs[OW_MAX_INPUTS] = {NULL}, *params[OW_MAX_PARAMS];
    ow_number numbers[OW_MAX_INPUTS + OW_MAX_PARAMS];
    const ow_op *op = n && ow_read_int(arguments[0], &number) ? ow_op_get(number, OW_FAMILY(ELEMENTWISE)) : NULL;
    if (!op || n - 1 != op->ninputs + op->nparams) Py_RETURN_NONE;
    for (Py_ssize_t k = 0; k + 1 < n; k++) {
        PyObject *operand = arguments[k + 1];
        ow_tensor **to = k < op->ninputs ? &inputs[k] : &params[k - op->ninputs];
        if (k < op->ninputs && operand == Py_None && op->absent[k] != OW_REQUIRED) continue;
        if (k < op->ninputs && (*to = ow_plain_tensor(operand))) continue;
        if (!(*to = ow_read_number(operand, &numbers[k]))) Py_RETURN_NONE;
    }
    ow_tensor *result = ow_elementwise(op, inputs, op->nparams ? params : NULL, NULL, OW_NEW);
    if (result) return ow_new_owner(result);
    ow_error_take(NULL, 0);
    Py_RETURN_NONE;
}

static PyObject *unfit(const char *what, PyObject *value) {
    if (ow_error_pending()) return ow_raise_pending();
    PyObject *first = PyList_Check(value) && PyList_Size(value) ? PyList_GetItem(value, 0) : value;
    if (PyLong_CheckExact(first)) return PyErr_Format(PyExc_OverflowError, "int too big to convert");
    return PyErr_Format(PyExc_TypeError, "produce() takes %s, but got %R", what, value);
}

/* produce(number, out, standard, sizes, dtype, number, ...): a factory's result. Without a dtype it is the standard one, whose
 * number -1 leaves it to the numbers. */
PyObject *ow_produce(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    int64_t number, standard;
    reader r = {.any = 1};
    int count = (int)n - 5;
    const ow_op *op = count >= 0 && ow_read_int(arguments[0], &number) ? ow_op_get(number, OW_FAMILY(FACTORY)) : NULL;
    if (!op || count > op->nparams) return PyErr_Format(PyExc_TypeError, "produce() takes a factory and its arguments");
    ow_call_begin(&r.call, op);
    int is_dtype = arguments[4] == Py_None || Py_TYPE(arguments[4]) == dtype_class;
    if (!ow_read_int(arguments[2], &standard) || standard >= OW_NDTYPES || !is_dtype || !read_dtype(&r, arguments[4]))
        return PyErr_Format(PyExc_TypeError, "produce() takes dtypes, but got %R and %R", arguments[2], arguments[4]);
    if (r.call.dtype < 0) r.call.dtype = (int)standard;
    if (arguments[3] == Py_None || !read_list(&r, arguments[3]))
        return unfit("sizes", arguments[3]);
    if (arguments[1] != Py_None && !(r.call.out = ow_any_tensor(arguments[1])))
        return PyErr_Format(PyExc_TypeError, "produce() takes a tensor to write to, or None, but got %R", arguments[1]);
    for (int k = 0; k < count; k++)
        if (!(r.call.params[k] = number_in(&r, arguments[k + 5])))
            return unfit("numbers", arguments[k + 5]);
    r.call.has_params = count > 0;
    infer_dtype(&r.call, count);
    if (!ow_invoke(&r.call)) return ow_raise_pending();
    return r.call.out ? Py_NewRef(arguments[1]) : ow_new_owner(r.call.results[0]);
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

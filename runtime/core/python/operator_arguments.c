/* From Python's values to the fields of a call. */
#include "operator_arguments.h"

#include "routines/random/random.h"
#include "tensor_object.h"

static PyObject *code_name, *address_name, *number_name, *order_name;
static PyTypeObject *dtype_class, *generator_class, *format_class;

PyObject *ow_set_argument_types(PyObject *const *classes) {
    dtype_class = (PyTypeObject *)Py_NewRef(classes[0]);
    generator_class = (PyTypeObject *)Py_NewRef(classes[1]);
    format_class = (PyTypeObject *)Py_NewRef(classes[2]);
    code_name = PyUnicode_InternFromString("code");
    address_name = PyUnicode_InternFromString("_address");
    number_name = PyUnicode_InternFromString("_number");
    order_name = PyUnicode_InternFromString("order");
    return code_name && address_name && number_name && order_name ? Py_NewRef(Py_None) : NULL;
}

int ow_is_dtype(PyObject *value) { return Py_TYPE(value) == dtype_class; }

/* ---- kinds of values ---------------------------------------------------------------------------------------- */

static uint32_t kind_of_items(PyObject *sequence, int is_tuple) {
    Py_ssize_t n = is_tuple ? PyTuple_Size(sequence) : PyList_Size(sequence);
    uint32_t kinds = OW_IS_INTS | OW_IS_TENSORS;
    for (Py_ssize_t k = 0; k < n && kinds; k++) {
        PyObject *item = is_tuple ? PyTuple_GetItem(sequence, k) : PyList_GetItem(sequence, k);
        int may_be_tensor = item == Py_None || ow_is_tensor_class(Py_TYPE(item));
        kinds &= PyLong_CheckExact(item) ? OW_IS_INTS : may_be_tensor ? OW_IS_TENSORS : 0;
    }
    return kinds ? kinds : OW_IS_OTHER;
}

uint32_t ow_kind_of(PyObject *value) {
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
    if (type == generator_class) return OW_IS_GENERATOR;
    return type == format_class ? OW_IS_FORMAT : OW_IS_OTHER;
}

/* ---- arguments of the core ---------------------------------------------------------------------------------- */

static ow_tensor *tensor_in(const ow_reader *r, PyObject *value) {
    return r->any ? ow_any_tensor(value) : ow_plain_tensor(value);
}

ow_tensor *ow_number_in(ow_reader *r, PyObject *value) { return ow_read_number(value, &r->numbers[r->nnumbers++]); }

static int read_number(ow_reader *r, PyObject *value) {
    ow_tensor **input = &r->call.inputs[r->inputs++];
    return value == Py_None || (*input = ow_number_in(r, value)) != NULL;
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

static int read_param(ow_reader *r, PyObject *value, PyObject *standard) {
    ow_tensor **param = &r->call.params[r->params++];
    if (!is_default(value, standard)) r->call.has_params = 1;
    return value == Py_None || (*param = ow_number_in(r, value)) != NULL;
}

static int read_integer(ow_reader *r, PyObject *value) {
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

int ow_read_list(ow_reader *r, PyObject *value) {
    ow_ints *list = &r->call.lists[r->lists++];
    return value == Py_None || read_ints(value, list);
}

/* Dimensions to reduce: one or several, or None or an empty list for all of them. */
static int read_dims(ow_reader *r, PyObject *value) {
    ow_ints *list = &r->call.lists[r->lists++];
    if (value == Py_None) r->call.all = OW_NO_LIST;
    else if (!read_ints(value, list)) return 0;
    else if (!list->n) r->call.all = OW_EMPTY_LIST;
    return 1;
}

int ow_read_dtype(ow_reader *r, PyObject *value) {
    if (value == Py_None) return 1;
    PyObject *code = PyObject_GetAttr(value, code_name);
    int64_t number;
    int done = code && ow_read_int(code, &number) && number >= 0 && number < OW_NSTORED;
    Py_XDECREF(code);
    if (done) r->call.dtype = (int)number;
    return done;
}

int ow_read_order(PyObject *value, int64_t *to) {
    *to = OW_PRESERVE_ORDER;
    if (value == Py_None) return 1;
    if (Py_TYPE(value) != format_class) return 0;
    PyObject *order = PyObject_GetAttr(value, order_name);
    int done = order && ow_read_int(order, to);
    Py_XDECREF(order);
    return done;
}

/* With `gaps`, items may be None. */
static int read_tensors(ow_reader *r, PyObject *value, int gaps) {
    int is_tuple = PyTuple_Check(value);
    Py_ssize_t n = is_tuple ? PyTuple_Size(value) : PyList_Check(value) ? PyList_Size(value) : -1;
    if (n < 0 || n > INT32_MAX) return 0;
    ow_tensor **tensors = r->few_tensors;
    if (n > OW_FEW_TENSORS) {
        int64_t nbytes = (int64_t)((size_t)n * (sizeof *r->items + sizeof *tensors));
        PyObject **memory = ow_alloc(nbytes);
        if (!memory) return 0;
        r->items = memory;
        r->nbytes = nbytes;
        tensors = (ow_tensor **)(memory + n);
    }
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *item = is_tuple ? PyTuple_GetItem(value, k) : PyList_GetItem(value, k);
        if (!(tensors[k] = tensor_in(r, item)) && !(gaps && item == Py_None)) return 0;
        r->items[r->nitems++] = Py_NewRef(item);
    }
    r->call.list = tensors;
    r->call.count = (int)n;
    return 1;
}

void ow_read_end(ow_reader *r) {
    for (int k = 0; k < r->nitems; k++) Py_DECREF(r->items[k]);
    if (r->nbytes) ow_dealloc(r->items, r->nbytes);
}

static int read_real(ow_reader *r, PyObject *value) {
    double number = PyFloat_Check(value) ? PyFloat_AsDouble(value) : PyLong_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    r->call.reals[r->reals++] = number;
    return 1;
}

static int read_word(ow_reader *r, PyObject *words, PyObject *value) {
    PyObject *number = PyDict_Check(words) ? PyDict_GetItemWithError(words, value) : NULL;
    return number && ow_read_int(number, &r->call.ints[r->ints++]);
}

static unsigned long long number_of(PyObject *object, PyObject *name) {
    PyObject *number = PyObject_GetAttr(object, name);
    unsigned long long value = number ? PyLong_AsUnsignedLongLong(number) : 0;
    Py_XDECREF(number);
    return value;
}

static int read_generator(ow_reader *r, PyObject *value) {
    uintptr_t address = 0;
    if (value != Py_None) {
        address = (uintptr_t)number_of(value, address_name);
        if (!PyErr_Occurred()) r->call.generator_device = (int64_t)number_of(value, number_name);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            return 0;
        }
    }
    r->call.generator = ow_generator_at((ow_generator *)address);
    if (!r->call.generator) ow_fail(OW_RUNTIME_ERROR, "there is no generator at address 0x%llx", (unsigned long long)address);
    return r->call.generator != NULL;
}

/* The dispatcher has checked what is nothing to the core, such as a device, and lists. */
static int has_kind(const ow_reader *r, const ow_function *f, int k, PyObject *value) {
    return (r->any && strchr("-so", f->layout[k])) || (ow_kind_of(value) & f->kinds[k]) != 0;
}

/* One argument, by the letter of the layout that codegen/model/layout.py explains. Tensors, and parameters that are left at
 * their default, are most of all arguments. */
static int read_argument(ow_reader *r, const ow_function *f, int k, PyObject *value) {
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
    } else if (value == standard && letter == 'n' && f->core->family != OW_FACTORY) {
        r->params++; /* NULL: the default; the dtype of a factory follows from its numbers */
        return 1;
    }
    if (!has_kind(r, f, k, value)) return 0;
    switch (letter) {
    case 't': return read_number(r, value);
    case 'n': return read_param(r, value, standard);
    case 'i': return read_integer(r, value);
    case 'l': return ow_read_list(r, value);
    case 'd': return read_dims(r, value);
    case 'k': return (r->call.keepdim = value == Py_True) || value == Py_False;
    case 'y': return ow_read_dtype(r, value);
    case 'f': return read_real(r, value);
    case 'w': return read_word(r, f->words, value);
    case 'g': return read_generator(r, value);
    case 'm': return ow_read_order(value, &r->call.ints[r->ints++]);
    case 's': return read_tensors(r, value, 0);
    case 'o': return read_tensors(r, value, 1);
    default: return r->any;
    }
}

/* A factory's dtype follows from its numbers: bool or int64 where all are such, complex where one is, else the default one. */
void ow_infer_dtype(ow_call *c, int count) {
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

/* Where a call is to write its results: one tensor, or as many of them as the operator has results. */
static int read_out(ow_reader *r, const ow_function *f, PyObject *out) {
    const int several = f->core->family == OW_ELEMENTWISE && f->core->results > 1;
    if (!f->takes_out) return 0;
    if (!several) return (r->call.out = tensor_in(r, out)) != NULL;
    if (!PyTuple_Check(out) || PyTuple_Size(out) != f->core->results) return 0;
    for (int k = 0; k < f->core->results; k++)
        if (!(r->call.results[k] = tensor_in(r, PyTuple_GetItem(out, k)))) return 0;
    r->call.out = r->call.results[0];
    return 1;
}

int ow_read_call(ow_reader *r, const ow_function *f, PyObject *const *values, PyObject *out, ow_mode mode) {
    ow_call_begin(&r->call, f->core);
    r->inputs = r->params = r->ints = r->lists = r->reals = r->nnumbers = r->nitems = 0;
    r->items = r->few_items;
    r->nbytes = 0;
    for (int k = 0; k < f->narguments; k++)
        if (!read_argument(r, f, k, values[k])) return 0;
    r->call.mode = mode;
    if (mode == OW_INPLACE && !(r->call.out = tensor_in(r, values[0]))) return 0;
    if (mode == OW_OUT && !read_out(r, f, out)) return 0;
    if (r->call.out && f->core->family == OW_FACTORY && r->call.dtype >= 0 && !r->any) return 0; /* it may contradict `out` */
    if (r->call.keepdim && ow_first_alone(&r->call)) return 0; /* it has no dimensions to keep */
    ow_infer_dtype(&r->call, r->params);
    return 1;
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

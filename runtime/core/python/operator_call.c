/* Calls of operators with arguments in schema order, and what becomes of their results. */
#include <string.h>

#include "families/plan.h"
#include "operator_arguments.h"
#include "tensor/registry.h"
#include "tensor/storage.h"
#include "tensor_object.h"

static PyObject *take_pending, *warn, *takes_part, *dispatches_not;

PyObject *ow_set_call_types(PyObject *const *functions, PyObject *const *classes) {
    take_pending = Py_NewRef(functions[0]);
    warn = Py_NewRef(functions[1]);
    takes_part = Py_NewRef(functions[2]);
    dispatches_not = Py_NewRef(functions[3]);
    return ow_set_argument_types(classes);
}

PyObject *ow_raise_pending(void) {
    PyObject *error = PyObject_CallNoArgs(take_pending);
    if (!error) return NULL;
    if (PyExceptionInstance_Check(error)) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    else PyErr_SetString(PyExc_RuntimeError, "an operator failed without saying why");
    Py_DECREF(error);
    return NULL;
}

/* ---- results ------------------------------------------------------------------------------------------------ */

static PyObject *named(const ow_function *f, PyObject *results) {
    if (!results || f->results == Py_None || !PyTuple_Check(results)) return results;
    PyObject *made = PyObject_CallFunctionObjArgs(f->results, results, NULL);
    Py_DECREF(results);
    return made;
}

/* What the body of a composite has returned. */
static PyObject *of_body(const ow_function *f, PyObject *const *values, PyObject *results) {
    if (results) ow_own_results(results, values, f->narguments);
    return named(f, results);
}

static PyObject *finished(const ow_function *f, ow_call *c, int count, PyObject *const *values, PyObject *out) {
    if (c->mode == OW_INPLACE) return Py_NewRef(values[f->leads]);
    if (c->mode == OW_OUT) return named(f, Py_NewRef(out));
    if (f->core->family == OW_VIEW) return ow_new_view(c->results[0], values[0]);
    return count == 1 ? ow_new_owner(c->results[0]) : named(f, ow_new_owners(c->results, count));
}

/* The result, unless the user has warnings raise. */
static PyObject *warned(PyObject *result) {
    const char *text = ow_warning_take();
    if (!text || !result) return result;
    PyObject *done = PyObject_CallFunction(warn, "s", text);
    if (!done) Py_CLEAR(result);
    Py_XDECREF(done);
    return result;
}

static PyObject *answer(ow_reader *r, const ow_function *f, PyObject *const *values, PyObject *out, ow_mode mode) {
    if (!ow_read_call(r, f, values, out, mode)) return NULL;
    if (!r->any && f->core->family == OW_ELEMENTWISE) {
        int tensors = 0;
        for (int k = 0; k < f->core->ninputs; k++) tensors |= r->call.inputs[k] && !(r->call.inputs[k]->flags & OW_NUMBER);
        if (!tensors) return NULL;
    }
    int count = r->any == OW_DESCRIBED ? ow_describe_results(&r->call)
                : r->any == OW_MADE    ? ow_make_results(&r->call)
                : r->any               ? ow_invoke_anywhere(&r->call)
                                       : ow_invoke_here(&r->call);
    return count ? finished(f, &r->call, count, values, out) : NULL;
}

static PyObject *core_call(const ow_function *f, PyObject *const *values, PyObject *out, ow_mode mode, int any) {
    ow_reader r;
    r.any = any;
    PyObject *result = answer(&r, f, values, out, mode);
    if (f->core->family == OW_CORE) ow_read_end(&r);
    if (f->core->family == OW_CORE || mode == OW_OUT) result = warned(result);
    return result || PyErr_Occurred() || !ow_error_pending() ? result : ow_raise_pending();
}

/* Where a history is recorded, the call is not plain: it is made once more without a look at histories, and then the
 * result gets its own. */
static PyObject *recorded_call(const ow_function *f, PyObject *const *values) {
    ow_excluded_keys |= OW_KEY_AUTOGRAD;
    PyObject *result = core_call(f, values, Py_None, OW_NEW, 0);
    ow_excluded_keys &= ~(uint32_t)OW_KEY_AUTOGRAD;
    return result ? ow_recorded(result, f->number, values, f->narguments) : NULL;
}

/* Does an object of another class take part in `__torch_function__`? */
static int has_protocol(PyObject *value) {
    if (!(ow_kind_of(value) & OW_IS_OTHER)) return 0;
    PyObject *answer = PyObject_CallFunctionObjArgs(takes_part, value, NULL);
    if (!answer) PyErr_Clear();
    Py_XDECREF(answer);
    return answer == Py_True;
}

/* The keys that a tensor has by its class. */
static uint32_t keys_of_class(PyTypeObject *type) {
    if (ow_is_tensor_class(type)) return 0;
    PyObject *dispatch = PyObject_GetAttrString((PyObject *)type, "__torch_dispatch__");
    if (!dispatch) PyErr_Clear();
    Py_XDECREF(dispatch);
    return OW_KEY_SUBCLASS | (dispatch && dispatch != dispatches_not ? OW_KEY_PYTHON : 0);
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
    if (!t) return has_protocol(value) ? OW_KEY_SUBCLASS & ~ow_excluded_keys : 0;
    uint32_t keys = t->keys;
    if (ow_follows_base((const owner *)value, t)) keys |= OW_KEY_AUTOGRAD;
    keys |= keys_of_class(Py_TYPE(value));
    return keys & ~ow_excluded_keys;
}

/* ---- composites --------------------------------------------------------------------------------------------- */

/* Is a tensor for the body as it is? With a gradient it is where the operators that the body calls record it, and none of them
 * overwrites it. */
static int is_dense(const ow_function *f, PyObject *value) {
    if (f->form == OW_IN_PLACE || (f->differentiable && f->fast == Py_None)) return ow_plain_tensor(value) != NULL;
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

/* Perhaps: what a composite refuses is the dtype asked for, or that of its first tensor, or the one to which two promote, which
 * the dispatcher tells apart. */
static int is_refused(const ow_function *f, PyObject *const *values) {
    if (!f->refused) return 0;
    for (int k = 0; k < f->narguments; k++) {
        if (f->layout[k] == 'y' && values[k] != Py_None) return 1; /* the dispatcher reads it */
        const ow_tensor *t = ow_any_tensor(values[k]);
        if (t && f->refused >> t->dtype & 1) return 1;
        if (!k && !t && f->refused >> ow_default_dtype & 1) return 1;
    }
    return 0;
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

/* The target of a call in place with what the body of another form has returned, which may be the target itself. */
static PyObject *assigned(const ow_function *f, PyObject *const *values, PyObject *result) {
    PyObject *target = values[f->leads];
    if (!result || result == target || f->fast == Py_None) return result;
    PyObject *stored = PyObject_CallFunctionObjArgs(f->fast, target, result, NULL);
    Py_DECREF(result);
    return stored;
}

static PyObject *composite_call(const ow_function *f, PyObject *const *values) {
    for (int k = 0; k < f->narguments; k++) {
        uint32_t kind = ow_kind_of(values[k]);
        if (!(kind & f->kinds[k]) || !fits(values[k], kind)) return NULL;
        if (kind == OW_IS_TENSOR && !is_dense(f, values[k])) return NULL;
        if (kind == OW_IS_TENSORS && !are_dense(f, values[k])) return NULL;
        if (kind == OW_IS_OTHER && keys_of(values[k], 3)) return NULL; /* where the body judges what a value is */
    }
    if (f->fast != Py_None && f->form != OW_IN_PLACE) {
        PyObject *result = fast_call(f, values);
        if (!result) return NULL;
        if (result != Py_None) return of_body(f, values, result);
        Py_DECREF(result);
        if (f->differentiable && ow_any_records(values, f->narguments)) return NULL;
    }
    if (is_refused(f, values)) return NULL;
    PyObject *result = of_body(f, values, called(f->body, values, f->narguments));
    return f->form == OW_IN_PLACE ? assigned(f, values, result) : result;
}

/* A factory that Python finishes: its body is given what makes the tensor as well. */
static PyObject *body_call(const ow_function *f, PyObject *const *values) {
    PyObject *all[OW_MAX_ARGUMENTS + 1];
    for (int k = 0; k < f->narguments; k++) {
        uint32_t kind = ow_kind_of(values[k]);
        if (!(kind & f->kinds[k]) || kind == OW_IS_OTHER || keys_of(values[k], 3)) return NULL;
        all[k] = values[k];
    }
    all[f->narguments] = f->fast;
    return called(f->body, all, f->narguments + 1);
}

/* ---- tensors of other devices ------------------------------------------------------------------------------- */

uint32_t ow_answered_keys;

/* set_answered(keys) */
PyObject *ow_set_answered(PyObject *module, PyObject *keys) {
    (void)module;
    unsigned long bits = PyLong_AsUnsignedLong(keys);
    if (PyErr_Occurred()) return NULL;
    ow_answered_keys = (uint32_t)bits;
    Py_RETURN_NONE;
}

/* Does the core know all that the call takes, for tensors with these keys? Placements, words and lists of tensors are for the
 * dispatcher, as are views that may take a copy. */
static int is_answered(const ow_function *f, PyObject *const *values, uint32_t keys) {
    if (!keys || keys & ~ow_answered_keys || strpbrk(f->layout, "sow") || f->core->copies) return 0;
    for (int k = 0; k < f->narguments; k++)
        if (f->layout[k] == '-' && values[k] != f->standards[k]) return 0;
    for (int kind = OW_REGISTERED_DEVICES; kind < OW_DEVICE_KINDS; kind++) {
        int is_on = (keys & ow_device_key((ow_device)kind)) != 0;
        if (is_on && f->core->family != OW_VIEW && !ow_device_has_run(kind, (ow_family)f->core->family)) return 0;
    }
    return 1;
}

/* NULL without an error: the dispatcher is to answer. */
static PyObject *call_elsewhere(const ow_function *f, PyObject *const *values, PyObject *out, ow_mode mode) {
    uint32_t keys = keys_of(out, 1);
    for (int k = 0; k < f->narguments; k++) keys |= keys_of(values[k], 0);
    if (!is_answered(f, values, keys)) return NULL;
    PyObject *result = core_call(f, values, out, mode, OW_ANYWHERE);
    if (!result && PyErr_ExceptionMatches(PyExc_NotImplementedError)) PyErr_Clear(); /* a fallback may have it */
    return result;
}

/* ---- entrances ---------------------------------------------------------------------------------------------- */

PyObject *ow_quick_call(const ow_function *f, PyObject *const *values, PyObject *out) {
    if (ow_included_keys & ~ow_excluded_keys) return NULL;
    ow_mode mode = f->form == OW_IN_PLACE || f->form == OW_AUGMENTED ? OW_INPLACE : out != Py_None ? OW_OUT : OW_NEW;
    /* Tensors that are made within a composite, or by a factory, are where the dispatcher says. */
    if (ow_default_device && (!f->core || f->core->family == OW_FACTORY)) return NULL;
    if (!f->core) return (mode == OW_NEW || f->form == OW_IN_PLACE) && f->body != Py_None ? composite_call(f, values) : NULL;
    if (f->body != Py_None) return mode == OW_NEW ? body_call(f, values) : NULL;
    if (mode == OW_INPLACE && f->core->family == OW_VIEW) return NULL; /* the tensor becomes the view */
    PyObject *result = core_call(f, values, out, mode, OW_QUICK);
    if (!result && !PyErr_Occurred()) result = call_elsewhere(f, values, out, mode);
    if (result || PyErr_Occurred() || mode != OW_NEW || !ow_any_records(values, f->narguments)) return result;
    return recorded_call(f, values);
}

PyObject *ow_quick_operands(const ow_function *f, PyObject *left, PyObject *right) {
    PyObject *values[OW_MAX_ARGUMENTS] = {left, right};
    for (int k = 2; k < f->narguments; k++) values[k] = f->standards[k];
    return ow_quick_call(f, values, Py_None);
}

static int is_function(PyObject *object) { return (PyObject *)Py_TYPE(object) == ow_function_type(); }

static PyObject *invoked(const char *name, PyObject *const *arguments, Py_ssize_t n, int how) {
    int64_t mode;
    const ow_function *f = n == 4 && is_function(arguments[0]) ? (const ow_function *)arguments[0] : NULL;
    if (!f || !f->core || !PyTuple_Check(arguments[1]) || PyTuple_Size(arguments[1]) != f->narguments ||
        !ow_read_int(arguments[3], &mode) || mode < OW_NEW || mode > OW_OUT)
        return PyErr_Format(PyExc_TypeError, "%s() takes a function of the core, its arguments, a tensor and a mode", name);
    PyObject *values[OW_MAX_ARGUMENTS];
    for (int k = 0; k < f->narguments; k++) values[k] = PyTuple_GetItem(arguments[1], k);
    if (ow_error_pending()) return ow_raise_pending();
    PyObject *result = core_call(f, values, arguments[2], (ow_mode)mode, how);
    if (!result && !PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%U() got arguments that do not fit its schema", f->name);
    return result;
}

PyObject *ow_invoke_python(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    return invoked("invoke", arguments, n, OW_ANYWHERE);
}

/* make_results(function, arguments, out, mode, described): the results of a call, which are not computed: in memory of their
 * own where its tensors are; or, described, without memory on the device `meta`. */
PyObject *ow_make_results_python(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    int described = n == 5 && PyObject_IsTrue(arguments[4]) == 1;
    return invoked("make_results", arguments, n - 1, described ? OW_DESCRIBED : OW_MADE);
}

PyObject *ow_keys_of(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    uint32_t keys = 0;
    for (Py_ssize_t k = 0; k < n; k++) keys |= keys_of(arguments[k], 3);
    return PyLong_FromUnsignedLong(keys | (ow_included_keys & ~ow_excluded_keys));
}

int ow_is_for_subclass(const ow_function *f, PyObject *const *values) {
    uint32_t keys = ow_included_keys & OW_KEY_FUNCTION_MODE;
    for (int k = 0; k < f->narguments; k++) keys |= keys_of(values[k], 3) & OW_KEY_SUBCLASS;
    return keys != 0;
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
    /* (A profiler sees operators: what a formula computes is the time of its node.) */
    if (!op || n - 1 != op->ninputs + op->nparams || (ow_included_keys & ~ow_excluded_keys & ~(uint32_t)OW_KEY_PROFILER))
        Py_RETURN_NONE;
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
    ow_reader r = {.any = 1};
    int count = (int)n - 5;
    const ow_op *op = count >= 0 && ow_read_int(arguments[0], &number) ? ow_op_get(number, OW_FAMILY(FACTORY)) : NULL;
    if (!op || count > op->nparams) return PyErr_Format(PyExc_TypeError, "produce() takes a factory and its arguments");
    ow_call_begin(&r.call, op);
    int is_dtype = arguments[4] == Py_None || ow_is_dtype(arguments[4]);
    if (!ow_read_int(arguments[2], &standard) || standard >= OW_NSTORED || !is_dtype || !ow_read_dtype(&r, arguments[4]))
        return PyErr_Format(PyExc_TypeError, "produce() takes dtypes, but got %R and %R", arguments[2], arguments[4]);
    if (r.call.dtype < 0) r.call.dtype = (int)standard;
    if (arguments[3] == Py_None || !ow_read_list(&r, arguments[3]))
        return unfit("sizes", arguments[3]);
    if (arguments[1] != Py_None && !(r.call.out = ow_any_tensor(arguments[1])))
        return PyErr_Format(PyExc_TypeError, "produce() takes a tensor to write to, or None, but got %R", arguments[1]);
    for (int k = 0; k < count; k++)
        if (!(r.call.params[k] = ow_number_in(&r, arguments[k + 5])))
            return unfit("numbers", arguments[k + 5]);
    r.call.has_params = count > 0;
    ow_infer_dtype(&r.call, count);
    if (!ow_invoke_anywhere(&r.call)) return ow_raise_pending();
    return r.call.out ? Py_NewRef(arguments[1]) : ow_new_owner(r.call.results[0]);
}

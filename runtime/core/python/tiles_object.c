/* Calls that run tile by tile (families/tiles.c), as an object that Python makes once and runs. */
#include "families/reduce.h"
#include "families/tiles.h"
#include "operator_arguments.h"
#include "tensor_object.h"

#include <stdlib.h>

static const char name[] = "opweave.tiles";

/* Calls point into what was read of their arguments. */
typedef struct {
    ow_tiles tiles;
    ow_reader *readers;
    int nreaders, nresults;
} held;

static void release(held *h) {
    for (int k = 0; k < h->nreaders; k++) ow_read_end(&h->readers[k]);
    free(h->readers);
    free(h->tiles.calls);
    free(h->tiles.reductions);
    free(h->tiles.values);
    free(h);
}

static void release_capsule(PyObject *capsule) { release(PyCapsule_GetPointer(capsule, name)); }

static int read_small(PyObject *object, int *to, int64_t least, int64_t end) {
    int64_t value;
    if (!ow_read_int(object, &value) || value < least || value >= end) return 0;
    *to = (int)value;
    return 1;
}

static int read_places(PyObject *tuple, int *to, int *n, int most, int nvalues) {
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) > most) return 0;
    *n = (int)PyTuple_Size(tuple);
    for (int k = 0; k < *n; k++)
        if (!read_small(PyTuple_GetItem(tuple, k), &to[k], 0, nvalues)) return 0;
    return 1;
}

/* (tensor, kind, lead, sizes in tiles): `samples` are the tensors, as calls have them. */
static int read_value(PyObject *row, ow_tiled_value *v, const ow_tensor **sample) {
    const ow_tensor *t = PyTuple_Check(row) && PyTuple_Size(row) == 4 ? ow_any_tensor(PyTuple_GetItem(row, 0)) : NULL;
    if (!t || !read_small(PyTuple_GetItem(row, 1), &v->kind, OW_TILED_GIVEN, OW_TILED_RESULT + 1)) return 0;
    if (!read_small(PyTuple_GetItem(row, 2), &v->lead, 0, OW_MAX_DIMS)) return 0;
    ow_ints sizes;
    if (!ow_read_ints(PyTuple_GetItem(row, 3), &sizes)) return 0;
    *sample = t;
    v->dtype = t->dtype;
    v->ndim = sizes.n;
    memcpy(v->sizes, sizes.v, sizeof *v->sizes * (size_t)sizes.n);
    v->whole_ndim = t->ndim;
    memcpy(v->whole_sizes, t->sizes, sizeof *v->whole_sizes * t->ndim);
    return 1;
}

/* The call of an operator, with the places of its operands. */
static int read_operator(held *h, ow_tiled_call *step, PyObject *function, PyObject *arguments, const ow_tensor *const *samples) {
    const ow_function *f = (const ow_function *)function;
    ow_reader *r = &h->readers[h->nreaders];
    PyObject *values[OW_MAX_ARGUMENTS];
    if ((PyObject *)Py_TYPE(function) != ow_function_type() || !f->core || PyTuple_Size(arguments) != f->narguments) return 0;
    for (int k = 0; k < f->narguments; k++) values[k] = PyTuple_GetItem(arguments, k);
    r->any = OW_ANYWHERE;
    h->nreaders++;
    if (!ow_read_call(r, f, values, Py_None, OW_NEW)) return 0;
    step->call = r->call;
    for (int k = 0; k < OW_MAX_INPUTS; k++) {
        const ow_tensor *input = r->call.inputs[k];
        step->operands[k] = -1;
        for (int i = 0; i < h->tiles.nvalues && input; i++)
            if (samples[i] == input) step->operands[k] = i;
        if (input && step->operands[k] < 0 && !(input->flags & OW_NUMBER)) return 0;
    }
    return 1;
}

/* (function, arguments, results, None): a reduction of all elements. */
static int read_reduction(held *h, PyObject *row, const ow_tensor *const *samples) {
    ow_tiled_call call = {0};
    ow_tensor sample = {0};
    ow_reduction read;
    int n;
    ow_tiled_reduction *of = &h->tiles.reductions[h->tiles.nreductions++];
    if (!read_places(PyTuple_GetItem(row, 2), &of->result, &n, 1, h->tiles.nvalues) || n != 1) return 0;
    if (!read_operator(h, &call, PyTuple_GetItem(row, 0), PyTuple_GetItem(row, 1), samples) || *call.operands < 0) return 0;
    of->op = call.call.op;
    of->dtype = call.call.dtype;
    of->operand = *call.operands;
    sample.dtype = h->tiles.values[of->result].dtype;
    return ow_reduction_of_units(&read, of->op, h->tiles.values[of->operand].dtype, 1, of->dtype, &sample);
}

/* (function, arguments, results, frees); the function None: (operand,) in another shape. */
static int read_call(held *h, PyObject *row, const ow_tensor *const *samples) {
    if (!PyTuple_Check(row) || PyTuple_Size(row) != 4 || !PyTuple_Check(PyTuple_GetItem(row, 1))) return 0;
    if (PyTuple_GetItem(row, 3) == Py_None) return read_reduction(h, row, samples);
    ow_tiled_call *step = &h->tiles.calls[h->tiles.ncalls++];
    PyObject *function = PyTuple_GetItem(row, 0), *arguments = PyTuple_GetItem(row, 1);
    const int nvalues = h->tiles.nvalues;
    int n;
    if (!read_places(PyTuple_GetItem(row, 2), step->results, &step->nresults, OW_CALL_RESULTS, nvalues)) return 0;
    if (!read_places(PyTuple_GetItem(row, 3), step->frees, &step->nfrees, OW_MAX_INPUTS + OW_CALL_RESULTS, nvalues)) return 0;
    if (function != Py_None) return read_operator(h, step, function, arguments, samples);
    return step->nresults == 1 && read_places(arguments, step->operands, &n, 1, nvalues) && n == 1;
}

static int read_all(held *h, PyObject *values, PyObject *calls, const ow_tensor **samples) {
    for (int k = 0; k < h->tiles.nvalues; k++) {
        if (!read_value(PyTuple_GetItem(values, k), &h->tiles.values[k], &samples[k])) return 0;
        h->nresults += h->tiles.values[k].kind == OW_TILED_RESULT;
    }
    for (Py_ssize_t k = 0; k < PyTuple_Size(calls); k++)
        if (!read_call(h, PyTuple_GetItem(calls, k), samples)) return 0;
    return 1;
}

/* The shape of the dimensions up to the axis, of which the last is divided. */
static int read_space(ow_tiles *t, PyObject *shape, PyObject *step) {
    ow_ints list;
    if (!ow_read_ints(shape, &list) || !list.n || !ow_read_int(step, &t->step)) return 0;
    t->axis = list.n - 1;
    t->positions = 1;
    t->size = list.v[t->axis];
    memcpy(t->shape, list.v, sizeof *t->shape * (size_t)list.n);
    for (int d = 0; d < t->axis; d++) t->positions *= list.v[d];
    return t->step > 0 && t->step <= t->size;
}

PyObject *ow_tiles_new(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    if (n != 5 || !PyTuple_Check(arguments[0]) || !PyTuple_Check(arguments[1]) || !PyFloat_Check(arguments[4]))
        return PyErr_Format(PyExc_TypeError, "tiles() takes values, calls, a shape, the size of a part and work");
    const int nvalues = (int)PyTuple_Size(arguments[0]);
    const size_t ncalls = (size_t)PyTuple_Size(arguments[1]);
    held *h = calloc(1, sizeof *h);
    const ow_tensor **samples = calloc((size_t)nvalues + 1, sizeof *samples);
    if (h) {
        h->tiles.nvalues = nvalues;
        h->tiles.work = PyFloat_AsDouble(arguments[4]);
        h->tiles.values = calloc((size_t)nvalues + 1, sizeof *h->tiles.values);
        h->tiles.calls = calloc(ncalls + 1, sizeof *h->tiles.calls);
        h->tiles.reductions = calloc(ncalls + 1, sizeof *h->tiles.reductions);
        h->readers = calloc(ncalls + 1, sizeof *h->readers);
    }
    int has_memory = h && samples && h->tiles.values && h->tiles.calls && h->tiles.reductions && h->readers;
    int done = has_memory && read_space(&h->tiles, arguments[2], arguments[3]) && read_all(h, arguments[0], arguments[1], samples);
    free(samples);
    PyObject *capsule = done ? PyCapsule_New(h, name, release_capsule) : NULL;
    if (capsule) return capsule;
    if (h) release(h);
    ow_error_take(NULL, 0);
    if (!has_memory) return PyErr_NoMemory();
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static int fits(const ow_tiled_value *v, const ow_tensor *t) {
    return t && t->dtype == v->dtype && ow_has_shape(t, v->whole_ndim, v->whole_sizes);
}

PyObject *ow_tiles_call(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    held *h = n ? PyCapsule_GetPointer(arguments[0], name) : NULL;
    if (!h) return PyErr_Format(PyExc_TypeError, "run_tiles() takes tiles and tensors");
    if (ow_included_keys & ~ow_excluded_keys || ow_place) Py_RETURN_NONE;
    ow_tensor *given[h->tiles.nvalues + 1], *results[h->nresults + 1];
    Py_ssize_t at = 1;
    for (int k = 0; k < h->tiles.nvalues; k++) {
        const ow_tiled_value *v = &h->tiles.values[k];
        given[k] = v->kind == OW_TILED_GIVEN && at < n ? ow_plain_tensor(arguments[at++]) : NULL;
        if (v->kind == OW_TILED_GIVEN && !fits(v, given[k])) Py_RETURN_NONE;
    }
    if (!ow_tiles_run(&h->tiles, given, results)) {
        if (ow_error_pending()) return ow_raise_pending();
        Py_RETURN_NONE;
    }
    return h->nresults == 1 ? ow_new_owner(*results) : ow_new_owners(results, h->nresults);
}

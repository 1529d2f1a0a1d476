/* Views for the indices that are usual: ints, slices, None, `...`, and tuples of them, read first and then worked out.
 *
 * Whatever is not usual, and every mistake, gives NULL without an error: then _tensor/indexing.py takes the general way, and
 * knows what to say. */
#include "operator_function.h"
#include "tensor_object.h"

enum { MOST_PARTS = OW_MAX_DIMS };

/* A part of an index, read. */
typedef struct {
    enum { NEW_DIMENSION, ELLIPSIS, POSITION, SLICE } kind;
    Py_ssize_t start, stop, step; /* of a slice as Python has it; a position is a start */
} part;

typedef struct {
    const ow_tensor *self;
    int from;       /* the dimension of self that the next part is about */
    int ndim;       /* of the view so far */
    int64_t offset; /* in elements */
    int64_t sizes[OW_MAX_DIMS], strides[OW_MAX_DIMS];
} view;

static int keep(view *v, int64_t size, int64_t stride) {
    if (v->ndim == OW_MAX_DIMS) return 0;
    v->sizes[v->ndim] = size;
    v->strides[v->ndim++] = stride;
    return 1;
}

static int keep_dimensions(view *v, int until) {
    for (; v->from < until; v->from++)
        if (!keep(v, v->self->sizes[v->from], v->self->strides[v->from])) return 0;
    return 1;
}

static int take_position(view *v, int64_t position) {
    int64_t size = v->self->sizes[v->from];
    if (position < -size || position >= size) return 0;
    v->offset += (position < 0 ? position + size : position) * v->self->strides[v->from++];
    return 1;
}

static int take_slice(view *v, part p) {
    int64_t stride = v->self->strides[v->from], scaled;
    if (p.step < 1 || __builtin_mul_overflow(stride, p.step, &scaled)) return 0;
    int64_t length = PySlice_AdjustIndices(v->self->sizes[v->from++], &p.start, &p.stop, p.step);
    v->offset += p.start * stride;
    return keep(v, length, scaled);
}

/* The stride that a new dimension of size 1 has in torch. */
static int insert_dimension(view *v) {
    const ow_tensor *t = v->self;
    int64_t stride = 1;
    if (v->from < t->ndim && __builtin_mul_overflow(t->sizes[v->from], t->strides[v->from], &stride)) return 0;
    return keep(v, 1, stride);
}

/* One part; `after` dimensions are indexed by those behind it. */
static int take(view *v, const part *p, int after) {
    if (p->kind == NEW_DIMENSION) return insert_dimension(v);
    if (p->kind == ELLIPSIS) return keep_dimensions(v, v->self->ndim - after);
    if (v->from >= v->self->ndim) return 0;
    return p->kind == POSITION ? take_position(v, p->start) : take_slice(v, *p);
}

static int read_part(PyObject *object, part *p) {
    if (object == Py_None || object == Py_Ellipsis) {
        p->kind = object == Py_None ? NEW_DIMENSION : ELLIPSIS;
        return 1;
    }
    int64_t position;
    if (ow_read_int(object, &position)) {
        p->kind = POSITION;
        p->start = position;
        return 1;
    }
    p->kind = SLICE;
    if (Py_TYPE(object) != &PySlice_Type) return 0;
    if (PySlice_Unpack(object, &p->start, &p->stop, &p->step) == 0) return 1;
    PyErr_Clear();
    return 0;
}

/* All parts are read before the tensor is looked at: what stands in a slice may be an object whose code gives the tensor
 * other memory. */
static int read_parts(PyObject *index, part *parts, int *count) {
    if (!PyTuple_CheckExact(index)) {
        *count = 1;
        return read_part(index, parts);
    }
    Py_ssize_t n = PyTuple_Size(index);
    if (n > MOST_PARTS) return 0;
    *count = (int)n;
    for (Py_ssize_t k = 0; k < n; k++)
        if (!read_part(PyTuple_GetItem(index, k), parts + k)) return 0;
    return 1;
}

static int take_parts(view *v, const part *parts, int n) {
    int indexed = 0, before = 0, ellipsis = n;
    for (int k = 0; k < n; k++) {
        if (parts[k].kind == ELLIPSIS) {
            if (ellipsis < n) return 0;
            ellipsis = k;
            before = indexed;
        } else if (parts[k].kind != NEW_DIMENSION) {
            indexed++;
        }
    }
    if (indexed > v->self->ndim) return 0;
    for (int k = 0; k < n; k++)
        if (!take(v, parts + k, indexed - before)) return 0;
    return keep_dimensions(v, v->self->ndim);
}

ow_tensor *ow_basic_view(ow_tensor *self, PyObject *index) {
    part parts[MOST_PARTS];
    int count;
    view v = {.self = self};
    if (!read_parts(index, parts, &count) || ow_keys(self) & ~(OW_KEY_META | ow_answered_keys) || !take_parts(&v, parts, count)) return NULL;
    char *data = self->data + v.offset * ow_itemsize(self->dtype);
    return ow_tensor_view(self->storage, data, self->dtype, v.ndim, v.sizes, v.strides);
}

/* ---- views that are recorded -------------------------------------------------------------------------------- */

/* The operator's result for a tensor, which the caller gives away, a dimension and further integers. */
static PyObject *view_by(PyObject *function, PyObject *tensor, int dim, const Py_ssize_t *integers, int n) {
    PyObject *values[5] = {tensor, PyLong_FromLong(dim)}, *result = NULL;
    int made = values[1] != NULL;
    for (int k = 0; k < n; k++) made &= (values[2 + k] = PyLong_FromSsize_t(integers[k])) != NULL;
    if (made) result = ow_quick_call((const ow_function *)function, values, Py_None);
    for (int k = 0; k < 2 + n; k++) Py_XDECREF(values[k]);
    return result;
}

/* The view of a part, as select, slice or unsqueeze give it. */
static PyObject *part_by(const ow_index_functions *f, PyObject *tensor, part p, int64_t size, int *dim) {
    if (p.kind == NEW_DIMENSION) return view_by(f->unsqueeze, tensor, (*dim)++, NULL, 0);
    if (p.kind == POSITION) return view_by(f->select, tensor, *dim, &p.start, 1);
    Py_ssize_t length = PySlice_AdjustIndices(size, &p.start, &p.stop, p.step);
    if (length == size && p.step == 1) { /* all of it */
        (*dim)++;
        return tensor;
    }
    Py_ssize_t stop = length ? p.start + (length - 1) * p.step + 1 : p.start;
    return view_by(f->slice, tensor, (*dim)++, (Py_ssize_t[]){p.start, stop, p.step}, 3);
}

PyObject *ow_recorded_view(const ow_index_functions *f, PyObject *self, PyObject *index) {
    part parts[MOST_PARTS];
    int count, indexed = 0, dim = 0, from = 0;
    const ow_tensor *t = ow_any_tensor(self);
    view v = {.self = t};
    if (!read_parts(index, parts, &count) || !take_parts(&v, parts, count)) return NULL;
    for (int k = 0; k < count; k++) indexed += parts[k].kind == POSITION || parts[k].kind == SLICE;
    PyObject *result = Py_NewRef(self);
    for (int k = 0; k < count && result; k++) {
        if (parts[k].kind == ELLIPSIS) {
            dim += t->ndim - indexed;
            from += t->ndim - indexed;
        } else {
            result = part_by(f, result, parts[k], from < t->ndim ? t->sizes[from] : 0, &dim);
            from += parts[k].kind != NEW_DIMENSION;
        }
    }
    if (result != self || !result) return result;
    Py_DECREF(result); /* nothing was left out: the view is the general way's affair */
    return NULL;
}

PyObject *ow_view_of(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    if (n != 2) return PyErr_Format(PyExc_TypeError, "view_of() takes a handle and an index");
    ow_tensor *self = ow_handle_of(arguments[0]);
    return self ? PyFloat_FromDouble(ow_pack(ow_basic_view(self, arguments[1]))) : NULL;
}

/* Views for the indices that are usual: ints, slices, None, `...`, and tuples of them, worked out in one pass.
 *
 * Whatever is not usual, and every mistake, gives NULL without an error: then indexing.py takes the general way, and
 * knows what to say. */
#include "python_types.h"
#include "tensor.h"

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

static int take_slice(view *v, PyObject *part) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(part, &start, &stop, &step) < 0) {
        PyErr_Clear();
        return 0;
    }
    int64_t stride = v->self->strides[v->from], scaled;
    if (step < 1 || __builtin_mul_overflow(stride, step, &scaled)) return 0;
    int64_t length = PySlice_AdjustIndices(v->self->sizes[v->from++], &start, &stop, step);
    v->offset += start * stride;
    return keep(v, length, scaled);
}

/* The stride that a new dimension of size 1 has in torch. */
static int insert_dimension(view *v) {
    const ow_tensor *t = v->self;
    return keep(v, 1, v->from < t->ndim ? t->sizes[v->from] * t->strides[v->from] : 1);
}

/* One part; `after` dimensions are indexed by those behind it. */
static int take(view *v, PyObject *part, int after) {
    if (part == Py_None) return insert_dimension(v);
    if (part == Py_Ellipsis) return keep_dimensions(v, v->self->ndim - after);
    if (v->from >= v->self->ndim) return 0;
    int64_t position;
    if (ow_read_int(part, &position)) return take_position(v, position);
    return Py_TYPE(part) == &PySlice_Type && take_slice(v, part);
}

static int take_tuple(view *v, PyObject *index) {
    Py_ssize_t n = PyTuple_Size(index), ellipsis = n;
    int indexed = 0, before = 0;
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *part = PyTuple_GetItem(index, k);
        if (part == Py_Ellipsis) {
            if (ellipsis < n) return 0;
            ellipsis = k;
            before = indexed;
        } else if (part != Py_None) {
            indexed++;
        }
    }
    if (indexed > v->self->ndim) return 0;
    for (Py_ssize_t k = 0; k < n; k++)
        if (!take(v, PyTuple_GetItem(index, k), indexed - before)) return 0;
    return 1;
}

ow_tensor *ow_basic_view(ow_tensor *self, PyObject *index) {
    view v = {.self = self};
    if (ow_keys(self)) return NULL;
    if (!(PyTuple_CheckExact(index) ? take_tuple(&v, index) : take(&v, index, 0))) return NULL;
    if (!keep_dimensions(&v, self->ndim)) return NULL;
    char *data = self->data + v.offset * ow_itemsize(self->dtype);
    return ow_tensor_view(self->storage, data, self->dtype, v.ndim, v.sizes, v.strides);
}

PyObject *ow_view_of(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    if (n != 2) return PyErr_Format(PyExc_TypeError, "view_of() takes a handle and an index");
    ow_tensor *self = ow_handle_of(arguments[0]);
    return self ? PyFloat_FromDouble(ow_pack(ow_basic_view(self, arguments[1]))) : NULL;
}

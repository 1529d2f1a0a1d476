/* Quick calls for composites whose work the core does, most of them about lists of tensors or of integers: what an entry of
 * ops.yaml names as `fast_path`. They give None where they are not for the quick way, and the composite then does the same with all
 * its checks. */
#include "families/driver.h"
#include "tensor/size_reads.h"
#include "tensor_object.h"
#include "families/arg_results.h"
#include "operator_arguments.h"
#include "python_numbers.h"

enum { MOST_PARTS = 1 << 16 };

/* The view of `size` positions of `t`, the tensor of the object `of`, from `start` on along `dim`; of one position,
 * without the dimension, when size is 0. */
static PyObject *part_of(PyObject *of, const ow_tensor *t, int64_t dim, int64_t start, int64_t size) {
    int64_t sizes[OW_MAX_DIMS], strides[OW_MAX_DIMS];
    int ndim = 0;
    for (int d = 0; d < t->ndim; d++) {
        if (d == dim && !size) continue;
        sizes[ndim] = d == dim ? size : t->sizes[d];
        strides[ndim++] = t->strides[d];
    }
    char *data = t->data + start * t->strides[dim] * ow_itemsize(t->dtype);
    ow_tensor *view = ow_tensor_view(t->storage, data, t->dtype, ndim, sizes, strides);
    return view ? ow_new_view(view, of) : NULL;
}

/* Making objects can run Python code that gives the tensor other memory: the parts are those of a view, which keeps what
 * the tensor had. */
static PyObject *parts_of(PyObject *of, const ow_tensor *self, int64_t dim, int64_t size) {
    int64_t extent = self->sizes[dim], step = size ? size : 1, count = extent / step + (extent % step != 0);
    ow_tensor *t = ow_tensor_alias(self);
    PyObject *parts = t ? PyTuple_New(count) : NULL;
    for (int64_t k = 0; parts && k < count; k++) {
        int64_t start = k * step, rest = extent - start;
        PyObject *part = part_of(of, t, dim, start, size < rest ? size : rest);
        if (part) PyTuple_SetItem(parts, k, part);
        else Py_CLEAR(parts);
    }
    ow_tensor_free(t);
    if (parts) ow_mark_multi_view(parts, 1);
    return parts ? parts : ow_error_pending() ? ow_declined() : NULL;
}

static int read_extent(PyObject *const *arguments, Py_ssize_t n, ow_tensor **t, int64_t *number, int64_t *dim) {
    if (n != 3 || !(*t = ow_plain_tensor(arguments[0])) || !ow_read_int(arguments[1], number)) return 0;
    if (!(*t)->ndim || !ow_read_int(arguments[2], dim) || !ow_wrap_dim(dim, (*t)->ndim)) return 0;
    return (*t)->sizes[*dim] > 0;
}

/* split(tensor, size, dim): views of `size` positions each. */
PyObject *ow_call_split(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    ow_tensor *t;
    int64_t size, dim;
    if (!read_extent(arguments, n, &t, &size, &dim) || size <= 0 || t->sizes[dim] / size >= MOST_PARTS) return ow_declined();
    return parts_of(arguments[0], t, dim, size);
}

/* chunk(tensor, chunks, dim): at most so many views of one size. */
PyObject *ow_call_chunk(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    ow_tensor *t;
    int64_t chunks, dim;
    if (!read_extent(arguments, n, &t, &chunks, &dim) || chunks <= 0 || chunks > MOST_PARTS) return ow_declined();
    return parts_of(arguments[0], t, dim, (t->sizes[dim] - 1) / chunks + 1);
}

/* unbind(tensor, dim): views of each position. */
PyObject *ow_call_unbind(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    int64_t dim;
    ow_tensor *t = n == 2 ? ow_plain_tensor(arguments[0]) : NULL;
    if (!t || !t->ndim || !ow_read_int(arguments[1], &dim) || !ow_wrap_dim(&dim, t->ndim)) return ow_declined();
    return t->sizes[dim] > MOST_PARTS ? ow_declined() : parts_of(arguments[0], t, dim, 0);
}

static PyObject *finished(ow_tensor *t) { return t ? ow_new_owner(t) : ow_declined(); }

/* item(tensor): whatever keys it has besides that of the device meta */
PyObject *ow_call_item(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    const ow_tensor *t = n == 1 ? ow_any_tensor(arguments[0]) : NULL;
    if (t) ow_note_size(t, OW_ALL_SIZES);
    if (!t || t->numel != 1 || !ow_is_readable(t)) Py_RETURN_NONE;
    return ow_element(t);
}

/* all_true(tensor): True, where every truth value is; None for all others, of which the routine says what is wrong. */
PyObject *ow_call_all_true(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    const ow_tensor *t = n == 1 ? ow_any_tensor(arguments[0]) : NULL;
    if (t) ow_note_size(t, OW_LAYOUT);
    if (!t || t->dtype != OW_BOOL || !(t->flags & OW_CONTIGUOUS) || !ow_is_readable(t)) Py_RETURN_NONE;
    if (t->numel && memchr(t->data, 0, (size_t)t->numel)) Py_RETURN_NONE;
    Py_RETURN_TRUE;
}

/* contiguous(tensor, memory_format): the tensor itself, if it is in the order of every format but those of images. */
PyObject *ow_call_contiguous(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    int64_t order;
    const ow_tensor *t = n == 2 ? ow_any_tensor(arguments[0]) : NULL;
    if (t) ow_note_size(t, OW_LAYOUT);
    if (!t || !(t->flags & OW_CONTIGUOUS) || !ow_read_order(arguments[1], &order) || order >= OW_CHANNELS_LAST) Py_RETURN_NONE;
    return Py_NewRef(arguments[0]);
}

/* The same for operands with histories: a call of the operator whose derivative it is. */
static PyObject *recorded_product(PyObject *const *arguments) {
    const ow_tensor *a = ow_any_tensor(arguments[0]), *b = ow_any_tensor(arguments[1]);
    ow_matmul_kind product = a && b ? ow_matmul_kind_of(a, b) : OW_PRODUCTS;
    if (product == OW_PRODUCTS) return ow_declined();
    return ow_recorded_operands(ow_matmul_ops[product], arguments);
}

/* matmul(tensor, tensor) */
PyObject *ow_call_matmul(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    if (n != 2) return ow_declined();
    if (ow_any_records(arguments, n)) return recorded_product(arguments);
    ow_tensor *a = ow_plain_tensor(arguments[0]), *b = a ? ow_plain_tensor(arguments[1]) : NULL;
    return b ? finished(ow_matmul(a, b)) : ow_declined();
}

/* moment(tensor, dim, unbiased, keepdim, correction, place): the variance, the standard deviation or the mean. Too few
 * elements for the correction are the composite's affair, which warns. */
PyObject *ow_call_moment(PyObject *module, PyObject *const *arguments, Py_ssize_t n) {
    (void)module;
    ow_ints dims = {.n = 0};
    int64_t place, count = 1;
    ow_number correction = {.value.i = 1};
    ow_tensor *t = n == 6 ? ow_plain_tensor(arguments[0]) : NULL, *found[OW_MAX_RESULTS] = {NULL};
    if (!t || ow_dtype_kinds[t->dtype] != OW_KIND_FLOATING || arguments[2] != Py_None) return ow_declined();
    if (arguments[1] != Py_None && !ow_read_ints(arguments[1], &dims)) return ow_declined();
    if (!PyBool_Check(arguments[3]) || !ow_read_int(arguments[5], &place)) return ow_declined();
    if (arguments[4] != Py_None && !ow_read_int(arguments[4], &correction.value.i)) return ow_declined();
    for (int k = 0; k < dims.n; k++) {
        if (!t->ndim || !ow_wrap_dim(&dims.v[k], t->ndim)) return ow_declined();
        count *= t->sizes[dims.v[k]];
    }
    if ((dims.n ? count : t->numel) <= correction.value.i) return ow_declined();
    ow_tensor *params[OW_MAX_PARAMS] = {ow_number_tensor(&correction, OW_INT64)};
    if (!ow_multi(&ow_op_moments, t, dims.v, dims.n, 1, arguments[3] == Py_True, -1, params, found)) return ow_declined();
    for (int k = 0; k < OW_MAX_RESULTS; k++)
        if (k != place) ow_tensor_free(found[k]);
    return ow_new_owner(found[place]);
}

/* The driver of views: runs the operator's geometry function and wraps its result around the same storage. */
#include "tensor/storage.h"

/* The view of a contiguous copy, which can have every shape of the right size; others are refused for it as well. */
static ow_tensor *view_of_copy(const ow_op *op, ow_tensor *self, const int64_t *ints, ow_ints *lists) {
    char text[48];
    if (ow_place > OW_META) /* whose elements are not copied here */
        return ow_fail(OW_NOT_IMPLEMENTED, "%s() takes a copy on the device %s", op->name,
                       ow_device_text(text, sizeof text, ow_place));
    ow_tensor *copy = ow_place ? ow_empty_like(self, -1, OW_C_ORDER) : ow_clone(self, -1, OW_C_ORDER);
    if (!copy) return NULL;
    ow_tensor *result = ow_view_call(op, copy, ints, lists);
    ow_tensor_free(copy);
    return result;
}

ow_tensor *ow_view_call(const ow_op *op, ow_tensor *self, const int64_t *ints, ow_ints *lists) {
    ow_view view;
    view.scalar_name = ow_dtype_scalar_names[self->dtype];
    view.error = OW_OK;
    view.message[0] = 0;
    view.offset = 0;
    view.used = 0;
    view.numel = self->numel;
    view.shape.n = view.strides.n = self->ndim;
    for (int d = 0; d < self->ndim; d++) {
        view.shape.v[d] = self->sizes[d];
        view.strides.v[d] = self->strides[d];
    }
    if (!op->view(&view, ints, lists)) {
        if (op->copies && !(self->flags & OW_CONTIGUOUS)) return view_of_copy(op, self, ints, lists);
        return ow_fail(view.error, "%s", view.message);
    }
    int64_t numel;
    if (!ow_numel(view.shape.n, view.shape.v, &numel)) return NULL;
    char *data = self->data + view.offset * ow_itemsize(self->dtype);
    return ow_tensor_view(self->storage, data, self->dtype, view.shape.n, view.shape.v, view.strides.v);
}

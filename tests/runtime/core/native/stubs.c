/* Stands in for the parts of the library that the tests of the core leave out: operators, promotion, casts and
 * copies. */
#include <unistd.h>

#include "families/driver.h"
#include "tensor/registry.h"

static const ow_op first_op = {.name = "first"};
const ow_op *const ow_builtin_ops[] = {&first_op};
const int32_t ow_builtin_count = 1;

int ow_find_vector_functions(const struct ow_vector_function *wanted) { return wanted == NULL; }

static void float_to_double(char *dst, int64_t dst_stride, const char *src, int64_t src_stride, int64_t n) {
    for (int64_t k = 0; k < n; k++) *(double *)(dst + k * dst_stride) = *(const float *)(src + k * src_stride);
}

static void same_eight_bytes(char *dst, int64_t dst_stride, const char *src, int64_t src_stride, int64_t n) {
    for (int64_t k = 0; k < n; k++) memcpy(dst + k * dst_stride, src + k * src_stride, 8);
}

int ow_default_dtype = OW_FLOAT32;

int ow_result_type(ow_tensor *const *inputs, int n) { return n ? inputs[0]->dtype : ow_default_dtype; }

int ow_can_cast(int from, int to) { return from <= to; }

ow_cast ow_cast_loop(int dst_dtype, int src_dtype) {
    (void)dst_dtype;
    return src_dtype == OW_FLOAT32 ? float_to_double : same_eight_bytes;
}

int ow_copy(ow_tensor *dst, ow_tensor *src) { return dst == src; }

ow_tensor *ow_resize_out(ow_tensor *out, int ndim, const int64_t *sizes) {
    return ow_tensor_resize(out, ndim, sizes) ? out : NULL;
}

int ow_fill(const ow_tensor *dst, ow_tensor *number) { return dst != number; }

ow_tensor *ow_empty_like(ow_tensor *t, int dtype, int order) {
    (void)order;
    return ow_tensor_new(dtype, t->ndim, t->sizes, NULL);
}

ow_tensor *ow_clone(ow_tensor *t, int dtype, int order) {
    (void)order;
    return ow_tensor_new(dtype, t->ndim, t->sizes, NULL);
}

/* Called while holding the interpreter's lock: does a loop of this much work run without it? */
int released_lock(int64_t work) {
    void *token = ow_gil_release(work);
    usleep(50000);
    void *again = ow_gil_release(work); /* nothing to do for a thread that does not hold it */
    ow_gil_acquire(again);
    ow_gil_acquire(token);
    return token != NULL && (again == NULL);
}

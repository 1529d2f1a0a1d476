/* Products with vectors: mv, addmv, dot. */
#include "families/extern.h"
#include "tensor/storage.h"

/* `size` and `ndim` are those of the addend; for mv, of the result. */
static int check_vector_product(int ndim, int64_t size, const ow_tensor *mat, const ow_tensor *vec) {
    if (ndim > 1 || mat->ndim != 2 || vec->ndim != 1) {
        ow_fail(OW_RUNTIME_ERROR, "vector + matrix @ vector expected, got %d, %d, %d", ndim, mat->ndim, vec->ndim);
        return 0;
    }
    if (mat->sizes[1] != vec->sizes[0] || (size != mat->sizes[0] && size != 1)) {
        ow_fail(OW_RUNTIME_ERROR, "size mismatch, got input (%lld), mat (%lldx%lld), vec (%lld)", (long long)size,
                (long long)mat->sizes[0], (long long)mat->sizes[1], (long long)vec->sizes[0]);
        return 0;
    }
    return 1;
}

static int check_dtypes(int self, const ow_tensor *mat, const ow_tensor *vec) {
    if (self != mat->dtype || self != vec->dtype) {
        ow_fail(OW_RUNTIME_ERROR, "addmv input tensors must have the same dtype, but got %s, %s, and %s",
                ow_dtype_scalar_names[self], ow_dtype_scalar_names[mat->dtype], ow_dtype_scalar_names[vec->dtype]);
        return 0;
    }
    if (self == OW_BOOL && mat->numel) {
        ow_fail(OW_NOT_IMPLEMENTED, "\"addmv_impl_cpu\" not implemented for 'Bool'");
        return 0;
    }
    return 1;
}

ow_tensor *ow_extern_gemv(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, ow_tensor *out,
                           ow_mode mode) {
    const ow_tensor *self = inputs[0], *vec = inputs[1];
    ow_product p = {.multiply = ow_product_gemm};
    (void)params;
    int64_t rows = self->ndim ? self->sizes[0] : 1;
    if (!check_vector_product(1, rows, self, vec)) return NULL;
    if (!check_dtypes(out ? out->dtype : vec->dtype, self, vec)) return NULL;
    if (!ow_product_params(&p, ow_compute_dtype[self->dtype], NULL)) return NULL;
    return ow_product_run(&p, op, inputs, NULL, 1, &rows, out, mode);
}

ow_tensor *ow_extern_addmv(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, ow_tensor *out,
                            ow_mode mode) {
    ow_tensor *self = inputs[0];
    const ow_tensor *mat = inputs[1], *vec = inputs[2];
    ow_product p = {.multiply = ow_product_gemm};
    if (!check_vector_product(self->ndim, self->ndim ? self->sizes[0] : 1, mat, vec)) return NULL;
    if (!check_dtypes(self->dtype, mat, vec)) return NULL;
    int64_t rows = mat->sizes[0];
    if (mode == OW_INPLACE && (self->ndim != 1 || self->sizes[0] != rows)) {
        char have[200];
        return ow_fail(OW_RUNTIME_ERROR, "Bad in-place call: input tensor size %s and output tensor size [%lld] should match",
                       ow_list_text(have, sizeof have, self->ndim, self->sizes), (long long)rows);
    }
    if (!ow_product_params(&p, ow_compute_dtype[self->dtype], params)) return NULL;
    return ow_product_run(&p, op, inputs + 1, self, 1, &rows, out, mode);
}

static void multiply_vectors(ow_product *p) {
    ow_dot(p->compute, p->a->numel, p->a->data, p->a->strides[0], p->b->data, p->b->strides[0], p->work->data);
}

ow_tensor *ow_extern_dot(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, ow_tensor *out,
                          ow_mode mode) {
    const ow_tensor *self = inputs[0], *other = inputs[1];
    ow_product p = {.multiply = multiply_vectors};
    (void)params;
    if (self->ndim != 1 || other->ndim != 1)
        return ow_fail(OW_RUNTIME_ERROR, "1D tensors expected, but got %dD and %dD tensors", self->ndim, other->ndim);
    if (self->dtype != other->dtype)
        return ow_fail(OW_RUNTIME_ERROR, "dot : expected both vectors to have same dtype, but found %s and %s",
                       ow_dtype_scalar_names[self->dtype], ow_dtype_scalar_names[other->dtype]);
    if (self->numel != other->numel)
        return ow_fail(OW_RUNTIME_ERROR,
                       "inconsistent tensor size, expected tensor [%lld] and src [%lld] to have the same number of "
                       "elements, but got %lld and %lld elements respectively",
                       (long long)self->numel, (long long)other->numel, (long long)self->numel, (long long)other->numel);
    if (out && out->dtype != self->dtype)
        return ow_fail(OW_RUNTIME_ERROR, "result dtype %s does not match input dtype %s",
                       ow_dtype_scalar_names[out->dtype], ow_dtype_scalar_names[self->dtype]);
    if (self->dtype == OW_BOOL) return ow_fail(OW_NOT_IMPLEMENTED, "\"dot\" not implemented for 'Bool'");
    return ow_product_run(&p, op, inputs, NULL, 0, NULL, out, mode);
}

/* Products of matrices: mm, addmm, bmm. */
#include "families/extern.h"
#include "tensor/storage.h"

static ow_tensor *not_implemented(const char *name, int dtype) {
    return ow_fail(OW_NOT_IMPLEMENTED, "\"%s\" not implemented for '%s'", name, ow_dtype_scalar_names[dtype]);
}

static int check_multipliable(const ow_tensor *mat1, const ow_tensor *mat2) {
    if (mat1->sizes[1] == mat2->sizes[0]) return 1;
    ow_fail(OW_RUNTIME_ERROR, "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
            (long long)mat1->sizes[0], (long long)mat1->sizes[1], (long long)mat2->sizes[0], (long long)mat2->sizes[1]);
    return 0;
}

ow_tensor *ow_extern_gemm(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, ow_tensor *out,
                           ow_mode mode) {
    const ow_tensor *self = inputs[0], *mat2 = inputs[1];
    ow_product p = {.multiply = ow_product_gemm};
    (void)params;
    if (self->ndim != 2) return ow_fail(OW_RUNTIME_ERROR, "self must be a matrix");
    if (mat2->ndim != 2) return ow_fail(OW_RUNTIME_ERROR, "mat2 must be a matrix");
    if (!check_multipliable(self, mat2)) return NULL;
    if (self->dtype != mat2->dtype)
        return ow_fail(OW_RUNTIME_ERROR, "expected m1 and m2 to have the same dtype, but got: %s != %s",
                       ow_type_names[self->dtype], ow_type_names[mat2->dtype]);
    if (self->dtype == OW_BOOL && self->numel && mat2->numel) return not_implemented("addmm_impl_cpu_", OW_BOOL);
    int64_t sizes[] = {self->sizes[0], mat2->sizes[1]};
    if (!ow_product_params(&p, ow_compute_dtype[self->dtype], NULL)) return NULL;
    return ow_product_run(&p, op, inputs, NULL, 2, sizes, out, mode);
}

/* 1 if `self` can be expanded to the sizes of the product; 0 with torch's error of expand set. */
static int check_expands(const ow_tensor *self, const int64_t *sizes) {
    if (self->ndim > 2) {
        char wanted[60], own[200];
        const char *name = ow_dtype_scalar_names[self->dtype];
        ow_fail(OW_RUNTIME_ERROR,
                "expand(torch.%sTensor{%s}, size=%s): the number of sizes provided (2) must be greater or equal to the "
                "number of dimensions in the tensor (%d)",
                name, ow_list_text(own, sizeof own, self->ndim, self->sizes), ow_list_text(wanted, sizeof wanted, 2, sizes),
                self->ndim);
        return 0;
    }
    for (int d = self->ndim - 1; d >= 0; d--) {
        int at = 2 - self->ndim + d;
        if (self->sizes[d] == 1 || self->sizes[d] == sizes[at]) continue;
        char wanted[60], own[60];
        ow_fail(OW_RUNTIME_ERROR,
                "The expanded size of the tensor (%lld) must match the existing size (%lld) at non-singleton dimension "
                "%d.  Target sizes: %s.  Tensor sizes: %s",
                (long long)sizes[at], (long long)self->sizes[d], at, ow_list_text(wanted, sizeof wanted, 2, sizes),
                ow_list_text(own, sizeof own, self->ndim, self->sizes));
        return 0;
    }
    return 1;
}

ow_tensor *ow_extern_addmm(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, ow_tensor *out,
                            ow_mode mode) {
    ow_tensor *self = inputs[0];
    const ow_tensor *mat1 = inputs[1], *mat2 = inputs[2];
    ow_product p = {.multiply = ow_product_gemm};
    if (mat1->ndim != 2) return ow_fail(OW_RUNTIME_ERROR, "mat1 must be a matrix, got %d-D tensor", mat1->ndim);
    if (mat2->ndim != 2) return ow_fail(OW_RUNTIME_ERROR, "mat2 must be a matrix, got %d-D tensor", mat2->ndim);
    if (!check_multipliable(mat1, mat2)) return NULL;
    int64_t sizes[] = {mat1->sizes[0], mat2->sizes[1]};
    if (!check_expands(self, sizes)) return NULL;
    if (self->dtype != mat2->dtype)
        return ow_fail(OW_RUNTIME_ERROR, "self and mat2 must have the same dtype, but got %s and %s",
                       ow_dtype_scalar_names[self->dtype], ow_dtype_scalar_names[mat2->dtype]);
    if (mat1->dtype != mat2->dtype)
        return ow_fail(OW_RUNTIME_ERROR, "mat1 and mat2 must have the same dtype, but got %s and %s",
                       ow_dtype_scalar_names[mat1->dtype], ow_dtype_scalar_names[mat2->dtype]);
    if (self->dtype == OW_BOOL) return not_implemented("addmm_impl_cpu_", OW_BOOL);
    if (mode == OW_INPLACE && (self->ndim != 2 || self->sizes[0] != sizes[0] || self->sizes[1] != sizes[1])) {
        char have[200];
        return ow_fail(OW_RUNTIME_ERROR,
                       "Bad in-place call: input tensor size %s and output tensor size [%lld, %lld] should match",
                       ow_list_text(have, sizeof have, self->ndim, self->sizes), (long long)sizes[0], (long long)sizes[1]);
    }
    if (!ow_product_params(&p, ow_compute_dtype[self->dtype], params)) return NULL;
    return ow_product_run(&p, op, inputs + 1, self, 2, sizes, out, mode);
}

ow_tensor *ow_extern_bmm(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, ow_tensor *out,
                          ow_mode mode) {
    const ow_tensor *self = inputs[0], *mat2 = inputs[1];
    ow_product p = {.multiply = ow_product_gemm};
    (void)params;
    if (self->ndim != 3) return ow_fail(OW_RUNTIME_ERROR, "batch1 must be a 3D tensor");
    if (mat2->ndim != 3) return ow_fail(OW_RUNTIME_ERROR, "batch2 must be a 3D tensor");
    if (self->sizes[0] != mat2->sizes[0] || self->sizes[2] != mat2->sizes[1])
        return ow_fail(OW_RUNTIME_ERROR,
                       "Expected size for first two dimensions of batch2 tensor to be: [%lld, %lld] but got: [%lld, %lld].",
                       (long long)self->sizes[0], (long long)self->sizes[2], (long long)mat2->sizes[0],
                       (long long)mat2->sizes[1]);
    if (self->dtype != mat2->dtype)
        return ow_fail(OW_RUNTIME_ERROR, "expected scalar type %s but found %s", ow_dtype_scalar_names[self->dtype],
                       ow_dtype_scalar_names[mat2->dtype]);
    if (self->dtype == OW_BOOL && self->numel && mat2->numel) return not_implemented("bmm", OW_BOOL);
    int64_t sizes[] = {self->sizes[0], self->sizes[1], mat2->sizes[2]};
    if (!ow_product_params(&p, ow_compute_dtype[self->dtype], NULL)) return NULL;
    return ow_product_run(&p, op, inputs, NULL, 3, sizes, out, mode);
}

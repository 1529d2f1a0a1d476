/* Products of batches of matrices with float32 sums, which attention to bfloat16 is made of. */
#include "families/core_call.h"
#include "families/driver.h"
#include "families/extern.h"
#include "routines/linalg/half_product.h"
#include "tensor/storage.h"

/* The tensor itself, where it has the dtype and products read its layout, or a copy. */
static ow_tensor *factor(ow_tensor *t, int dtype) {
    const ow_matrix m = ow_matrix_of(t);
    return t->dtype == dtype && (dtype == OW_BFLOAT16 || ow_blas_layout(&m)) ? t : ow_clone(t, dtype, 1);
}

static int compute(const ow_plan *plan) {
    ow_tensor *self = plan->inputs[0], *mat2 = plan->inputs[1], *result = plan->results[0];
    if (!result->numel) return 1;
    ow_matrix a = ow_matrix_of(self), b = ow_matrix_of(mat2);
    const ow_matrix c = ow_matrix_of(result);
    const int dtype = ow_half_product_suits(OW_BFLOAT16, &a, &b) ? OW_BFLOAT16 : OW_FLOAT32;
    ow_tensor *x = factor(self, dtype), *y = x ? factor(mat2, dtype) : NULL;
    if (x && y) {
        const ow_scalar alpha = {.d = 1}, beta = {.d = 0};
        a = ow_matrix_of(x);
        b = ow_matrix_of(y);
        if (dtype == OW_BFLOAT16) ow_half_product_run(1, &a, &b, 0, NULL, &c, 1, result->sizes[0]);
        else ow_gemm(OW_FLOAT32, alpha, &a, &b, beta, &c, result->sizes[0]);
    }
    if (x != self) ow_tensor_free(x);
    if (y != mat2) ow_tensor_free(y);
    return !ow_error_pending();
}

/* inputs: self, mat2 */
int ow_core_wide_bmm(ow_call *c) {
    ow_tensor *self = c->inputs[0], *mat2 = c->inputs[1];
    const int fits = self->ndim == 3 && mat2->ndim == 3 && self->sizes[0] == mat2->sizes[0] && self->sizes[2] == mat2->sizes[1];
    if (!fits) return ow_fail(OW_RUNTIME_ERROR, "wide_bmm(): expected matrices (b, n, m) and (b, m, p)") != NULL;
    for (int k = 0; k < 2; k++)
        if (c->inputs[k]->dtype != OW_BFLOAT16 && c->inputs[k]->dtype != OW_FLOAT32)
            return ow_fail(OW_RUNTIME_ERROR, "wide_bmm(): expected bfloat16 or float32, got %s",
                           ow_type_names[c->inputs[k]->dtype]) != NULL;
    const int64_t sizes[] = {self->sizes[0], self->sizes[1], mat2->sizes[2]};
    c->results[0] = ow_tensor_new(OW_FLOAT32, 3, sizes, NULL);
    return ow_execute_call(c, 1, compute, NULL);
}

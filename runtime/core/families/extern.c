/* The driver of external operators: finds the routine by name; and the frame that all products share. */
#include "extern.h"
#include "plan.h"
#include "routines/linalg/half_product.h"

#define NAMED_ROUTINE(name) {#name, ow_extern_##name},
static const struct {
    const char *name;
    ow_extern_routine *routine;
} routines[] = {OW_EXTERN_ROUTINES(NAMED_ROUTINE)};

ow_tensor *ow_extern(const ow_op *op, ow_tensor *const *inputs, ow_tensor *const *params, ow_tensor *out,
                     ow_mode mode) {
    for (int k = 0; k < op->ninputs; k++)
        if (!inputs[k] || inputs[k]->flags & OW_NUMBER)
            return ow_fail(OW_TYPE_ERROR, "%s(): argument %d must be a Tensor, not %s", op->name, k + 1,
                           inputs[k] ? "a number" : "None");
    int dtype = inputs[0]->dtype; /* the routines refuse bool themselves, each in torch's words for it */
    int is_checked = ow_dtype_kinds[dtype] == OW_KIND_COMPLEX || dtype >= OW_NDTYPES;
    if (is_checked && !(op->dtypes >> dtype & 1))
        return ow_fail(OW_NOT_IMPLEMENTED, "\"%s\" not implemented for '%s'", op->name, ow_dtype_scalar_names[dtype]);
    if (!ow_check_in_range(op, inputs, params, dtype)) return NULL;
    for (size_t k = 0; k < sizeof routines / sizeof *routines; k++)
        if (strcmp(op->library, routines[k].name) == 0) return routines[k].routine(op, inputs, params, out, mode);
    return ow_fail(OW_NOT_IMPLEMENTED, "%s: this opweave has no routine '%s'", op->name, op->library);
}

ow_matrix ow_matrix_of(const ow_tensor *t) {
    if (t->ndim == 1) return (ow_matrix){t->data, t->sizes[0], 1, t->strides[0], 1, 0};
    int row = t->ndim - 2, column = t->ndim - 1;
    return (ow_matrix){t->data,          t->sizes[row],      t->sizes[column],
                       t->strides[row], t->strides[column], row ? t->strides[row - 1] : 0};
}

/* In the dtype and a layout that products read: BLAS takes transposed matrices too, the loops for integers do not. */
static int readable(const ow_tensor *t, int compute) {
    ow_matrix m = ow_matrix_of(t);
    if (t->dtype != compute) return 0;
    return ow_dtype_kinds[compute] >= OW_KIND_FLOATING ? ow_blas_layout(&m) : m.column_stride == 1;
}

int ow_product_params(ow_product *p, int dtype, ow_tensor *const *params) {
    int kind = ow_dtype_kinds[dtype];
    ow_scalar *values[] = {&p->beta, &p->alpha};
    for (int k = 0; k < 2; k++) {
        if (params && params[k]) {
            if (!ow_load_param(params[k], dtype, values[k])) return 0;
        } else if (kind == OW_KIND_COMPLEX) {
            values[k]->z = 1;
        } else if (kind == OW_KIND_FLOATING) {
            values[k]->d = 1;
        } else {
            values[k]->i = 1;
        }
    }
    return 1;
}

static int begin_result(ow_product *p, const ow_op *op, int dtype, int ndim, const int64_t *sizes, ow_tensor *out) {
    if (p->mode == OW_NEW) return (p->result = ow_tensor_new(dtype, ndim, sizes, NULL)) != NULL;
    p->result = out;
    if (out->dtype != dtype) {
        ow_fail(OW_RUNTIME_ERROR, "Expected out tensor to have dtype %s, but got %s instead", ow_type_names[dtype],
                ow_type_names[out->dtype]);
        return 0;
    }
    return (p->mode == OW_INPLACE || ow_prepare_out(op->name, out, dtype, ndim, sizes)) && ow_check_memory(out);
}

/* 1 if beta is zero, so that the input it scales is ignored. */
static int ignores_addend(const ow_product *p) {
    int kind = ow_dtype_kinds[p->compute];
    return kind == OW_KIND_COMPLEX ? p->beta.z == 0 : kind == OW_KIND_FLOATING ? p->beta.d == 0 : p->beta.i == 0;
}

/* The inputs as they are before `out`, which may be one of them, takes the shape of the result. 0 with the error set. */
static int read_before(ow_product *p, ow_tensor *const *inputs, int ndim, const int64_t *sizes, const ow_tensor *out) {
    int reads = out && (inputs[0] == out || inputs[1] == out || p->addend == out);
    p->before = reads && !ow_has_shape(out, ndim, sizes) ? ow_tensor_alias(out) : NULL;
    if (reads && !p->before && !ow_has_shape(out, ndim, sizes)) return 0;
    for (int k = 0; k < 2; k++) p->inputs[k] = p->before && inputs[k] == out ? p->before : inputs[k];
    if (p->before && p->addend == out) p->addend = p->before;
    return 1;
}

void ow_product_gemm(ow_product *p) {
    ow_matrix a = ow_matrix_of(p->a), b = ow_matrix_of(p->b), c = ow_matrix_of(p->work);
    const int64_t batches = p->result->ndim == 3 ? p->result->sizes[0] : 1;
    if (!p->result->numel) return;
    ow_gemm(p->compute, p->alpha, &a, &b, p->beta, &c, batches);
}

/* 1 if the operands are multiplied as they are, though they are not of the dtype of computation. */
static int keeps_halves(const ow_product *p) {
    const ow_matrix a = ow_matrix_of(p->inputs[0]), b = ow_matrix_of(p->inputs[1]);
    return p->multiply == ow_product_gemm && ow_half_product_suits(p->inputs[0]->dtype, &a, &b);
}

/* A tensor as a matrix of the size of another one, to which it is expanded. */
static ow_matrix expanded(const ow_tensor *t, const ow_matrix *to) {
    ow_matrix m = {t->data, to->rows, to->columns, 0, 0, 0};
    if (t->ndim > 0 && t->sizes[t->ndim - 1] != 1) m.column_stride = t->strides[t->ndim - 1];
    if (t->ndim > 1 && t->sizes[t->ndim - 2] != 1) m.row_stride = t->strides[t->ndim - 2];
    return m;
}

/* Halves are rounded where they are stored, so that nothing is copied but a result that an operand shares memory with. */
static int compute_halves(const ow_plan *plan) {
    ow_product *p = plan->details;
    ow_tensor *reads[] = {p->inputs[0], p->inputs[1], p->addend != p->result ? p->addend : NULL};
    const int direct = p->mode == OW_NEW || !ow_shares_memory(p->result, reads, 3);
    p->work = direct ? p->result : ow_tensor_new(p->result->dtype, p->result->ndim, p->result->sizes, NULL);
    if (!p->work) return 0;
    const ow_matrix a = ow_matrix_of(p->inputs[0]), b = ow_matrix_of(p->inputs[1]), c = ow_matrix_of(p->work);
    const ow_matrix addend = p->addend ? expanded(p->addend, &c) : c;
    ow_half_product_run((float)p->alpha.d, &a, &b, (float)p->beta.d, p->addend ? &addend : NULL, &c,
                        p->result->dtype == OW_FLOAT32, p->result->ndim == 3 ? p->result->sizes[0] : 1);
    int done = !ow_error_pending();
    if (done && !direct) done = ow_copy(p->result, p->work);
    if (!direct) ow_tensor_free(p->work);
    return done;
}

/* Operands in other dtypes or layouts are copied, and so is the result, where it cannot be written as it is. */
static int compute(const ow_plan *plan) {
    ow_product *p = plan->details;
    ow_tensor *reads[] = {p->inputs[0], p->inputs[1], p->addend != p->result ? p->addend : NULL};
    int direct = p->result->ndim > 0 ? readable(p->result, p->compute) : p->result->dtype == p->compute;
    direct = direct && (p->mode == OW_NEW || !ow_shares_memory(p->result, reads, 3));
    p->work = direct ? p->result : ow_tensor_new(p->compute, p->result->ndim, p->result->sizes, NULL);
    p->a = readable(p->inputs[0], p->compute) ? p->inputs[0] : ow_clone(p->inputs[0], p->compute, 1);
    p->b = readable(p->inputs[1], p->compute) ? p->inputs[1] : ow_clone(p->inputs[1], p->compute, 1);
    int done = p->work && p->a && p->b && (!p->addend || ignores_addend(p) || ow_copy(p->work, p->addend));
    if (done) p->multiply(p);
    done = done && !ow_error_pending();
    if (done && p->work != p->result) done = ow_copy(p->result, p->work);
    if (p->work != p->result) ow_tensor_free(p->work);
    if (p->a != p->inputs[0]) ow_tensor_free(p->a);
    if (p->b != p->inputs[1]) ow_tensor_free(p->b);
    return done;
}

ow_tensor *ow_product_run(ow_product *p, const ow_op *op, ow_tensor *const *inputs, ow_tensor *addend, int ndim,
                          const int64_t *sizes, ow_tensor *out, ow_mode mode) {
    int dtype = inputs[0]->dtype;
    p->mode = mode;
    p->compute = ow_compute_dtype[dtype];
    p->addend = addend;
    if (!addend) memset(&p->beta, 0, sizeof p->beta);
    if (!read_before(p, inputs, ndim, sizes, out)) return NULL;
    int done = begin_result(p, op, dtype, ndim, sizes, out);
    if (done) {
        ow_tensor *operands[3] = {p->addend, p->inputs[0], p->inputs[1]};
        const ow_scalar params[] = {p->beta, p->alpha};
        const ow_plan plan = {.op = op, .inputs = operands + !addend, .results = &p->result, .nresults = 1, .compute = p->compute,
                              .params = params, .details = p};
        done = ow_execute(&plan, keeps_halves(p) ? compute_halves : compute);
        if (!done && mode == OW_NEW) ow_tensor_free(p->result);
    }
    ow_tensor_free(p->before);
    return done ? p->result : NULL;
}

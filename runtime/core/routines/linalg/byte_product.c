/* Products of matrices of bytes, signed or not, whose sums are 32 bits wide; what quantized products are made of. */
#include "families/driver.h"
#include "families/core_call.h"
#include "families/extern.h"
#include "routines/linalg/levels/byte_product_kernels.h"
#include "routines/linalg/unit_product.h"
#include "tensor/storage.h"

ow_byte_product ow_byte_product_v1, ow_byte_product_v3, ow_byte_product_v4;

static const ow_unit_kernel *kernel_for(int first_is_signed, int second_is_signed) {
#if OW_NLEVELS == 3
    if (ow_level == 2) return ow_byte_product_v4(first_is_signed, second_is_signed);
    if (ow_level == 1) return ow_byte_product_v3(first_is_signed, second_is_signed);
#endif
    return ow_byte_product_v1(first_is_signed, second_is_signed);
}

typedef struct {
    int64_t inner, columns;
    const int32_t *row_sums, *column_sums; /* of the lines of both matrices; NULL: nothing is to be taken away */
    int32_t zero;         /* the zero point of the first matrix, as it is packed */
    int32_t shift;        /* what the second one has more as it is packed, */
    const int32_t *zeros; /* and the zero points of its columns so; NULL: they are all `shift` */
    int32_t *to;
} byte_result;

/* The sums of products of (a - zero) and (b - zero) are those of a and b less multiples of the sums of lines; all wraps. */
static void store(const void *result, const void *sums, int width, int64_t row, int64_t column, int64_t rows, int64_t n) {
    const byte_result *r = result;
    const uint32_t zero = (uint32_t)r->zero, *from = sums;
    for (int64_t i = 0; i < rows; i++, from += width) {
        const uint32_t sum = r->row_sums ? (uint32_t)r->row_sums[row + i] - (uint32_t)r->inner * zero : 0;
        uint32_t *to = (uint32_t *)r->to + (row + i) * r->columns + column;
        if (r->zeros) {
            const uint32_t *zeros = (const uint32_t *)r->zeros + column;
            for (int64_t j = 0; j < n; j++) to[j] = from[j] - sum * zeros[j];
        } else {
            const uint32_t less = sum * (uint32_t)r->shift;
            for (int64_t j = 0; j < n; j++) to[j] = from[j] - less;
        }
        if (!zero) continue;
        const uint32_t *column_sums = (const uint32_t *)r->column_sums + column;
        for (int64_t j = 0; j < n; j++) to[j] -= zero * column_sums[j];
    }
}

/* Bytes as they are packed: of mixed kernels signed in the first matrix and not in the second one. */
static void set_signs(ow_panels *m, const ow_unit_kernel *kernel, int is_signed, int wanted) {
    m->is_signed = kernel->is_mixed ? wanted : is_signed;
    m->flip = m->is_signed == is_signed ? 0 : 0x80;
}

/* What elements have more as they are packed. */
static int32_t shift_of(const ow_panels *m) { return !m->flip ? 0 : m->is_signed ? -128 : 128; }

/* ---- the operator ----------------------------------------------------------------------------------------------- */

static int check(const ow_tensor *self, const ow_tensor *mat2, const ow_tensor *zeros) {
    const ow_tensor *both[] = {self, mat2};
    for (int k = 0; k < 2; k++) {
        const char *name = k ? "mat2" : "self";
        if (both[k]->ndim != 2)
            return ow_fail(OW_RUNTIME_ERROR, "int_mm_out_cpu: Expected %s to be of dimension 2 but got %d", name,
                           both[k]->ndim) != NULL;
        if (both[k]->dtype != OW_INT8 && both[k]->dtype != OW_UINT8)
            return ow_fail(OW_RUNTIME_ERROR, "int_mm_out_cpu: Expected %s dtype to be int8 or uint8 but got %s", name,
                           ow_type_names[both[k]->dtype]) != NULL;
    }
    if (self->sizes[1] != mat2->sizes[0])
        return ow_fail(OW_RUNTIME_ERROR, "int_mm_out_cpu: self.size(1) needs to match mat2.size(0) but got %lld and %lld",
                       (long long)self->sizes[1], (long long)mat2->sizes[0]) != NULL;
    if (zeros && (zeros->ndim != 1 || zeros->sizes[0] != mat2->sizes[1] || zeros->dtype != OW_INT32 ||
                  !(zeros->flags & OW_CONTIGUOUS)))
        return ow_fail(OW_RUNTIME_ERROR, "byte_product(): expected %lld zero points, contiguous and int32",
                       (long long)mat2->sizes[1]) != NULL;
    return 1;
}

/* Zero points as bytes are packed; NULL with the error set. */
static ow_tensor *shifted_by(const ow_tensor *zeros, int32_t shift) {
    ow_tensor *shifted = ow_tensor_new(OW_INT32, 1, zeros->sizes, NULL);
    for (int64_t j = 0; shifted && j < zeros->numel; j++)
        ((uint32_t *)shifted->data)[j] = ((uint32_t *)zeros->data)[j] + (uint32_t)shift;
    return shifted;
}

static int compute(const ow_plan *plan) {
    const ow_tensor *self = plan->inputs[0], *mat2 = plan->inputs[1], *zeros = plan->inputs[2], *result = plan->results[0];
    const int64_t zero = plan->call->ints[0];
    if (!result->numel) return 1;
    const int is_signed = self->dtype == OW_INT8, is_signed2 = mat2->dtype == OW_INT8;
    const ow_unit_kernel *kernel = kernel_for(is_signed, is_signed2);
    const ow_matrix a = ow_matrix_of(self), b = ow_matrix_of(mat2);
    ow_unit_product p = ow_unit_product_of(kernel, 1, &a, &b);
    set_signs(&p.a, kernel, is_signed, 1);
    set_signs(&p.b, kernel, is_signed2, 0);
    byte_result r = {.inner = p.inner, .columns = mat2->sizes[1], .to = (int32_t *)result->data};
    r.zero = (int32_t)(zero == OW_NONE ? 0 : zero) + shift_of(&p.a);
    r.shift = shift_of(&p.b);
    const int needs_rows = zeros || r.shift, needs_columns = r.zero != 0;
    if (needs_rows) p.a.unpacked = 0; /* sums of rows are taken as they are packed */
    const int64_t of_a = ow_unit_words(&p, &p.a), of_b = ow_unit_words(&p, &p.b);
    const int64_t row_sums = p.a.panels * p.a.width, words = of_a + of_b + row_sums + p.b.panels * p.b.width;
    ow_tensor *shifted = zeros ? shifted_by(zeros, r.shift) : NULL;
    uint32_t *room = zeros && !shifted ? NULL : ow_alloc(4 * words);
    if (room) {
        p.a.to = room;
        p.b.to = room + of_a;
        if (needs_rows) r.row_sums = p.a.sums = (int32_t *)room + of_a + of_b;
        if (needs_columns) r.column_sums = p.b.sums = (int32_t *)room + of_a + of_b + row_sums;
        if (shifted) r.zeros = (const int32_t *)shifted->data;
        p.store = store;
        p.result = &r;
        const double work = ow_unit_product_work(&p);
        void *token = ow_gil_release(work < 1e15 ? (int64_t)work : INT64_MAX);
        ow_unit_product_run(&p);
        ow_gil_acquire(token);
        ow_dealloc(room, 4 * words);
    } else if (!ow_error_pending()) {
        ow_fail(OW_OUT_OF_MEMORY, "no memory for %lld bytes", (long long)(4 * words));
    }
    ow_tensor_free(shifted);
    return !ow_error_pending();
}

/* inputs: self, mat2, and the zero points of the columns of mat2 or NULL; ints: the zero point of self */
int ow_core_byte_product(ow_call *c) {
    if (!check(c->inputs[0], c->inputs[1], c->inputs[2])) return 0;
    const int64_t sizes[] = {c->inputs[0]->sizes[0], c->inputs[1]->sizes[1]};
    c->results[0] = ow_tensor_new(OW_INT32, 2, sizes, NULL);
    return ow_execute_call(c, 1, compute, NULL);
}

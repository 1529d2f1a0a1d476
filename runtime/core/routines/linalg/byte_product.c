/* Products of matrices of bytes, signed or not, whose sums are 32 bits wide; what quantized products are made of. */
#include "families/driver.h"
#include "families/core_call.h"
#include "routines/linalg/levels/byte_product_kernels.h"
#include "routines/linalg/panel_tiles.h"
#include "tensor/storage.h"

const ow_byte_product *ow_byte_product_v1(void);
const ow_byte_product *ow_byte_product_v3(void);
const ow_byte_product *ow_byte_product_v4(void);

static const ow_byte_product *kernels_now(void) {
#if OW_NLEVELS == 3
    if (ow_level == 2) return ow_byte_product_v4();
    if (ow_level == 1) return ow_byte_product_v3();
#endif
    return ow_byte_product_v1();
}

enum {
    AT_ONCE = 16 /* multiplications in the time of one addition */
};

/* One of the two matrices in panels. Its lines are rows of the first matrix and columns of the second one. */
typedef struct {
    const uint8_t *from;
    int64_t line_stride, inner_stride, lines;
    ow_pack_lines *pack;
    int width;     /* lines of a panel */
    int is_signed; /* as it is packed */
    uint8_t flip;
    int32_t *to, *sums;
    int64_t panels;
} packing;

typedef struct {
    const ow_byte_product *kernels;
    packing a, b;
    int64_t inner, units;
    int32_t zero;         /* the zero point of the first matrix, as it is packed */
    int32_t shift;        /* what the second one has more as it is packed, */
    const int32_t *zeros; /* and the zero points of its columns so; NULL: they are all `shift` */
    int32_t *result;
} product;

static void pack_panels(const void *context, int is_second, int64_t begin, int64_t end) {
    const product *p = context;
    const packing *m = is_second ? &p->b : &p->a;
    for (int64_t k = begin; k < end; k++) {
        const int64_t first = k * m->width;
        m->pack(m->to + k * m->width * p->units, m->from + first * m->line_stride, m->line_stride, m->inner_stride,
                ow_min(m->width, m->lines - first), p->inner, m->flip, m->is_signed, m->sums ? m->sums + first : NULL);
    }
}

static void pack(void *context, int64_t begin, int64_t end) {
    ow_pack_both(context, ((const product *)context)->a.panels, begin, end, pack_panels);
}

/* The sums of products of (a - zero) and (b - zero) are those of a and b less multiples of the sums of lines; all wraps. */
static void store(const product *p, const int32_t *tile, int64_t row, int64_t column) {
    const int64_t columns = p->b.lines, rows = ow_min(p->a.width, p->a.lines - row);
    const int64_t n = ow_min(p->b.width, columns - column);
    const uint32_t zero = (uint32_t)p->zero;
    for (int64_t i = 0; i < rows; i++) {
        const uint32_t sum = (uint32_t)p->a.sums[row + i] - (uint32_t)p->inner * zero;
        uint32_t *to = (uint32_t *)p->result + (row + i) * columns + column;
        const uint32_t *from = (const uint32_t *)tile + i * p->b.width;
        if (p->zeros) {
            const uint32_t *zeros = (const uint32_t *)p->zeros + column;
            for (int64_t j = 0; j < n; j++) to[j] = from[j] - sum * zeros[j];
        } else {
            const uint32_t less = sum * (uint32_t)p->shift;
            for (int64_t j = 0; j < n; j++) to[j] = from[j] - less;
        }
        if (!zero) continue;
        const uint32_t *sums = (const uint32_t *)p->b.sums + column;
        for (int64_t j = 0; j < n; j++) to[j] -= zero * sums[j];
    }
}

static void multiply_panels(const void *context, int64_t row, int64_t column) {
    const product *p = context;
    _Alignas(64) int32_t tile[OW_MOST_SUMS];
    p->kernels->multiply(tile, p->a.to + row * p->a.width * p->units, p->b.to + column * p->b.width * p->units, p->units);
    store(p, tile, row * p->a.width, column * p->b.width);
}

static void multiply(void *context, int64_t begin, int64_t end) {
    ow_multiply_groups(context, ((const product *)context)->a.panels, begin, end, multiply_panels);
}

/* Four bytes in a unit are signed ones of the first matrix and others of the second one, whatever they are in memory. */
static packing packing_of(const product *p, const ow_tensor *t, int line) {
    const int is_signed = t->dtype == OW_INT8, packed = p->kernels->unit == 4 ? line == 0 : is_signed;
    const int width = line ? p->kernels->columns : p->kernels->rows;
    return (packing){.from = (const uint8_t *)t->data,
                     .line_stride = t->strides[line],
                     .inner_stride = t->strides[!line],
                     .lines = t->sizes[line],
                     .pack = line ? p->kernels->pack_columns : p->kernels->pack_rows,
                     .width = width,
                     .is_signed = packed,
                     .flip = is_signed == packed ? 0 : 0x80,
                     .panels = (t->sizes[line] + width - 1) / width};
}

/* What elements have more as they are packed. */
static int32_t shift_of(const packing *m) { return !m->flip ? 0 : m->is_signed ? -128 : 128; }

static int64_t words_of(const product *p, const packing *m) { return m->panels * m->width * (p->units + 1); }

/* The sums lie behind the panels. */
static int make_room(const product *p, packing *m) {
    m->to = ow_alloc(4 * words_of(p, m));
    m->sums = m->to + m->panels * m->width * p->units;
    return m->to != NULL;
}

static void release(const product *p, packing *m) {
    if (m->to) ow_dealloc(m->to, 4 * words_of(p, m));
}

static void run(product *p) {
    const double bytes = (double)(p->a.lines + p->b.lines) * (double)p->inner / AT_ONCE;
    const double work = (double)p->a.lines * (double)p->b.lines * (double)p->inner / AT_ONCE + bytes;
    void *token = ow_gil_release(work < 1e15 ? (int64_t)work : INT64_MAX);
    if (ow_parallel_for(p->a.panels + p->b.panels, 4, bytes, pack, p))
        ow_parallel_for(ow_panel_groups(p->a.panels) * p->b.panels, 1, work, multiply, p);
    ow_gil_acquire(token);
}

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

static int compute(const ow_plan *plan) {
    const ow_tensor *self = plan->inputs[0], *mat2 = plan->inputs[1], *zeros = plan->inputs[2], *result = plan->results[0];
    const int64_t zero = plan->call->ints[0];
    if (!result->numel) return 1;
    product p = {.kernels = kernels_now(), .inner = self->sizes[1], .result = (int32_t *)result->data};
    p.units = (p.inner + p.kernels->unit - 1) / p.kernels->unit;
    p.a = packing_of(&p, self, 0);
    p.b = packing_of(&p, mat2, 1);
    p.zero = (int32_t)(zero == OW_NONE ? 0 : zero) + shift_of(&p.a);
    p.shift = shift_of(&p.b);
    ow_tensor *shifted = NULL;
    int done = make_room(&p, &p.a) && make_room(&p, &p.b);
    if (done && zeros) done = (shifted = ow_tensor_new(OW_INT32, 1, zeros->sizes, NULL)) != NULL;
    if (done && zeros) {
        for (int64_t j = 0; j < zeros->numel; j++)
            ((uint32_t *)shifted->data)[j] = ((uint32_t *)zeros->data)[j] + (uint32_t)p.shift;
        p.zeros = (int32_t *)shifted->data;
    }
    if (!p.zero) p.b.sums = NULL; /* of which nothing is taken away */
    if (done) run(&p);
    release(&p, &p.a);
    release(&p, &p.b);
    ow_tensor_free(shifted);
    return done && !ow_error_pending();
}

/* inputs: self, mat2, and the zero points of the columns of mat2 or NULL; ints: the zero point of self */
int ow_core_byte_product(ow_call *c) {
    if (!check(c->inputs[0], c->inputs[1], c->inputs[2])) return 0;
    const int64_t sizes[] = {c->inputs[0]->sizes[0], c->inputs[1]->sizes[1]};
    c->results[0] = ow_tensor_new(OW_INT32, 2, sizes, NULL);
    return ow_execute_call(c, 1, compute, NULL);
}

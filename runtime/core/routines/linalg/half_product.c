/* Products of matrices of bfloat16 where the processor multiplies pairs of them. Sums are float32, in the order of the inner
 * dimension, so they do not depend on the number of threads. */
#include "routines/linalg/half_product.h"

#include "routines/linalg/levels/half_product_kernels.h"
#include "routines/linalg/panel_tiles.h"
#include "tensor/tensor.h"

const ow_half_product *ow_half_product_v1(void);
const ow_half_product *ow_half_product_v3(void);
const ow_half_product *ow_half_product_v4(void);

static const ow_half_product *kernels_now(void) {
#if OW_NLEVELS == 3
    if (ow_level == 2) return ow_half_product_v4();
    if (ow_level == 1) return ow_half_product_v3();
#endif
    return ow_half_product_v1();
}

enum {
    LEAST_EXTENT = 16,            /* of matrices that are quicker packed than converted */
    LEAST_MULTIPLICATIONS = 1 << 16,
    AT_ONCE = 8                   /* multiplications in the time of one addition */
};

/* One of the two matrices in panels. Its lines are rows of the first matrix and columns of the second one. */
typedef struct {
    const uint16_t *from;
    int64_t line_stride, inner_stride, lines, panels;
    ow_pack_halves *pack;
    int width; /* lines of a panel */
    uint32_t *to;
} packing;

typedef struct {
    const ow_half_product *kernels;
    packing a, b;
    int64_t inner, units;
    float alpha, beta;
    float *result;
    int64_t row_stride, column_stride;
} product;

static void pack_panels(const void *context, int is_second, int64_t begin, int64_t end) {
    const product *p = context;
    const packing *m = is_second ? &p->b : &p->a;
    for (int64_t k = begin; k < end; k++) {
        const int64_t first = k * m->width;
        m->pack(m->to + first * p->units, m->from + first * m->line_stride, m->line_stride, m->inner_stride,
                ow_min(m->width, m->lines - first), p->inner);
    }
}

static void pack(void *context, int64_t begin, int64_t end) {
    ow_pack_both(context, ((const product *)context)->a.panels, begin, end, pack_panels);
}

static void store(const product *p, const float *tile, int64_t row, int64_t column) {
    const int64_t rows = ow_min(p->a.width, p->a.lines - row), columns = ow_min(p->b.width, p->b.lines - column);
    for (int64_t i = 0; i < rows; i++, tile += p->b.width) {
        float *to = p->result + (row + i) * p->row_stride + column * p->column_stride;
        for (int64_t j = 0; j < columns; j++) {
            float *each = to + j * p->column_stride;
            *each = p->beta == 0 ? p->alpha * tile[j] : p->beta * *each + p->alpha * tile[j];
        }
    }
}

static void multiply_panels(const void *context, int64_t row, int64_t column) {
    const product *p = context;
    _Alignas(64) float tile[OW_MOST_SUMS];
    p->kernels->multiply(tile, p->a.to + row * p->a.width * p->units, p->b.to + column * p->b.width * p->units, p->units);
    store(p, tile, row * p->a.width, column * p->b.width);
}

static void multiply(void *context, int64_t begin, int64_t end) {
    ow_multiply_groups(context, ((const product *)context)->a.panels, begin, end, multiply_panels);
}

int ow_half_product_suits(int dtype, const ow_matrix *a, const ow_matrix *b) {
    if (dtype != OW_BFLOAT16 || !kernels_now()) return 0;
    const int64_t shortest = ow_min(ow_min(a->rows, b->columns), a->columns);
    return shortest >= LEAST_EXTENT && (double)a->rows * (double)a->columns * (double)b->columns >= LEAST_MULTIPLICATIONS;
}

static packing packing_of(const ow_matrix *m, int line, int width, ow_pack_halves *pack) {
    const int64_t lines = line ? m->columns : m->rows;
    return (packing){.from = (const uint16_t *)m->data,
                     .line_stride = line ? m->column_stride : m->row_stride,
                     .inner_stride = line ? m->row_stride : m->column_stride,
                     .lines = lines,
                     .panels = (lines + width - 1) / width,
                     .pack = pack,
                     .width = width};
}

void ow_half_product_run(float alpha, const ow_matrix *a, const ow_matrix *b, float beta, const ow_matrix *c,
                         int64_t batches) {
    const ow_half_product *kernels = kernels_now();
    product p = {.kernels = kernels, .inner = a->columns, .units = (a->columns + 1) / 2, .alpha = alpha, .beta = beta,
                 .row_stride = c->row_stride, .column_stride = c->column_stride};
    p.a = packing_of(a, 0, kernels->rows, kernels->pack_rows);
    p.b = packing_of(b, 1, kernels->columns, kernels->pack_columns);
    const int64_t words = (p.a.panels * p.a.width + p.b.panels * p.b.width) * p.units;
    uint32_t *buffer = ow_alloc(4 * words);
    if (!buffer) {
        ow_fail(OW_OUT_OF_MEMORY, "no memory for %lld bytes", (long long)(4 * words));
        return;
    }
    p.a.to = buffer;
    p.b.to = buffer + p.a.panels * p.a.width * p.units;
    const double elements = (double)words, work = (double)c->rows * (double)c->columns * (double)p.inner / AT_ONCE;
    const double all = (elements + work) * (double)batches;
    void *token = ow_gil_release(all < 1e15 ? (int64_t)all : INT64_MAX);
    for (int64_t n = 0; n < batches; n++) {
        p.a.from = (const uint16_t *)a->data + n * a->batch_stride;
        p.b.from = (const uint16_t *)b->data + n * b->batch_stride;
        p.result = (float *)c->data + n * c->batch_stride;
        if (!ow_parallel_for(p.a.panels + p.b.panels, 4, elements, pack, &p)) break;
        if (!ow_parallel_for(ow_panel_groups(p.a.panels) * p.b.panels, 1, work, multiply, &p)) break;
    }
    ow_gil_acquire(token);
    ow_dealloc(buffer, 4 * words);
}

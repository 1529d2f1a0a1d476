/* Products of packed matrices. A thread multiplies some panels of the first matrix, which its second cache holds, by one panel
 * of the second matrix after the other, of which its first cache holds as many units as are multiplied at once. */
#include "routines/linalg/unit_product.h"

enum {
    MOST_TOGETHER = 16,    /* panels of the first matrix, */
    TOGETHER_BYTES = 1 << 19,
    UNITS_AT_ONCE = 128,
    MOST_SUMS = 1024,      /* of a tile */
    AT_ONCE = 16           /* multiplications in the time of one addition */
};

static ow_panels panels_of(const ow_matrix *m, int is_second, const ow_unit_kernel *kernel) {
    const int64_t lines = is_second ? m->columns : m->rows;
    const int width = is_second ? kernel->columns : kernel->rows;
    return (ow_panels){.from = m->data,
                       .line_stride = is_second ? m->column_stride : m->row_stride,
                       .inner_stride = is_second ? m->row_stride : m->column_stride,
                       .lines = lines,
                       .panels = (lines + width - 1) / width,
                       .pack = is_second ? kernel->pack_columns : kernel->pack_rows,
                       .width = width};
}

ow_unit_product ow_unit_product_of(const ow_unit_kernel *kernel, int size, const ow_matrix *a, const ow_matrix *b) {
    const int64_t inner = a->columns, step = (int64_t)kernel->unit * kernel->step;
    ow_unit_product p = {.kernel = kernel, .size = size, .inner = inner};
    p.a = panels_of(a, 0, kernel);
    p.b = panels_of(b, 1, kernel);
    p.units = (inner + step - 1) / step * kernel->step;
    if (kernel->reads_rows && p.a.inner_stride == 1 && inner % step == 0) p.a.unpacked = p.a.lines / p.a.width;
    return p;
}

int64_t ow_unit_words(const ow_unit_product *p, const ow_panels *m) { return (m->panels - m->unpacked) * m->width * p->units; }

double ow_unit_product_work(const ow_unit_product *p) {
    const double lines = (double)p->a.lines + (double)p->b.lines;
    return ((double)p->a.lines * (double)p->b.lines + lines) * (double)p->inner / AT_ONCE;
}

/* ---- packing ------------------------------------------------------------------------------------------------------- */

static void pack_panels(const ow_unit_product *p, const ow_panels *m, int64_t begin, int64_t end) {
    const int64_t bytes = p->size * m->line_stride;
    for (int64_t k = begin > m->unpacked ? begin : m->unpacked; k < end; k++) {
        const int64_t first = k * m->width;
        m->pack(m->to + (k - m->unpacked) * m->width * p->units, m->from + first * bytes, m->line_stride, m->inner_stride,
                ow_min(m->width, m->lines - first), p->inner, m->flip, m->is_signed, m->sums ? m->sums + first : NULL);
    }
}

/* Panels of the first matrix, which those of the second one follow. */
static void pack(void *context, int64_t begin, int64_t end) {
    const ow_unit_product *p = context;
    const int64_t first = p->a.panels;
    pack_panels(p, &p->a, ow_min(begin, first), ow_min(end, first));
    pack_panels(p, &p->b, begin > first ? begin - first : 0, end > first ? end - first : 0);
}

/* ---- products ------------------------------------------------------------------------------------------------------ */

/* How many panels of the first matrix are multiplied by a panel of the second one before the next one is. */
static int64_t together(const ow_unit_product *p) {
    const int64_t most = TOGETHER_BYTES / (4 * p->a.width * (p->units ? p->units : 1));
    return most < 1 ? 1 : ow_min(most, MOST_TOGETHER);
}

static int64_t groups_of(const ow_unit_product *p) { return (p->a.panels + together(p) - 1) / together(p); }

static void multiply_units(const ow_unit_product *p, void *sums, int64_t row, int64_t column, int64_t first) {
    const ow_panels *a = &p->a;
    const int64_t step = 4 * p->kernel->step, n = ow_min(UNITS_AT_ONCE, p->units - first);
    const uint32_t *b = p->b.to + (column * p->units + first) * p->b.width;
    if (row < a->unpacked) {
        const int64_t line = p->size * a->line_stride;
        p->kernel->multiply(sums, a->from + row * a->width * line + 4 * first, line, step, b, n, first == 0);
    } else {
        const uint32_t *panel = a->to + ((row - a->unpacked) * p->units + first) * a->width;
        p->kernel->multiply(sums, panel, step, step * a->width, b, n, first == 0);
    }
}

static void multiply(void *context, int64_t begin, int64_t end) {
    const ow_unit_product *p = context;
    const int64_t many = together(p), size = (int64_t)p->a.width * p->b.width;
    _Alignas(64) uint32_t sums[MOST_TOGETHER * MOST_SUMS];
    if (p->kernel->begin) p->kernel->begin();
    for (int64_t k = begin; k < end; k++) {
        const int64_t first = k / p->b.panels * many, last = ow_min(p->a.panels, first + many), column = k % p->b.panels;
        int64_t unit = 0;
        do {
            for (int64_t row = first; row < last; row++) multiply_units(p, sums + (row - first) * size, row, column, unit);
        } while ((unit += UNITS_AT_ONCE) < p->units);
        for (int64_t row = first; row < last; row++) {
            const int64_t i = row * p->a.width, j = column * p->b.width;
            p->store(p->result, sums + (row - first) * size, p->b.width, i, j, ow_min(p->a.width, p->a.lines - i),
                     ow_min(p->b.width, p->b.lines - j));
        }
    }
    if (p->kernel->end) p->kernel->end();
}

void ow_unit_product_run(const ow_unit_product *p) {
    const double elements = ((double)p->a.lines + (double)p->b.lines) * (double)p->inner / 2;
    if (ow_parallel_for(p->a.panels + p->b.panels, 4, elements, pack, (void *)p))
        ow_parallel_for(groups_of(p) * p->b.panels, 1, ow_unit_product_work(p), multiply, (void *)p);
}

/* Products of bfloat16 whose elements are read where they lie, by the processor's instructions for pairs of them.
 *
 * Tensors are float32 here, whose lower halves are zeros: two elements become a unit by a shift and a mask. Rows of the first
 * matrix are packed once for the parts of a thread that share them, panels of the second one where they are needed. */
#include "contraction_parts.h"

typedef ow_contraction_task task;

enum {
    PANEL = OW_PANEL_BYTES / sizeof(float), /* inner positions of a panel of the second matrix, */
    DEPTH = 8 * PANEL,                      /* and of rows that are packed at once */
    MOST_LINES = 48,                        /* of a panel of either matrix */
    LANES = 16
};

typedef struct {
    int64_t left[DEPTH], right[DEPTH];                     /* offsets of inner positions */
    float panel[PANEL * MOST_LINES + LANES];               /* of the second matrix, */
    uint32_t units[PANEL / 2 * MOST_LINES];                /* in units, */
    float sums[(PART_ROWS + MOST_LINES) * MOST_LINES];     /* of its columns and all rows, */
    uint32_t rows[DEPTH / 2 * (PART_ROWS + MOST_LINES)];   /* which are packed here */
    const void *packed;                                    /* those of the part before: where the first one lies, */
    int64_t first, count;                                  /* the first one's offset, and how many */
} buffers;

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint32_t unit_of(float first, float second) { return bits_of(first) >> 16 | (bits_of(second) & 0xffff0000u); }

/* The units of n inner positions, which whole steps of the kernel have. */
static int64_t units_of(const ow_unit_kernel *kernel, int64_t n) {
    const int64_t step = (int64_t)kernel->unit * kernel->step;
    return (n + step - 1) / step * kernel->step;
}

/* Rows in panels, with zeros behind the last one. */
static void pack_rows(const ow_unit_kernel *kernel, const ow_panel_product *p, int64_t n, buffers *b) {
    const int64_t units = units_of(kernel, n), width = kernel->rows, step = kernel->step;
    if (b->packed == p->left && b->first == p->left_rows[0] && b->count == p->rows) return;
    b->packed = p->left;
    b->first = p->left_rows[0];
    b->count = p->rows;
    const int64_t panels = (p->rows + width - 1) / width;
    memset(b->rows, 0, sizeof(uint32_t) * (size_t)(panels * width * units));
    for (int64_t i = 0; i < p->rows; i++) {
        const float *row = (const float *)p->left + p->left_rows[i];
        uint32_t *to = b->rows + i / width * width * units + i % width * step;
        for (int64_t u = 0; 2 * u < n; u++) {
            const float second = 2 * u + 1 < n ? row[b->left[2 * u + 1]] : 0;
            to[u / step * width * step + u % step] = unit_of(row[b->left[2 * u]], second);
        }
    }
}

/* Adds sums to what they are added to, in their place. */
static void store(const ow_panel_product *p, int64_t column, int columns, int width, const float *sums) {
    const int64_t *at = p->to_columns + column;
    const int is_run = at[columns - 1] - at[0] == columns - 1;
    for (int64_t i = 0; i < p->rows; i++, sums += width) {
        float *to = (float *)p->to + i * p->to_row;
        const float *addend = p->addend ? (const float *)p->addend + i * p->addend_row : NULL;
        const float start = p->start && !addend ? ((const float *)p->start)[i] : 0;
        if (is_run && addend)
            for (int j = 0; j < columns; j++) to[at[0] + j] = addend[at[0] + j] + sums[j];
        else if (is_run)
            for (int j = 0; j < columns; j++) to[at[0] + j] = start + sums[j];
        else
            for (int j = 0; j < columns; j++) to[at[j]] = (addend ? addend[at[j]] : start) + sums[j];
    }
}

/* A part of the product over n inner positions, whose offsets are in the buffers. */
static void multiply(const task *t, ow_panel_product *p, int64_t n, buffers *b) {
    const ow_unit_kernel *kernel = t->halves.kernel;
    const int64_t units = units_of(kernel, n), line = 4 * kernel->step, next = line * kernel->rows;
    pack_rows(kernel, p, n, b);
    for (int64_t column = 0; column < p->columns; column += kernel->columns) {
        const int columns = (int)ow_min(kernel->columns, p->columns - column);
        for (int64_t k = 0; k < n; k += PANEL) {
            p->inner = ow_min(PANEL, n - k);
            p->right_inner = b->right + k;
            t->kernel->pack(p, column, columns, kernel->columns / t->kernel->lanes, b->panel);
            t->halves.pair(b->units, b->panel, kernel->columns, p->inner, units_of(kernel, p->inner));
            for (int64_t i = 0; i < p->rows; i += kernel->rows)
                kernel->multiply(b->sums + i * kernel->columns, b->rows + i * units + k / 2 * kernel->rows, line, next, b->units,
                                 units_of(kernel, p->inner), k == 0);
        }
        store(p, column, columns, kernel->columns, b->sums);
    }
}

void ow_contraction_halves(void *context, int64_t begin, int64_t end) {
    const task *t = context;
    const int64_t inner = t->count[INNER_VARIABLES];
    buffers *b = ow_alloc(sizeof *b);
    if (!b) {
        atomic_store(t->failed, 1);
        return;
    }
    if (t->halves.kernel->begin) t->halves.kernel->begin();
    for (int64_t k = 0; k < inner; k += DEPTH) {
        const int64_t n = ow_min(DEPTH, inner - k);
        ow_contraction_offsets(t, INNER_VARIABLES, LEFT, k, n, b->left);
        ow_contraction_offsets(t, INNER_VARIABLES, RIGHT, k, n, b->right);
        b->packed = NULL;
        for (int64_t index = begin; index < end; index++) {
            ow_contraction_places places;
            ow_panel_product p = ow_contraction_part(t, index, &places);
            if (k > 0) p.addend = p.to;
            multiply(t, &p, n, b);
        }
    }
    if (t->halves.kernel->end) t->halves.kernel->end();
    ow_dealloc(b, sizeof *b);
}

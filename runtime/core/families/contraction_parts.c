/* See contraction_parts.h. */
#include "contraction_parts.h"

#include "routines/linalg/blas.h"

typedef ow_contraction_task task;

#define DECLARE(level) extern const ow_panel_kernel ow_panel_kernel_f32_##level, ow_panel_kernel_f64_##level;
DECLARE(v1)
DECLARE(v3)
DECLARE(v4)

const ow_panel_kernel *ow_panel_kernel_of(int dtype) {
    if (dtype != OW_FLOAT32 && dtype != OW_FLOAT64) return NULL;
    const int is_double = dtype == OW_FLOAT64;
#if OW_NLEVELS == 3
    if (ow_level == 2) return is_double ? &ow_panel_kernel_f64_v4 : &ow_panel_kernel_f32_v4;
    if (ow_level == 1) return is_double ? &ow_panel_kernel_f64_v3 : &ow_panel_kernel_f32_v3;
#endif
    return is_double ? &ow_panel_kernel_f64_v1 : &ow_panel_kernel_f32_v1;
}

/* ---- positions ---------------------------------------------------------------------------------------- */

int ow_contraction_first(const ow_contraction *k, int kind) {
    int first = 0;
    for (int each = 0; each < kind; each++) first += k->variables[each];
    return first;
}

void ow_contraction_offsets(const task *t, int kind, int tensor, int64_t position, int64_t n, int64_t *offsets) {
    const int first = ow_contraction_first(t->k, kind), last = first + t->k->variables[kind] - 1;
    const int64_t *range = t->s->range, *step = t->s->step[tensor];
    int64_t at[OW_MAX_VARIABLES], offset = 0;
    for (int v = last; v >= first; v--) {
        at[v] = position % range[v];
        offset += at[v] * step[v];
        position /= range[v];
    }
    for (int64_t i = 0; i < n; i++) {
        offsets[i] = offset;
        offset += step[last];
        for (int v = last; ++at[v] == range[v] && v > first; v--) {
            offset += step[v - 1] - range[v] * step[v];
            at[v] = 0;
        }
    }
}

/* The offset of a position of the outer variables, of a tensor or of the product. */
static int64_t outer_offset(const task *t, const int64_t *step, int64_t position) {
    int64_t offset = 0;
    for (int v = t->k->variables[OUTER_VARIABLES] - 1; v >= 0; v--) {
        offset += position % t->s->range[v] * step[v];
        position /= t->s->range[v];
    }
    return offset;
}

/* ---- parts -------------------------------------------------------------------------------------------- */

/* Rows and columns of some products. Those of all positions of the dimensions in front may be columns of one. */
typedef struct {
    int64_t position, outer; /* of the dimensions in front, and of outer variables */
    int64_t row, column, rows, columns;
} part;

static part part_of(const task *t, int64_t index) {
    const int64_t column = index % t->across * t->width, row = index / t->across % t->down * t->height;
    const int64_t at = t->first + index / (t->across * t->down);
    return (part){.position = at / t->count[OUTER_VARIABLES],
                  .outer = at % t->count[OUTER_VARIABLES],
                  .row = row,
                  .column = column,
                  .rows = ow_min(t->height, t->count[ROW_VARIABLES] - row),
                  .columns = ow_min(t->width, t->joined * t->count[COLUMN_VARIABLES] - column)};
}

/* The offset of the first element of a tensor that belongs to the position of a part. */
static int64_t start_of(const task *t, const part *p, int tensor) {
    return p->position * t->c->batch[t->k->tensors[tensor]] + t->s->origin[tensor] +
           outer_offset(t, t->s->step[tensor], p->outer);
}

static int64_t row_step(const task *t) { return t->s->to[ow_contraction_first(t->k, COLUMN_VARIABLES) - 1]; }

/* The elements of the product of a position. */
static int64_t product_size(const task *t) {
    return (t->to ? 1 : t->count[OUTER_VARIABLES]) * t->count[ROW_VARIABLES] * t->count[COLUMN_VARIABLES];
}

/* Where the product of a position begins. */
static char *product_at(const task *t, const part *p) {
    const int64_t at = p->position * t->count[OUTER_VARIABLES] + p->outer;
    if (t->to) return t->to + (at - t->first) * product_size(t) * t->size;
    return (char *)t->c->out[0] + (p->position * product_size(t) + outer_offset(t, t->s->to, p->outer)) * t->size;
}

static const char *data_of(const task *t, int tensor) { return t->c->in[t->k->tensors[tensor]]; }

/* Where the columns of a part are in the second tensor, and in the product. */
static void find_columns(const task *t, const part *p, int64_t *right, int64_t *to) {
    const int64_t all = t->count[COLUMN_VARIABLES];
    for (int64_t done = 0, n; done < p->columns; done += n) {
        const int64_t position = (p->column + done) / all, first = (p->column + done) % all;
        n = ow_min(all - first, p->columns - done);
        ow_contraction_offsets(t, COLUMN_VARIABLES, RIGHT, first, n, right + done);
        for (int64_t j = 0; j < n; j++) {
            right[done + j] += position * t->c->batch[t->k->tensors[RIGHT]];
            to[done + j] = position * product_size(t) + first + j;
        }
    }
}

/* Where some inner positions lie in both tensors, which is the same in all parts. */
typedef struct {
    int64_t first, count, offsets[2][OW_PANEL_BYTES / sizeof(float)];
} inner_part;

static void find_inner(const task *t, int64_t first, int64_t count, inner_part *inner) {
    if (inner->first == first && inner->count == count) return;
    for (int tensor = 0; tensor < 2; tensor++) ow_contraction_offsets(t, INNER_VARIABLES, tensor, first, count, inner->offsets[tensor]);
    inner->first = first;
    inner->count = count;
}

ow_panel_product ow_contraction_part(const task *t, int64_t index, ow_contraction_places *places) {
    const part p = part_of(t, index);
    const int64_t left = start_of(t, &p, LEFT), right = start_of(t, &p, RIGHT);
    ow_contraction_offsets(t, ROW_VARIABLES, LEFT, p.row, p.rows, places->left_rows);
    find_columns(t, &p, places->right_columns, places->to_columns);
    char *to = product_at(t, &p) + p.row * row_step(t) * t->size;
    return (ow_panel_product){
        .rows = p.rows,
        .columns = p.columns,
        .line = t->line,
        .step = t->s->step[RIGHT][ow_contraction_first(t->k, KINDS_OF_VARIABLES) - 1],
        .left = data_of(t, LEFT) + left * t->size,
        .right = data_of(t, RIGHT) + right * t->size,
        .left_rows = places->left_rows,
        .right_columns = places->right_columns,
        .left_readable = t->readable[LEFT] - left,
        .readable = t->readable[RIGHT] - right,
        .to = to,
        .to_row = row_step(t),
        .to_columns = places->to_columns,
        .start = t->start ? t->start + (p.outer * t->count[ROW_VARIABLES] + p.row) * t->size : NULL,
        .addend = t->adds ? to : NULL,
        .addend_row = row_step(t),
    };
}

static void multiply_panels(const task *t, ow_panel_product *product, inner_part *inner) {
    const int64_t depth = OW_PANEL_BYTES / t->size;
    product->left_inner = inner->offsets[LEFT];
    product->right_inner = inner->offsets[RIGHT];
    for (int64_t k = 0; k < t->count[INNER_VARIABLES]; k += depth) {
        product->inner = ow_min(depth, t->count[INNER_VARIABLES] - k);
        find_inner(t, k, product->inner, inner);
        (t->line > 1 ? t->kernel->multiply_lines : t->kernel->multiply)(product);
        product->addend = product->to;
    }
}

void ow_contraction_panels(void *context, int64_t begin, int64_t end) {
    const task *t = context;
    inner_part inner = {.count = 0};
    for (int64_t index = begin; index < end; index++) {
        ow_contraction_places places;
        ow_panel_product product = ow_contraction_part(t, index, &places);
        multiply_panels(t, &product, &inner);
    }
}

/* ---- products of other dtypes --------------------------------------------------------------------------- */

static ow_scalar number(int dtype, double value) {
    ow_scalar result;
    memset(&result, 0, sizeof result);
    if (ow_dtype_kinds[dtype] == OW_KIND_COMPLEX) result.z = value;
    else result.d = value;
    return result;
}

typedef struct {
    int kind;
    int64_t first, count;
} span;

/* Copies the elements of a matrix of some positions of two kinds of variables. */
static ow_matrix collect(const task *t, const part *p, int tensor, span rows, span columns, char *to, int64_t *offsets) {
    const char *from = data_of(t, tensor) + start_of(t, p, tensor) * t->size;
    ow_contraction_offsets(t, rows.kind, tensor, rows.first, rows.count, offsets);
    ow_contraction_offsets(t, columns.kind, tensor, columns.first, columns.count, offsets + rows.count);
    char *at = to;
    for (int64_t i = 0; i < rows.count; i++)
        for (int64_t j = 0; j < columns.count; j++, at += t->size)
            memcpy(at, from + (offsets[i] + offsets[rows.count + j]) * t->size, (size_t)t->size);
    return (ow_matrix){to, rows.count, columns.count, columns.count, 1, 0};
}

void ow_contraction_blas(void *context, int64_t begin, int64_t end) {
    const task *t = context;
    const double elements = ((double)t->height + (double)t->width) * (double)t->count[INNER_VARIABLES];
    const int64_t offsets = t->count[INNER_VARIABLES] + (t->height > t->width ? t->height : t->width);
    const int64_t nbytes = elements * (double)t->size > 0x1p60 ? 0 : (int64_t)elements * t->size + 8 * offsets;
    char *buffer = nbytes ? ow_alloc(nbytes) : NULL;
    if (!buffer) {
        atomic_store(t->failed, 1);
        return;
    }
    char *left = buffer + 8 * offsets, *right = left + t->height * t->count[INNER_VARIABLES] * t->size;
    for (int64_t index = begin; index < end; index++) {
        const part p = part_of(t, index);
        const span rows = {ROW_VARIABLES, p.row, p.rows}, inner = {INNER_VARIABLES, 0, t->count[INNER_VARIABLES]};
        const span columns = {COLUMN_VARIABLES, p.column, p.columns};
        const ow_matrix a = collect(t, &p, LEFT, rows, inner, left, (int64_t *)buffer);
        const ow_matrix b = collect(t, &p, RIGHT, inner, columns, right, (int64_t *)buffer);
        char *to = product_at(t, &p) + (p.row * row_step(t) + p.column) * t->size;
        const ow_matrix result = {to, p.rows, p.columns, row_step(t), 1, 0};
        ow_gemm(t->dtype, number(t->dtype, 1), &a, &b, number(t->dtype, t->adds), &result, 1);
    }
    ow_dealloc(buffer, nbytes);
}

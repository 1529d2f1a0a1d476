/* Products of matrices, shared among the threads of the pool.
 *
 * OpenBLAS could share them out itself, but what its threads wait for one another is a third of the time of a product of
 * some hundred rows. Here each thread computes some matrices of a batch, or a rectangle of the result of a large one. */
#include "blas.h"
#include "isa/level.h"

enum {
    /* Rectangles begin at multiples of the rows and columns that OpenBLAS holds in registers. */
    GRID_OF_MATRICES = 16,
    GRID_OF_VECTORS = 4,
    LEAST_MULTIPLICATIONS = 1 << 16, /* that are worth a rectangle */
    CALL_WORK = 256,                 /* of OpenBLAS before it multiplies */
    LEAST_WORK = 8192,               /* of a piece of a batch */
    /* With AVX-512 OpenBLAS multiplies matrices where they lie, if it takes a million multiplications at most. It packs
     * larger ones first, which is worth it only when all their numbers are used often: otherwise tiles take 60 to 95 % of
     * the time. Rows that are not aligned, as those of NumPy's arrays, make up for it earlier. */
    TILE_ROWS = 128,
    TILE_COLUMNS = 64,
    TILE_INNER = 112,
    TILE_GRID = 16,
    LARGEST_TILE = 1000000,
    LEAST_PACKED_EXTENT = 128,
    LEAST_PACKED = 8000000
};

typedef struct {
    int dtype;
    ow_scalar alpha, beta;
    const ow_matrix *a, *b, *c;
    int64_t batches;
    int64_t height, width; /* of a rectangle */
    int64_t across, count; /* rectangles beside one another, and all of one matrix */
} product;

typedef struct {
    int64_t first, count;
} span;

/* The positions of one part; the last has all that are left. */
static span span_of(int64_t index, int64_t step, int64_t count, int64_t n) {
    return (span){index * step, index + 1 < count ? step : n - index * step};
}

static ow_matrix part(const ow_matrix *m, int64_t batch, span rows, span columns, int64_t size) {
    int64_t at = batch * m->batch_stride + rows.first * m->row_stride + columns.first * m->column_stride;
    return (ow_matrix){m->data + at * size, rows.count, columns.count, m->row_stride, m->column_stride, 0};
}

static void multiply_one(const product *p, const ow_matrix *a, const ow_matrix *b, const ow_matrix *c) {
    if (ow_dtype_kinds[p->dtype] < OW_KIND_FLOATING) ow_gemm_int(p->dtype, p->alpha.i, a, b, p->beta.i, c);
    else ow_blas_multiply(p->dtype, p->alpha, a, b, p->beta, c);
}

static int is_worth_tiles(int dtype, const ow_matrix *a, const ow_matrix *b, const ow_matrix *c) {
    int64_t shortest = ow_min(ow_min(c->rows, c->columns), a->columns);
    double work = (double)c->rows * (double)c->columns * (double)a->columns;
    if (ow_dtype_kinds[dtype] != OW_KIND_FLOATING || work <= LARGEST_TILE || !ow_processor_has(2)) return 0;
    if (a->column_stride == 1 && b->row_stride == 1) return 0; /* those it always packs */
    return c->rows > 1 && c->columns > 1 && (shortest < LEAST_PACKED_EXTENT || work < LEAST_PACKED);
}

/* Tiles of about one size, of which the last is the smallest. */
static int64_t tile_step(int64_t n, int64_t most) {
    int64_t tiles = (n - 1) / most + 1;
    return ((n - 1) / tiles / TILE_GRID + 1) * TILE_GRID;
}

static span tile_of(int64_t first, int64_t step, int64_t n) { return (span){first, ow_min(step, n - first)}; }

static void multiply_tiles(const product *p, const ow_matrix *a, const ow_matrix *b, const ow_matrix *c) {
    int64_t size = ow_itemsize(p->dtype);
    int64_t depth = tile_step(a->columns, TILE_INNER), height = tile_step(c->rows, TILE_ROWS);
    int64_t width = tile_step(c->columns, TILE_COLUMNS);
    ow_scalar beta = p->beta;
    for (int64_t k = 0; k < a->columns; k += depth) {
        span inner = tile_of(k, depth, a->columns);
        for (int64_t i = 0; i < c->rows; i += height) {
            span rows = tile_of(i, height, c->rows);
            ow_matrix left = part(a, 0, rows, inner, size);
            for (int64_t j = 0; j < c->columns; j += width) {
                span columns = tile_of(j, width, c->columns);
                ow_matrix right = part(b, 0, inner, columns, size), result = part(c, 0, rows, columns, size);
                ow_blas_multiply(p->dtype, p->alpha, &left, &right, beta, &result);
            }
        }
        beta.d = 1;
    }
}

static void multiply(void *context, int64_t begin, int64_t end) {
    const product *p = context;
    int64_t size = ow_itemsize(p->dtype), count = p->count, across = p->across;
    if (count > 1 && end - begin == p->batches * count) { /* nobody helps: whole matrices */
        end = p->batches;
        count = across = 1;
    }
    span all = {0, p->a->columns};
    for (int64_t k = begin; k < end; k++) {
        int64_t batch = k / count, index = k % count;
        span rows = span_of(index / across, p->height, count / across, p->c->rows);
        span columns = span_of(index % across, p->width, across, p->c->columns);
        ow_matrix a = part(p->a, batch, rows, all, size), b = part(p->b, batch, all, columns, size);
        ow_matrix c = part(p->c, batch, rows, columns, size);
        if (is_worth_tiles(p->dtype, &a, &b, &c)) multiply_tiles(p, &a, &b, &c);
        else multiply_one(p, &a, &b, &c);
    }
}

/* The size of parts of n positions: the nearest to equal ones on the grid. */
static int64_t step_for(int64_t n, int64_t parts, int64_t grid) {
    int64_t step = (n / parts + grid / 2) / grid * grid;
    return step ? step : grid;
}

/* The last part takes what is left, if that is less than half a step. */
static int64_t parts_of(int64_t n, int64_t step) { return n > step ? (n + step / 2) / step : 1; }

/* About as many rectangles as threads; of the ways to cut, the one after which the threads read least, and of two such the
 * one that leaves rows whole. */
static void cut(product *p, int threads, int64_t grid) {
    int64_t rows = p->c->rows, columns = p->c->columns, shortest = INT64_MAX;
    for (int64_t down = 1; down <= threads; down++) {
        int64_t height = step_for(rows, down, grid), width = step_for(columns, threads / down, grid);
        double work = (double)ow_min(height, rows) * (double)ow_min(width, columns) * (double)p->a->columns;
        if (height + width > shortest || work < LEAST_MULTIPLICATIONS) continue;
        shortest = height + width;
        p->height = height, p->width = width;
    }
    p->across = parts_of(columns, p->width);
    p->count = parts_of(rows, p->height) * p->across;
}

void ow_gemm(int dtype, ow_scalar alpha, const ow_matrix *a, const ow_matrix *b, ow_scalar beta, const ow_matrix *c,
             int64_t batches) {
    int is_vector = c->rows == 1 || c->columns == 1, is_integer = ow_dtype_kinds[dtype] < OW_KIND_FLOATING;
    double multiplications = (double)c->rows * (double)c->columns * (double)a->columns;
    product p = {dtype, alpha, beta, a, b, c, batches, .height = c->rows, .width = c->columns, .across = 1, .count = 1};
    /* Where numbers are used many times, multiplying is quicker than reading. */
    double work = CALL_WORK + (is_vector || is_integer ? multiplications : multiplications / 4);
    double total = work * (double)batches;
    void *token = ow_gil_release(total < 1e15 ? 8 * (int64_t)total : INT64_MAX);
    if (!is_integer) {
        if (batches < ow_num_threads()) cut(&p, ow_num_threads(), is_vector ? GRID_OF_VECTORS : GRID_OF_MATRICES);
        ow_blas_set_num_threads(1);
    }
    /* Products of integers share themselves out: one by one where they are few. */
    if (is_integer && batches < ow_num_threads()) multiply(&p, 0, batches);
    else ow_parallel_for(batches * p.count, p.count > 1 ? 1 : 1 + (int64_t)(LEAST_WORK / work), total, multiply, &p);
    ow_gil_acquire(token);
}

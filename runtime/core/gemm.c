/* Products of matrices, shared among the threads of the pool.
 *
 * OpenBLAS could share them out itself, but what its threads wait for one another is a third of the time of a product of
 * some hundred rows. Here each thread computes a rectangle of the result. */
#include "blas.h"

enum {
    /* Rectangles begin at multiples of the rows and columns that OpenBLAS holds in registers. */
    GRID_OF_MATRICES = 32,
    GRID_OF_VECTORS = 4,
    LEAST_MULTIPLICATIONS = 1 << 16 /* that are worth a rectangle */
};

typedef struct {
    int dtype;
    ow_scalar alpha, beta;
    const ow_matrix *a, *b, *c;
    int64_t height, width; /* of a rectangle */
    int64_t across, count; /* rectangles beside one another, and all of them */
} product;

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

typedef struct {
    int64_t first, count;
} span;

/* The positions of one part; the last has all that are left. */
static span span_of(int64_t place, int64_t step, int64_t places, int64_t n) {
    return (span){place * step, place + 1 < places ? step : n - place * step};
}

static ow_matrix part(const ow_matrix *m, span rows, span columns, int64_t size) {
    char *data = m->data + (rows.first * m->row_stride + columns.first * m->column_stride) * size;
    return (ow_matrix){data, rows.count, columns.count, m->row_stride, m->column_stride};
}

static void multiply(void *context, int64_t begin, int64_t end) {
    const product *p = context;
    if (end - begin == p->count) {
        ow_blas_multiply(p->dtype, p->alpha, p->a, p->b, p->beta, p->c);
        return;
    }
    int64_t size = ow_itemsize(p->dtype), down = p->count / p->across;
    span all = {0, p->a->columns};
    for (int64_t k = begin; k < end; k++) {
        span rows = span_of(k / p->across, p->height, down, p->c->rows);
        span columns = span_of(k % p->across, p->width, p->across, p->c->columns);
        ow_matrix a = part(p->a, rows, all, size), b = part(p->b, all, columns, size), c = part(p->c, rows, columns, size);
        ow_blas_multiply(p->dtype, p->alpha, &a, &b, p->beta, &c);
    }
}

/* The size of parts of n positions: the nearest to equal ones on the grid. */
static int64_t step_for(int64_t n, int64_t parts, int64_t grid) {
    int64_t step = (n / parts + grid / 2) / grid * grid;
    return step ? step : grid;
}

/* The last part takes what is left, if that is less than half a step. */
static int64_t parts_of(int64_t n, int64_t step) { return n > step ? (n + step / 2) / step : 1; }

/* About as many rectangles as threads; of the ways to cut, the one after which the threads read least. */
static void cut(product *p, int threads, int64_t grid) {
    int64_t rows = p->c->rows, columns = p->c->columns, shortest = INT64_MAX;
    p->height = rows, p->width = columns;
    for (int64_t down = 1; down <= threads; down++) {
        int64_t height = step_for(rows, down, grid), width = step_for(columns, threads / down, grid);
        double work = (double)least(height, rows) * (double)least(width, columns) * (double)p->a->columns;
        if (height + width >= shortest || work < LEAST_MULTIPLICATIONS) continue;
        shortest = height + width;
        p->height = height, p->width = width;
    }
    p->across = parts_of(columns, p->width);
    p->count = parts_of(rows, p->height) * p->across;
}

void ow_gemm(int dtype, ow_scalar alpha, const ow_matrix *a, const ow_matrix *b, ow_scalar beta, const ow_matrix *c) {
    double multiplications = (double)c->rows * (double)c->columns * (double)a->columns;
    void *token = ow_gil_release(multiplications < 1e15 ? 2 * (int64_t)multiplications : INT64_MAX);
    if (ow_dtype_kinds[dtype] < OW_KIND_FLOATING) {
        ow_gemm_int(dtype, alpha.i, a, b, beta.i, c);
    } else {
        product p = {.dtype = dtype, .alpha = alpha, .beta = beta, .a = a, .b = b, .c = c};
        int is_vector = c->rows == 1 || c->columns == 1;
        cut(&p, ow_num_threads(), is_vector ? GRID_OF_VECTORS : GRID_OF_MATRICES);
        ow_blas_set_num_threads(1);
        /* Where numbers are used many times, multiplying is quicker than reading. */
        ow_parallel_for(p.count, 1, is_vector ? multiplications : multiplications / 4, multiply, &p);
    }
    ow_gil_acquire(token);
}

/* Expressions over indices as products of matrices: elements are packed, or the result is gathered. */
#include "contraction.h"

#include <stdatomic.h>

#include "routines/linalg/blas.h"

enum {
    LEAST_ROWS = 4, /* of a product that is quicker than loops */
    LEAST_INNER = 8,
    LEAST_COLUMNS = 4,
    LEAST_MULTIPLICATIONS = 1 << 14,
    SHORT_LINE = 8, /* lines of the result that are so short leave most lanes of loops empty, */
    LONG_INNER = 64, /* so that long sums are products all the same */
    JOINED_INNER = 128, /* of steps that one product sums: shorter ones read and write the result more than they compute */
    PACKED = 1 << 19, /* bytes of a packed block, which stays in the level-2 cache, */
    LEAST_BLOCK = 192 /* but has so many columns that the other matrix is not read too often */
};

typedef struct {
    const ow_contraction *k;
    const ow_contraction_sizes *s;
    const ow_compute_context *c;
    int dtype, by_rows; /* are the columns of the second matrix packed as rows? */
    int64_t size, lines;
    int64_t joined; /* how many steps one product sums */
    int64_t width;  /* columns for each position of their first variable, */
    int64_t height; /* of which a block has so many */
    int64_t blocks;
    atomic_int failed; /* to allocate */
} task;

static int64_t joined_steps(const ow_contraction_sizes *s) {
    int64_t n = s->inner ? JOINED_INNER / s->inner : 1;
    return n < 1 ? 1 : n < s->steps ? n : s->steps;
}

int ow_contraction_suits(const ow_contraction_sizes *s, int64_t line) {
    if (!s->steps) return 0; /* a sum of no products */
    int64_t inner = s->inner * joined_steps(s);
    if (line < SHORT_LINE && inner >= LONG_INNER) return 1;
    return s->rows >= LEAST_ROWS && (line < SHORT_LINE || inner >= LEAST_INNER) && s->columns >= LEAST_COLUMNS &&
           (double)s->rows * (double)inner * (double)s->columns >= LEAST_MULTIPLICATIONS;
}

static ow_scalar number(int dtype, double value) {
    ow_scalar result;
    memset(&result, 0, sizeof result);
    if (ow_dtype_kinds[dtype] == OW_KIND_COMPLEX) result.z = value;
    else result.d = value;
    return result;
}

/* Lines of a kernel that are shared by the threads, unless this is part of a parallel loop. */
typedef struct {
    ow_compute_kernel *kernel;
    const ow_compute_context *context;
    int64_t first;
} lines_task;

static void run_lines(void *context, int64_t begin, int64_t end) {
    const lines_task *l = context;
    l->kernel(l->context, l->first + begin, l->first + end);
}

static void run_kernel(ow_compute_kernel *kernel, const ow_compute_context *c, int64_t first, int64_t n, double work) {
    lines_task l = {kernel, c, first};
    ow_parallel_for(n, 1 + (int64_t)(8192 / (work / (double)n + 1)), work, run_lines, &l);
}

/* The columns of the second matrix that belong to some steps, whose rows follow each other, and to a block. */
static void pack(const task *t, int64_t step, int64_t steps, int64_t first, int64_t height, char *buffer) {
    ow_compute_context c = *t->c;
    int n = t->k->lines[t->by_rows], column = t->k->column[t->by_rows];
    memcpy(c.range, t->s->range[t->by_rows], sizeof c.range);
    c.range[column] = height;
    c.origin[column] = first;
    int64_t elements = t->s->inner * height * t->width, line = c.range[n - 1], lines = elements / line;
    c.out[0] = buffer - step * elements * t->size;
    ow_compute_kernel *kernel = (t->by_rows ? t->k->rows : t->k->columns)[t->dtype];
    run_kernel(kernel, &c, step * lines, steps * lines, (double)steps * (double)elements);
}

static void multiply(const task *t, const ow_matrix *a, const ow_matrix *b, double beta, char *to) {
    ow_matrix result = {to, t->s->rows, b->columns, t->s->columns, 1, 0};
    if (t->k->rows_last) result.row_stride = 1, result.column_stride = t->s->rows;
    ow_gemm(t->dtype, number(t->dtype, 1), a, b, number(t->dtype, beta), &result, 1);
}

static ow_matrix first_matrix(const task *t, int64_t position, int64_t group, int64_t step) {
    const ow_contraction_sizes *s = t->s;
    int64_t at = position * t->c->batch[t->k->a] + group * s->a_group + step * s->a_step;
    char *data = (char *)t->c->in[t->k->a] + at * t->size;
    return (ow_matrix){data, s->rows, s->inner, t->k->transposed ? 1 : s->inner, t->k->transposed ? s->rows : 1, 0};
}

static ow_matrix second_matrix(const task *t, int64_t position, int64_t group, int64_t step) {
    const ow_contraction_sizes *s = t->s;
    int64_t at = position * t->c->batch[t->k->b] + group * s->b_group + step * s->b_step;
    char *data = (char *)t->c->in[t->k->b] + at * t->size;
    if (t->k->rows_last) return (ow_matrix){data, s->inner, s->columns, 1, s->inner, 0};
    return (ow_matrix){data, s->inner, s->columns, s->columns, 1, 0};
}

/* The first matrices of some steps beside each other. */
static ow_matrix join(const task *t, const ow_matrix *first, int64_t steps, char *buffer) {
    int64_t rows = first->rows, inner = first->columns, run = t->k->transposed ? rows * inner : inner;
    for (int64_t step = 0; step < steps; step++) {
        const char *from = first->data + step * t->s->a_step * t->size;
        char *to = buffer + step * run * t->size;
        for (int64_t at = 0; at < rows * inner; at += run, from += run * t->size, to += steps * run * t->size)
            memcpy(to, from, (size_t)(run * t->size));
    }
    int transposed = t->k->transposed;
    return (ow_matrix){buffer, rows, steps * inner, transposed ? 1 : steps * inner, transposed ? rows : 1, 0};
}

static void multiply_packed(const task *t, int64_t unit, char *buffer) {
    const ow_contraction_sizes *s = t->s;
    int64_t at = unit / t->blocks, position = at / s->groups, group = at % s->groups;
    int64_t first = unit % t->blocks * t->height, rest = s->columns / t->width - first;
    int64_t height = rest < t->height ? rest : t->height, column = first * t->width;
    char *to = (char *)t->c->out[0] + (at * s->rows * s->columns + column * (t->k->rows_last ? s->rows : 1)) * t->size;
    for (int64_t step = 0; step < s->steps; step += t->joined) {
        int64_t steps = s->steps - step < t->joined ? s->steps - step : t->joined;
        ow_matrix a = first_matrix(t, position, group, step), b = second_matrix(t, position, group, step);
        b.columns = height * t->width;
        if (s->dense && t->joined == 1) b.data += column * b.column_stride * t->size;
        else {
            pack(t, at * s->steps + step, steps, first, height, buffer);
            b.data = buffer;
            b.rows = steps * s->inner;
            b.row_stride = t->by_rows ? 1 : b.columns;
            b.column_stride = t->by_rows ? s->inner : 1;
        }
        if (t->joined > 1) a = join(t, &a, steps, buffer + t->joined * s->inner * t->height * t->width * t->size);
        multiply(t, &a, &b, t->k->rest[t->dtype] || step ? 1 : 0, to);
    }
}

static void multiply_and_gather(const task *t, int64_t at, char *buffer) {
    const ow_contraction_sizes *s = t->s;
    int64_t position = at / s->groups, group = at % s->groups;
    ow_matrix a = first_matrix(t, position, group, 0), b = second_matrix(t, position, group, 0);
    multiply(t, &a, &b, 0, buffer);
    ow_compute_context c = *t->c;
    c.in[t->k->b] = buffer;
    c.sizes[t->k->b] = s->product;
    c.batch[t->k->b] = 0;
    int64_t lines = t->lines / s->groups;
    run_kernel(t->k->gather[t->dtype], &c, at * lines, lines, (double)(s->rows * s->columns));
}

static void run_units(void *context, int64_t begin, int64_t end) {
    task *t = context;
    const ow_contraction_sizes *s = t->s;
    int64_t block = s->dense && t->joined == 1 ? 0 : s->inner * t->height * t->width;
    int64_t joined = t->joined == 1 ? block : t->joined * (block + s->rows * s->inner);
    int64_t nbytes = (t->k->after ? s->rows * s->columns : joined) * t->size;
    char *buffer = nbytes ? ow_alloc(nbytes) : NULL;
    if (nbytes && !buffer) {
        atomic_store(&t->failed, 1);
        return;
    }
    for (int64_t at = begin; at < end; at++)
        if (t->k->after) multiply_and_gather(t, at, buffer);
        else multiply_packed(t, at, buffer);
    if (buffer) ow_dealloc(buffer, nbytes);
}

/* Lines are packed along neighbours in memory, or if these are few, in the direction in which they are longer. */
static int packs_rows(const ow_contraction *k, const ow_contraction_sizes *s) {
    int64_t lines[2] = {s->range[0][k->lines[0] - 1], s->range[1][k->lines[1] - 1]};
    for (int by_rows = 0; by_rows < 2; by_rows++)
        if (k->neighbours[by_rows] && !k->neighbours[!by_rows] && lines[by_rows] >= SHORT_LINE) return by_rows;
    return lines[0] < lines[1];
}

int ow_contraction_run(const ow_contraction *k, const ow_contraction_sizes *s, const ow_compute_context *c, int dtype,
                       int64_t positions, int64_t lines) {
    task t = {.k = k, .s = s, .c = c, .dtype = dtype, .size = ow_itemsize(dtype), .lines = lines};
    int64_t n = positions * s->groups, most = INT64_MAX / OW_MAX_ITEMSIZE;
    if ((double)s->inner * (double)s->columns > (double)most || (double)s->rows * (double)s->columns > (double)most) {
        ow_fail(OW_OUT_OF_MEMORY, "no memory for a matrix of %lld rows and %lld columns", (long long)s->inner,
                (long long)s->columns);
        return 0;
    }
    t.width = s->columns, t.height = t.blocks = t.joined = 1;
    if (!k->after) {
        t.joined = joined_steps(s);
        t.by_rows = t.joined == 1 && packs_rows(k, s);
        int column = k->column[t.by_rows];
        int64_t height = s->range[t.by_rows][column], columns = PACKED / (t.joined * s->inner * t.size);
        t.width = s->columns / height;
        t.height = (columns > LEAST_BLOCK ? columns : LEAST_BLOCK) / t.width;
        /* A line is packed as a whole. */
        if (t.height < 1) t.height = 1;
        if (t.height > height || column == k->lines[t.by_rows] - 1) t.height = height;
        t.blocks = (height + t.height - 1) / t.height;
    }
    if (k->rest[dtype]) run_kernel(k->rest[dtype], c, 0, positions * lines, (double)n * (double)s->rows * (double)s->columns);
    double work = (double)s->rows * (double)s->inner * (double)s->columns * (double)s->steps;
    /* Threads share the blocks, or where these are few the matrices of each. */
    n *= t.blocks;
    if (n >= ow_num_threads()) ow_parallel_for(n, 1, work / (double)t.blocks * (double)n, run_units, &t);
    else
        for (int64_t at = 0; at < n; at++) run_units(&t, at, at + 1);
    if (atomic_load(&t.failed)) ow_fail(OW_OUT_OF_MEMORY, "no memory to pack a matrix");
    return !ow_error_pending();
}

/* Expressions over indices as products of matrices: elements are packed, or the result is gathered. */
#include "contraction.h"

#include <stdatomic.h>

#include "routines/linalg/blas.h"

enum { LEAST_ROWS = 4, LEAST_INNER = 8, LEAST_COLUMNS = 4, LEAST_MULTIPLICATIONS = 1 << 14 };

typedef struct {
    const ow_contraction *k;
    const ow_contraction_sizes *s;
    const ow_compute_context *c;
    int dtype, by_rows; /* are the columns of the second matrix packed as rows? */
    int64_t size, lines;
    atomic_int failed; /* to allocate */
} task;

int ow_contraction_suits(const ow_contraction_sizes *s) {
    return s->rows >= LEAST_ROWS && s->inner >= LEAST_INNER && s->columns >= LEAST_COLUMNS &&
           (double)s->rows * (double)s->inner * (double)s->columns >= LEAST_MULTIPLICATIONS;
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

/* The elements of the second matrix that belong to a position, in `buffer`. */
static void pack(const task *t, int64_t position, char *buffer) {
    ow_compute_context c = *t->c;
    int n = t->k->lines[t->by_rows];
    memcpy(c.range, t->s->range[t->by_rows], sizeof c.range);
    int64_t line = c.range[n - 1], lines = t->s->inner * t->s->columns / line;
    c.out[0] = buffer - position * lines * line * t->size;
    run_kernel((t->by_rows ? t->k->rows : t->k->columns)[t->dtype], &c, position * lines, lines,
               (double)(t->s->inner * t->s->columns));
}

static void multiply(const task *t, const ow_matrix *a, const ow_matrix *b, double beta, char *to) {
    ow_matrix result = {to, t->s->rows, t->s->columns, t->s->columns, 1, 0};
    ow_gemm(t->dtype, number(t->dtype, 1), a, b, number(t->dtype, beta), &result, 1);
}

static ow_matrix first_matrix(const task *t, int64_t position, int64_t group, int64_t step) {
    const ow_contraction_sizes *s = t->s;
    int a = t->k->a;
    const char *data = (const char *)t->c->in[a] + (position * t->c->batch[a] + group * s->a_group + step * s->a_step) * t->size;
    return (ow_matrix){(char *)data, s->rows, s->inner, t->k->transposed ? 1 : s->inner, t->k->transposed ? s->rows : 1, 0};
}

static ow_matrix second_matrix(const task *t, int64_t position, int64_t group, int64_t step) {
    const ow_contraction_sizes *s = t->s;
    int b = t->k->b;
    const char *data = (const char *)t->c->in[b] + (position * t->c->batch[b] + group * s->b_group + step * s->b_step) * t->size;
    return (ow_matrix){(char *)data, s->inner, s->columns, s->columns, 1, 0};
}

static void multiply_packed(const task *t, int64_t at, char *buffer) {
    const ow_contraction_sizes *s = t->s;
    int64_t position = at / s->groups, group = at % s->groups;
    char *to = (char *)t->c->out[0] + at * s->rows * s->columns * t->size;
    for (int64_t step = 0; step < s->steps; step++) {
        ow_matrix a = first_matrix(t, position, group, step), b = second_matrix(t, position, group, step);
        if (!s->dense) {
            pack(t, at * s->steps + step, buffer);
            b.data = buffer;
            if (t->by_rows) b.row_stride = 1, b.column_stride = s->inner;
        }
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

static void run_positions(void *context, int64_t begin, int64_t end) {
    task *t = context;
    const ow_contraction_sizes *s = t->s;
    int64_t nbytes = (t->k->after ? s->rows : s->dense ? 0 : s->inner) * s->columns * t->size;
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

int ow_contraction_run(const ow_contraction *k, const ow_contraction_sizes *s, const ow_compute_context *c, int dtype,
                       int64_t positions, int64_t lines) {
    task t = {.k = k, .s = s, .c = c, .dtype = dtype, .size = ow_itemsize(dtype), .lines = lines};
    int64_t n = positions * s->groups, most = INT64_MAX / OW_MAX_ITEMSIZE;
    if ((double)s->inner * (double)s->columns > (double)most || (double)s->rows * (double)s->columns > (double)most) {
        ow_fail(OW_OUT_OF_MEMORY, "no memory for a matrix of %lld rows and %lld columns", (long long)s->inner,
                (long long)s->columns);
        return 0;
    }
    if (!k->after) t.by_rows = s->range[0][k->lines[0] - 1] < s->range[1][k->lines[1] - 1];
    if (k->rest[dtype]) run_kernel(k->rest[dtype], c, 0, positions * lines, (double)n * (double)s->rows * (double)s->columns);
    double work = (double)s->rows * (double)s->inner * (double)s->columns * (double)s->steps;
    /* Threads share the positions, or where these are few the matrices of each. */
    if (n >= ow_num_threads()) ow_parallel_for(n, 1, work * (double)n, run_positions, &t);
    else
        for (int64_t at = 0; at < n; at++) run_positions(&t, at, at + 1);
    if (atomic_load(&t.failed)) ow_fail(OW_OUT_OF_MEMORY, "no memory to pack a matrix");
    return !ow_error_pending();
}

/* Expressions over indices as products of matrices, whose elements are read where they lie. */
#include "contraction.h"

#include "contraction_parts.h"
#include "routines/linalg/half_product.h"

enum {
    LEAST_ROWS = 4, /* of a product that is quicker than loops */
    LEAST_INNER = 8,
    LEAST_COLUMNS = 4,
    LEAST_MULTIPLICATIONS = 1 << 14,
    SHORT_LINE = 8,      /* lines of the result that are so short leave most lanes of loops empty, */
    LONG_INNER = 64,     /* so that long sums are products all the same */
    LEAST_LINE = 5,      /* terms that follow one another, along which products of few rows are computed, */
    LINES_OF_ROW = 8,    /* or of one for so many of them; */
    LONGER = 4,          /* times as many as elements of a line of the result make that quicker than loops */
    FEW_ROWS = 64,       /* of a part, for which columns are worth copying */
    GATHERED = 1 << 19,  /* bytes of products, from which results are gathered while they are in the level-2 cache */
    COLLECTED = 1 << 20  /* bytes of columns that OpenBLAS is given */
};

typedef ow_contraction_task task;

/* The positions of a kind of variables. */
static int64_t count_of(const ow_contraction *k, const ow_contraction_sizes *s, int kind) {
    int64_t n = 1;
    for (int v = ow_contraction_first(k, kind), end = v + k->variables[kind]; v < end; v++)
        if (__builtin_mul_overflow(n, s->range[v], &n)) return INT64_MAX;
    return n;
}

/* The terms that follow one another in both tensors, or by two in the second one, if they are more than the elements of a line of
 * the result, and more than rows by far; otherwise 1. */
static int64_t line_of(const ow_contraction *k, const ow_contraction_sizes *s, int dtype) {
    const int inner = ow_contraction_first(k, INNER_VARIABLES), last = ow_contraction_first(k, KINDS_OF_VARIABLES) - 1;
    const int64_t line = s->range[last], left = s->step[LEFT][last], right = s->step[RIGHT][last];
    if (!ow_panel_kernel_of(dtype) || left != 1 || (right != 1 && right != 2)) return 1;
    const int64_t rows = count_of(k, s, ROW_VARIABLES);
    const int is_long = line >= LEAST_LINE && line > s->range[inner - 1] && (rows < LEAST_ROWS || rows <= line / LINES_OF_ROW);
    return is_long ? line : 1;
}

int ow_contraction_suits(const ow_contraction *k, const ow_contraction_sizes *s, int dtype, int64_t line) {
    const int64_t rows = count_of(k, s, ROW_VARIABLES), columns = count_of(k, s, COLUMN_VARIABLES);
    const int64_t inner = count_of(k, s, INNER_VARIABLES);
    if (!s->applies || !rows || !columns || !inner) return 0;
    if ((line < SHORT_LINE || line_of(k, s, dtype) >= LONGER * line) && inner >= LONG_INNER) return 1;
    return rows >= LEAST_ROWS && (line < SHORT_LINE || inner >= LEAST_INNER) && columns >= LEAST_COLUMNS &&
           (double)rows * (double)inner * (double)columns >= LEAST_MULTIPLICATIONS;
}

/* Lines of a kernel that are shared by the threads. */
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

static int64_t parts(int64_t n, int64_t most) { return (n + most - 1) / most; }

/* How products are cut: in parts of which threads have several, as far as copies of the second matrix are worth it. Products
 * by the same first matrix are one where vectors have many lanes without a column otherwise. */
static int64_t cut(task *t, int64_t products) {
    const int64_t rows = t->count[ROW_VARIABLES], outer = t->count[OUTER_VARIABLES];
    int64_t columns = t->count[COLUMN_VARIABLES];
    t->down = t->joined = 1;
    if (!t->kernel) {
        t->width = ow_min(columns, COLLECTED / t->size / ow_min(t->count[INNER_VARIABLES], COLLECTED / 256));
        t->height = rows;
        t->across = parts(columns, t->width);
        return products;
    }
    const int lanes = t->kernel->lanes, threads = ow_num_threads();
    if (t->line > 1) {
        t->height = rows;
        t->width = products < 4 * threads ? t->kernel->columns : PART_COLUMNS;
        t->across = parts(columns, t->width);
        return products;
    }
    const int is_same = !t->c->batch[t->k->tensors[LEFT]] && t->first % outer == 0 && products % outer == 0;
    if (is_same && parts(columns, lanes) * lanes > columns + columns / 32) {
        t->joined = products / outer;
        products = outer;
        columns *= t->joined;
    }
    const int64_t vectors = parts(columns, lanes);
    t->width = parts(vectors, parts(vectors, PART_PANELS * t->kernel->vectors)) * lanes;
    t->across = parts(columns, t->width);
    t->down = parts(rows, PART_ROWS);
    /* Several for each thread, and as many for each. */
    const int64_t all = products * t->across;
    while (threads > 1 && rows / (2 * t->down) >= FEW_ROWS &&
           (all * t->down < 2 * threads || (all * t->down < 8 * threads && all * t->down % threads)))
        t->down *= 2;
    t->height = parts(rows, t->down);
    t->down = parts(rows, t->height);
    return products;
}

static void multiply(task *t, int64_t products) {
    double work = (double)products * (double)t->count[INNER_VARIABLES] * (double)t->line / 4;
    work *= (double)t->count[ROW_VARIABLES] * (double)t->count[COLUMN_VARIABLES];
    const int64_t different = cut(t, products);
    ow_task run = !t->kernel ? ow_contraction_blas : t->halves.kernel ? ow_contraction_halves : ow_contraction_panels;
    ow_parallel_for(different * t->down * t->across, 1, work, run, t);
}

/* Some products at a time, which stay in a cache until results are gathered from them. Kernels find them by positions of the
 * dimensions in front: where there are outer variables they are given one. */
static void multiply_and_gather(void *context, int64_t begin, int64_t end) {
    task t = *(const task *)context;
    const int64_t elements = t.count[ROW_VARIABLES] * t.count[COLUMN_VARIABLES];
    const int64_t lines = t.lines / t.count[OUTER_VARIABLES];
    const int is_one = t.count[OUTER_VARIABLES] > 1 || elements * t.size > GATHERED;
    const int64_t most = is_one ? 1 : ow_min(GATHERED / (elements * t.size), end - begin);
    const int64_t nbytes = most * elements * t.size;
    if (!(t.to = ow_alloc(nbytes))) {
        atomic_store(t.failed, 1);
        return;
    }
    ow_compute_context c = *t.c;
    c.sizes[t.k->source] = t.s->product;
    c.batch[t.k->source] = is_one ? 0 : elements;
    for (int64_t n; begin < end; begin += n) {
        n = ow_min(most, end - begin);
        t.first = begin;
        multiply(&t, n);
        c.in[t.k->source] = t.to - (is_one ? 0 : begin * elements * t.size);
        run_kernel(t.k->gather[t.dtype], &c, begin * lines, n * lines, (double)n * (double)elements);
    }
    ow_dealloc(t.to, nbytes);
}

/* What is added to products is written in their place before, or if it is the same along rows to a buffer, which is the
 * caller's: so many bytes. 0 with the error set. */
static int64_t prepare_rest(task *t, int64_t positions, double elements) {
    ow_compute_kernel *kernel = t->k->rest[t->dtype];
    if (!kernel) return 0;
    if (!t->kernel || !t->k->rest_of_rows) {
        run_kernel(kernel, t->c, 0, positions * t->lines, elements);
        t->adds = 1;
        return 0;
    }
    const int64_t rows = t->count[OUTER_VARIABLES] * t->count[ROW_VARIABLES], nbytes = rows * t->size;
    char *start = ow_alloc(nbytes);
    if (!start) {
        atomic_store(t->failed, 1);
        return 0;
    }
    ow_compute_context c = *t->c;
    c.out[0] = start;
    const int first = ow_contraction_first(t->k, COLUMN_VARIABLES);
    for (int n = 0; n < t->k->variables[COLUMN_VARIABLES]; n++) c.range[first + n] = 1;
    run_kernel(kernel, &c, 0, rows, (double)rows);
    t->start = start;
    return nbytes;
}

void ow_contraction_run(const ow_contraction *k, const ow_contraction_sizes *s, const ow_compute_context *c, int dtype,
                        int is_half, int64_t positions, int64_t lines, const int64_t *readable) {
    atomic_int failed = 0;
    task t = {.k = k, .s = s, .c = c, .kernel = ow_panel_kernel_of(dtype), .dtype = dtype, .size = ow_itemsize(dtype),
              .lines = lines, .readable = {readable[LEFT], readable[RIGHT]}, .failed = &failed};
    for (int kind = 0; kind < KINDS_OF_VARIABLES; kind++) t.count[kind] = count_of(k, s, kind);
    ow_contraction_sizes of_lines = *s;
    t.line = line_of(k, s, dtype);
    if (t.line > 1) {
        of_lines.range[ow_contraction_first(k, KINDS_OF_VARIABLES) - 1] = 1;
        t.s = &of_lines;
        t.count[INNER_VARIABLES] /= t.line;
    }
    if (is_half && t.kernel && t.line == 1) t.halves = ow_half_product_now();
    const double elements = (double)t.count[ROW_VARIABLES] * (double)t.count[COLUMN_VARIABLES];
    const int64_t products = positions * t.count[OUTER_VARIABLES];
    if (elements * (double)t.size > 0x1p62) {
        ow_fail(OW_OUT_OF_MEMORY, "no memory for a matrix of %lld rows and %lld columns", (long long)t.count[ROW_VARIABLES],
                (long long)t.count[COLUMN_VARIABLES]);
        return;
    }
    const int64_t nbytes = prepare_rest(&t, positions, elements * (double)products);
    /* Threads share the products, or where these are few each of them. */
    if (!k->gather[dtype]) multiply(&t, atomic_load(&failed) ? 0 : products);
    else if (products >= ow_num_threads())
        ow_parallel_for(products, 1, elements * (double)products * (double)t.count[INNER_VARIABLES], multiply_and_gather, &t);
    else multiply_and_gather(&t, 0, products);
    if (nbytes) ow_dealloc(t.start, nbytes);
    if (atomic_load(&failed)) ow_fail(OW_OUT_OF_MEMORY, "no memory for the elements of a matrix");
}

/* Solutions with triangular matrices.
 *
 * OpenBLAS takes three times as long for one as for a product of the same size. Here the triangle is halved until it is
 * small, so that nearly all work is products; a small one is solved for many columns at once, in vector registers. That
 * needs rows of the solution to lie in memory without gaps, so it is turned before and after. Threads share the columns. */
#include "lapack.h"

#include "blas.h"
#include "families/driver.h"

OW_LAPACK_VARIANTS(trsm, ow_trsm_type)

enum {
    LEAF = 32,  /* rows of a small triangle */
    SMALL = 48, /* rows of one that OpenBLAS solves as quickly */
    STRIP = 64, /* columns that OpenBLAS solves for at once */
    PADDED = 16 /* columns that are solved for at least: a vector of float, two of double */
};

static int64_t padded(int64_t columns) { return (columns + PADDED - 1) / PADDED * PADDED; }

/* ---- small triangles ----------------------------------------------------------------------------------- */

/* 1 if the last rows of the solution are computed first. */
static int from_below(const ow_triangle *t) { return t->is_upper == (t->trans == 'N'); }

/* Solves for `columns` columns, a multiple of PADDED; row i of the solution begins at i * pitch. Sums stay in registers, of
 * up to four vectors at a time. */
#define LEAF_BLOCK(vectors) \
    for (; columns >= (vectors) * lanes; columns -= (vectors) * lanes, x += (vectors) * lanes) \
        for (int64_t i = 0; i < n; i++) { \
            vector sums[vectors], *to = (vector *)(x + i * step * pitch); \
            for (int v = 0; v < (vectors); v++) sums[v] = to[v]; \
            for (int64_t j = 0; j < i; j++) { \
                const vector *from = (const vector *)(x + j * step * pitch); \
                for (int v = 0; v < (vectors); v++) sums[v] -= a[(i * down + j * across) * step] * from[v]; \
            } \
            vector divisor = (vector){} + (t->is_unit ? 1 : a[i * step * (down + across)]); \
            for (int v = 0; v < (vectors); v++) to[v] = sums[v] / divisor; \
        }
#define LEAF_LOOP(name, target, type) \
    target static void name(const ow_triangle *t, char *first, int64_t pitch, int64_t columns) { \
        typedef type vector __attribute__((vector_size(64), aligned(sizeof(type)), may_alias)); \
        int64_t down = t->trans == 'N' ? 1 : t->lda, across = t->trans == 'N' ? t->lda : 1, n = t->n; \
        int64_t start = from_below(t) ? n - 1 : 0, step = from_below(t) ? -1 : 1, lanes = 64 / sizeof(type); \
        const type *a = (const type *)t->a + start * (down + across); \
        type *x = (type *)first + start * pitch; \
        LEAF_BLOCK(4) \
        LEAF_BLOCK(1) \
    }
#define LEAF_LOOPS(level, target) \
    LEAF_LOOP(leaf_float_##level, target, float) \
    LEAF_LOOP(leaf_double_##level, target, double)

typedef void leaf_loop(const ow_triangle *t, char *x, int64_t pitch, int64_t columns);

LEAF_LOOPS(v1, )
#if OW_NLEVELS == 3
LEAF_LOOPS(v3, __attribute__((target("arch=x86-64-v3"))))
LEAF_LOOPS(v4, __attribute__((target("arch=x86-64-v4,prefer-vector-width=512"))))
static leaf_loop *const leaf_loops[OW_NLEVELS][2] = {
    {leaf_float_v1, leaf_double_v1}, {leaf_float_v3, leaf_double_v3}, {leaf_float_v4, leaf_double_v4}};
#else
static leaf_loop *const leaf_loops[OW_NLEVELS][2] = {{leaf_float_v1, leaf_double_v1}};
#endif

/* ---- large ones ---------------------------------------------------------------------------------------- */

typedef struct {
    const ow_lapack *l;
    const ow_triangle *triangles;
    int count;
    char *x; /* column-major */
    int64_t ldx, columns;
    char *rows; /* the same, row-major and padded */
} solution;

static void solve(const ow_lapack *l, const ow_triangle *t, char *x, int64_t pitch, int64_t columns) {
    if (t->n <= LEAF) {
        leaf_loops[ow_level][l->letter](t, x, pitch, columns);
        return;
    }
    int64_t item = ow_itemsize(l->dtype), half = (t->n / 2 + LEAF - 1) / LEAF * LEAF, rest = t->n - half;
    ow_triangle first = *t, second = *t;
    first.n = half;
    second.n = rest;
    second.a += half * (t->lda + 1) * item;
    ow_matrix above = {x, half, columns, pitch, 1, 0}, below = {x + half * pitch * item, rest, columns, pitch, 1, 0};
    int is_plain = t->trans == 'N', up = from_below(t);
    char *corner = t->a + half * (t->is_upper ? t->lda : 1) * item;
    ow_matrix block = {corner, up ? half : rest, up ? rest : half, is_plain ? 1 : t->lda, is_plain ? t->lda : 1, 0};
    solve(l, up ? &second : &first, up ? below.data : above.data, pitch, columns);
    ow_lapack_subtract(l, &block, up ? &below : &above, up ? &above : &below);
    solve(l, up ? &first : &second, up ? above.data : below.data, pitch, columns);
}

static void solve_columns(void *context, int64_t begin, int64_t end) {
    const solution *s = context;
    int64_t item = ow_itemsize(s->l->dtype), n = s->triangles->n, pitch = padded(s->columns);
    int64_t count = (end < s->columns ? end : s->columns) - begin;
    char *x = s->x + begin * s->ldx * item, *rows = s->rows + begin * item;
    ow_transpose(rows, pitch * item, x, s->ldx * item, n, count, item);
    for (int64_t i = 0; i < n && begin + count < end; i++)
        memset(rows + (i * pitch + count) * item, 0, (size_t)((end - begin - count) * item));
    for (int k = 0; k < s->count; k++) solve(s->l, &s->triangles[k], rows, pitch, end - begin);
    ow_transpose(x, s->ldx * item, rows, pitch * item, count, n, item);
}

/* By OpenBLAS, in strips that do not depend on the number of threads. */
static void solve_strips(void *context, int64_t begin, int64_t end) {
    const solution *s = context;
    const ow_lapack *l = s->l;
    for (int64_t j = begin; j < end; j += STRIP) {
        int64_t columns = ow_min(STRIP, end - j);
        char *x = s->x + j * s->ldx * ow_itemsize(l->dtype);
        for (const ow_triangle *t = s->triangles; t < s->triangles + s->count; t++)
            trsm[l->letter]("L", t->is_upper ? "U" : "L", &t->trans, t->is_unit ? "U" : "N", &t->n, &columns,
                            ow_lapack_number(l, 1), t->a, &t->lda, x, &s->ldx, 1, 1, 1, 1);
    }
}

void ow_lapack_solve_triangles(const ow_lapack *l, const ow_triangle *t, int count, int64_t columns, char *x,
                               int64_t ldx) {
    solution s = {l, t, count, x, ldx, columns, NULL};
    double work = count * (double)t->n * (double)t->n * (double)columns / 8;
    int64_t width = padded(columns), nbytes = t->n * width * ow_itemsize(l->dtype);
    int is_small = t->n <= SMALL || columns < PADDED || ow_lapack_is_complex(l);
    if (is_small || !(s.rows = ow_alloc(nbytes))) {
        if (!is_small) ow_error_take(NULL, 0); /* no memory for the quick way */
        ow_parallel_for(columns, STRIP, work, solve_strips, &s);
        return;
    }
    ow_parallel_for(width, padded((width - 1) / ow_num_threads() + 1), work, solve_columns, &s);
    ow_dealloc(s.rows, nbytes);
}

typedef struct {
    const ow_lapack *l;
    const ow_tensor *a, *x;
    ow_triangle triangle; /* but for its place */
} triangle_batch;

static void solve_range(void *context, int64_t begin, int64_t end) {
    const triangle_batch *b = context;
    ow_triangle t = b->triangle;
    for (int64_t k = begin; k < end; k++) {
        t.a = ow_lapack_at(b->l, b->a, k);
        ow_lapack_solve_triangles(b->l, &t, 1, ow_lapack_width(b->x), ow_lapack_at(b->l, b->x, k), t.lda);
    }
}

/* (A, B, upper, unit diagonal) -> X with A X = B. A that lies in memory row after row is the transposed of one that lies
 * there column after column, which BLAS reads as well. */
static int run_trsm(ow_lapack *l) {
    int rows = !ow_lapack_is_packed(l->inputs[0], 0) && ow_lapack_is_packed(l->inputs[0], 1);
    const ow_tensor *x = l->results[0], *a = rows ? l->inputs[0] : ow_lapack_columns(l, 0);
    if (!a || !x->numel) return a != NULL;
    int64_t n = ow_lapack_rows(x);
    ow_triangle t = {(l->flags[0] != 0) != rows, l->flags[1] != 0, rows ? 'T' : 'N', n, NULL, ow_lapack_leading(n)};
    triangle_batch b = {l, a, x, t};
    double work = (double)n * (double)n * (double)ow_lapack_width(x);
    void *token = ow_lapack_begin(l, work, OW_LAPACK_ALONE);
    ow_lapack_each(l, work, solve_range, &b);
    return ow_lapack_end(token);
}

const ow_lapack_routine ow_lapack_trsm = {.inputs = "nn,nk", .results = "=1", .run = run_trsm};

/* Solutions with triangular matrices.
 *
 * OpenBLAS takes three times as long for one as for a product of the same size. Here the triangle is halved until it is
 * small, so that nearly all work is products; a small one is solved for several columns at once, in vector registers
 * (levels/triangle_kernels.c). Threads share the columns. */
#include "lapack.h"

#include "blas.h"
#include "families/driver.h"
#include "levels/triangle_kernels.h"

OW_LAPACK_VARIANTS(trsm, ow_trsm_type)

enum {
    STRIP = 64, /* columns that OpenBLAS solves for at once */
    FEW = 4,    /* columns for which products of halves are not worth their calls */
    TINY = 4    /* rows and columns that are solved for sooner than vectors are packed */
};

#define DECLARE(level) extern ow_solve_triangle ow_solve_triangle_f32_##level, ow_solve_triangle_f64_##level;
DECLARE(v1)
DECLARE(v3)
DECLARE(v4)

static ow_solve_triangle *kernel_of(int dtype) {
    const int is_double = dtype == OW_FLOAT64;
#if OW_NLEVELS == 3
    if (ow_level == 2) return is_double ? ow_solve_triangle_f64_v4 : ow_solve_triangle_f32_v4;
    if (ow_level == 1) return is_double ? ow_solve_triangle_f64_v3 : ow_solve_triangle_f32_v3;
#endif
    return is_double ? ow_solve_triangle_f64_v1 : ow_solve_triangle_f32_v1;
}

typedef struct {
    const ow_lapack *l;
    const ow_triangle *triangles;
    int count;
    char *x;
    int64_t ldx, columns;
} solution;

static void solve(const ow_lapack *l, const ow_triangle *t, char *x, int64_t ldx, int64_t columns) {
    int64_t down = t->trans == 'N' ? 1 : t->lda, across = t->trans == 'N' ? t->lda : 1;
    int up = t->is_upper == (t->trans == 'N'); /* the last rows are solved for first */
    if (t->n <= OW_TRIANGLE_ROWS) {
        kernel_of(l->dtype)(t->a, down, across, t->n, up, t->is_unit, x, ldx, columns);
        return;
    }
    int64_t item = ow_itemsize(l->dtype), half = (t->n / 2 + OW_TRIANGLE_ROWS - 1) / OW_TRIANGLE_ROWS * OW_TRIANGLE_ROWS;
    int64_t rest = t->n - half;
    ow_triangle first = *t, second = *t;
    first.n = half;
    second.n = rest;
    second.a += half * (t->lda + 1) * item;
    ow_matrix above = {x, half, columns, 1, ldx, 0}, below = {x + half * item, rest, columns, 1, ldx, 0};
    ow_matrix block = {t->a + half * (up ? across : down) * item, up ? half : rest, up ? rest : half, down, across, 0};
    solve(l, up ? &second : &first, up ? below.data : above.data, ldx, columns);
    ow_lapack_subtract(l, &block, up ? &below : &above, up ? &above : &below);
    solve(l, up ? &first : &second, up ? above.data : below.data, ldx, columns);
}

static void solve_columns(void *context, int64_t begin, int64_t end) {
    const solution *s = context;
    char *x = s->x + begin * s->ldx * ow_itemsize(s->l->dtype);
    for (int k = 0; k < s->count; k++) solve(s->l, &s->triangles[k], x, s->ldx, end - begin);
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
    if (!ow_lapack_is_complex(l) && t->n <= TINY && columns <= TINY) {
        for (int k = 0; k < count; k++) ow_lapack_small_substitute(l, &t[k], x, ldx, columns);
        return;
    }
    solution s = {l, t, count, x, ldx, columns};
    double work = count * (double)t->n * (double)t->n * (double)columns / 8;
    int is_by_strips = ow_lapack_is_complex(l) || (t->n > OW_TRIANGLE_ROWS && columns < FEW);
    int64_t least = is_by_strips ? STRIP : (columns - 1) / ow_num_threads() + 1;
    ow_parallel_for(columns, least, work, is_by_strips ? solve_strips : solve_columns, &s);
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

/* Solutions with small triangles, for one dtype. Included by triangle_kernels.c.
 *
 * A vector has some rows of a column. Rows that are solved are subtracted from it, times columns of the triangle; then its own
 * ones follow one another, each from those that wait for it. */

typedef real NAME(vector) __attribute__((vector_size(OW_VECTOR_BYTES)));
typedef integer NAME(mask) __attribute__((vector_size(OW_VECTOR_BYTES)));
typedef real NAME(unaligned) __attribute__((vector_size(OW_VECTOR_BYTES), aligned(sizeof(real)), may_alias));
#define LANES ((int)(OW_VECTOR_BYTES / sizeof(real)))
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

/* A triangle column after column, with zeros beside it and behind its rows, and the inverses of its diagonal. */
typedef struct {
    int n, height; /* rows, and with those behind them whole vectors */
    _Alignas(OW_VECTOR_BYTES) real a[OW_TRIANGLE_ROWS * OW_TRIANGLE_ROWS];
    _Alignas(OW_VECTOR_BYTES) real inverses[OW_TRIANGLE_ROWS];
} NAME(triangle);

static void NAME(pack)(NAME(triangle) *t, const real *a, int64_t down, int64_t across, int n, int is_upper, int is_unit) {
    t->n = n;
    t->height = (n + LANES - 1) / LANES * LANES;
    memset(t->a, 0, (size_t)(n * t->height) * sizeof(real));
    for (int j = 0; j < n; j++) {
        const int first = is_upper ? 0 : j + 1, last = is_upper ? j : n;
        for (int i = first; i < last; i++) t->a[j * t->height + i] = a[i * down + j * across];
        t->inverses[j] = is_unit ? 1 : 1 / a[j * (down + across)];
    }
    for (int j = n; j < t->height; j++) t->inverses[j] = 1;
}

/* One lane of a vector everywhere. */
INLINE NAME(vector) NAME(spread)(NAME(vector) x, int lane) {
#if defined __clang__ /* which shuffles by constants alone */
    return x[lane] - (NAME(vector)){0};
#else
    return __builtin_shuffle(x, (NAME(mask)){0} + lane);
#endif
}

/* The rows of one vector, whose others before or behind them are solved. */
INLINE void NAME(solve_rows)(const NAME(triangle) *t, int first, const int is_upper, real x[][OW_TRIANGLE_ROWS]) {
    const int count = t->n - first < LANES ? t->n - first : LANES;
    NAME(vector) sums[COLUMNS];
    NAME(mask) lanes;
    for (int k = 0; k < LANES; k++) lanes[k] = k;
    UNROLL for (int c = 0; c < COLUMNS; c++) sums[c] = *(const NAME(vector) *)(x[c] + first);
    for (int j = is_upper ? first + LANES : 0; j < (is_upper ? t->n : first); j++) {
        const NAME(vector) column = *(const NAME(vector) *)(t->a + j * t->height + first);
        UNROLL for (int c = 0; c < COLUMNS; c++) sums[c] -= column * x[c][j];
    }
    for (int i = 0; i < count; i++) {
        const int k = is_upper ? count - 1 - i : i;
        const NAME(vector) column = *(const NAME(vector) *)(t->a + (first + k) * t->height + first);
        const NAME(mask) others = is_upper ? lanes < k : lanes > k;
        const real inverse = t->inverses[first + k];
        UNROLL for (int c = 0; c < COLUMNS; c++) {
            /* Zero for rows that do not wait: an infinite one would make them NaN. */
            const NAME(vector) row = NAME(spread)(sums[c], k) * inverse;
            sums[c] -= column * (NAME(vector))((NAME(mask))row & others);
        }
    }
    const NAME(vector) inverses = *(const NAME(vector) *)(t->inverses + first);
    UNROLL for (int c = 0; c < COLUMNS; c++) *(NAME(vector) *)(x[c] + first) = sums[c] * inverses;
}

static void NAME(copy)(real *to, const real *from, int n) {
    int i = 0;
    for (; i + LANES <= n; i += LANES) *(NAME(unaligned) *)(to + i) = *(const NAME(unaligned) *)(from + i);
    if (i < n) memcpy(to + i, from + i, (size_t)(n - i) * sizeof(real));
}

extern ow_solve_triangle JOIN(NAME(ow_solve_triangle), OW_LEVEL);
void JOIN(NAME(ow_solve_triangle), OW_LEVEL)(const void *a, int64_t down, int64_t across, int64_t n, int is_upper,
                                             int is_unit, void *first, int64_t pitch, int64_t columns) {
    NAME(triangle) t;
    _Alignas(OW_VECTOR_BYTES) real x[COLUMNS][OW_TRIANGLE_ROWS];
    NAME(pack)(&t, a, down, across, (int)n, is_upper, is_unit);
    for (int c = 0; c < COLUMNS; c++)
        for (int i = 0; i < t.height; i += LANES) *(NAME(vector) *)(x[c] + i) = (NAME(vector)){0};
    for (real *each = first; columns > 0; columns -= COLUMNS, each += COLUMNS * pitch) {
        const int count = columns < COLUMNS ? (int)columns : COLUMNS;
        for (int c = 0; c < count; c++) NAME(copy)(x[c], each + c * pitch, t.n);
        if (is_upper)
            for (int i = t.height - LANES; i >= 0; i -= LANES) NAME(solve_rows)(&t, i, 1, x);
        else
            for (int i = 0; i < t.n; i += LANES) NAME(solve_rows)(&t, i, 0, x);
        for (int c = 0; c < count; c++) NAME(copy)(each + c * pitch, x[c], t.n);
    }
}

#undef LANES
#undef INLINE
#undef UNROLL

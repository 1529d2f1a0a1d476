/* A product by panels of the second matrix, for one dtype. Included by panel_product_kernels.c.
 *
 * A panel has all rows and some columns of it, beside one another, so that it stays in a cache close to the processor while
 * all rows of the first matrix are multiplied by it. These are read where they lie. */

typedef real NAME(vector) __attribute__((vector_size(OW_VECTOR_BYTES)));
typedef real NAME(unaligned) __attribute__((vector_size(OW_VECTOR_BYTES), aligned(sizeof(real)), may_alias));
#define LANES ((int)(OW_VECTOR_BYTES / sizeof(real)))
#define LOAD(p) ((NAME(vector)) * (const NAME(unaligned) *)(p))
#define STORE(p, x) (*(NAME(unaligned) *)(p) = (NAME(unaligned))(x))
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

/* ---- panels --------------------------------------------------------------------------------------------------- */

/* Vectors of columns that follow one another in memory: where they go, and where they come from. */
typedef struct {
    int n, to[VECTORS * LANES];
    int64_t from[VECTORS * LANES], last;
} NAME(runs);

static NAME(runs) NAME(find_runs)(const int64_t *at, int columns) {
    NAME(runs) runs = {.n = 0, .last = at[0]};
    for (int j = 0, begin = 0; j < columns; j++) {
        if (j && at[j] != at[j - 1] + 1) begin = j;
        if (at[j] > runs.last) runs.last = at[j];
        if ((j - begin) % LANES) continue;
        runs.to[runs.n] = j;
        runs.from[runs.n++] = at[j];
    }
    return runs;
}

/* Copies columns whose offsets begin at `at`. Behind the last one are zeros or other elements, which are not used. */
static void NAME(fill)(real *panel, const ow_panel_product *p, const int64_t *at, int columns, int vectors) {
    const NAME(runs) runs = NAME(find_runs)(at, columns);
    const int width = vectors * LANES, is_whole = columns == width;
    for (int64_t k = 0; k < p->inner; k++, panel += width) {
        const real *row = (const real *)p->right + p->right_inner[k];
        if (!is_whole) STORE(panel + width - LANES, (NAME(vector)){0});
        if (2 * runs.n > columns || p->right_inner[k] + runs.last + LANES > p->readable)
            for (int j = 0; j < columns; j++) panel[j] = row[at[j]];
        else /* what a vector has more is written over by the next one */
            for (int i = 0; i < runs.n; i++) STORE(panel + runs.to[i], LOAD(row + runs.from[i]));
    }
}

/* ---- tiles ---------------------------------------------------------------------------------------------------- */

/* So many rows of the result, and so many vectors of each, of which `columns` elements go to the offsets `to_columns`. */
INLINE void NAME(tile)(const int rows, const int vectors, const ow_panel_product *p, int64_t row, const real *panel,
                       const int64_t *to_columns, int columns) {
    NAME(vector) sums[ROWS][VECTORS];
    const real *left[ROWS];
    UNROLL for (int i = 0; i < rows; i++) {
        left[i] = (const real *)p->left + p->left_rows[row + i];
        const real start = p->start && !p->addend ? ((const real *)p->start)[row + i] : 0;
        UNROLL for (int v = 0; v < vectors; v++) sums[i][v] = (NAME(vector)){0} + start;
    }
    const int64_t *inner = p->left_inner;
    for (const real *end = panel + p->inner * vectors * LANES; panel < end; panel += vectors * LANES) {
        const int64_t k = *inner++;
        NAME(vector) right[VECTORS];
        UNROLL for (int v = 0; v < vectors; v++) right[v] = *(const NAME(vector) *)(panel + v * LANES);
        UNROLL for (int i = 0; i < rows; i++) {
            const real each = left[i][k];
            UNROLL for (int v = 0; v < vectors; v++) sums[i][v] += each * right[v];
        }
    }
    real *to = (real *)p->to + row * p->to_row;
    const real *addend = p->addend ? (const real *)p->addend + row * p->addend_row : 0;
    if (columns == vectors * LANES && to_columns[columns - 1] - to_columns[0] == columns - 1) {
        UNROLL for (int i = 0; i < rows; i++) UNROLL for (int v = 0; v < vectors; v++) {
            const int64_t at = to_columns[0] + v * LANES;
            STORE(to + i * p->to_row + at, addend ? LOAD(addend + i * p->addend_row + at) + sums[i][v] : sums[i][v]);
        }
        return;
    }
    real rest[ROWS][VECTORS * LANES];
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int v = 0; v < vectors; v++) STORE(rest[i] + v * LANES, sums[i][v]);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            const int64_t at = to_columns[j];
            to[i * p->to_row + at] = addend ? addend[i * p->addend_row + at] + rest[i][j] : rest[i][j];
        }
}

/* The function for so many vectors of all rows. */
#define ALL_ROWS(name, vectors) \
    static __attribute__((noinline)) void NAME(name)(const ow_panel_product *p, const real *panel, const int64_t *to, int columns) { \
        int64_t row = 0; \
        for (; row + ROWS <= p->rows; row += ROWS) NAME(tile)(ROWS, vectors, p, row, panel, to, columns); \
        for (; row + 4 <= p->rows; row += 4) NAME(tile)(4, vectors, p, row, panel, to, columns); \
        for (; row + 2 <= p->rows; row += 2) NAME(tile)(2, vectors, p, row, panel, to, columns); \
        if (row < p->rows) NAME(tile)(1, vectors, p, row, panel, to, columns); \
    }
ALL_ROWS(rows_of_1, 1)
ALL_ROWS(rows_of_2, 2)
#if VECTORS == 3
ALL_ROWS(rows_of_3, 3)
#else
#define rows_of_3_f32 rows_of_2_f32
#define rows_of_3_f64 rows_of_2_f64
#endif

static void NAME(pack)(const ow_panel_product *p, int64_t first, int columns, int count, void *panel) {
    NAME(fill)(panel, p, p->right_columns + first, columns, count);
}

static void NAME(multiply_panel)(const ow_panel_product *p, int64_t first, int columns, int count, const void *panel) {
    (count == 1 ? NAME(rows_of_1) : count == 2 ? NAME(rows_of_2) : NAME(rows_of_3))(p, panel, p->to_columns + first, columns);
}

static void NAME(multiply)(const ow_panel_product *p) {
    /* One vector more, as runs of columns are copied in whole vectors. */
    _Alignas(OW_VECTOR_BYTES) real panel[OW_PANEL_BYTES / sizeof(real) * VECTORS * LANES + LANES];
    for (int64_t j = 0; j < p->columns;) {
        /* Panels of about one size. */
        const int64_t left = p->columns - j, vectors = (left + LANES - 1) / LANES, panels = (vectors + VECTORS - 1) / VECTORS;
        const int n = (int)((vectors + panels - 1) / panels), columns = (int)(left < n * LANES ? left : n * LANES);
        NAME(pack)(p, j, columns, n, panel);
        NAME(multiply_panel)(p, j, columns, n, panel);
        j += columns;
    }
}

extern const ow_panel_kernel JOIN(NAME(ow_panel_kernel), OW_LEVEL);
const ow_panel_kernel JOIN(NAME(ow_panel_kernel), OW_LEVEL) = {LANES, VECTORS, COLUMNS, NAME(multiply), NAME(multiply_lines),
                                                               NAME(pack), NAME(multiply_panel)};

#undef LANES
#undef LOAD
#undef STORE
#undef INLINE
#undef UNROLL
#undef ALL_ROWS
#undef rows_of_3_f32
#undef rows_of_3_f64

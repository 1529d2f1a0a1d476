/* A product with few rows, of long lines of terms, for one dtype. Included by panel_product_kernels.c.
 *
 * Lanes run along the lines: an element of a line belongs to the partial sum of its place's remainder by their number, which is
 * the same at every level. The sums of several columns stay in registers, and share what is read of the first matrix. */

typedef real NAME(lanes) __attribute__((vector_size(OW_VECTOR_BYTES)));
typedef real NAME(anywhere) __attribute__((vector_size(OW_VECTOR_BYTES), aligned(sizeof(real)), may_alias));
typedef integer NAME(places) __attribute__((vector_size(OW_VECTOR_BYTES)));
typedef integer NAME(places_anywhere) __attribute__((vector_size(OW_VECTOR_BYTES), aligned(sizeof(integer)), may_alias));
typedef real NAME(quarter) __attribute__((vector_size(16))); /* of all partial sums */
#define LANES ((int)(OW_VECTOR_BYTES / sizeof(real)))
#define SUMS ((int)(64 / sizeof(real)))
#define PARTS (SUMS / LANES) /* vectors of partial sums */
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")

/* A vector of elements, or with step 2 of every second one: of two vectors that end with the last element that is taken. */
INLINE NAME(lanes) NAME(load)(const real *from, const int step) {
    const NAME(lanes) first = *(const NAME(anywhere) *)from;
    if (step == 1) return first;
    const NAME(lanes) second = *(const NAME(anywhere) *)(from + LANES - 1);
#if defined __clang__ /* which has no shuffles by vectors, and makes one of the lanes */
    NAME(lanes) taken = first;
    UNROLL for (int i = 0; i < LANES; i++) taken[i] = 2 * i < LANES ? first[2 * i] : second[2 * i + 1 - LANES];
    return taken;
#else
    NAME(places) taken = {0};
    UNROLL for (int i = 0; i < LANES; i++) taken[i] = 2 * i + (2 * i >= LANES);
    return __builtin_shuffle(first, second, taken);
#endif
}

/* The first `count` of them, and zeros. */
INLINE NAME(lanes) NAME(load_some)(const real *from, const int step, int64_t count) {
    real x[LANES] = {0};
    for (int64_t i = 0; i < count && i < LANES; i++) x[i] = from[i * step];
    return *(const NAME(anywhere) *)x;
}

/* The sum of partial sums, of which one half is added to the other until one is left. */
INLINE real NAME(join)(const NAME(lanes) *sums) {
    NAME(quarter) x[4];
    memcpy(x, sums, sizeof x);
    x[0] += x[2], x[1] += x[3];
    x[0] += x[1];
    for (int half = SUMS / 8; half; half /= 2)
        for (int i = 0; i < half; i++) x[0][i] += x[0][i + half];
    return x[0][0];
}

/* So many columns of one row, beginning with `column`; those that there are not are computed as the last one is. */
INLINE void NAME(columns)(const int step, const ow_panel_product *p, int64_t row, int64_t column, int64_t count) {
    const int rest = (int)(p->line % SUMS);
    const int64_t whole = p->line - rest;
    integer is_term[SUMS];
    for (int i = 0; i < SUMS; i++) is_term[i] = -(i < rest);
    const int64_t *at = p->right_columns + column;
    int64_t columns[COLUMNS], furthest = at[0];
    for (int j = 0; j < COLUMNS; j++) {
        columns[j] = at[j < count ? j : count - 1];
        furthest = columns[j] > furthest ? columns[j] : furthest;
    }

    NAME(lanes) sums[COLUMNS][PARTS];
    UNROLL for (int j = 0; j < COLUMNS; j++) UNROLL for (int v = 0; v < PARTS; v++) sums[j][v] = (NAME(lanes)){0};
    for (int64_t k = 0; k < p->inner; k++) {
        const int64_t left_at = p->left_rows[row] + p->left_inner[k], right_at = p->right_inner[k];
        const real *left = (const real *)p->left + left_at, *right = (const real *)p->right + right_at;
        for (int64_t i = 0; i < whole; i += SUMS, left += SUMS, right += SUMS * step)
            UNROLL for (int v = 0; v < PARTS; v++) {
                const NAME(lanes) each = NAME(load)(left + v * LANES, 1);
                UNROLL for (int j = 0; j < COLUMNS; j++)
                    sums[j][v] += each * NAME(load)(right + columns[j] + v * LANES * step, step);
            }
        if (!rest) continue;
        /* Whole vectors, where what is behind the lines may be read: it is replaced by zeros. */
        const int is_readable = left_at + whole + SUMS <= p->left_readable &&
                                right_at + furthest + (whole + SUMS) * step <= p->readable;
        UNROLL for (int v = 0; v < PARTS; v++) {
            const int64_t terms = rest - v * LANES;
            if (terms <= 0) break;
            if (is_readable) {
                const NAME(places) taken = *(const NAME(places_anywhere) *)(is_term + v * LANES);
                const NAME(lanes) each = (NAME(lanes))((NAME(places))NAME(load)(left + v * LANES, 1) & taken);
                UNROLL for (int j = 0; j < COLUMNS; j++) {
                    const NAME(lanes) other = NAME(load)(right + columns[j] + v * LANES * step, step);
                    sums[j][v] += each * (NAME(lanes))((NAME(places))other & taken);
                }
            } else {
                const NAME(lanes) each = NAME(load_some)(left + v * LANES, 1, terms);
                UNROLL for (int j = 0; j < COLUMNS; j++)
                    sums[j][v] += each * NAME(load_some)(right + columns[j] + v * LANES * step, step, terms);
            }
        }
    }
    real joined[COLUMNS];
    UNROLL for (int j = 0; j < COLUMNS; j++) joined[j] = NAME(join)(sums[j]);
    for (int j = 0; j < count; j++) {
        const int64_t at = p->to_columns[column + j];
        const real addend = p->addend  ? ((const real *)p->addend)[row * p->addend_row + at]
                            : p->start ? ((const real *)p->start)[row]
                                       : 0;
        ((real *)p->to)[row * p->to_row + at] = addend + joined[j];
    }
}

/* The function for this step along lines of the second matrix. */
#define ALL_COLUMNS(name, step) \
    static __attribute__((noinline)) void NAME(name)(const ow_panel_product *p) { \
        for (int64_t row = 0; row < p->rows; row++) \
            for (int64_t j = 0; j < p->columns; j += COLUMNS) \
                NAME(columns)(step, p, row, j, p->columns - j < COLUMNS ? p->columns - j : COLUMNS); \
    }
ALL_COLUMNS(lines_of_step_1, 1)
ALL_COLUMNS(lines_of_step_2, 2)

static void NAME(multiply_lines)(const ow_panel_product *p) {
    (p->step == 1 ? NAME(lines_of_step_1) : NAME(lines_of_step_2))(p);
}

#undef LANES
#undef SUMS
#undef PARTS
#undef INLINE
#undef UNROLL
#undef ALL_COLUMNS

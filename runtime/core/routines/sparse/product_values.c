/* The product of two compressed matrices, whose values need no gradient, in one pass over their rows.
 *
 * Each row of the product is added up in an array that has a place for every column (Gustavson's algorithm), in the order of
 * the left matrix's elements. How many elements a row has is known afterwards, so blocks of rows have lists of their own,
 * which are joined at the end.
 */
#include "families/driver.h"
#include "product.h"

#define PAIR_WORK 6.0 /* in units of a float32 addition */
enum { LEFT_VALUES = 2, RIGHT_VALUES = 5 };
enum { ROWS, COLUMNS, VALUES, RESULTS };

typedef struct {
    ow_sparse_product given;
    const char *left, *right; /* values */
    int dtype;
    int64_t itemsize;
    int64_t *elements;  /* of each row, and then those before it */
    int64_t **columns;  /* of each block, */
    char **values;      /* and as many values */
    int64_t *sizes;     /* of these lists in bytes, together */
    char *out[RESULTS];
    int failed;
} product;

/* ---- the rows of a block ------------------------------------------------------------------------------------ */

/* `sums` has a place for every column, whose row tells whether it belongs to this row. */
#define OW_ADD_ROW(suffix, type, unsigned_type)                                                                    \
    typedef struct {                                                                                               \
        int64_t row;                                                                                               \
        type sum;                                                                                                  \
    } sum_##suffix;                                                                                                \
    static int64_t *add_row_##suffix(const product *p, int64_t i, void *memory, const ow_column_set *set, int64_t *columns, \
                                     void *to) {                                                                   \
        const ow_sparse_product *g = &p->given;                                                                    \
        const int64_t *left = g->in[LEFT_ROWS], *right = g->in[RIGHT_ROWS], *places = g->in[RIGHT_COLUMNS];        \
        const type *left_values = (const type *)p->left, *right_values = (const type *)p->right;                   \
        sum_##suffix *sums = memory;                                                                               \
        for (int64_t a = left[i]; a < left[i + 1]; a++) {                                                          \
            const int64_t k = g->in[LEFT_COLUMNS][a];                                                              \
            for (int64_t b = right[k]; b < right[k + 1]; b++) {                                                    \
                sum_##suffix *sum = &sums[places[b]];                                                              \
                const type item = (type)((unsigned_type)left_values[a] * (unsigned_type)right_values[b]);          \
                if (sum->row == i + 1) sum->sum = (type)((unsigned_type)sum->sum + (unsigned_type)item);           \
                else {                                                                                             \
                    *sum = (sum_##suffix){i + 1, item};                                                            \
                    ow_insert_column(set, places[b]);                                                              \
                }                                                                                                  \
            }                                                                                                      \
        }                                                                                                          \
        int64_t *end = ow_take_columns(set, columns);                                                              \
        for (int64_t e = 0; e < end - columns; e++) ((type *)to)[e] = sums[columns[e]].sum;                        \
        return end;                                                                                                \
    }
OW_ADD_ROW(f32, float, float)
OW_ADD_ROW(f64, double, double)
OW_ADD_ROW(i64, int64_t, uint64_t)

/* How many elements the rows of a block can have. */
static int64_t most_elements(const ow_sparse_product *g, int64_t first, int64_t stop) {
    const int64_t *left = g->in[LEFT_ROWS], *right = g->in[RIGHT_ROWS];
    int64_t most = 0;
    for (int64_t i = first; i < stop; i++) {
        int64_t pairs = 0;
        for (int64_t a = left[i]; a < left[i + 1]; a++) {
            const int64_t k = g->in[LEFT_COLUMNS][a];
            pairs += right[k + 1] - right[k];
        }
        most += pairs < g->columns ? pairs : g->columns;
    }
    return most;
}

static int add_rows(product *p, int64_t block) {
    const ow_sparse_product *g = &p->given;
    const int64_t first = ow_sparse_product_row(g, block), stop = ow_sparse_product_row(g, block + 1);
    const int64_t most = most_elements(g, first, stop), words = ow_column_words(g->columns);
    const int64_t place = sizeof(sum_f64), nbytes = g->columns * place + words * (int64_t)sizeof(uint64_t);
    p->sizes[block] = most * ((int64_t)sizeof(int64_t) + p->itemsize);
    if (!most) return 1;
    char *memory = ow_alloc(nbytes), *lists = ow_alloc(p->sizes[block]);
    p->columns[block] = (int64_t *)lists;
    if (memory && lists) {
        p->values[block] = lists + most * (int64_t)sizeof(int64_t);
        memset(memory, 0, (size_t)(g->columns * place));
        const ow_column_set set = ow_column_set_of((uint64_t *)(memory + g->columns * place), g->columns);
        int64_t *columns = p->columns[block];
        char *values = p->values[block];
        for (int64_t i = first; i < stop; i++) {
            int64_t *end = p->dtype == OW_FLOAT32   ? add_row_f32(p, i, memory, &set, columns, values)
                           : p->dtype == OW_FLOAT64 ? add_row_f64(p, i, memory, &set, columns, values)
                                                    : add_row_i64(p, i, memory, &set, columns, values);
            p->elements[i] = end - columns;
            values += p->elements[i] * p->itemsize;
            columns = end;
        }
    }
    if (memory) ow_dealloc(memory, nbytes);
    return memory && lists;
}

static void add_blocks(void *context, int64_t begin, int64_t end) {
    product *p = context;
    for (int64_t block = begin; block < end; block++)
        if (!add_rows(p, block)) __atomic_store_n(&p->failed, 1, __ATOMIC_RELAXED);
}

static void join_blocks(void *context, int64_t begin, int64_t end) {
    const product *p = context;
    for (int64_t block = begin; block < end; block++) {
        const int64_t first = p->elements[ow_sparse_product_row(&p->given, block)];
        const int64_t count = p->elements[ow_sparse_product_row(&p->given, block + 1)] - first;
        if (!count) continue;
        memcpy(p->out[COLUMNS] + first * (int64_t)sizeof(int64_t), p->columns[block], sizeof(int64_t) * (size_t)count);
        memcpy(p->out[VALUES] + first * p->itemsize, p->values[block], (size_t)(count * p->itemsize));
    }
}

/* ---- the call ----------------------------------------------------------------------------------------------- */

static int join(product *p, ow_call *c) {
    const int64_t elements = ow_sums_before(p->elements, p->given.rows), sizes[RESULTS] = {p->given.rows + 1, elements, elements};
    for (int k = 0; k < RESULTS; k++) {
        if (!(c->results[k] = ow_tensor_new(k == VALUES ? p->dtype : OW_INT64, 1, &sizes[k], NULL))) return 0;
        p->out[k] = c->results[k]->data;
    }
    memcpy(p->out[ROWS], p->elements, sizeof(int64_t) * (size_t)(p->given.rows + 1));
    return ow_long_for(p->given.blocks, 1, 2.0 * (double)elements, join_blocks, p);
}

static int multiply(product *p, ow_call *c) {
    const int64_t blocks = p->given.blocks, nbytes = (p->given.rows + 1 + 3 * blocks) * (int64_t)sizeof(int64_t);
    int64_t *memory = ow_alloc(nbytes);
    if (!memory) return 0;
    memset(memory, 0, (size_t)nbytes);
    p->elements = memory;
    p->sizes = memory + p->given.rows + 1;
    p->columns = (int64_t **)(p->sizes + blocks);
    p->values = (char **)(p->columns + blocks);
    const double work = PAIR_WORK * p->given.pairs + (double)blocks * (double)p->given.columns;
    int done = ow_long_for(blocks, 1, work, add_blocks, p);
    if (done && p->failed) {
        ow_fail(OW_OUT_OF_MEMORY, "%s(): no memory for the rows of the product", c->op->name);
        done = 0;
    }
    done = done && join(p, c);
    for (int64_t block = 0; block < blocks; block++)
        if (p->columns[block]) ow_dealloc(p->columns[block], p->sizes[block]);
    ow_dealloc(memory, nbytes);
    return done;
}

/* The values of both matrices in one of the dtypes in which rows are added. */
static int take_values(product *p, const ow_call *c) {
    const int values[2] = {LEFT_VALUES, RIGHT_VALUES}, columns[2] = {LEFT_COLUMNS, RIGHT_COLUMNS};
    p->dtype = c->inputs[LEFT_VALUES]->dtype;
    for (int k = 0; k < 2; k++) {
        const ow_tensor *given = c->inputs[values[k]];
        if (given->dtype != p->dtype || given->ndim != 1 || given->numel != p->given.counts[columns[k]]) {
            ow_fail(OW_RUNTIME_ERROR, "%s(): expected a value for each column, of one dtype", c->op->name);
            return 0;
        }
    }
    p->itemsize = ow_itemsize(p->dtype);
    return 1;
}

/* ints: columns. The shapes of its results follow from elements: nothing is left for a plan. */
int ow_core_csr_product(ow_call *c) {
    const int places[INDICES] = {0, 1, 3, 4};
    product p = {0};
    int done = ow_sparse_product_take(&p.given, c, places) && take_values(&p, c);
    ow_tensor *left = done ? ow_clone(c->inputs[LEFT_VALUES], p.dtype, 1) : NULL;
    ow_tensor *right = left ? ow_clone(c->inputs[RIGHT_VALUES], p.dtype, 1) : NULL;
    if (right) p.left = left->data, p.right = right->data;
    done = right && multiply(&p, c);
    ow_tensor_free(left);
    ow_tensor_free(right);
    ow_sparse_product_free(&p.given);
    for (int k = 0; k < RESULTS && !done; k++) {
        ow_tensor_free(c->results[k]);
        c->results[k] = NULL;
    }
    return done ? RESULTS : 0;
}

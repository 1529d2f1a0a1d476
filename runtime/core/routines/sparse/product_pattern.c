/* The product of two compressed matrices: which elements are multiplied for each element of it.
 *
 * An element (i, k) of the left matrix meets every element (k, j) of row k of the right one: a pair that belongs to element
 * (i, j) of the product. Pairs are counted for each row, and then written in the order of rows, of columns within a row, and
 * of the left elements within a column. Gradients are those of the products of pairs; without these, product_values.c adds
 * the products at once.
 */
#include "families/driver.h"
#include "product.h"

#define PAIR_WORK 8.0 /* in units of a float32 addition */
enum { ROWS, COLUMNS, STARTS, LEFT, RIGHT, RESULTS };

typedef struct {
    ow_sparse_product given;
    int64_t *met;    /* of each block, for every column */
    uint64_t *words; /* of each block, for a set of columns */
    int64_t *pairs;  /* of each row and of the end: first its pairs, then those before it */
    int64_t *elements; /* likewise the elements of the product */
    int64_t *out[RESULTS];
} product;

/* ---- the rows of a block ------------------------------------------------------------------------------------ */

static void count_rows(void *context, int64_t begin, int64_t end) {
    const product *p = context;
    const ow_sparse_product *g = &p->given;
    const int64_t *left = g->in[LEFT_ROWS], *right = g->in[RIGHT_ROWS];
    for (int64_t block = begin; block < end; block++) {
        int64_t *met = p->met + block * g->columns; /* one more than the row in which each column was met last */
        memset(met, 0, sizeof *met * (size_t)g->columns);
        for (int64_t i = ow_sparse_product_row(g, block), stop = ow_sparse_product_row(g, block + 1); i < stop; i++) {
            int64_t pairs = 0, elements = 0;
            for (int64_t a = left[i]; a < left[i + 1]; a++) {
                const int64_t k = g->in[LEFT_COLUMNS][a];
                pairs += right[k + 1] - right[k];
                for (int64_t b = right[k]; b < right[k + 1]; b++) {
                    const int64_t j = g->in[RIGHT_COLUMNS][b];
                    elements += met[j] != i + 1;
                    met[j] = i + 1;
                }
            }
            p->pairs[i] = pairs;
            p->elements[i] = elements;
        }
    }
}

/* `met` is zero at all columns before and afterwards. In between it counts the pairs of each, and then says where the next one
 * of them goes. */
static void write_row(const product *p, int64_t i, int64_t *met, const ow_column_set *set) {
    const ow_sparse_product *g = &p->given;
    const int64_t *left = g->in[LEFT_ROWS], *right = g->in[RIGHT_ROWS];
    for (int64_t a = left[i]; a < left[i + 1]; a++)
        for (int64_t b = right[g->in[LEFT_COLUMNS][a]], end = right[g->in[LEFT_COLUMNS][a] + 1]; b < end; b++) {
            const int64_t j = g->in[RIGHT_COLUMNS][b];
            if (!met[j]++) ow_insert_column(set, j);
        }
    const int64_t first = p->elements[i];
    int64_t *columns = p->out[COLUMNS] + first, *end = ow_take_columns(set, columns), place = p->pairs[i];
    for (int64_t e = 0; e < end - columns; e++) {
        const int64_t pairs = met[columns[e]];
        p->out[STARTS][first + e] = met[columns[e]] = place;
        place += pairs;
    }
    for (int64_t a = left[i]; a < left[i + 1]; a++)
        for (int64_t b = right[g->in[LEFT_COLUMNS][a]], end = right[g->in[LEFT_COLUMNS][a] + 1]; b < end; b++) {
            const int64_t pair = met[g->in[RIGHT_COLUMNS][b]]++;
            p->out[LEFT][pair] = a;
            p->out[RIGHT][pair] = b;
        }
    for (; columns < end; columns++) met[*columns] = 0;
}

static void write_rows(void *context, int64_t begin, int64_t end) {
    const product *p = context;
    const ow_sparse_product *g = &p->given;
    for (int64_t block = begin; block < end; block++) {
        int64_t *met = p->met + block * g->columns;
        memset(met, 0, sizeof *met * (size_t)g->columns);
        const ow_column_set set = ow_column_set_of(p->words + block * ow_column_words(g->columns), g->columns);
        for (int64_t i = ow_sparse_product_row(g, block), stop = ow_sparse_product_row(g, block + 1); i < stop; i++)
            write_row(p, i, met, &set);
    }
}

/* ---- the call ----------------------------------------------------------------------------------------------- */

static int write_pattern(product *p, ow_call *c, double work) {
    const int64_t pairs = ow_sums_before(p->pairs, p->given.rows), elements = ow_sums_before(p->elements, p->given.rows);
    const int64_t sizes[RESULTS] = {p->given.rows + 1, elements, elements + 1, pairs, pairs};
    for (int k = 0; k < RESULTS; k++) {
        if (!(c->results[k] = ow_tensor_new(OW_INT64, 1, &sizes[k], NULL))) return 0;
        p->out[k] = (int64_t *)c->results[k]->data;
    }
    memcpy(p->out[ROWS], p->elements, sizeof(int64_t) * (size_t)(p->given.rows + 1));
    p->out[STARTS][elements] = pairs;
    return ow_long_for(p->given.blocks, 1, work, write_rows, p);
}

static int find_pattern(product *p, ow_call *c) {
    const int64_t places = p->given.blocks * p->given.columns, words = p->given.blocks * ow_column_words(p->given.columns);
    const int64_t nbytes = (places + words + 2 * (p->given.rows + 1)) * (int64_t)sizeof(int64_t);
    int64_t *memory = ow_alloc(nbytes);
    if (!memory) return 0;
    p->met = memory;
    p->words = (uint64_t *)p->met + places;
    p->pairs = (int64_t *)p->words + words;
    p->elements = p->pairs + p->given.rows + 1;
    const double work = PAIR_WORK * p->given.pairs + (double)places;
    const int done = ow_long_for(p->given.blocks, 1, work, count_rows, p) && write_pattern(p, c, 2 * work);
    ow_dealloc(memory, nbytes);
    return done;
}

/* ints: columns. The shapes of its results follow from elements: nothing is left for a plan. */
int ow_core_csr_product_pattern(ow_call *c) {
    const int places[INDICES] = {0, 1, 2, 3};
    product p = {0};
    const int done = ow_sparse_product_take(&p.given, c, places) && find_pattern(&p, c);
    ow_sparse_product_free(&p.given);
    for (int k = 0; k < RESULTS && !done; k++) {
        ow_tensor_free(c->results[k]);
        c->results[k] = NULL;
    }
    return done ? RESULTS : 0;
}

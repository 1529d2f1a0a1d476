/* The product of two compressed matrices: which elements are multiplied for each element of it.
 *
 * An element (i, k) of the left matrix meets every element (k, j) of row k of the right one: a pair that belongs to element
 * (i, j) of the product. Pairs are counted for each row, and then written in the order of rows, of columns within a row, and
 * of the left elements within a column. The sums of their products are an operator of their own, for every dtype
 * (csr_product_values in ops.yaml).
 */
#include "families/driver.h"
#include "families/core_call.h"

#define PAIR_WORK 8.0 /* in units of a float32 addition */
enum { LEFT_ROWS, LEFT_COLUMNS, RIGHT_ROWS, RIGHT_COLUMNS, INDICES };
enum { ROWS, COLUMNS, STARTS, LEFT, RIGHT, RESULTS };

typedef struct {
    ow_tensor *copies[INDICES]; /* so that nobody writes to what has been checked */
    const int64_t *in[INDICES];
    int64_t counts[INDICES];
    int64_t rows, right_rows, columns;
    int64_t blocks;  /* of rows, each with about as many elements of the left matrix */
    int64_t *met;    /* of each block, for every column */
    uint64_t *words; /* of each block, for a set of columns */
    int64_t *pairs;  /* of each row and of the end: first its pairs, then those before it */
    int64_t *elements; /* likewise the elements of the product */
    int64_t *out[RESULTS];
} product;

/* ---- what is given ------------------------------------------------------------------------------------------ */

static int check_matrix(const product *p, int matrix, int64_t rows, int64_t columns, const char *which) {
    const int64_t *starts = p->in[matrix], *indices = p->in[matrix + 1], count = p->counts[matrix + 1];
    int ordered = starts[0] == 0 && starts[rows] == count;
    for (int64_t i = 0; i < rows; i++) ordered &= starts[i] <= starts[i + 1];
    if (!ordered) {
        ow_fail(OW_RUNTIME_ERROR, "csr_product_pattern(): the starts of the %s matrix's rows must ascend from 0 to %lld, the number of "
                                  "its elements", which, (long long)count);
        return 0;
    }
    for (int64_t k = 0; k < count; k++)
        if ((uint64_t)indices[k] >= (uint64_t)columns) {
            ow_fail(OW_INDEX_ERROR, "csr_product_pattern(): column %lld of the %s matrix is outside of its %lld columns",
                    (long long)indices[k], which, (long long)columns);
            return 0;
        }
    return 1;
}

static int take_indices(product *p, const ow_call *c) {
    p->columns = c->ints[0];
    if (p->columns < 0 || p->columns > (int64_t)1 << 40) {
        ow_fail(OW_RUNTIME_ERROR, "csr_product_pattern(): a matrix cannot have %lld columns", (long long)p->columns);
        return 0;
    }
    for (int k = 0; k < INDICES; k++) {
        ow_tensor *given = c->inputs[k];
        const int has_start = k % 2 == 0;
        if (given->dtype != OW_INT64 || given->ndim != 1 || given->numel < has_start) {
            ow_fail(OW_RUNTIME_ERROR, "csr_product_pattern(): expected the starts of rows and the columns of each matrix as vectors of "
                                      "int64");
            return 0;
        }
        if (!ow_is_readable(given)) {
            ow_fail(OW_NOT_IMPLEMENTED, "csr_product_pattern(): the shapes of its results depend on the values of tensors");
            return 0;
        }
        if (!(p->copies[k] = ow_clone(given, OW_INT64, 1))) return 0;
        p->in[k] = (const int64_t *)p->copies[k]->data;
        p->counts[k] = given->numel;
    }
    p->rows = p->counts[LEFT_ROWS] - 1;
    p->right_rows = p->counts[RIGHT_ROWS] - 1;
    return check_matrix(p, LEFT_ROWS, p->rows, p->right_rows, "left") &&
           check_matrix(p, RIGHT_ROWS, p->right_rows, p->columns, "right");
}

/* ---- sets of columns ---------------------------------------------------------------------------------------- */

enum { LEVELS = 7 };

/* A set of columns, which come out of it in order: bits for them, bits for the words of these that are not zero, and so on. */
typedef struct {
    uint64_t *words[LEVELS];
    int top;
} column_set;

/* How many words the set of a matrix has. */
static int64_t set_words(int64_t columns) {
    int64_t words = 0;
    do {
        columns = columns > 64 ? (columns + 63) / 64 : 1;
        words += columns;
    } while (columns > 1);
    return words;
}

static column_set empty_set(uint64_t *memory, int64_t columns) {
    column_set set = {.top = -1};
    memset(memory, 0, sizeof *memory * (size_t)set_words(columns));
    do {
        columns = columns > 64 ? (columns + 63) / 64 : 1;
        set.words[++set.top] = memory;
        memory += columns;
    } while (columns > 1);
    return set;
}

static inline void insert_column(const column_set *set, int64_t column) {
    for (int level = 0; level <= set->top; level++) {
        uint64_t *word = &set->words[level][column / 64], before = *word;
        *word = before | (uint64_t)1 << column % 64;
        if (before) return;
        column /= 64;
    }
}

/* Takes the columns below one word out of the set; returns the end of the list that they are added to. */
static int64_t *take_columns(const column_set *set, int level, int64_t word, int64_t *list) {
    uint64_t bits = set->words[level][word];
    set->words[level][word] = 0;
    for (; bits; bits &= bits - 1) {
        const int64_t next = word * 64 + __builtin_ctzll(bits);
        if (level) list = take_columns(set, level - 1, next, list);
        else *list++ = next;
    }
    return list;
}

/* ---- the rows of a block ------------------------------------------------------------------------------------ */

/* The first row of a block. */
static int64_t first_row(const product *p, int64_t block) {
    const int64_t *starts = p->in[LEFT_ROWS];
    if (block == 0 || block == p->blocks) return block ? p->rows : 0;
    int64_t element = p->counts[LEFT_COLUMNS] / p->blocks * block, low = 0, high = p->rows;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (starts[middle] < element) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void count_rows(void *context, int64_t begin, int64_t end) {
    const product *p = context;
    const int64_t *left = p->in[LEFT_ROWS], *right = p->in[RIGHT_ROWS];
    for (int64_t block = begin; block < end; block++) {
        int64_t *met = p->met + block * p->columns; /* one more than the row in which each column was met last */
        memset(met, 0, sizeof *met * (size_t)p->columns);
        for (int64_t i = first_row(p, block), stop = first_row(p, block + 1); i < stop; i++) {
            int64_t pairs = 0, elements = 0;
            for (int64_t a = left[i]; a < left[i + 1]; a++) {
                const int64_t k = p->in[LEFT_COLUMNS][a];
                pairs += right[k + 1] - right[k];
                for (int64_t b = right[k]; b < right[k + 1]; b++) {
                    const int64_t j = p->in[RIGHT_COLUMNS][b];
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
static void write_row(const product *p, int64_t i, int64_t *met, const column_set *set) {
    const int64_t *left = p->in[LEFT_ROWS], *right = p->in[RIGHT_ROWS];
    for (int64_t a = left[i]; a < left[i + 1]; a++)
        for (int64_t b = right[p->in[LEFT_COLUMNS][a]], end = right[p->in[LEFT_COLUMNS][a] + 1]; b < end; b++) {
            const int64_t j = p->in[RIGHT_COLUMNS][b];
            if (!met[j]++) insert_column(set, j);
        }
    const int64_t first = p->elements[i];
    int64_t *columns = p->out[COLUMNS] + first, *end = take_columns(set, set->top, 0, columns), place = p->pairs[i];
    for (int64_t e = 0; e < end - columns; e++) {
        const int64_t pairs = met[columns[e]];
        p->out[STARTS][first + e] = met[columns[e]] = place;
        place += pairs;
    }
    for (int64_t a = left[i]; a < left[i + 1]; a++)
        for (int64_t b = right[p->in[LEFT_COLUMNS][a]], end = right[p->in[LEFT_COLUMNS][a] + 1]; b < end; b++) {
            const int64_t pair = met[p->in[RIGHT_COLUMNS][b]]++;
            p->out[LEFT][pair] = a;
            p->out[RIGHT][pair] = b;
        }
    for (; columns < end; columns++) met[*columns] = 0;
}

static void write_rows(void *context, int64_t begin, int64_t end) {
    const product *p = context;
    for (int64_t block = begin; block < end; block++) {
        int64_t *met = p->met + block * p->columns;
        memset(met, 0, sizeof *met * (size_t)p->columns);
        const column_set set = empty_set(p->words + block * set_words(p->columns), p->columns);
        for (int64_t i = first_row(p, block), stop = first_row(p, block + 1); i < stop; i++) write_row(p, i, met, &set);
    }
}

/* ---- the call ----------------------------------------------------------------------------------------------- */

static int64_t summed(int64_t *counts, int64_t n) {
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t count = counts[i];
        counts[i] = sum;
        sum += count;
    }
    return counts[n] = sum;
}

static int write_pattern(product *p, ow_call *c, double work) {
    const int64_t pairs = summed(p->pairs, p->rows), elements = summed(p->elements, p->rows);
    const int64_t sizes[RESULTS] = {p->rows + 1, elements, elements + 1, pairs, pairs};
    for (int k = 0; k < RESULTS; k++) {
        if (!(c->results[k] = ow_tensor_new(OW_INT64, 1, &sizes[k], NULL))) return 0;
        p->out[k] = (int64_t *)c->results[k]->data;
    }
    memcpy(p->out[ROWS], p->elements, sizeof(int64_t) * (size_t)(p->rows + 1));
    p->out[STARTS][elements] = pairs;
    return ow_long_for(p->blocks, 1, work, write_rows, p);
}

static int find_pattern(product *p, ow_call *c) {
    const int64_t places = p->blocks * p->columns, words = p->blocks * set_words(p->columns);
    const int64_t nbytes = (places + words + 2 * (p->rows + 1)) * (int64_t)sizeof(int64_t);
    int64_t *memory = ow_alloc(nbytes);
    if (!memory) return 0;
    p->met = memory;
    p->words = (uint64_t *)p->met + places;
    p->pairs = (int64_t *)p->words + words;
    p->elements = p->pairs + p->rows + 1;
    const double mean = (double)p->counts[RIGHT_COLUMNS] / (double)(p->right_rows ? p->right_rows : 1);
    const double work = PAIR_WORK * (double)p->counts[LEFT_COLUMNS] * mean + (double)places;
    const int done = ow_long_for(p->blocks, 1, work, count_rows, p) && write_pattern(p, c, 2 * work);
    ow_dealloc(memory, nbytes);
    return done;
}

/* ints: columns. The shapes of its results follow from elements: nothing is left for a plan. */
int ow_core_csr_product_pattern(ow_call *c) {
    product p = {0};
    int done = 0;
    if (take_indices(&p, c)) {
        const int64_t most = 4 * ow_num_threads();
        p.blocks = p.counts[LEFT_COLUMNS] < most ? 1 : most;
        done = find_pattern(&p, c);
    }
    for (int k = 0; k < INDICES; k++) ow_tensor_free(p.copies[k]);
    for (int k = 0; k < RESULTS && !done; k++) {
        ow_tensor_free(c->results[k]);
        c->results[k] = NULL;
    }
    return done ? RESULTS : 0;
}

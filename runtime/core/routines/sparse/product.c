#include "product.h"

/* ---- what is given ------------------------------------------------------------------------------------------ */

static int check_matrix(const ow_sparse_product *p, const char *name, int matrix, int64_t rows, int64_t columns,
                        const char *which) {
    const int64_t *starts = p->in[matrix], *indices = p->in[matrix + 1], count = p->counts[matrix + 1];
    int ordered = starts[0] == 0 && starts[rows] == count;
    for (int64_t i = 0; i < rows; i++) ordered &= starts[i] <= starts[i + 1];
    if (!ordered) {
        ow_fail(OW_RUNTIME_ERROR, "%s(): the starts of the %s matrix's rows must ascend from 0 to %lld, the number of its elements",
                name, which, (long long)count);
        return 0;
    }
    for (int64_t k = 0; k < count; k++)
        if ((uint64_t)indices[k] >= (uint64_t)columns) {
            ow_fail(OW_INDEX_ERROR, "%s(): column %lld of the %s matrix is outside of its %lld columns", name, (long long)indices[k],
                    which, (long long)columns);
            return 0;
        }
    return 1;
}

int ow_sparse_product_take(ow_sparse_product *p, const ow_call *c, const int places[INDICES]) {
    const char *name = c->op->name;
    p->columns = c->ints[0];
    if (p->columns < 0 || p->columns > (int64_t)1 << 40) {
        ow_fail(OW_RUNTIME_ERROR, "%s(): a matrix cannot have %lld columns", name, (long long)p->columns);
        return 0;
    }
    for (int k = 0; k < INDICES; k++) {
        ow_tensor *given = c->inputs[places[k]];
        const int has_start = k % 2 == 0;
        if (given->dtype != OW_INT64 || given->ndim != 1 || given->numel < has_start) {
            ow_fail(OW_RUNTIME_ERROR, "%s(): expected the starts of rows and the columns of each matrix as vectors of int64",
                    name);
            return 0;
        }
        if (!ow_is_readable(given)) {
            ow_fail(OW_NOT_IMPLEMENTED, "%s(): the shapes of its results depend on the values of tensors", name);
            return 0;
        }
        if (!(p->copies[k] = ow_clone(given, OW_INT64, 1))) return 0;
        p->in[k] = (const int64_t *)p->copies[k]->data;
        p->counts[k] = given->numel;
    }
    p->rows = p->counts[LEFT_ROWS] - 1;
    p->right_rows = p->counts[RIGHT_ROWS] - 1;
    const int64_t most = 4 * ow_num_threads();
    p->blocks = p->counts[LEFT_COLUMNS] < most ? 1 : most;
    p->pairs = (double)p->counts[LEFT_COLUMNS] * (double)p->counts[RIGHT_COLUMNS] / (double)(p->right_rows ? p->right_rows : 1);
    return check_matrix(p, name, LEFT_ROWS, p->rows, p->right_rows, "left") &&
           check_matrix(p, name, RIGHT_ROWS, p->right_rows, p->columns, "right");
}

void ow_sparse_product_free(ow_sparse_product *p) {
    for (int k = 0; k < INDICES; k++) ow_tensor_free(p->copies[k]);
}

/* ---- rows --------------------------------------------------------------------------------------------------- */

int64_t ow_sparse_product_row(const ow_sparse_product *p, int64_t block) {
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

int64_t ow_sums_before(int64_t *counts, int64_t n) {
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t count = counts[i];
        counts[i] = sum;
        sum += count;
    }
    return counts[n] = sum;
}

/* ---- sets of columns ---------------------------------------------------------------------------------------- */

int64_t ow_column_words(int64_t columns) {
    int64_t words = 0;
    do {
        columns = columns > 64 ? (columns + 63) / 64 : 1;
        words += columns;
    } while (columns > 1);
    return words;
}

ow_column_set ow_column_set_of(uint64_t *memory, int64_t columns) {
    ow_column_set set = {.top = -1};
    memset(memory, 0, sizeof *memory * (size_t)ow_column_words(columns));
    do {
        columns = columns > 64 ? (columns + 63) / 64 : 1;
        set.words[++set.top] = memory;
        memory += columns;
    } while (columns > 1);
    return set;
}

/* Takes the columns below one word out of the set; returns the end of the list that they are added to. */
static int64_t *take_columns(const ow_column_set *set, int level, int64_t word, int64_t *list) {
    uint64_t bits = set->words[level][word];
    set->words[level][word] = 0;
    for (; bits; bits &= bits - 1) {
        const int64_t next = word * 64 + __builtin_ctzll(bits);
        if (level) list = take_columns(set, level - 1, next, list);
        else *list++ = next;
    }
    return list;
}

int64_t *ow_take_columns(const ow_column_set *set, int64_t *list) { return take_columns(set, set->top, 0, list); }

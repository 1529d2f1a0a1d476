/* The product of two compressed matrices, row by row: what is given, blocks of rows, and sets of columns. */
#ifndef OPWEAVE_SPARSE_PRODUCT_H
#define OPWEAVE_SPARSE_PRODUCT_H

#include "families/core_call.h"

enum { LEFT_ROWS, LEFT_COLUMNS, RIGHT_ROWS, RIGHT_COLUMNS, INDICES };

typedef struct {
    ow_tensor *copies[INDICES]; /* so that nobody writes to what has been checked */
    const int64_t *in[INDICES];
    int64_t counts[INDICES];
    int64_t rows, right_rows, columns;
    int64_t blocks; /* of rows, each with about as many elements of the left matrix */
    double pairs;   /* about how many products there are */
} ow_sparse_product;

/* Takes the starts of rows and the columns of both matrices, which the call has in these places of its inputs, and the number of
 * columns. 0 with the error set; what has been taken is to be freed either way. */
int ow_sparse_product_take(ow_sparse_product *p, const ow_call *c, const int places[INDICES]);
void ow_sparse_product_free(ow_sparse_product *p);
/* The first row of a block. */
int64_t ow_sparse_product_row(const ow_sparse_product *p, int64_t block);
/* Counts become the sums of those before; the last one, behind them, is returned. */
int64_t ow_sums_before(int64_t *counts, int64_t n);

/* ---- sets of columns ---------------------------------------------------------------------------------------- */

enum { LEVELS = 7 };

/* A set of columns, which come out of it in order: bits for them, bits for the words of these that are not zero, and so on. */
typedef struct {
    uint64_t *words[LEVELS];
    int top;
} ow_column_set;

/* How many words the set of a matrix has. */
int64_t ow_column_words(int64_t columns);
ow_column_set ow_column_set_of(uint64_t *memory, int64_t columns);
/* Takes all columns out of the set; returns the end of the list that they are added to. */
int64_t *ow_take_columns(const ow_column_set *set, int64_t *list);

static inline void ow_insert_column(const ow_column_set *set, int64_t column) {
    for (int level = 0; level <= set->top; level++) {
        uint64_t *word = &set->words[level][column / 64], before = *word;
        *word = before | (uint64_t)1 << column % 64;
        if (before) return;
        column /= 64;
    }
}

#endif

/* What kernels of rows and their driver (families/rows.c) share.
 *
 * A row is run through several times while it lies in the cache: each pass reduces its elements to some values, and may use
 * those of the passes before it (`lets`); then come elements of results, and results of the row. Kernels work on one row, or on
 * OW_ROW_WIDTH of them side by side: operand k has element i of row j as the j-th at x[k] + i * step[k], and of one row all
 * elements follow each other. Operands of which there is one element for each row are that element, or the OW_ROW_WIDTH; so are
 * those that `map` is given piece by piece. */
#ifndef OPWEAVE_ROWS_KERNEL_H
#define OPWEAVE_ROWS_KERNEL_H

#include "opweave.h"

#define OW_ROW_PASSES 16 /* and values that they reduce to */
#define OW_ROW_LETS 64   /* these, and values that follow from them */
#define OW_ROW_WIDTH 16 /* rows side by side */
#define OW_ROW_PART 2048 /* elements of a row that a kernel is given at a time, at most */

typedef struct ow_row_state {
    const char *lets; /* value k of row j is the element k * width + j */
    const ow_scalar *params;
    int64_t count; /* elements of the whole row */
} ow_row_state;

/* `kept`: where the pass that `keeps` leaves its elements, which `map` then takes in place of the operands'. */
typedef void ow_row_leaf(char *acc, char *const *x, const int64_t *step, char *kept, int64_t kept_step, int64_t n,
                         const ow_row_state *row);
typedef void ow_row_merge(char *acc, const char *other);
/* out: elements of results first, then sums over all rows, to which the elements of these are added. */
typedef void ow_row_map(char *const *out, const int64_t *out_step, char *const *x, const int64_t *step, int64_t n,
                        const ow_row_state *row);
/* Values that follow from those of the passes so far go to their places among `lets`. */
typedef void ow_row_values(char *lets, char *const *x, const ow_row_state *row);
/* Result k of row j goes to the element k * width + j. */
typedef void ow_row_finish(char *out, char *const *x, const ow_row_state *row);

typedef struct ow_row_functions {
    ow_row_values *values[OW_ROW_PASSES + 1]; /* before each pass, and after the last one; NULL: there are none */
    ow_row_leaf *leaf[OW_ROW_PASSES];
    ow_row_merge *merge[OW_ROW_PASSES];
    ow_row_map *map;       /* NULL: there are no such results */
    ow_row_finish *finish; /* the same */
} ow_row_functions;

typedef struct ow_row_kernels {
    int32_t passes;
    int32_t keeps; /* -1: none */
    uint32_t reads[OW_ROW_PASSES + 1]; /* bit set of inputs of each pass, and behind them of `map` */
    uint8_t first[OW_ROW_PASSES], number[OW_ROW_PASSES]; /* of the values that a pass gives */
    ow_row_functions one, several;
} ow_row_kernels;

/* A result has an element for each one, one for each row, or the sum over all rows for each place in a row. */
enum { OW_ROW_ELEMENT, OW_ROW_RESULT, OW_ROW_SUM };

typedef struct ow_row_table {
    uint8_t kinds[OW_MAX_OUTPUTS];
    uint32_t per_row;   /* bit set of the inputs of which each row has one element */
    uint32_t per_place; /* of those whose elements are the same in all rows */
    uint32_t per_piece; /* and of those that `map` alone reads, one element for each piece of a row along which they stay the same */
    ow_row_kernels by[OW_NDTYPES];
} ow_row_table;

#endif

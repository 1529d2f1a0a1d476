/* The rows of several tensors, broadcast together: their geometry, and parts of them as kernels read them. */
#ifndef OPWEAVE_ROW_LINES_H
#define OPWEAVE_ROW_LINES_H

#include "driver.h"
#include "iterate.h"
#include "kernel/rows.h"

/* An operand: an input, or a result with an element for each one. Strides are in bytes. */
typedef struct ow_row_operand {
    char *data;
    int64_t item;  /* in the kernel */
    ow_cast move;  /* from memory to the kernel, or of a result the way back */
    int converts;  /* do the dtypes differ? */
    int is_result;
    int is_linear; /* is a row one dimension in memory? */
    int is_constant; /* is it one element? */
    int64_t along[OW_MAX_DIMS]; /* a row, fastest dimension first */
    int64_t apart[OW_MAX_DIMS]; /* between rows */
} ow_row_operand;

typedef struct ow_row_lines {
    int noperands;
    ow_row_operand operands[OW_MAX_OPERANDS];
    uint32_t per_row;   /* bit set of operands that kernels take one element of */
    uint32_t per_piece; /* those of them that have another one for each piece of a row */
    int64_t piece;      /* its elements */
    int of_piece;       /* and how many of the dimensions `along` they are */
    int nalong, napart;
    int64_t along[OW_MAX_DIMS], apart[OW_MAX_DIMS]; /* sizes */
    int64_t length, number;
    int64_t cut; /* parts end at multiples of this place as well; 0: it makes no difference */
} ow_row_lines;

/* The dimensions: those of the set `along` are of rows, in the order of indices. Operands are added first. */
void ow_row_operand_add(ow_row_lines *l, const ow_tensor *t, int dtype, int is_result);
void ow_row_lines_arrange(ow_row_lines *l, ow_tensor *const *tensors, int ndim, const int64_t *shape, uint64_t along);
/* Would kernels of several rows be faster? */
int ow_row_lines_suit(const ow_row_lines *l);
/* Do rows lie in memory as kernels of one row take them, each in one part? */
int ow_row_lines_lie_as_taken(const ow_row_lines *l);
/* Where the operands' rows begin, and how many rows there are from `line` on of which each lies `apart[0]` behind the last. */
int64_t ow_row_lines_at(const ow_row_lines *l, int64_t line, char **rows);

/* Where operands have their element for a piece of a row that begins at `rows`. */
void ow_row_lines_piece(const ow_row_lines *l, int64_t index, char *const *rows, char **x);

/* Where a part of some rows lies: in memory, or in buffers that it has been copied to, or will be from. */
typedef struct ow_row_view {
    const ow_row_lines *l;
    int64_t width, count;  /* rows that kernels take, and how many of these there are */
    char *memory;          /* of the buffers */
    int64_t nbytes;
    uint32_t whole;        /* bit set of results whose buffers hold the whole row */
    char *buffer[OW_MAX_OPERANDS];
    char *base[OW_MAX_OPERANDS][OW_ROW_WIDTH]; /* where the rows begin */
    int64_t between[OW_MAX_OPERANDS];          /* bytes between them; -1: it varies */
    const char *held[OW_MAX_OPERANDS];         /* what the buffer has: the row, and which part of it */
    int64_t held_at[OW_MAX_OPERANDS], held_n[OW_MAX_OPERANDS];
    int64_t at, n;            /* the part that x points to; n is -1 where there is none */
    uint32_t found;           /* bit set of operands that x has */
    char *x[OW_MAX_OPERANDS]; /* as kernels take them */
    int64_t step[OW_MAX_OPERANDS];
} ow_row_view;

/* Buffers for rows side by side (`width`); those of results whose bit is set in `whole` are for the whole row. 0 where there is
 * no memory. */
int ow_row_view_begin(ow_row_view *v, const ow_row_lines *l, int64_t width, uint32_t whole);
void ow_row_view_end(ow_row_view *v);
/* The rows from `line` on. */
void ow_row_view_rows(ow_row_view *v, int64_t line, int64_t count);
/* n elements from `at` on of the inputs in the set `reads`, which x then points to, and room for those of results. */
void ow_row_view_part(ow_row_view *v, int64_t at, int64_t n, uint32_t reads);
/* Copies the results from where they have been computed. */
void ow_row_view_store(ow_row_view *v, int64_t at, int64_t n);
/* May kernels write operand k where it lies, all of a row? */
int ow_row_view_is_direct(const ow_row_view *v, int k);
/* The elements that operands have for a piece of the rows, to which those of x point then. */
void ow_row_view_piece(ow_row_view *v, int64_t index, char **x);
/* How many elements a part from `at` on has, at most `n`. */
static inline int64_t ow_row_part(const ow_row_lines *l, int64_t at, int64_t n) {
    int64_t most = n < OW_ROW_PART ? n : OW_ROW_PART;
    int64_t left = l->cut ? l->cut - at % l->cut : most;
    return left < most ? left : most;
}

#endif

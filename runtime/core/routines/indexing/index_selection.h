/* Where `x[i, j]` leads: the geometry of an index with tensors, for reading (index_get.c) and writing (index_put.c). */
#ifndef OPWEAVE_INDEX_SELECTION_H
#define OPWEAVE_INDEX_SELECTION_H

#include "index_get.h"

typedef struct {
    ow_tensor *self;
    int count;                       /* of index tensors */
    ow_tensor *index[OW_MAX_DIMS];   /* integers */
    int first[OW_MAX_DIMS];          /* the dimension of self that each indexes, or the first of several */
    int covered[OW_MAX_DIMS];        /* how many it indexes: of a mask, all at once where they lie like one */
    ow_tensor *owned[OW_MAX_DIMS];   /* made here, from masks */
    int nowned;
    int ndim, at, lead; /* of the result; where in it, and how many, are the dimensions of the indices */
    int64_t shape[OW_MAX_DIMS];
    int source[OW_MAX_DIMS]; /* the dimension of self that each of the result is, -1: of the indices */
} ow_selection;

int ow_is_mask(const ow_tensor *t); /* bool, or uint8, which stood for it once */

/* Reads the indices; ow_selection_end must follow. 1, or 0 with the error set. */
int ow_selection_begin(ow_selection *s, ow_tensor *self, ow_tensor *const *indices, int n);
void ow_selection_end(ow_selection *s);
/* Everything of the space but the other operand. */
void ow_selection_space(const ow_selection *s, ow_index_space *space);
/* Strides of operand t, whose dimensions end with dimension `at + lead` of the result, which has `ndim`; in elements. */
void ow_place_strides(const ow_tensor *t, int at, int lead, int ndim, int64_t *strides);

/* Dimensions without elements cannot be indexed, whatever the index. 1, or 0 with the error set. */
int ow_selection_check_sizes(const ow_selection *s);
/* The result of reading, new; its memory order is the one in which self and then the indices can be read fastest. NULL with the
 * error set. (index_get.c) */
ow_tensor *ow_selection_result(const ow_selection *s);
/* Reads what is selected into a tensor of that shape; 1, or 0 with the error set. (index_get.c) */
int ow_selection_get(const ow_selection *s, const ow_tensor *result);
/* Reads every index; 1, or 0 with the error set when one is out of bounds. */
int ow_selection_check_indices(const ow_index_space *space);

/* ---- writing (index_put.c) ----------------------------------------------------------------------------- */

/* Values on their way to what is selected. */
typedef struct {
    ow_tensor *self, *values;
    int accumulates, converts;
    ow_scalar number;     /* what is written, where it is a number that has been checked */
    int has_number;
    ow_tensor *mask;      /* one value is for all where this mask of the leading dimensions is true; NULL: as it is selected */
    int is_known;         /* 0: nobody knows how many elements are selected */
    ow_selection selection;
} ow_putting;

/* Checks everything but the elements of indices. 1, and ow_put_end must follow; or 0 with the error set. */
int ow_put_begin(ow_putting *p, ow_tensor *self, ow_tensor *const *indices, int n, ow_tensor *values, int accumulates);
int ow_put_run(ow_putting *p); /* 1, or 0 with the error set */
void ow_put_end(ow_putting *p);

#endif

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
/* Reads every index; 1, or 0 with the error set when one is out of bounds. */
int ow_selection_check_indices(const ow_index_space *space);

#endif

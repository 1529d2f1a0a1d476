/* Index spaces: the common form of everything that reads or writes elements at computed places.
 *
 * A space is a grid of positions. At each, an offset into the indexed tensor is the sum of a fixed stride for every
 * dimension and of looked-up indices; a block of consecutive elements lies there, and moves to or from the other
 * operand, which has strides of its own over the same grid. `x[i, j]`, index_select, take, gather and scatter differ
 * only in how they fill in this form. */
#ifndef OPWEAVE_INDEX_SPACE_H
#define OPWEAVE_INDEX_SPACE_H

#include "families/driver.h"

#define OW_INDEX_CHUNK 512 /* offsets computed at a time; they stay in the level-1 cache */

/* One tensor of indices into one dimension of the indexed tensor. */
typedef struct ow_lookup {
    const ow_tensor *index;
    const char *data; /* its element at the first position */
    int64_t size;   /* of the dimension: indices lie in [0, size) */
    int64_t scale;  /* bytes between its neighbours in the indexed tensor */
    int dim;        /* its number, for messages */
    int wraps;      /* 1 if negative indices count from the end */
    int64_t stride[OW_MAX_DIMS]; /* of the index tensor over the space, in bytes */
} ow_lookup;

typedef struct ow_index_space {
    int ndim, nlookups;
    int64_t numel; /* positions */
    int64_t shape[OW_MAX_DIMS];
    int64_t base_stride[OW_MAX_DIMS];  /* of the indexed tensor, in bytes; 0 where indices are looked up */
    int64_t other_stride[OW_MAX_DIMS]; /* of the other operand */
    char *base, *other;
    int64_t itemsize, run; /* bytes of an element; elements of a block, consecutive in both operands */
    int repeats; /* put: 1 if the other operand is one element, which fills blocks */
    ow_lookup lookups[OW_MAX_DIMS];
} ow_index_space;

/* What happens at n positions: base + offsets[j] is a block of the indexed tensor, other + j * stride its partner. */
typedef void (*ow_mover)(char *base, const int64_t *offsets, char *other, int64_t stride, int64_t n, int64_t nbytes);

/* The same where block j lies at base + indices[j] * scale + j * step: one lookup, as it stands in memory. */
typedef void (*ow_direct_mover)(char *base, const int64_t *indices, int64_t scale, int64_t step, char *other,
                                int64_t stride, int64_t n);

typedef struct ow_movers {
    ow_mover by_offset;
    ow_direct_mover by_index; /* NULL: there is none */
} ow_movers;

/* Movers of whole blocks, by the bytes in one: to the other operand (get) or from it (put). */
ow_movers ow_movers_get(int64_t nbytes);
ow_movers ow_movers_put(int64_t nbytes);
/* Moves one element to every element of a block. */
ow_movers ow_movers_fill(int64_t itemsize);

/* Turns the trailing dimensions that are contiguous in both operands, without lookups, into the block; drops and merges
 * the others. */
void ow_space_arrange(ow_index_space *space);

/* 1 if lowest <= index < size for each. Otherwise one of the two differences is negative: without comparisons, this is
 * fast on every machine. */
static inline int ow_all_inside(const int64_t *indices, int64_t n, int64_t lowest, int64_t size) {
    uint64_t bad = 0;
    for (int64_t j = 0; j < n; j++)
        bad |= ((uint64_t)indices[j] - (uint64_t)lowest) | ((uint64_t)size - 1 - (uint64_t)indices[j]);
    return !(bad >> 63);
}

/* The lookup with an index outside its dimension, and that index; NULL: all are inside. With the error set, which no other
 * replaces, where it was interrupted. (index_check.c) */
const ow_lookup *ow_space_find_bad(const ow_index_space *space, int64_t *value);

/* Moves blocks out of the indexed tensor, in parallel. 0 when an index is outside. Unless all are checked first, which an
 * `out` needs, this is found on the way, and what was written then has no meaning. */
int ow_space_get(const ow_index_space *space, int check_first);

/* Writes to positions [begin, end) of one dimension, each of which costs so much, by several threads; 0 where that is not
 * worth it, or not one lookup as it stands in memory. (index_share.c) */
int ow_space_share(const ow_index_space *space, ow_mover mover, int64_t begin, int64_t end, double cost);

/* Writes the elements of the other operand to the indexed tensor, whose indices have been checked: they replace what is
 * there, unless a mover combines them. Where several positions write to one place they do so in the order of the
 * positions, whatever the number of threads. Arranges the space. 1, or 0 with the error set where an index changed since
 * it was checked or a signal's handler has raised, and not all was written. */
int ow_space_write(ow_index_space *space, ow_mover combine);
/* The error of that; 0. */
int ow_fail_overwritten(void);

#endif

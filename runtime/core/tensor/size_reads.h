/* What Python is told of the sizes of tensors, for a thread that notes it: a program that was recorded with other sizes does
 * the same as long as nothing was decided by them. */
#ifndef OPWEAVE_SIZE_READS_H
#define OPWEAVE_SIZE_READS_H

#include "tensor.h"

enum {
    OW_ALL_SIZES = -1, /* in place of a dimension: all sizes */
    OW_LAYOUT = -2,    /* the strides as well */
    OW_MAX_SIZE_READS = 256,
};

typedef struct {
    int count;
    int is_full; /* there were more than these */
    struct {
        const ow_tensor *tensor; /* NULL: none that is known */
        int dim;
    } reads[OW_MAX_SIZE_READS];
} ow_size_reads;

extern __thread ow_size_reads *ow_noted_sizes __attribute__((tls_model("initial-exec"))); /* NULL: it notes nothing */

void ow_add_size_read(const ow_tensor *t, int dim);

/* Notes, if the thread does so, that Python is told of a dimension. */
static inline void ow_note_size(const ow_tensor *t, int dim) {
    if (ow_noted_sizes) ow_add_size_read(t, dim);
}

#endif

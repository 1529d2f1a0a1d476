/* The order in which threads pack two matrices in panels of lines, and multiply them tile by tile. */
#ifndef OPWEAVE_PANEL_TILES_H
#define OPWEAVE_PANEL_TILES_H

#include "tensor/tensor.h"

enum {
    OW_PANELS_TOGETHER = 16, /* of the first matrix, that a thread multiplies by one of the second */
    OW_MOST_SUMS = 1024      /* of a tile */
};

/* Packs panels of the first matrix, or of the second one. */
typedef void ow_pack_panels(const void *product, int is_second, int64_t begin, int64_t end);
/* Multiplies a panel of the first matrix, `row`, by one of the second one. */
typedef void ow_multiply_panels(const void *product, int64_t row, int64_t column);

/* The number of groups of panels of the first matrix. */
static inline int64_t ow_panel_groups(int64_t panels) { return (panels + OW_PANELS_TOGETHER - 1) / OW_PANELS_TOGETHER; }

/* Packs some of the panels of both matrices, the first of which has `first` of them. */
static inline void ow_pack_both(const void *product, int64_t first, int64_t begin, int64_t end, ow_pack_panels *pack) {
    pack(product, 0, ow_min(begin, first), ow_min(end, first));
    pack(product, 1, begin > first ? begin - first : 0, end > first ? end - first : 0);
}

/* Multiplies some of the groups of `first` panels by a panel of the second matrix each, the groups of one following each other. */
static inline void ow_multiply_groups(const void *product, int64_t first, int64_t begin, int64_t end,
                                      ow_multiply_panels *multiply) {
    const int64_t groups = ow_panel_groups(first);
    for (int64_t k = begin; k < end; k++) {
        const int64_t group = k % groups, last = ow_min(first, (group + 1) * OW_PANELS_TOGETHER);
        for (int64_t row = group * OW_PANELS_TOGETHER; row < last; row++) multiply(product, row, k / groups);
    }
}

#endif

#include "size_reads.h"

__thread ow_size_reads *ow_noted_sizes;

void ow_add_size_read(const ow_tensor *t, int dim) {
    ow_size_reads *all = ow_noted_sizes;
    for (int k = 0; k < all->count; k++)
        if (all->reads[k].tensor == t && all->reads[k].dim == dim) return;
    if (all->count == OW_MAX_SIZE_READS) {
        all->is_full = 1;
        return;
    }
    all->reads[all->count].tensor = t;
    all->reads[all->count++].dim = dim;
}

/* The memory order of images (4 dimensions) and volumes (5) whose channels, dimension 1, lie next to each other. */
#include "tensor.h"

void ow_channels_last_strides(int ndim, const int64_t *sizes, int64_t *strides) {
    int64_t step = sizes[1];
    strides[1] = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        if (d == 1) continue;
        strides[d] = step;
        step *= sizes[d];
    }
}

ow_order ow_suggested_order(const ow_tensor *t) {
    int64_t least = 0;
    if ((t->ndim != 4 && t->ndim != 5) || !t->strides[1]) return OW_C_ORDER;
    for (int k = 0; k < t->ndim; k++) {
        int d = k == 0 ? 1 : k == t->ndim - 1 ? 0 : t->ndim - k; /* channels, the last dimensions, images */
        if (!t->sizes[d] || t->strides[d] < least) return OW_C_ORDER;
        if (d == 0 && least == t->strides[1]) return OW_C_ORDER; /* one channel and one pixel: could be either order */
        least = t->strides[d] * (t->sizes[d] > 1 ? t->sizes[d] : 1);
    }
    return t->ndim == 4 ? OW_CHANNELS_LAST : OW_CHANNELS_LAST_3D;
}

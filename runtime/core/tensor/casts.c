/* Chooses the generated cast loop for the level in force. */
#include "tensor.h"

extern const ow_cast ow_casts_v1[OW_NSTORED][OW_NSTORED];
#if OW_NLEVELS == 3
extern const ow_cast ow_casts_v3[OW_NSTORED][OW_NSTORED], ow_casts_v4[OW_NSTORED][OW_NSTORED];
#endif

ow_cast ow_cast_loop(int dst_dtype, int src_dtype) {
#if OW_NLEVELS == 3
    if (ow_level == 2) return ow_casts_v4[dst_dtype][src_dtype];
    if (ow_level == 1) return ow_casts_v3[dst_dtype][src_dtype];
#endif
    return ow_casts_v1[dst_dtype][src_dtype];
}

/* All loops of one dtype, for fft_kernels.c. */
#include "ow_dft.h" /* generated */

#include "fft_block.h"
#include "fft_signal.h"

static int64_t NAME(bytes_of_block)(int64_t length) { return 4 * length * (int64_t)sizeof(vector); }

const ow_fft_kernels SYMBOL(NAME(kernels)) = {
    .lanes = LANES,
    .largest_power = LARGEST_POWER,
    .radices = OW_DFT_RADICES,
    .bytes_of_block = NAME(bytes_of_block),
    .block = NAME(block),
    .pitch = NAME(pitch),
    .columns = NAME(columns),
    .rows = NAME(rows),
    .copy = NAME(copy),
    .multiply = NAME(multiply),
    .mirror = NAME(mirror),
    .to_halves = NAME(to_halves),
    .from_halves = NAME(from_halves),
};

#undef LOAD
#undef STORE
#undef WHOLE_FROM_PAIRS
#undef PAIRS_FROM_WHOLE

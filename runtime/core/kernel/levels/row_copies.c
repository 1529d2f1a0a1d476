/* Rows that are not contiguous, for the kernels of a level. */
#include "row_copies.h"

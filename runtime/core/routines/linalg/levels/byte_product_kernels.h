/* Products of matrices of bytes, compiled once for each instruction-set level. */
#ifndef OPWEAVE_BYTE_PRODUCT_KERNELS_H
#define OPWEAVE_BYTE_PRODUCT_KERNELS_H

#include "unit_kernel.h"

/* The kernel for signed or unsigned bytes of the first and of the second matrix. */
typedef const ow_unit_kernel *ow_byte_product(int first_is_signed, int second_is_signed);

#endif

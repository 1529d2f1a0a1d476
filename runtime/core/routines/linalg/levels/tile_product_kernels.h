/* Products by the processor's matrix tiles (AMX). */
#ifndef OPWEAVE_TILE_PRODUCT_KERNELS_H
#define OPWEAVE_TILE_PRODUCT_KERNELS_H

#include "unit_kernel.h"

typedef struct ow_tile_product {
    ow_unit_kernel halves;
    ow_unit_kernel bytes[2][2]; /* whether the first matrix is signed, whether the second one is */
} ow_tile_product;

/* The kernels, or NULL where the processor has no tiles or the system does not let the process use them. */
const ow_tile_product *ow_tile_product_v1(void);
const ow_tile_product *ow_tile_product_v3(void);
const ow_tile_product *ow_tile_product_v4(void);

#endif

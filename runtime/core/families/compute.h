/* The driver of expressions over indices. */
#ifndef OPWEAVE_FAMILY_COMPUTE_H
#define OPWEAVE_FAMILY_COMPUTE_H

#include "families/invoke.h"

/* Fills in call->results; how many there are, or 0 with the error set. */
int ow_compute(ow_call *call);

#endif

/* Reductions and scans with a state of several values. */
#ifndef OPWEAVE_FOLD_H
#define OPWEAVE_FOLD_H

#include "invoke.h"

/* The results of the call: how many, or 0 with the error set. */
int ow_fold(ow_call *call);

#endif

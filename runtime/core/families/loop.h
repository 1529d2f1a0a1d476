/* Operators whose loop is C of their entry. */
#ifndef OPWEAVE_LOOP_H
#define OPWEAVE_LOOP_H

#include "invoke.h"

/* The results of the call: how many, or 0 with the error set. */
int ow_loop_call(ow_call *call);

#endif

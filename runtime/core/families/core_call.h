/* Functions of the core behind operators of their own: each is given the whole call. */
#ifndef OPWEAVE_CORE_CALL_H
#define OPWEAVE_CORE_CALL_H

#include "families/invoke.h"
#include "ow_routines.h" /* generated */

/* Fills in call->results, or writes to call->out in place; how many results there are, or 0 with the error set. */
typedef int ow_core_routine(ow_call *call);
#define OW_DECLARE_CORE(name) ow_core_routine ow_core_##name;
OW_CORE_ROUTINES(OW_DECLARE_CORE)
#undef OW_DECLARE_CORE

/* Calls the one that the operator names. */
int ow_core_call(ow_call *call);

#endif

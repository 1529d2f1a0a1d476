/* What the kernels of scans are made of: pieces of a line, each combined from its own beginning, and vectors of four. */
#ifndef OPWEAVE_SCAN_LINES_H
#define OPWEAVE_SCAN_LINES_H

#include "kernel.h"

#define CHAINS 4 /* pieces at once, */
#define CHAIN 64 /* of so many elements */
/* Four elements, which need not be aligned as vectors are. Functions of them are inlined: how they would be passed does not matter. */
#define FOUR(name, type) typedef type name __attribute__((vector_size(4 * sizeof(type)), aligned(sizeof(type)), may_alias))
#pragma GCC diagnostic ignored "-Wpsabi"

#endif

/* Calls that are made for parts of their tensors: the first dimensions of all of them are the same, and each call computes a
 * position of these from the same position of its operands. All calls are made for one part, a tile, before the next, so what
 * they hand on stays in the cache. */
#ifndef OPWEAVE_TILES_H
#define OPWEAVE_TILES_H

#include "invoke.h"

enum { OW_TILED_GIVEN, OW_TILED_INNER, OW_TILED_RESULT };

/* A tensor that is given, handed from one call to another, or a result. */
typedef struct {
    int kind, dtype, ndim;
    int lead; /* the dimension of results that its first one is, as they are broadcast */
    int64_t sizes[OW_MAX_DIMS]; /* as tiles see it; the tensor may have its elements, in the same order, in another shape */
    int whole_ndim;
    int64_t whole_sizes[OW_MAX_DIMS];
} ow_tiled_value;

typedef struct {
    ow_call call; /* `op` NULL: the result is the operand in another shape, with the same first dimensions */
    int nresults;
    int operands[OW_MAX_INPUTS]; /* values; -1: what the call has already */
    int results[OW_CALL_RESULTS];
    int frees[OW_MAX_INPUTS + OW_CALL_RESULTS], nfrees; /* inner values that no later call reads */
} ow_tiled_call;

/* A reduction of all elements of a value to one, which the accumulators of all tiles make. */
typedef struct {
    const ow_op *op;
    int dtype; /* asked for; -1: it follows */
    int operand, result;
} ow_tiled_reduction;

typedef struct {
    ow_tiled_value *values;
    ow_tiled_call *calls;
    ow_tiled_reduction *reductions;
    int nvalues, ncalls, nreductions;
    int axis;           /* the dimension that is divided; of those before it a tile has one position */
    int64_t positions;  /* all of these */
    int64_t size, step; /* of the axis, and of a tile along it; OW_UNIT where there are reductions of all elements */
    int64_t shape[OW_MAX_DIMS]; /* up to the axis */
    double work;
} ow_tiles;

/* Makes the results of all calls, in the order of the values. 1; or 0, with the error set only where it was interrupted: some
 * call fails, or gives something else than the values say. `given` are the tensors of the values, NULL for others. */
int ow_tiles_run(const ow_tiles *tiles, ow_tensor *const *given, ow_tensor **results);

#endif

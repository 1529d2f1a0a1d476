/* Routines over index spaces. */
#include "index.h"

ow_mover ow_mover_combine(const ow_op *reduction, int dtype) {
    const ow_reduce_table *table = reduction->tables[ow_level];
    return table->by[dtype].scatter;
}

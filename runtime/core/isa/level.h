/* Which of the instruction-set levels that the kernels were compiled for is in force. */
#ifndef OPWEAVE_LEVEL_H
#define OPWEAVE_LEVEL_H

/* Chooses a level: 1, or 0 when the processor or the build lacks it. */
int ow_set_level(int level);

#endif

/* Which of the instruction-set levels that the kernels were compiled for is in force. */
#ifndef OPWEAVE_LEVEL_H
#define OPWEAVE_LEVEL_H

/* Chooses a level: 1, or 0 when the processor or the build lacks it. */
int ow_set_level(int level);
/* 1 if the processor has a level, 0 baseline, 1 x86-64-v3, 2 x86-64-v4, whether or not the build has kernels for it. */
int ow_processor_has(int level);

#endif

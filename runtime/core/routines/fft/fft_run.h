/* What runs plans: the loops of this processor's level, and transforms of signals in memory. */
#ifndef OPWEAVE_FFT_RUN_H
#define OPWEAVE_FFT_RUN_H

#include "levels/fft_kernels.h"
#include "tensor/tensor.h"

const ow_fft_kernels *ow_fft_kernels_now(int is_double);

ow_fft_plan *ow_fft_make_plan(int64_t n, int is_double); /* NULL with the error set */
int ow_fft_make_halves(ow_fft_plan *plan);               /* for real signals of 2 n elements; 1, or 0 with the error set */
void ow_fft_free_plan(ow_fft_plan *plan);

/* Elements of a block that the plan transforms. */
int64_t ow_fft_block_length(const ow_fft_plan *plan);
/* 1 if single signals are divided, so that all lanes have work. */
int ow_fft_divides(const ow_fft_plan *plan);
/* Transforms one signal, which the plan divides. 1, or 0 with the error set. */
int ow_fft_run_signal(const ow_fft_job *job, ow_fft_access in, ow_fft_access out);

/* Transforms all signals of `in` along `dim` into `out`. 1, or 0 with the error set. `inverse`: of complex signals. */
int ow_fft_run(const ow_tensor *in, ow_tensor *out, int dim, ow_fft_kind kind, int inverse, double scale);

/* Memory for loops, aligned for vectors; NULL with the error set. */
void *ow_fft_room(int64_t nbytes);
void ow_fft_leave(void *room, int64_t nbytes);

#endif

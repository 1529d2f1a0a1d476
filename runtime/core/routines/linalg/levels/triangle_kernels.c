/* See triangle_kernels.h. */
#include "triangle_kernels.h"

#include <string.h>

#include "kernel/contracted_vectors.h"

/* Columns that are solved for together, so that none waits for its own products. */
#define COLUMNS 8

#define real float
#define integer int32_t
#define NAME(name) name##_f32
#include "triangle_loops.h"
#undef real
#undef integer
#undef NAME

#define real double
#define integer int64_t
#define NAME(name) name##_f64
#include "triangle_loops.h"

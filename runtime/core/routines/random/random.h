/* Random numbers: the engine, generators, and what fills of all distributions share. Internal to the core.
 *
 * The streams are those of torch 2.13 on x86-64 with AVX2, on every machine: which draws an element takes, in which
 * precision it is computed and where a product and a sum are one fma are part of the result. docs/random.md gives the
 * sources of the methods. */
#ifndef OPWEAVE_RANDOM_H
#define OPWEAVE_RANDOM_H

#include <pthread.h>

#include "families/driver.h"
#include "families/invoke.h"
#include "routines/random/levels/random_kernels.h"
#include "ow_routines.h" /* generated */

/* ---- generators (random_engine.c) --------------------------------------------------------------------------- */

typedef struct ow_generator {
    pthread_mutex_t lock; /* held during a fill; taken without the interpreter's lock when it is contended */
    uint64_t seed;
    /* MT19937 (Matsumoto and Nishimura, 1998). `left - 1` outputs of the block are unused, from `next` on. */
    uint32_t state[OW_MT_WORDS];
    int32_t left;
    uint32_t next;
    int has_normal; /* the second of a pair of normal variates waits to be used */
    double normal;
    struct ow_generator *before, *after; /* all generators, for fork */
} ow_generator;

#define OW_GENERATOR_STATE_BYTES 5056 /* torch's layout of a saved state */

/* The generator of this address, or the default one for NULL; NULL where there is none. */
ow_generator *ow_generator_at(const ow_generator *address);
ow_generator *ow_generator_new(uint64_t seed); /* NULL with the error set */
void ow_generator_free(ow_generator *g);
/* These take the lock. */
void ow_generator_seed(ow_generator *g, uint64_t seed);
void ow_generator_save(ow_generator *g, char *bytes);
int ow_generator_restore(ow_generator *g, const char *bytes); /* 1, or 0 with the error set */

/* Takes the lock; gives a token for ow_generator_unlock. work: as for ow_gil_release. */
void *ow_generator_lock(ow_generator *g, int64_t work);
void ow_generator_unlock(ow_generator *g, void *token);

/* Draws. The caller holds the lock. */
void ow_draw(ow_generator *g, uint32_t *out, int64_t n);
uint64_t ow_draw_u64(ow_generator *g); /* two outputs, the first one is the upper half */
double ow_draw_double(ow_generator *g); /* uniform in [0, 1) */
double ow_draw_normal(ow_generator *g); /* one of a pair: the other one is kept */
void ow_draw_floats(ow_generator *g, float *out, int64_t n, float from, float to);
void ow_draw_doubles(ow_generator *g, double *out, int64_t n, double from, double to);

const ow_random_kernels *ow_random_kernels_now(void);

/* ---- fills (random_fill.c) ---------------------------------------------------------------------------------- */

typedef struct ow_random_call {
    const ow_op *op;
    const struct ow_distribution *distribution;
    ow_tensor *target;
    ow_tensor *inputs[2];  /* NULL: absent */
    double numbers[2];     /* the arguments of type float, in the order of the schema */
    int64_t integers[2];   /* those of type int; OW_NONE: None */
    int given;             /* how many of the integers were given */
    ow_generator *generator;
    const char *rows[2];   /* the inputs' elements in the order in which the target's are visited */
    int row_dtypes[2];     /* in these dtypes: float32 or float64 */
    /* What a distribution's `prepare` leaves for its `generate`: of bernoulli, the probability; of integers, the first
     * one, their number (0: 2^64) and whether each takes two draws. */
    double probability;
    int64_t first;
    uint64_t range;
    int wide;
} ow_random_call;

/* A distribution. `prepare` checks the arguments: 1, or 0 with the error set. `generate` computes the next n elements in
 * the dtype `compute` (OW_PROMOTED: that in which the target's dtype computes). */
typedef struct ow_distribution {
    const char *kernel; /* torch's name of the loop, for messages */
    int compute;
    int (*prepare)(ow_random_call *f);
    void (*generate)(ow_random_call *f, char *out, int64_t n);
    int (*fill)(ow_random_call *f); /* instead of `generate`: fills the target as a whole; 1, or 0 with the error set */
    int reads_numbers; /* inputs that are numbers are for `prepare`; others get a row of equal elements */
    double part_divisor; /* complex numbers are filled as pairs of real ones, with the second number divided by this; 0: not */
} ow_distribution;

#define OW_DECLARE_DISTRIBUTION(name) extern const ow_distribution ow_distribution_##name;
OW_DISTRIBUTIONS(OW_DECLARE_DISTRIBUTION)

/* Fills a tensor in place. 1, or 0 with the error set. */
int ow_random_fill(ow_call *c);
/* The elements one after the other in memory order, as many at a time as pass through a buffer. */
void ow_fill_elements(ow_random_call *f, const ow_distribution *d);

#endif

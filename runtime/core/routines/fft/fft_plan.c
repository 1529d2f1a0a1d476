/* Plans: how a length is divided, and the tables of its roots of unity. */
#include <stdlib.h>
#include <string.h>

#include "fft_run.h"

enum { SHORTEST_MATRIX = 128 }; /* the elements of one signal from which it is divided into a matrix */

/* ---- tables --------------------------------------------------------------------------------------------------- */

static int64_t size_of_real(const ow_fft_plan *plan) { return plan->is_double ? sizeof(double) : sizeof(float); }

/* A table of real numbers; NULL with the error set. */
static void *table(ow_fft_plan *plan, int64_t count) {
    const int64_t nbytes = count * size_of_real(plan);
    void *memory = malloc((size_t)nbytes + 64); /* loops read whole vectors */
    if (!memory)
        return ow_fail(OW_OUT_OF_MEMORY, "no memory for the roots of unity of a transform of %lld elements", (long long)plan->n);
    plan->nbytes += nbytes;
    return memory;
}

static void set(const ow_fft_plan *plan, void *to, int64_t at, long double value) {
    if (plan->is_double) ((double *)to)[at] = (double)value;
    else ((float *)to)[at] = (float)value;
}

/* Writes w(k / n), k below n, to `re` and `im`. */
static void put(const ow_fft_plan *plan, void *to, int64_t re, int64_t im, const ow_fft_roots *roots, int64_t k) {
    long double root[2];
    ow_fft_root(roots, k, root);
    set(plan, to, re, root[0]);
    set(plan, to, im, root[1]);
}

/* ---- passes --------------------------------------------------------------------------------------------------- */

/* Sets the radices of the length, few and nearly equal powers of two at the end. 1, or 0 if it has another factor. */
static int factor(ow_fft_plan *plan, const ow_fft_kernels *kernels) {
    int64_t rest = plan->n;
    int twos = 0, most = __builtin_ctz((unsigned)kernels->largest_power);
    plan->npasses = 0;
    for (int radix = 63; radix > 2; radix -= 2)
        for (; (kernels->radices >> radix & 1) && rest % radix == 0; rest /= radix) plan->radices[plan->npasses++] = radix;
    for (; rest % 2 == 0; rest /= 2) twos++;
    for (int passes = (twos + most - 1) / most; passes; passes--) {
        const int bits = (twos + passes - 1) / passes;
        plan->radices[plan->npasses++] = 1 << bits;
        twos -= bits;
    }
    return rest == 1;
}

static int make_passes(ow_fft_plan *plan, const ow_fft_roots *roots) {
    for (int64_t i = 0, rest = plan->n; i < plan->npasses - 1; i++) {
        const int64_t radix = plan->radices[i], groups = rest / radix, stride = plan->n / rest;
        void *to = plan->roots[i] = table(plan, 2 * (radix - 1) * groups);
        if (!to) return 0;
        for (int64_t p = 0, at = 0; p < groups; p++)
            for (int64_t k = 1; k < radix; k++, at += 2) put(plan, to, at, at + 1, roots, p * k * stride);
        rest = groups;
    }
    return 1;
}

/* The time of the passes of a length, in operations on vectors for each element; 0: it has other factors. */
static double cost_of(int64_t n, const ow_fft_kernels *kernels) {
    ow_fft_plan plan = {.n = n};
    if (!factor(&plan, kernels)) return 0;
    double cost = 0;
    for (int i = 0; i < plan.npasses; i++) cost += 2 + plan.radices[i] * (plan.radices[i] % 2 ? 0.7 : 0.35);
    return cost;
}

/* ---- one signal as a matrix ----------------------------------------------------------------------------------- */

/* The number of columns with which the passes take the fewest vectors; 0: the length cannot be divided. */
static int64_t best_columns(int64_t n, const ow_fft_kernels *kernels) {
    int64_t best = 0;
    double least = 0;
    for (int64_t d = 2; d * d <= n; d++) {
        if (n % d) continue;
        for (int64_t rows = d, columns = n / d;; rows = n / d, columns = d) { /* both ways */
            const int64_t lanes = kernels->lanes;
            const double blocks = (double)((columns + lanes - 1) / lanes * rows) * cost_of(rows, kernels) +
                                  (double)((rows + lanes - 1) / lanes * columns) * cost_of(columns, kernels);
            if (!best || blocks < least) {
                least = blocks;
                best = columns;
            }
            if (columns == d) break;
        }
    }
    return best;
}

static ow_fft_plan *make_plan(int64_t n, int is_double, int divides);

static int make_matrix(ow_fft_plan *plan, const ow_fft_roots *roots, const ow_fft_kernels *kernels) {
    const int64_t n = plan->n, n2 = best_columns(n, kernels);
    if (!n2) return 1;
    const int64_t n1 = n / n2;
    const int64_t lanes = kernels->lanes, blocks = (n2 + lanes - 1) / lanes;
    if (!(plan->columns = make_plan(n1, plan->is_double, 0)) || !(plan->lane_turns = table(plan, 2 * n1 * lanes)) ||
        !(plan->block_turns = table(plan, 2 * n1 * blocks)))
        return 0;
    for (int64_t k = 0; k < n1; k++) {
        const int64_t at = 2 * k * lanes;
        for (int64_t lane = 0; lane < lanes; lane++) put(plan, plan->lane_turns, at + lane, at + lanes + lane, roots, k * lane % n);
        for (int64_t b = 0; b < blocks; b++) {
            const int64_t to = 2 * (b * n1 + k);
            put(plan, plan->block_turns, to, to + 1, roots, k * ow_fft_start_of_block(b, n2, lanes));
        }
    }
    return (plan->rows = make_plan(n2, plan->is_double, 0)) != NULL;
}

/* ---- convolutions --------------------------------------------------------------------------------------------- */

/* The shortest length from n on of a power of two times a small factor. */
static int64_t length_of_convolution(int64_t n, const ow_fft_kernels *kernels) {
    int64_t best = 0;
    for (int64_t odd = 1; odd < 32; odd += 2) {
        if (odd > 1 && cost_of(odd, kernels) == 0) continue;
        int64_t length = odd;
        while (length < n) length *= 2;
        if (!best || length < best) best = length;
    }
    return best;
}

/* Transforms a table of as many complex numbers as the plan has. 1, or 0 with the error set. */
static int transform_table(const ow_fft_plan *plan, void *numbers) {
    const ow_fft_access all = {numbers, 2, 0, 1};
    const ow_fft_job job = {.kind = OW_FFT_COMPLEX, .n = plan->n, .plan = plan, .length = plan->n, .scale = 1};
    if (ow_fft_divides(plan)) return ow_fft_run_signal(&job, all, all);
    const ow_fft_kernels *kernels = ow_fft_kernels_now(plan->is_double);
    const int64_t nbytes = kernels->bytes_of_block(job.length);
    void *work = ow_fft_room(nbytes);
    if (!work) return 0;
    kernels->block(&job, all, all, 1, work);
    ow_fft_leave(work, nbytes);
    return 1;
}

static int make_convolution(ow_fft_plan *plan, int divides, const ow_fft_kernels *kernels) {
    const int64_t n = plan->n, m = length_of_convolution(2 * n - 1, kernels);
    ow_fft_roots roots;
    if (!(plan->convolution = make_plan(m, plan->is_double, divides)) || !(plan->chirp = table(plan, 2 * n)) ||
        !(plan->spectrum = table(plan, 2 * m)) || !ow_fft_roots_begin(&roots, 2 * n))
        return 0;
    memset(plan->spectrum, 0, (size_t)(2 * m * size_of_real(plan)));
    for (int64_t k = 0, square = 0; k < n; square = (square + 2 * k + 1) % (2 * n), k++) { /* k² modulo 2 n */
        long double root[2];
        ow_fft_root(&roots, square, root);
        for (int part = 0; part < 2; part++) {
            const long double conjugate = (part ? -root[1] : root[0]) / (long double)m;
            set(plan, plan->chirp, 2 * k + part, root[part]);
            set(plan, plan->spectrum, 2 * k + part, conjugate);
            if (k) set(plan, plan->spectrum, 2 * (m - k) + part, conjugate);
        }
    }
    ow_fft_roots_end(&roots);
    return transform_table(plan->convolution, plan->spectrum);
}

/* ---- plans ---------------------------------------------------------------------------------------------------- */

void ow_fft_free_plan(ow_fft_plan *plan) {
    if (!plan) return;
    ow_fft_free_plan(plan->columns);
    ow_fft_free_plan(plan->rows);
    ow_fft_free_plan(plan->convolution);
    for (int i = 0; i < plan->npasses; i++) free(plan->roots[i]);
    free(plan->lane_turns);
    free(plan->block_turns);
    free(plan->chirp);
    free(plan->spectrum);
    free(plan->halves);
    free(plan);
}

/* `divides`: single signals are worth a matrix. */
static ow_fft_plan *make_plan(int64_t n, int is_double, int divides) {
    const ow_fft_kernels *kernels = ow_fft_kernels_now(is_double);
    ow_fft_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return ow_fail(OW_OUT_OF_MEMORY, "no memory for a transform of %lld elements", (long long)n);
    plan->n = n;
    plan->is_double = is_double;
    plan->lanes = kernels->lanes;
    ow_fft_roots roots = {0};
    int done;
    if (factor(plan, kernels))
        done = ow_fft_roots_begin(&roots, n) && make_passes(plan, &roots) &&
               (!divides || n < SHORTEST_MATRIX || make_matrix(plan, &roots, kernels));
    else {
        plan->npasses = 0;
        done = make_convolution(plan, divides, kernels);
    }
    ow_fft_roots_end(&roots);
    if (done) return plan;
    ow_fft_free_plan(plan);
    return NULL;
}

ow_fft_plan *ow_fft_make_plan(int64_t n, int is_double) { return make_plan(n, is_double, 1); }

int ow_fft_make_halves(ow_fft_plan *plan) {
    const int64_t n = plan->n;
    ow_fft_roots roots;
    if (!(plan->halves = table(plan, 2 * (n + 1))) || !ow_fft_roots_begin(&roots, 2 * n)) return 0;
    for (int64_t k = 0; k <= n; k++) put(plan, plan->halves, k, n + 1 + k, &roots, k);
    ow_fft_roots_end(&roots);
    return 1;
}

int64_t ow_fft_block_length(const ow_fft_plan *plan) { return plan->convolution ? plan->convolution->n : plan->n; }

int ow_fft_divides(const ow_fft_plan *plan) { return (plan->convolution ? plan->convolution : plan)->rows != NULL; }

/* Generators: MT19937, its saved states, and the lock that makes a fill one indivisible piece of the stream. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "random.h"

extern const ow_random_kernels ow_random_kernels_v1;
#if OW_NLEVELS == 3
extern const ow_random_kernels ow_random_kernels_v3, ow_random_kernels_v4;
#endif

const ow_random_kernels *ow_random_kernels_now(void) {
#if OW_NLEVELS == 3
    if (ow_level == 2) return &ow_random_kernels_v4;
    if (ow_level == 1) return &ow_random_kernels_v3;
#endif
    return &ow_random_kernels_v1;
}

/* ---- generators ----------------------------------------------------------------------------------------------- */

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static ow_generator default_generator = {.lock = PTHREAD_MUTEX_INITIALIZER};
static ow_generator *generators = &default_generator;

ow_generator *ow_generator_at(const ow_generator *address) {
    if (!address) return &default_generator;
    pthread_mutex_lock(&list_lock);
    ow_generator *g = generators;
    while (g && g != address) g = g->after;
    pthread_mutex_unlock(&list_lock);
    return g;
}

/* The initialiser of 2002 for a seed of one word. The first block is made at the first draw. */
static void seed_engine(ow_generator *g, uint64_t seed) {
    g->seed = seed;
    g->state[0] = (uint32_t)seed;
    for (uint32_t j = 1; j < OW_MT_WORDS; j++)
        g->state[j] = 1812433253u * (g->state[j - 1] ^ (g->state[j - 1] >> 30)) + j;
    g->left = 1;
    g->next = 0;
    g->has_normal = 0;
    g->normal = 0;
}

ow_generator *ow_generator_new(uint64_t seed) {
    ow_generator *g = calloc(1, sizeof *g);
    if (!g) return ow_fail(OW_OUT_OF_MEMORY, "out of memory: a generator needs %zu bytes", sizeof *g);
    pthread_mutex_init(&g->lock, NULL);
    seed_engine(g, seed);
    pthread_mutex_lock(&list_lock);
    g->after = generators;
    generators->before = g;
    generators = g;
    pthread_mutex_unlock(&list_lock);
    return g;
}

/* The default generator is never freed, so there is always one after g. */
void ow_generator_free(ow_generator *g) {
    pthread_mutex_lock(&list_lock);
    g->after->before = g->before;
    if (g->before) g->before->after = g->after;
    else generators = g->after;
    pthread_mutex_unlock(&list_lock);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

/* A fill that runs in another thread ends before a fork, so that the child finds every generator free and whole. */
static void before_fork(void) {
    pthread_mutex_lock(&list_lock);
    for (ow_generator *g = generators; g; g = g->after) pthread_mutex_lock(&g->lock);
}

static void after_fork(void) {
    for (ow_generator *g = generators; g; g = g->after) pthread_mutex_unlock(&g->lock);
    pthread_mutex_unlock(&list_lock);
}

__attribute__((constructor)) static void start(void) {
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed) seed = (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
    seed_engine(&default_generator, seed);
    pthread_atfork(before_fork, after_fork, after_fork);
}

/* A thread that has the lock may be waiting for the interpreter's, so no thread waits for it with that one held. */
void *ow_generator_lock(ow_generator *g, int64_t work) {
    void *token = ow_gil_release(work);
    if (token) {
        pthread_mutex_lock(&g->lock);
    } else if (pthread_mutex_trylock(&g->lock) != 0) {
        token = ow_gil_release(INT64_MAX);
        pthread_mutex_lock(&g->lock);
    }
    ow_signals_wait();
    return token;
}

void ow_generator_unlock(ow_generator *g, void *token) {
    pthread_mutex_unlock(&g->lock);
    ow_gil_acquire(token);
}

void ow_generator_seed(ow_generator *g, uint64_t seed) {
    void *token = ow_generator_lock(g, 0);
    seed_engine(g, seed);
    ow_generator_unlock(g, token);
}

/* ---- saved states --------------------------------------------------------------------------------------------- */

/* The saved state in torch's layout, which is little-endian like the machine. */
typedef struct saved_state {
    uint64_t seed;
    int32_t left, seeded;
    uint64_t next, words[OW_MT_WORDS];
    double normal_x, normal_y, normal_rho;
    int32_t normal_valid, padding;
    float float_normal;
    int32_t float_normal_valid;
} saved_state;

_Static_assert(sizeof(saved_state) == OW_GENERATOR_STATE_BYTES, "the size of torch's saved states");
_Static_assert(offsetof(saved_state, normal_x) == 5016, "the layout of torch's saved states");

void ow_generator_save(ow_generator *g, char *bytes) {
    saved_state s = {.seeded = 1};
    void *token = ow_generator_lock(g, 0);
    s.seed = g->seed;
    s.left = g->left;
    s.next = g->next;
    for (int k = 0; k < OW_MT_WORDS; k++) s.words[k] = g->state[k];
    s.normal_y = g->has_normal ? g->normal : 0;
    s.normal_valid = g->has_normal;
    ow_generator_unlock(g, token);
    memcpy(bytes, &s, sizeof s);
}

int ow_generator_restore(ow_generator *g, const char *bytes) {
    saved_state s;
    memcpy(&s, bytes, sizeof s);
    /* torch accepts places behind the last word and reads beyond the state. */
    int inside = s.left > 0 && s.left <= OW_MT_WORDS && s.next <= OW_MT_WORDS && s.next + (uint64_t)s.left <= OW_MT_WORDS + 1;
    if (!inside || !s.seeded) {
        ow_fail(OW_RUNTIME_ERROR, "Invalid mt19937 state");
        return 0;
    }
    void *token = ow_generator_lock(g, 0);
    g->seed = s.seed;
    g->left = s.left;
    g->next = (uint32_t)s.next;
    for (int k = 0; k < OW_MT_WORDS; k++) g->state[k] = (uint32_t)s.words[k];
    g->has_normal = s.normal_valid != 0;
    g->normal = s.normal_y;
    ow_generator_unlock(g, token);
    return 1;
}

/* ---- draws ---------------------------------------------------------------------------------------------------- */

void ow_draw(ow_generator *g, uint32_t *out, int64_t n) {
    const ow_random_kernels *kernels = ow_random_kernels_now();
    while (n > 0) {
        if (g->left == 1) {
            kernels->twist(g->state);
            g->left = OW_MT_WORDS + 1;
            g->next = 0;
        }
        int64_t count = g->left - 1 < n ? g->left - 1 : n;
        kernels->temper(out, g->state + g->next, count);
        g->left -= (int32_t)count;
        g->next += (uint32_t)count;
        out += count;
        n -= count;
    }
}

uint64_t ow_draw_u64(ow_generator *g) {
    uint32_t words[2];
    ow_draw(g, words, 2);
    return (uint64_t)words[0] << 32 | words[1];
}

double ow_draw_double(ow_generator *g) { return (double)(ow_draw_u64(g) & ((1ull << 53) - 1)) * 0x1p-53; }

/* The method of Box and Muller in double precision, one variate for a call. */
double ow_draw_normal(ow_generator *g) {
    if (g->has_normal) {
        g->has_normal = 0;
        return g->normal;
    }
    double u1 = ow_draw_double(g), u2 = ow_draw_double(g);
    double radius = sqrt(-2 * log1p(-u2)), angle = 2 * M_PI * u1;
    g->normal = radius * sin(angle);
    g->has_normal = 1;
    return radius * cos(angle);
}

void ow_draw_floats(ow_generator *g, float *out, int64_t n, float from, float to) {
    uint32_t draws[OW_BLOCK];
    for (int64_t at = 0; at < n; at += OW_BLOCK) {
        int64_t count = n - at < OW_BLOCK ? n - at : OW_BLOCK;
        ow_draw(g, draws, count);
        ow_random_kernels_now()->floats(out + at, draws, count, from, to);
    }
}

void ow_draw_doubles(ow_generator *g, double *out, int64_t n, double from, double to) {
    uint32_t draws[2 * OW_BLOCK];
    for (int64_t at = 0; at < n; at += OW_BLOCK) {
        int64_t count = n - at < OW_BLOCK ? n - at : OW_BLOCK;
        ow_draw(g, draws, 2 * count);
        ow_random_kernels_now()->doubles(out + at, draws, count, from, to);
    }
}

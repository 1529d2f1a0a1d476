/* Drives the core without Python, so that it can run under the sanitizers. Usage: stress WHAT, see main(). Exits with 0
 * when every check held; a failed one prints its line and aborts. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memory/allocator.h"
#include "tensor/tensor.h"

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "stress.c:%d: failed: %s\n", __LINE__, #condition); \
            abort();                                                           \
        }                                                                      \
    } while (0)

/* Without an interpreter no loop stops for signals: each has one part. */
int ow_run_parts(int64_t n, int64_t grain, int64_t least, double work, ow_task task, void *context, ow_loop_runner *run) {
    (void)least;
    run(n, grain, work, task, context);
    return 1;
}

/* What fills new memory where that is asked for, which is not here. */
ow_cast ow_cast_loop(int dst_dtype, int src_dtype) {
    (void)dst_dtype, (void)src_dtype;
    return NULL;
}

enum { SLOTS = 256, THREADS = 4 };

/* Lies at the front of the memory under test: libc's malloc under a sanitizer would not survive the forks. */
typedef struct object {
    int64_t size;
} object;

static _Atomic(object *) slots[SLOTS];
static _Atomic int stop;
static int churn_rounds = 100000, loop_rounds = 3000;

static uint32_t next_random(uint32_t *state) {
    *state ^= *state << 13, *state ^= *state >> 17, *state ^= *state << 5;
    return *state;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static unsigned char mark(const object *o) { return (unsigned char)((uintptr_t)o >> 6) ^ (unsigned char)o->size; }

static object *make_object(uint32_t *state) {
    int64_t size = (int64_t)sizeof(object) + 1 + next_random(state) % (2u << next_random(state) % 22);
    object *o = ow_alloc(size);
    CHECK(o && (uintptr_t)o % 64 == 0);
    o->size = size;
    ((unsigned char *)o)[size - 1] = mark(o);
    return o;
}

static void free_object(object *o) {
    if (!o) return;
    CHECK(((unsigned char *)o)[o->size - 1] == mark(o));
    ow_dealloc(o, o->size);
}

/* Objects are freed by whichever thread comes across them. */
static void *churn(void *argument) {
    uint32_t state = (uint32_t)(intptr_t)argument * 2654435761u + 1;
    for (int k = 0; k < churn_rounds && !atomic_load(&stop); k++)
        free_object(atomic_exchange(&slots[next_random(&state) % SLOTS], make_object(&state)));
    return NULL;
}

static int64_t statistic(int which, int pool, int field) {
    int64_t values[OW_NSTATISTICS * OW_NPOOLS * 4 + OW_NCOUNTERS];
    ow_statistics_read(values, (int32_t)(sizeof values / sizeof *values));
    return values[(which * OW_NPOOLS + pool) * 4 + field];
}

static void check_empty(void) {
    ow_memory_empty_cache();
    for (int which = 0; which < OW_NSTATISTICS; which++)
        for (int pool = 0; pool < OW_NPOOLS; pool++) {
            CHECK(statistic(which, pool, 0) == 0);
            CHECK(statistic(which, pool, 2) == statistic(which, pool, 3));
            CHECK(statistic(which, pool, 1) >= 0);
        }
}

static void test_alloc(void) {
    pthread_t threads[THREADS];
    for (intptr_t k = 0; k < THREADS; k++) pthread_create(&threads[k], NULL, churn, (void *)(k + 1));
    for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
    CHECK(statistic(OW_STAT_allocation, OW_POOL_ALL, 0) > 0);
    for (int k = 0; k < SLOTS; k++) free_object(atomic_exchange(&slots[k], NULL));
    check_empty();
}

static void add_one(void *context, int64_t begin, int64_t end) {
    int32_t *values = context;
    for (int64_t k = begin; k < end; k++) values[k]++;
}

static void nested(void *context, int64_t begin, int64_t end) {
    ow_parallel_for(end - begin, 16, 1e9, add_one, (int32_t *)context + begin);
}

enum { LENGTH = 3000 };

static void *many_loops(void *argument) {
    uint32_t state = (uint32_t)(intptr_t)argument * 2654435761u + 1;
    int32_t *values = ow_alloc(LENGTH * sizeof *values);
    memset(values, 0, LENGTH * sizeof *values);
    for (int k = 1; k <= loop_rounds; k++) {
        int64_t n = next_random(&state) % LENGTH, grain = 1 + next_random(&state) % 600;
        ow_parallel_for(n, grain, k % 3 ? 2e6 : 2e4, k % 2 ? add_one : nested, values);
        for (int64_t i = 0; i < n; i++) CHECK(values[i] == 1);
        memset(values, 0, (size_t)n * sizeof *values);
    }
    ow_dealloc(values, LENGTH * sizeof *values);
    return NULL;
}

static void test_parallel(void) {
    ow_set_num_threads(4);
    pthread_t threads[THREADS];
    many_loops((void *)99);
    for (intptr_t k = 0; k < THREADS; k++) pthread_create(&threads[k], NULL, many_loops, (void *)(k + 1));
    for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
}

static void test_fork(void) {
    pthread_t threads[2];
    churn_rounds = 1000000000;
    loop_rounds = 50;
    ow_set_num_threads(4);
    for (intptr_t k = 0; k < 2; k++) pthread_create(&threads[k], NULL, churn, (void *)(k + 1));
    for (int k = 0; k < 40; k++) {
        many_loops((void *)7);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            alarm(60); /* a deadlock is a failure */
            uint32_t state = 77;
            for (int i = 0; i < 2000; i++) free_object(make_object(&state));
            many_loops((void *)8);
            ow_memory_empty_cache();
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    atomic_store(&stop, 1);
    for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
    for (int k = 0; k < SLOTS; k++) free_object(atomic_exchange(&slots[k], NULL));
    check_empty();
}

static void test_tensor(void) {
    static const int64_t shapes[][7] = {{0}, {4}, {3, 5}, {0, 7}, {2, 3, 4, 5, 6, 2, 2}, {300, 300}};
    static const int dims[] = {0, 1, 2, 2, 7, 2};
    for (int k = 0; k < 6; k++) {
        ow_tensor *t = ow_tensor_new(OW_FLOAT32, dims[k], shapes[k], NULL);
        memset(t->data, 1, (size_t)t->numel * 4);
        ow_tensor *view = ow_tensor_view(t->storage, t->data, OW_FLOAT32, t->ndim, t->sizes, t->strides);
        for (int j = 0; j < 6; j++) { /* first while the view shares the storage */
            int64_t before = t->numel;
            CHECK(ow_tensor_resize(t, dims[j], shapes[j]) && t->flags == (OW_CONTIGUOUS | OW_DENSE));
            if (before && t->numel) CHECK(t->data[0] == 1);
            memset(t->data, 1, (size_t)t->numel * 4);
        }
        ow_tensor_free(t);
        for (int64_t i = 0; i < view->numel * 4; i++) CHECK(view->data[i] == 1);
        for (int j = 0; j < 6; j++) CHECK(ow_tensor_resize(view, dims[j], shapes[j]));
        ow_tensor_free(view);
    }
    ow_tensor_free(ow_tensor_number_d(2.5));
    CHECK(!ow_tensor_new(OW_FLOAT32, 1, &(int64_t){INT64_MAX / 4}, NULL) && ow_error_pending());
    char text[400];
    CHECK(ow_error_take(text, sizeof text) == OW_OUT_OF_MEMORY);
    check_empty();
}

/* Every size runs into the limit of the address space, reports it, and leaves the memory usable for the next one. */
static void test_exhaust(void) {
    static const int64_t lengths[] = {100 << 20, 10 << 20, 1 << 20, 100 << 10, 10 << 10, 4000, 100};
    enum { LENGTHS = sizeof lengths / sizeof *lengths };
    FILE *file = fopen("/proc/self/statm", "r");
    long pages;
    CHECK(file && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    rlim_t bytes = (rlim_t)pages * 4096 + (256 << 20);
    CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes}) == 0);
    for (int k = 0; k < LENGTHS; k++) {
        ow_tensor *all = NULL, *t;
        int64_t count = 0;
        while ((t = ow_tensor_new(OW_UINT8, 1, &lengths[k], NULL))) {
            memcpy(t->data, &all, sizeof all);
            all = t;
            count++;
        }
        char text[OW_MESSAGE_BYTES];
        CHECK(ow_error_take(text, sizeof text) == OW_OUT_OF_MEMORY && strstr(text, "you tried to allocate"));
        CHECK(count * lengths[k] > 64 << 20); /* of 256: the smallest are mostly header */
        for (; all; all = t) {
            memcpy(&t, all->data, sizeof t);
            ow_tensor_free(all);
        }
    }
    int64_t values[OW_NSTATISTICS * OW_NPOOLS * 4 + OW_NCOUNTERS], *counters = values + OW_NSTATISTICS * OW_NPOOLS * 4;
    ow_statistics_read(values, (int32_t)(sizeof values / sizeof *values));
    CHECK(counters[OW_COUNT_num_ooms] == LENGTHS);
    CHECK(counters[OW_COUNT_num_alloc_retries] > 0);
    check_empty();
}

/* Only the address sanitizer notices. */
static void misuse(int64_t nbytes, int alive, int64_t index) {
    volatile char *p = ow_alloc(nbytes);
    p[0] = 1;
    if (!alive) ow_dealloc((void *)p, nbytes);
    p[index] = 1;
}

static void nothing(void *context, int64_t begin, int64_t end) { (void)context, (void)begin, (void)end; }

#define MEASURE(name, rounds, expression)                                             \
    do {                                                                              \
        double best = 1e9;                                                            \
        for (int round = 0; round < 5; round++) {                                     \
            double start = seconds();                                                 \
            for (int k = 0; k < (rounds); k++) expression;                            \
            double each = (seconds() - start) / (rounds) * 1e9;                       \
            if (each < best) best = each;                                             \
        }                                                                             \
        printf("%-34s %10.1f ns\n", name, best);                                      \
    } while (0)

static void bench(void) {
    MEASURE("alloc + free 64 B", 1000000, ow_dealloc(ow_alloc(64), 64));
    MEASURE("alloc + free 208 B", 1000000, ow_dealloc(ow_alloc(208), 208));
    MEASURE("alloc + free 16 KiB", 1000000, ow_dealloc(ow_alloc(16384), 16384));
    MEASURE("malloc + free 208 B", 1000000, { void *volatile p = malloc(208); free(p); });
    MEASURE("alloc + free 40 MB", 100000, ow_dealloc(ow_alloc(40000000), 40000000));
    int64_t four[] = {4}, two[] = {2, 2}, big[] = {10000000};
    MEASURE("new + free, 4 elements", 1000000, ow_tensor_free(ow_tensor_new(OW_FLOAT32, 1, four, NULL)));
    MEASURE("new + free, 2 x 2", 1000000, ow_tensor_free(ow_tensor_new(OW_FLOAT32, 2, two, NULL)));
    MEASURE("new + free, 1e7 elements", 100000, ow_tensor_free(ow_tensor_new(OW_FLOAT32, 1, big, NULL)));
    ow_tensor *t = ow_tensor_new(OW_FLOAT32, 2, two, NULL);
    MEASURE("view + free", 1000000,
            ow_tensor_free(ow_tensor_view(t->storage, t->data, OW_FLOAT32, 2, t->sizes, t->strides)));
    MEASURE("parallel_for, serial by size", 1000000, ow_parallel_for(8192, 8192, 8192, nothing, NULL));
    MEASURE("parallel_for hot, 2 pieces", 200000, ow_parallel_for(16384, 8192, 16384, nothing, NULL));
    MEASURE("parallel_for hot, 100 pieces", 20000, ow_parallel_for(819200, 8192, 819200, nothing, NULL));
    MEASURE("parallel_for asleep, 2 pieces", 50, {
        usleep(3000);
        double start = seconds();
        ow_parallel_for(16384, 8192, 16384, nothing, NULL);
        if (seconds() - start > 1e-4) printf("    slow: %.0f us\n", (seconds() - start) * 1e6);
    });
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "alloc") == 0) test_alloc();
    else if (strcmp(what, "parallel") == 0) test_parallel();
    else if (strcmp(what, "fork") == 0) test_fork();
    else if (strcmp(what, "tensor") == 0) test_tensor();
    else if (strcmp(what, "exhaust") == 0) test_exhaust();
    else if (strcmp(what, "bench") == 0) bench();
    else if (strcmp(what, "use-after-free-small") == 0) misuse(100, 0, 50);
    else if (strcmp(what, "use-after-free-large") == 0) misuse(1 << 20, 0, 1 << 19);
    else if (strcmp(what, "overrun-small") == 0) misuse(100, 1, 100);
    else if (strcmp(what, "overrun-large") == 0) misuse(100000, 1, 100000);
    else return 2;
    return 0;
}

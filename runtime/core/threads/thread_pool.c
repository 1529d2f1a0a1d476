/* The pool of threads for loops that are worth it.
 *
 * A job is published by writing a ticket: the job's generation, and the range of pieces not yet claimed. Whoever claims a
 * piece does so with a compare-and-swap on the ticket, so a worker that comes late cannot claim from another job, and a
 * job with pieces left is the one that the fields describe. The caller works too and takes whatever nobody has claimed;
 * it waits only for pieces that a running worker holds, never for one that sleeps.
 *
 * The caller takes pieces from the front, workers from the back: each reads and writes one stretch of memory, and in the
 * next loop over the same tensors much the same one, in the other direction: what a core's own cache still holds of a
 * stretch longer than it is what was touched last.
 *
 * Waking a sleeping thread costs more than most loops take. Workers therefore spin for a while after a job, and sleeping
 * ones are woken only for a loop that is long by itself or when loops come in quick succession.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity, syscall */
#endif
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "denormals.h"
#include "isa/environment.h"
#include "tensor/tensor.h"

enum {
    MAX_WORKERS = 255,
    MAX_PIECES = 256, /* per job: enough to balance, few enough that claiming costs nothing */
    STEP_DOWN = 8,    /* pieces at a time, where a thread walks down */
    SPIN_NS = 20000,
    YIELD_NS = 1000000,
    SPIN_BATCH = 64    /* looks at the ticket between two looks at the clock */
};

#define WORK_TO_SHARE 16384.0   /* below, a loop is finished before a second thread could help */
#define WORK_TO_TURN 524288.0   /* below, caches hold what the loop touches */
#define WORK_TO_WAKE 262144.0   /* within YIELD_NS: waking a thread takes as long as a fifth of it */

static struct {
    /* Alone in its line, at which idle workers look all the time. */
    _Alignas(64) _Atomic uint64_t ticket; /* generation << 32 | end of the pieces left << 16 | first of them; contended */
    /* The job, mostly read. Relaxed: what a late worker reads of it is used only if its claim succeeds. */
    _Alignas(64) _Atomic(ow_task) task;
    _Atomic(void *) context;
    _Atomic int64_t n, length; /* of the loop and of a piece */
    _Atomic uint32_t pieces;
    _Atomic uint32_t turn;      /* where the caller's stretch ends in a job that is turned round, else 0 */
    _Atomic uint32_t share;     /* what each thread claims first in a job that caches hold: much the same pieces as in the
                                   job before, which its own cache still has; else 0 */
    _Atomic uint32_t denormals; /* what becomes of them, in the thread that called */
    _Atomic int helpers;        /* workers below this number may take part */
    /* What callers alone write. */
    _Alignas(64) _Atomic int busy; /* a job is running */
    int started;                   /* workers that exist; changed under `busy` */
    _Atomic int caller_core;       /* where the caller ran when it last rang */
    /* What workers write. */
    _Alignas(64) _Atomic uint32_t done; /* pieces that they have finished */
    _Atomic int awake;
    _Atomic uint32_t bell; /* futex: rung to wake them */
} pool;

static _Atomic int threads_wanted;

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static inline void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

#define LOAD(field) atomic_load_explicit(&pool.field, memory_order_relaxed)
#define STORE(field, value) atomic_store_explicit(&pool.field, (value), memory_order_relaxed)

/* How many of the pieces left to claim at once, where the job does not say: two thirds of a fair share, so that a thread
 * goes to the ticket, which other cores hold, a few times in a job, and the last pieces, claimed singly, even out who came
 * late or was slow. */
static inline uint32_t claim_of(uint32_t left, uint32_t sharers) { return (2 * left - 1) / (3 * sharers) + 1; }

typedef struct {
    ow_task task;
    void *context;
    int64_t n, length;
    uint32_t pieces, turn, share;
} job;

static job current_job(void) {
    return (job){LOAD(task), LOAD(context), LOAD(n), LOAD(length), LOAD(pieces), LOAD(turn), LOAD(share)};
}

/* The task for `count` pieces that follow one another in memory. */
static void run_stretch(const job *j, uint32_t piece, uint32_t count) {
    int64_t begin = piece * j->length, end = begin + count * j->length;
    j->task(j->context, begin, end < j->n ? end : j->n);
}

/* The pieces at `count` places of the order in which they are claimed, from `first` on. Turned round, the stretches
 * [0, turn) and [turn, pieces) are walked from their other ends. A thread that walks down does so a few pieces at a time:
 * fewer cost more, in streams begun anew, than the cache saves. */
static void run_pieces(const job *j, uint32_t first, uint32_t count, int is_worker) {
    uint32_t turn = j->turn, end = first + count;
    if (first < turn && turn < end) {
        run_pieces(j, first, turn - first, is_worker);
        run_pieces(j, turn, end - turn, is_worker);
        return;
    }
    uint32_t lowest = !turn ? first : first < turn ? turn - end : turn + j->pieces - end;
    int walks_down = !j->share && is_worker == !turn;
    uint32_t step = walks_down ? STEP_DOWN : count;
    for (uint32_t left = count; left;) {
        if (step > left) step = left;
        left -= step;
        run_stretch(j, lowest + left, step);
    }
}

/* Runs pieces of the job of this generation until none is left; the number of pieces run. A worker's first claim is the
 * `share`, and is taken from the back like all of its. */
static uint32_t take_pieces(uint32_t generation, int is_worker) {
    uint32_t count = 0;
    uint64_t ticket = atomic_load_explicit(&pool.ticket, memory_order_acquire);
    while ((uint32_t)(ticket >> 32) == generation) {
        uint32_t first = ticket & 0xffff, end = ticket >> 16 & 0xffff, left = end - first;
        if (!left) break;
        job j = current_job();
        uint32_t denormals = LOAD(denormals), share = is_worker && !count ? j.share : 0;
        uint32_t claim = share ? (share < left ? share : left) : claim_of(left, (uint32_t)LOAD(helpers) + 1);
        uint64_t rest = is_worker ? ticket - ((uint64_t)claim << 16) : ticket + claim;
        if (!atomic_compare_exchange_weak_explicit(&pool.ticket, &ticket, rest, memory_order_acq_rel,
                                                   memory_order_acquire))
            continue;
        ow_set_denormal_mode(denormals);
        run_pieces(&j, is_worker ? end - claim : first, claim, is_worker);
        count += claim;
        ticket = atomic_load_explicit(&pool.ticket, memory_order_acquire);
    }
    return count;
}

static void sleep_until_bell(uint32_t generation) {
    uint32_t bell = atomic_load(&pool.bell);
    atomic_fetch_sub(&pool.awake, 1);
    if ((uint32_t)(atomic_load(&pool.ticket) >> 32) == generation) /* nothing came meanwhile */
        syscall(SYS_futex, &pool.bell, FUTEX_WAIT_PRIVATE, bell, NULL, NULL, 0);
    atomic_fetch_add(&pool.awake, 1);
}

/* The scheduler often wakes a worker on the core that its caller computes on, and leaves it there for milliseconds though
 * another core is idle: the two then take turns. The caller yields once (in run_shared), so that such a worker comes to
 * ask for any other core, and then for none in particular. */
static void leave_core_of_caller(void) {
    int core = LOAD(caller_core);
    cpu_set_t allowed, others;
    if (sched_getcpu() != core || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    others = allowed;
    CPU_CLR((size_t)core, &others);
    if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
        sched_setaffinity(0, sizeof allowed, &allowed);
}

static void *worker(void *argument) {
    int self = (int)(intptr_t)argument;
    uint32_t generation = 0;
    for (;;) {
        leave_core_of_caller();
        int64_t idle_since = now();
        for (int spins = 0;; spins++) {
            uint32_t current = (uint32_t)(atomic_load_explicit(&pool.ticket, memory_order_acquire) >> 32);
            if (current != generation) {
                generation = current;
                if (self >= LOAD(helpers)) break;
                uint32_t count = take_pieces(generation, 1);
                if (count) atomic_fetch_add_explicit(&pool.done, count, memory_order_release);
                idle_since = now();
                continue;
            }
            pause_briefly();
            if (spins % SPIN_BATCH) continue;
            int64_t idle = now() - idle_since;
            if (idle > YIELD_NS) break;
            if (idle > SPIN_NS) sched_yield();
        }
        sleep_until_bell(generation);
    }
    return NULL;
}

/* Called by the owner of `busy`. A thread that cannot be created is one less. */
static void start_workers(int count) {
    if (count > MAX_WORKERS) count = MAX_WORKERS;
    if (pool.started >= count) return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* Python's signals belong to its own threads */
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    while (pool.started < count) {
        pthread_t thread;
        atomic_fetch_add(&pool.awake, 1);
        if (pthread_create(&thread, &attributes, worker, (void *)(intptr_t)pool.started) != 0) {
            atomic_fetch_sub(&pool.awake, 1);
            break;
        }
        pool.started++;
    }
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* 1 if this loop, with those that came just before, is worth waking sleeping workers. */
static int should_wake(double work) {
    static _Atomic int64_t window_start;
    static _Atomic double recent;
    int64_t t = now();
    if (t - atomic_load_explicit(&window_start, memory_order_relaxed) > YIELD_NS) {
        atomic_store_explicit(&window_start, t, memory_order_relaxed);
        atomic_store_explicit(&recent, 0, memory_order_relaxed);
    }
    /* Two callers at once may lose a sum: the next call wakes the workers then. */
    work += atomic_load_explicit(&recent, memory_order_relaxed);
    atomic_store_explicit(&recent, work, memory_order_relaxed);
    return work >= WORK_TO_WAKE;
}

/* Called by the owner of `busy`. */
static void run_shared(int64_t n, int64_t grain, double work, ow_task task, void *context, int helpers, int wake) {
    int64_t grains = (n - 1) / grain + 1;
    int64_t length = grain * ((grains - 1) / MAX_PIECES + 1);
    uint32_t pieces = (uint32_t)((n - 1) / length + 1);
    uint32_t generation = (uint32_t)(atomic_load_explicit(&pool.ticket, memory_order_relaxed) >> 32) + 1;
    uint32_t fair = pieces / (uint32_t)(helpers + 1);
    int turn_round = work >= WORK_TO_TURN && generation & 1;
    STORE(task, task);
    STORE(context, context);
    STORE(n, n);
    STORE(length, length);
    STORE(pieces, pieces);
    STORE(turn, turn_round ? fair : 0);
    STORE(denormals, ow_denormal_mode());
    STORE(helpers, helpers);
    uint32_t share = work < WORK_TO_TURN && !wake ? fair : 0;
    uint32_t own = share ? share : claim_of(pieces, (uint32_t)helpers + 1);
    STORE(share, share);
    STORE(done, 0);
    /* The caller's first pieces are claimed as the job is published, before others contend for the ticket. */
    atomic_store(&pool.ticket, (uint64_t)generation << 32 | pieces << 16 | own);
    if (wake) {
        atomic_fetch_add(&pool.bell, 1);
        syscall(SYS_futex, &pool.bell, FUTEX_WAKE_PRIVATE, pool.started, NULL, NULL, 0);
        sched_yield(); /* to a worker that wakes here: see leave_core_of_caller */
    }
    job j = current_job();
    run_pieces(&j, 0, own, 0);
    own += take_pieces(generation, 0);
    for (int spins = 0; atomic_load_explicit(&pool.done, memory_order_acquire) + own < pieces; spins++) {
        pause_briefly();
        if (spins > 4096) sched_yield(); /* the worker may have lost its core */
    }
}

static void share_out(int64_t n, int64_t grain, double work, ow_task task, void *context) {
    int helpers = ow_num_threads() - 1;
    if (n <= grain || work < WORK_TO_SHARE || helpers <= 0) {
        task(context, 0, n);
        return;
    }
    int awake = LOAD(awake), wake = awake < helpers && should_wake(work);
    if ((!awake && !wake) || atomic_exchange_explicit(&pool.busy, 1, memory_order_acquire)) {
        task(context, 0, n);
        return;
    }
    if (wake) {
        STORE(caller_core, sched_getcpu());
        start_workers(helpers);
    }
    run_shared(n, grain, work, task, context, helpers, wake);
    atomic_store_explicit(&pool.busy, 0, memory_order_release);
}

static void run_alone(int64_t n, int64_t grain, double work, ow_task task, void *context) {
    (void)grain, (void)work;
    task(context, 0, n);
}

int ow_parallel_for(int64_t n, int64_t grain, double work, ow_task task, void *context) {
    if (n <= 0) return 1;
    /* Every thread has something to do in every part. */
    if (work >= 2 * OW_PART_WORK) return ow_run_parts(n, grain, ow_num_threads(), work, task, context, share_out);
    share_out(n, grain, work, task, context);
    return 1;
}

int ow_serial_for(int64_t n, int64_t grain, double work, ow_task task, void *context) {
    if (n <= 0) return 1;
    if (work >= 2 * OW_PART_WORK) return ow_run_parts(n, grain, 1, work, task, context, run_alone);
    task(context, 0, n);
    return 1;
}

static int default_threads(void) {
    int count = ow_environment_count("OPWEAVE_NUM_THREADS");
    if (!count) count = ow_environment_count("OMP_NUM_THREADS");
    if (count) return count;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* more processors than the set has room for */
    return online > 0 ? (int)online : 1;
}

int ow_num_threads(void) { return atomic_load_explicit(&threads_wanted, memory_order_relaxed); }

void ow_set_num_threads(int n) {
    if (n < 1) n = 1;
    if (n > MAX_WORKERS + 1) n = MAX_WORKERS + 1;
    atomic_store_explicit(&threads_wanted, n, memory_order_relaxed);
}

/* The child of a fork has no workers, and nobody who could finish a job. */
static void forget_workers(void) {
    pool.started = 0;
    STORE(awake, 0);
    STORE(busy, 0);
}

__attribute__((constructor)) static void start(void) {
    ow_set_num_threads(default_threads());
    pthread_atfork(NULL, NULL, forget_workers);
}

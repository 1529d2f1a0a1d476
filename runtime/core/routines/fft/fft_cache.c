/* Plans that are kept for the next transform of their length.
 *
 * Each has its slot, from which a caller takes it for itself: there is no lock to hold across a fork, and of two threads that
 * want one plan at once the second makes another. */
#include <stdatomic.h>

#include "fft_run.h"

enum { SLOTS = 131 };                  /* a prime of which powers of two have 130 different remainders */
#define MOST_BYTES ((int64_t)64 << 20) /* of all plans that are kept */

static _Atomic(ow_fft_plan *) slots[SLOTS];
static _Atomic int64_t kept_bytes;

static int64_t bytes_of(const ow_fft_plan *plan) {
    return plan ? plan->nbytes + bytes_of(plan->columns) + bytes_of(plan->rows) + bytes_of(plan->convolution) : 0;
}

/* Takes a plan out of a slot; NULL where there is none. */
static ow_fft_plan *take(int slot) {
    if (!atomic_load_explicit(&slots[slot], memory_order_relaxed)) return NULL;
    ow_fft_plan *plan = atomic_exchange(&slots[slot], NULL);
    if (plan) atomic_fetch_sub(&kept_bytes, bytes_of(plan));
    return plan;
}

static int slot_of(int64_t n, int is_double) { return (int)((2 * n + is_double) % SLOTS); }

ow_fft_plan *ow_fft_take_plan(int64_t n, int is_double, int halves) {
    ow_fft_plan *plan = take(slot_of(n, is_double));
    if (plan && (plan->n != n || plan->is_double != is_double || plan->lanes != ow_fft_kernels_now(is_double)->lanes)) {
        ow_fft_free_plan(plan);
        plan = NULL;
    }
    if (!plan) plan = ow_fft_make_plan(n, is_double);
    if (plan && halves && !plan->halves && !ow_fft_make_halves(plan)) {
        ow_fft_free_plan(plan);
        return NULL;
    }
    return plan;
}

void ow_fft_give_back(ow_fft_plan *plan) {
    const int64_t nbytes = bytes_of(plan);
    if (nbytes > MOST_BYTES / 2) {
        ow_fft_free_plan(plan);
        return;
    }
    for (int slot = 0; slot < SLOTS && atomic_load(&kept_bytes) + nbytes > MOST_BYTES; slot++) ow_fft_free_plan(take(slot));
    atomic_fetch_add(&kept_bytes, nbytes);
    ow_fft_plan *before = atomic_exchange(&slots[slot_of(plan->n, plan->is_double)], plan);
    if (before) atomic_fetch_sub(&kept_bytes, bytes_of(before));
    ow_fft_free_plan(before);
}

/* Transforms of all signals of a tensor along one dimension, which threads share. */
#include "fft_run.h"

#include <stdatomic.h>

#include "families/driver.h"

#define MOST_IN_CACHE ((int64_t)2 << 20) /* bytes of two blocks that a core's own caches hold, about */

extern const ow_fft_kernels ow_fft_kernels_f_v1, ow_fft_kernels_d_v1;
#if OW_NLEVELS == 3
extern const ow_fft_kernels ow_fft_kernels_f_v3, ow_fft_kernels_d_v3, ow_fft_kernels_f_v4, ow_fft_kernels_d_v4;
#endif

const ow_fft_kernels *ow_fft_kernels_now(int is_double) {
#if OW_NLEVELS == 3
    if (ow_level == 2) return is_double ? &ow_fft_kernels_d_v4 : &ow_fft_kernels_f_v4;
    if (ow_level == 1) return is_double ? &ow_fft_kernels_d_v3 : &ow_fft_kernels_f_v3;
#endif
    return is_double ? &ow_fft_kernels_d_v1 : &ow_fft_kernels_f_v1;
}

/* The signals of two tensors: `count` along the first axis side by side, as many times as the others say. */
typedef struct {
    const ow_fft_kernels *kernels;
    ow_fft_job job;
    ow_fft_access in, out; /* of the first signal */
    ow_axis axes[OW_MAX_DIMS]; /* strides in bytes */
    int naxes;
    int64_t count, blocks; /* along the first axis */
    int64_t nbytes;        /* of the room for a block */
    atomic_int failed;
} signals;

/* ---- loops ---------------------------------------------------------------------------------------------------- */

static ow_fft_access moved(ow_fft_access a, int64_t nbytes) {
    a.re = (char *)a.re + nbytes;
    return a;
}

static void run_blocks(void *context, int64_t begin, int64_t end) {
    signals *s = context;
    void *work = ow_fft_room(s->nbytes);
    if (!work) {
        atomic_store(&s->failed, 1);
        return;
    }
    const int lanes = s->kernels->lanes;
    for (int64_t b = begin; b < end; b++) {
        const int64_t first = b % s->blocks * lanes, rest = s->count - first;
        int64_t out, in = ow_axes_offset(s->axes + 1, s->naxes - 1, b / s->blocks, &out);
        if (s->naxes) {
            in += first * s->axes[0].in;
            out += first * s->axes[0].out;
        }
        s->kernels->block(&s->job, moved(s->in, in), moved(s->out, out), rest < lanes ? (int)rest : lanes, work);
    }
    ow_fft_leave(work, s->nbytes);
}

static void run_singly(void *context, int64_t begin, int64_t end) {
    signals *s = context;
    for (int64_t k = begin; k < end; k++) {
        int64_t out, in = ow_axes_offset(s->axes, s->naxes, k, &out);
        if (!ow_fft_run_signal(&s->job, moved(s->in, in), moved(s->out, out))) atomic_store(&s->failed, 1);
    }
}

/* ---- the plan ------------------------------------------------------------------------------------------------- */

/* The numbers of a signal along `dim`: complex ones, pairs of real ones or real ones; counted in real numbers. */
static ow_fft_access access_to(const ow_tensor *t, int dim, int in_pairs) {
    const int64_t stride = t->strides[dim];
    if (t->dtype == OW_COMPLEX64 || t->dtype == OW_COMPLEX128) return (ow_fft_access){t->data, 2 * stride, 0, 1};
    return (ow_fft_access){t->data, in_pairs ? 2 * stride : stride, 0, in_pairs ? stride : OW_FFT_NO_PARTS};
}

static ow_fft_access swapped(ow_fft_access a, int64_t size) {
    if (a.im == OW_FFT_NO_PARTS) return a;
    return (ow_fft_access){(char *)a.re + a.im * size, a.step, a.line, -a.im};
}

/* The axis whose signals are a block's: the one along which memory is read fastest, unless it leaves lanes without work. */
static void choose_axis(signals *s) {
    int best = 0;
    for (int d = 1; d < s->naxes; d++)
        if (s->axes[best].size < s->kernels->lanes && s->axes[d].size > s->axes[best].size) best = d;
    if (!best) return;
    const ow_axis first = s->axes[best];
    s->axes[best] = s->axes[0];
    s->axes[0] = first;
}

/* Few signals, and long ones, are transformed one by one, if the plan divides them. */
static int goes_singly(const signals *s, int64_t nsignals) {
    const int64_t lanes = s->kernels->lanes;
    return ow_fft_divides(s->job.plan) && (2 * nsignals < lanes || s->nbytes > MOST_IN_CACHE);
}

static int run(signals *s, int64_t nsignals) {
    const double work = (double)nsignals * (double)(s->job.n + 8) * 8;
    const int done = goes_singly(s, nsignals) ? ow_long_for(nsignals, 1, work, run_singly, s)
                                              : ow_long_for(nsignals / s->count * s->blocks, 1, work, run_blocks, s);
    if (s->failed) ow_fail(OW_OUT_OF_MEMORY, "no memory for transforms of %lld elements", (long long)s->job.n);
    return done && !s->failed;
}

int ow_fft_run(const ow_tensor *in, ow_tensor *out, int dim, ow_fft_kind kind, int inverse, double scale) {
    const int is_double = out->dtype == OW_COMPLEX128 || out->dtype == OW_FLOAT64;
    const int64_t n = kind == OW_FFT_HERMITIAN ? out->sizes[dim] : in->sizes[dim], size = is_double ? 8 : 4;
    const int in_pairs = kind != OW_FFT_COMPLEX && n % 2 == 0;
    if (!in->numel || !out->numel) return 1;
    ow_fft_plan *plan = ow_fft_take_plan(in_pairs ? n / 2 : n, is_double, in_pairs);
    if (!plan) return 0;
    signals s = {.kernels = ow_fft_kernels_now(is_double), .count = 1};
    int64_t length = ow_fft_block_length(plan);
    if (length < n + 1) length = n + 1; /* of real numbers with all of their spectrum */
    s.job = (ow_fft_job){.kind = kind, .n = n, .plan = plan, .length = length, .scale = scale};
    s.nbytes = s.kernels->bytes_of_block(length);
    s.in = access_to(in, dim, in_pairs);
    s.out = access_to(out, dim, in_pairs);
    if (inverse || kind == OW_FFT_HERMITIAN) {
        if (inverse) s.in = swapped(s.in, size);
        s.out = swapped(s.out, size);
    }
    int64_t nsignals = 1;
    for (int d = 0; d < in->ndim; d++) {
        if (d == dim) continue;
        const int64_t in_item = ow_itemsize(in->dtype), out_item = ow_itemsize(out->dtype);
        s.axes[s.naxes++] = (ow_axis){in->sizes[d], in->strides[d] * in_item, out->strides[d] * out_item};
        nsignals *= in->sizes[d];
    }
    s.naxes = ow_axes_arrange(s.axes, s.naxes);
    choose_axis(&s);
    if (s.naxes) {
        s.count = s.axes[0].size;
        s.in.line = s.axes[0].in / size;
        s.out.line = s.axes[0].out / size;
    }
    s.blocks = (s.count + s.kernels->lanes - 1) / s.kernels->lanes;
    const int done = run(&s, nsignals);
    ow_fft_give_back(plan);
    return done;
}

/* Transforms of single signals, which threads share. */
#include <stdatomic.h>
#include <string.h>

#include "fft_run.h"

#define ALIGNMENT 64

void *ow_fft_room(int64_t nbytes) {
    char *memory = ow_alloc(nbytes + 2 * ALIGNMENT);
    if (!memory) return NULL;
    char *room = (char *)(((uintptr_t)memory + 2 * ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
    ((char **)room)[-1] = memory;
    return room;
}

void ow_fft_leave(void *room, int64_t nbytes) {
    if (room) ow_dealloc(((char **)room)[-1], nbytes + 2 * ALIGNMENT);
}

/* Real numbers of a signal's length in two planes, one for each part. */
typedef struct {
    void *room;
    int64_t nbytes;
    ow_fft_access all, swapped;
} planes;

static int planes_begin(planes *p, int64_t n, const ow_fft_plan *plan) {
    const int64_t size = plan->is_double ? sizeof(double) : sizeof(float);
    p->nbytes = 2 * n * size + ALIGNMENT; /* loops read whole vectors */
    p->room = ow_fft_room(p->nbytes);
    p->all = (ow_fft_access){p->room, 1, 0, n};
    p->swapped = (ow_fft_access){(char *)p->room + n * size, 1, 0, -n};
    return p->room != NULL;
}

static void planes_end(planes *p) { ow_fft_leave(p->room, p->nbytes); }

/* ---- by a matrix ---------------------------------------------------------------------------------------------- */

typedef struct {
    const ow_fft_kernels *kernels;
    const ow_fft_plan *plan;
    ow_fft_access in, out;
    void *planes;
    double scale;
    int64_t nbytes; /* of the room that a piece needs */
    atomic_int failed;
} matrix;

static void transform_groups(matrix *m, int are_rows, int64_t begin, int64_t end) {
    void *work = ow_fft_room(m->nbytes);
    if (!work) atomic_store(&m->failed, 1);
    else if (are_rows) m->kernels->rows(m->plan, m->planes, m->out, m->scale, begin, end, work);
    else m->kernels->columns(m->plan, m->in, m->planes, begin, end, work);
    ow_fft_leave(work, m->nbytes);
}

static void transform_columns(void *context, int64_t begin, int64_t end) { transform_groups(context, 0, begin, end); }

static void transform_rows(void *context, int64_t begin, int64_t end) { transform_groups(context, 1, begin, end); }

static int64_t groups_of(int64_t n, int lanes) { return n < lanes ? 1 : n / lanes; }

static int run_matrix(const ow_fft_plan *plan, ow_fft_access in, ow_fft_access out, double scale) {
    const ow_fft_kernels *kernels = ow_fft_kernels_now(plan->is_double);
    const int64_t n1 = plan->columns->n, n2 = plan->rows->n, pitch = kernels->pitch(n2);
    planes between;
    if (!planes_begin(&between, n1 * pitch, plan)) return 0;
    matrix m = {.kernels = kernels, .plan = plan, .in = in, .out = out, .planes = between.room, .scale = scale,
                .nbytes = kernels->bytes_of_block(n1 > pitch ? n1 : pitch)};
    const double work = (double)plan->n * 8;
    int done = ow_parallel_for(groups_of(n2, kernels->lanes), 1, work, transform_columns, &m) && !m.failed &&
               ow_parallel_for(groups_of(n1, kernels->lanes), 1, work, transform_rows, &m) && !m.failed;
    planes_end(&between);
    return done;
}

/* ---- by a convolution ----------------------------------------------------------------------------------------- */

/* As a block is transformed (levels/fft_block.h). */
static int run_convolution(const ow_fft_plan *plan, ow_fft_access in, ow_fft_access out, double scale) {
    const ow_fft_kernels *kernels = ow_fft_kernels_now(plan->is_double);
    const ow_fft_plan *inner = plan->convolution;
    const int64_t n = plan->n, m = inner->n, size = plan->is_double ? sizeof(double) : sizeof(float);
    planes a = {0}, b = {0};
    int done = planes_begin(&a, m, plan) && planes_begin(&b, m, plan);
    if (done) {
        kernels->multiply(in, plan->chirp, a.all, n, 1);
        for (int part = 0; part < 2; part++) memset((char *)a.room + (part * m + n) * size, 0, (size_t)((m - n) * size));
        done = run_matrix(inner, a.all, b.all, 1);
    }
    if (done) {
        kernels->multiply(b.all, plan->spectrum, a.swapped, m, 1);
        done = run_matrix(inner, a.all, b.all, 1);
    }
    if (done) kernels->multiply(b.swapped, plan->chirp, out, n, scale);
    planes_end(&a);
    planes_end(&b);
    return done;
}

static int run_complex(const ow_fft_plan *plan, ow_fft_access in, ow_fft_access out, double scale) {
    return (plan->convolution ? run_convolution : run_matrix)(plan, in, out, scale);
}

/* ---- real signals --------------------------------------------------------------------------------------------- */

static int run_real(const ow_fft_job *job, ow_fft_access in, ow_fft_access out) {
    const ow_fft_kernels *kernels = ow_fft_kernels_now(job->plan->is_double);
    planes spectrum;
    if (!planes_begin(&spectrum, job->plan->n, job->plan)) return 0;
    const int done = run_complex(job->plan, in, spectrum.all, 1);
    if (done && job->n % 2 == 0) kernels->to_halves(job->plan, spectrum.all, out, job->scale);
    else if (done) kernels->copy(spectrum.all, out, job->n / 2 + 1, job->scale);
    if (done && job->kind == OW_FFT_REAL_WHOLE) kernels->mirror(out, job->n);
    planes_end(&spectrum);
    return done;
}

/* The inverse, as parts are swapped before and after. */
static int run_hermitian(const ow_fft_job *job, ow_fft_access in, ow_fft_access out) {
    const ow_fft_kernels *kernels = ow_fft_kernels_now(job->plan->is_double);
    const int64_t n = job->n;
    planes spectrum, numbers;
    if (!planes_begin(&spectrum, job->plan->n, job->plan)) return 0;
    if (n % 2 == 0) {
        kernels->from_halves(job->plan, in, spectrum.swapped);
        const int done = run_complex(job->plan, spectrum.all, out, job->scale);
        planes_end(&spectrum);
        return done;
    }
    int done = planes_begin(&numbers, n, job->plan);
    if (done) {
        kernels->copy(in, spectrum.all, n / 2 + 1, 1);
        memset(spectrum.swapped.re, 0, job->plan->is_double ? sizeof(double) : sizeof(float)); /* the first one is real */
        kernels->mirror(spectrum.all, n);
        done = run_complex(job->plan, spectrum.swapped, numbers.swapped, 1);
        numbers.all.im = OW_FFT_NO_PARTS;
        if (done) kernels->copy(numbers.all, out, n, job->scale);
        planes_end(&numbers);
    }
    planes_end(&spectrum);
    return done;
}

int ow_fft_run_signal(const ow_fft_job *job, ow_fft_access in, ow_fft_access out) {
    if (job->kind == OW_FFT_COMPLEX) return run_complex(job->plan, in, out, job->scale);
    return job->kind == OW_FFT_HERMITIAN ? run_hermitian(job, in, out) : run_real(job, in, out);
}

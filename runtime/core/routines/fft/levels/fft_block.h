/* Transforms of a block of signals, a lane of a vector for each. Included by fft_kernels.c for each dtype.
 *
 * Element k of a block is the vectors x[2 k], its real parts, and x[2 k + 1], its imaginary ones. */

typedef real NAME(unaligned) __attribute__((vector_size(OW_VECTOR_BYTES), aligned(sizeof(real)), may_alias));
#define LOAD(p) ((vector) * (const NAME(unaligned) *)(p))
#define STORE(p, x) (*(NAME(unaligned) *)(p) = (NAME(unaligned))(x))

/* The signals beyond `count` are copies of the last one: they are computed, and not written. */
static inline const real *NAME(signal)(const ow_fft_access *a, int lane, int count) {
    return (const real *)a->re + (lane < count ? lane : count - 1) * a->line;
}

/* ---- between memory and blocks -------------------------------------------------------------------------------- */

/* One element of each signal, wherever they are. Accesses have addresses here: the copy that a call would be given is read in
 * another width than it is written, which waits for everything that was written before. */
static void NAME(gather)(vector *x, const ow_fft_access *in, int64_t k, int count) {
    real re[LANES], im[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        const real *from = NAME(signal)(in, lane, count) + k * in->step;
        re[lane] = from[0];
        im[lane] = in->im != OW_FFT_NO_PARTS ? from[in->im] : 0;
    }
    x[0] = LOAD(re);
    x[1] = LOAD(im);
}

static void NAME(scatter)(const vector *x, const ow_fft_access *out, int64_t k, int count, real scale) {
    real re[LANES], im[LANES];
    STORE(re, x[0] * scale);
    STORE(im, x[1] * scale);
    for (int lane = 0; lane < count; lane++) {
        real *to = (real *)out->re + lane * out->line + k * out->step;
        to[0] = re[lane];
        if (out->im != OW_FFT_NO_PARTS) to[out->im] = im[lane];
    }
}

/* LANES elements, one after the other in the memory of each signal. */
static void NAME(gather_rows)(vector *x, const ow_fft_access *in, int64_t k, int count) {
    vector re[LANES], im[LANES];
    const int first_is_real = in->im != -1;
    for (int lane = 0; lane < LANES; lane++) {
        const real *from = NAME(signal)(in, lane, count) + k * in->step + (first_is_real ? 0 : -1);
        if (in->step == 1) {
            re[lane] = LOAD(from);
            continue;
        }
        const vector a = LOAD(from), b = LOAD(from + LANES);
        re[lane] = NAME(evens)(a, b);
        im[lane] = NAME(odds)(a, b);
    }
    NAME(transpose)(re);
    if (in->step == 2) NAME(transpose)(im);
    for (int i = 0; i < LANES; i++) {
        x[2 * i + !first_is_real] = re[i];
        x[2 * i + first_is_real] = in->step == 2 ? im[i] : (vector){0};
    }
}

static void NAME(scatter_rows)(const vector *x, const ow_fft_access *out, int64_t k, int count, real scale) {
    vector re[LANES], im[LANES];
    const int first_is_real = out->im != -1;
    for (int i = 0; i < LANES; i++) {
        re[i] = x[2 * i + !first_is_real] * scale;
        im[i] = x[2 * i + first_is_real] * scale;
    }
    NAME(transpose)(re);
    if (out->step == 2) NAME(transpose)(im);
    for (int lane = 0; lane < count; lane++) {
        real *to = (real *)out->re + lane * out->line + k * out->step + (first_is_real ? 0 : -1);
        if (out->step == 1) {
            STORE(to, re[lane]);
            continue;
        }
        STORE(to, NAME(zip_low)(re[lane], im[lane]));
        STORE(to + LANES, NAME(zip_high)(re[lane], im[lane]));
    }
}

/* Are the elements of a signal side by side in memory, as complex numbers or as real ones? */
static inline int NAME(has_rows)(ow_fft_access a) {
    return (a.step == 2 && (a.im == 1 || a.im == -1)) || (a.step == 1 && a.im == OW_FFT_NO_PARTS);
}

static void NAME(load)(vector *x, ow_fft_access in, int64_t n, int count) {
    int64_t k = 0;
    if (count == LANES && in.line == 1) /* of each element the real parts, and the imaginary ones, are side by side */
        for (; k < n; k++) {
            const real *from = (const real *)in.re + k * in.step;
            x[2 * k] = LOAD(from);
            x[2 * k + 1] = in.im != OW_FFT_NO_PARTS ? LOAD(from + in.im) : (vector){0};
        }
    else if (count == LANES && in.line == 2 && (in.im == 1 || in.im == -1)) /* complex numbers are */
        for (; k < n; k++) {
            const real *from = (const real *)in.re + k * in.step + (in.im < 0 ? -1 : 0);
            const vector a = LOAD(from), b = LOAD(from + LANES);
            x[2 * k + (in.im < 0)] = NAME(evens)(a, b);
            x[2 * k + (in.im > 0)] = NAME(odds)(a, b);
        }
    else if (n >= LANES && NAME(has_rows)(in))
        for (; k < n; k += LANES) {
            const int64_t first = k + LANES <= n ? k : n - LANES; /* the last ones once more */
            NAME(gather_rows)(x + 2 * first, &in, first, count);
        }
    for (; k < n; k++) NAME(gather)(x + 2 * k, &in, k, count);
}

static void NAME(store)(const vector *x, ow_fft_access out, int64_t n, int count, real scale) {
    int64_t k = 0;
    if (count == LANES && out.line == 1)
        for (; k < n; k++) {
            real *to = (real *)out.re + k * out.step;
            STORE(to, x[2 * k] * scale);
            if (out.im != OW_FFT_NO_PARTS) STORE(to + out.im, x[2 * k + 1] * scale);
        }
    else if (count == LANES && out.line == 2 && (out.im == 1 || out.im == -1))
        for (; k < n; k++) {
            real *to = (real *)out.re + k * out.step + (out.im < 0 ? -1 : 0);
            const vector a = x[2 * k + (out.im < 0)] * scale, b = x[2 * k + (out.im > 0)] * scale;
            STORE(to, NAME(zip_low)(a, b));
            STORE(to + LANES, NAME(zip_high)(a, b));
        }
    else if (n >= LANES && NAME(has_rows)(out))
        for (; k < n; k += LANES) {
            const int64_t first = k + LANES <= n ? k : n - LANES; /* the last ones once more */
            NAME(scatter_rows)(x + 2 * first, &out, first, count, scale);
        }
    for (; k < n; k++) NAME(scatter)(x + 2 * k, &out, k, count, scale);
}

/* ---- transforms ----------------------------------------------------------------------------------------------- */

/* Transforms x by passes to and fro between x and y; returns where the result is. */
static vector *NAME(run_passes)(const ow_fft_plan *plan, vector *x, vector *y) {
    int64_t s = 1, rest = plan->n;
    for (int i = 0; i < plan->npasses; i++) {
        const int radix = plan->radices[i];
        rest /= radix;
        NAME(passes)[rest == 1][radix](rest, s, x, y, plan->roots[i]);
        vector *const result = y;
        y = x;
        x = result;
        s *= radix;
    }
    return x;
}

/* y = x times table, with the parts of x and of y swapped where that is said. */
static inline void NAME(multiply_block)(vector *y, const vector *x, const real *table, int64_t n, int x_swapped,
                                        int y_swapped) {
    for (int64_t k = 0; k < n; k++) {
        const vector re = x[2 * k + x_swapped], im = x[2 * k + !x_swapped];
        y[2 * k + y_swapped] = re * table[2 * k] - im * table[2 * k + 1];
        y[2 * k + !y_swapped] = re * table[2 * k + 1] + im * table[2 * k];
    }
}

/* Of the other lengths: element k is w(k² / 2n) times the convolution of x[j] w(j² / 2n) with the conjugate of w(j² / 2n), by
 * two transforms, the second of which is the inverse as parts are swapped before and after it. */
static vector *NAME(transform)(const ow_fft_plan *plan, vector *x, vector *y) {
    if (ow_fft_has_passes(plan)) return NAME(run_passes)(plan, x, y);
    const ow_fft_plan *inner = plan->convolution;
    const int64_t n = plan->n, m = inner->n;
    NAME(multiply_block)(x, x, plan->chirp, n, 0, 0);
    memset(x + 2 * n, 0, (size_t)(m - n) * 2 * sizeof(vector));
    vector *z = NAME(run_passes)(inner, x, y);
    NAME(multiply_block)(z, z, plan->spectrum, m, 0, 1);
    z = NAME(run_passes)(inner, z, z == x ? y : x);
    NAME(multiply_block)(z, z, plan->chirp, n, 1, 0);
    return z;
}

/* ---- real signals --------------------------------------------------------------------------------------------- */

/* Of the transform of n pairs of real numbers the elements a = z[k] and b = z[n - k]: y is element k of the transform of all
 * 2 n numbers. Half the sum of a and the conjugate of b belongs to the even ones, half their difference to the odd ones.
 * w(k / 2n) is re + i im, as a vector or a number. */
#define WHOLE_FROM_PAIRS(y, a, b, re, im) \
    do { \
        const vector even_re = (a)[0] + (b)[0], even_im = (a)[1] - (b)[1]; \
        const vector odd_re = (a)[1] + (b)[1], odd_im = (b)[0] - (a)[0]; \
        (y)[0] = (even_re + (odd_re * (re) - odd_im * (im))) * (real)0.5; \
        (y)[1] = (even_im + (odd_re * (im) + odd_im * (re))) * (real)0.5; \
    } while (0)

/* The way back, but for a factor of 2. */
#define PAIRS_FROM_WHOLE(z_re, z_im, a, b, re, im) \
    do { \
        const vector even_re = (a)[0] + (b)[0], even_im = (a)[1] - (b)[1]; \
        const vector turned_re = (a)[0] - (b)[0], turned_im = (a)[1] + (b)[1]; \
        z_re = even_re - (turned_im * (re) - turned_re * (im)); \
        z_im = even_im + (turned_re * (re) + turned_im * (im)); \
    } while (0)

static void NAME(to_halves_block)(const ow_fft_plan *plan, const vector *z, vector *y) {
    const int64_t n = plan->n;
    const real *re = plan->halves, *im = re + n + 1;
    for (int64_t k = 0; k <= n; k++) {
        const vector *a = z + 2 * (k < n ? k : 0), *b = z + 2 * (k ? n - k : 0);
        WHOLE_FROM_PAIRS(y + 2 * k, a, b, re[k], im[k]);
    }
}

/* With the parts of z swapped, for an inverse transform. The first and the last element of x are real: imaginary parts that
 * they have are left out. */
static void NAME(from_halves_block)(const ow_fft_plan *plan, const vector *x, vector *z) {
    const int64_t n = plan->n;
    const real *re = plan->halves, *im = re + n + 1;
    z[1] = x[0] + x[2 * n];
    z[0] = x[0] - x[2 * n];
    for (int64_t k = 1; k < n; k++) PAIRS_FROM_WHOLE(z[2 * k + 1], z[2 * k], x + 2 * k, x + 2 * (n - k), re[k], im[k]);
}

/* Elements n / 2 < k < n of a spectrum of n real numbers, as conjugates of the others. */
static void NAME(mirror_block)(vector *x, int64_t n) {
    for (int64_t k = n / 2 + 1; k < n; k++) {
        x[2 * k] = x[2 * (n - k)];
        x[2 * k + 1] = -x[2 * (n - k) + 1];
    }
}

/* The conjugate of a spectrum of n real numbers, of which there is one half: the transform of it has their real parts. */
static void NAME(conjugate_whole)(vector *x, int64_t n) {
    x[1] = (vector){0};
    for (int64_t k = 1; k < n / 2 + 1; k++) {
        x[2 * (n - k)] = x[2 * k];
        x[2 * (n - k) + 1] = x[2 * k + 1];
        x[2 * k + 1] = -x[2 * k + 1];
    }
}

/* ---- signals to transforms ------------------------------------------------------------------------------------ */

static vector *NAME(complex_block)(const ow_fft_job *job, ow_fft_access in, int count, vector *x, vector *y) {
    NAME(load)(x, in, job->n, count);
    return NAME(transform)(job->plan, x, y);
}

static vector *NAME(real_block)(const ow_fft_job *job, ow_fft_access in, int count, vector *x, vector *y) {
    NAME(load)(x, in, job->plan->n, count);
    vector *z = NAME(transform)(job->plan, x, y);
    if (job->n % 2) return z;
    vector *other = z == x ? y : x;
    NAME(to_halves_block)(job->plan, z, other);
    return other;
}

static vector *NAME(hermitian_block)(const ow_fft_job *job, ow_fft_access in, int count, vector *x, vector *y) {
    NAME(load)(x, in, job->n / 2 + 1, count);
    if (job->n % 2) {
        NAME(conjugate_whole)(x, job->n);
        return NAME(transform)(job->plan, x, y);
    }
    NAME(from_halves_block)(job->plan, x, y);
    return NAME(transform)(job->plan, y, x);
}

static void NAME(block)(const ow_fft_job *job, ow_fft_access in, ow_fft_access out, int count, void *work) {
    vector *x = work, *y = x + 2 * job->length, *z;
    const int64_t n = job->n;
    switch (job->kind) {
        case OW_FFT_COMPLEX:
            z = NAME(complex_block)(job, in, count, x, y);
            NAME(store)(z, out, n, count, (real)job->scale);
            break;
        case OW_FFT_REAL:
            z = NAME(real_block)(job, in, count, x, y);
            NAME(store)(z, out, n / 2 + 1, count, (real)job->scale);
            break;
        case OW_FFT_REAL_WHOLE:
            z = NAME(real_block)(job, in, count, x, y);
            if (n % 2 == 0) NAME(mirror_block)(z, n);
            NAME(store)(z, out, n, count, (real)job->scale);
            break;
        case OW_FFT_HERMITIAN:
            z = NAME(hermitian_block)(job, in, count, x, y);
            NAME(store)(z, out, job->plan->n, count, (real)job->scale);
    }
}

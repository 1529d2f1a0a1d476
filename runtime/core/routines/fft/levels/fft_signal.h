/* Transforms of one signal, whose consecutive elements take the lanes of a vector. Included by fft_kernels.c for each dtype. */

/* Signal elements from k on as signals side by side. */
static inline ow_fft_access NAME(from)(ow_fft_access a, int64_t k, int64_t step) {
    return (ow_fft_access){(real *)a.re + k * a.step, step, a.step, a.im};
}

static inline int NAME(lanes_of)(int64_t rest) { return rest < LANES ? (int)rest : LANES; }

/* How many blocks the first groups have. */
static inline int64_t NAME(blocks)(int64_t groups, int64_t n) { return groups < n / LANES ? groups : (n + LANES - 1) / LANES; }

static int64_t NAME(pitch)(int64_t n2) { return (n2 + LANES - 1) / LANES * LANES; }

static void NAME(columns)(const ow_fft_plan *plan, ow_fft_access in, void *planes, int64_t begin, int64_t end, void *work) {
    const int64_t n1 = plan->columns->n, n2 = plan->rows->n, pitch = NAME(pitch)(n2), length = n1 > pitch ? n1 : pitch;
    const vector *lane_turns = plan->lane_turns;
    real *re = planes, *im = re + n1 * pitch;
    vector *x = work, *y = x + 2 * length;
    for (int64_t b = begin, last = NAME(blocks)(end, n2); b < last; b++) {
        const int64_t column = ow_fft_start_of_block(b, n2, LANES);
        const int count = NAME(lanes_of)(n2 - column);
        NAME(load)(x, NAME(from)(in, column, in.step * n2), n1, count);
        const vector *z = NAME(run_passes)(plan->columns, x, y);
        const real *block_turns = (const real *)plan->block_turns + 2 * b * n1;
        for (int64_t k = 0; k < n1; k++) {
            const real block_re = block_turns[2 * k], block_im = block_turns[2 * k + 1];
            const vector lane_re = LOAD(lane_turns + 2 * k), lane_im = LOAD(lane_turns + 2 * k + 1);
            const vector turn_re = lane_re * block_re - lane_im * block_im, turn_im = lane_re * block_im + lane_im * block_re;
            STORE(re + k * pitch + column, z[2 * k] * turn_re - z[2 * k + 1] * turn_im);
            STORE(im + k * pitch + column, z[2 * k] * turn_im + z[2 * k + 1] * turn_re);
        }
    }
}

static void NAME(rows)(const ow_fft_plan *plan, const void *planes, ow_fft_access out, double scale, int64_t begin,
                       int64_t end, void *work) {
    const int64_t n1 = plan->columns->n, n2 = plan->rows->n, pitch = NAME(pitch)(n2), length = n1 > pitch ? n1 : pitch;
    const real *re = planes, *im = re + n1 * pitch;
    vector *x = work, *y = x + 2 * length;
    for (int64_t b = begin, last = NAME(blocks)(end, n1); b < last; b++) {
        const int64_t row = ow_fft_start_of_block(b, n1, LANES);
        const int count = NAME(lanes_of)(n1 - row);
        for (int64_t k = 0; k < n2; k += LANES) {
            vector part_re[LANES], part_im[LANES];
            for (int lane = 0; lane < LANES; lane++) {
                const int64_t at = (row + (lane < count ? lane : 0)) * pitch + k;
                part_re[lane] = LOAD(re + at);
                part_im[lane] = LOAD(im + at);
            }
            NAME(transpose)(part_re);
            NAME(transpose)(part_im);
            for (int i = 0; i < LANES; i++) {
                x[2 * (k + i)] = part_re[i];
                x[2 * (k + i) + 1] = part_im[i];
            }
        }
        const vector *z = NAME(run_passes)(plan->rows, x, y);
        NAME(store)(z, NAME(from)(out, row, out.step * n1), n2, count, (real)scale);
    }
}

/* ---- before and after ----------------------------------------------------------------------------------------- */

static void NAME(copy)(ow_fft_access in, ow_fft_access out, int64_t count, double scale) {
    for (int64_t k = 0; k < count; k += LANES) {
        const int lanes = NAME(lanes_of)(count - k);
        vector x[2];
        NAME(load)(x, NAME(from)(in, k, 0), 1, lanes);
        NAME(store)(x, NAME(from)(out, k, 0), 1, lanes, (real)scale);
    }
}

static void NAME(multiply)(ow_fft_access in, const void *table, ow_fft_access out, int64_t count, double scale) {
    const ow_fft_access factors = {(void *)table, 2, 2, 1};
    for (int64_t k = 0; k < count; k += LANES) {
        const int lanes = NAME(lanes_of)(count - k);
        vector x[2], w[2], y[2];
        NAME(load)(x, NAME(from)(in, k, 0), 1, lanes);
        NAME(load)(w, NAME(from)(factors, k, 0), 1, lanes);
        y[0] = x[0] * w[0] - x[1] * w[1];
        y[1] = x[0] * w[1] + x[1] * w[0];
        NAME(store)(y, NAME(from)(out, k, 0), 1, lanes, (real)scale);
    }
}

static void NAME(mirror)(ow_fft_access x, int64_t n) {
    for (int64_t k = n / 2 + 1; k < n; k++) {
        const real *from = (const real *)x.re + (n - k) * x.step;
        real *to = (real *)x.re + k * x.step;
        to[0] = from[0];
        to[x.im] = -from[x.im];
    }
}

/* Elements k, k + 1, … and n - k, n - k - 1, …; and where the last such block of those between 0 and n begins. */
static inline void NAME(load_both)(vector *a, vector *b, ow_fft_access in, int64_t k, int64_t n) {
    NAME(load)(a, NAME(from)(in, k, 0), 1, LANES);
    NAME(load)(b, NAME(from)(in, n - k - LANES + 1, 0), 1, LANES);
    b[0] = NAME(reversed)(b[0]);
    b[1] = NAME(reversed)(b[1]);
}
static inline int64_t NAME(start_between)(int64_t k, int64_t n) { return k + LANES <= n ? k : n - LANES; }

static void NAME(to_halves)(const ow_fft_plan *plan, ow_fft_access in, ow_fft_access out, double scale) {
    const int64_t n = plan->n;
    const real *re = plan->halves, *im = re + n + 1;
    const real first_re = ((const real *)in.re)[0], first_im = ((const real *)in.re)[in.im];
    for (int64_t at = 1; at < n; at += LANES) {
        const int64_t k = NAME(start_between)(at, n);
        vector a[2], b[2], y[2];
        NAME(load_both)(a, b, in, k, n);
        WHOLE_FROM_PAIRS(y, a, b, LOAD(re + k), LOAD(im + k));
        NAME(store)(y, NAME(from)(out, k, 0), 1, LANES, (real)scale);
    }
    real *to = out.re, *to_last = to + n * out.step;
    to[0] = (first_re + first_im) * (real)scale;
    to_last[0] = (first_re - first_im) * (real)scale;
    to[out.im] = to_last[out.im] = 0;
}

static void NAME(from_halves)(const ow_fft_plan *plan, ow_fft_access in, ow_fft_access out) {
    const int64_t n = plan->n;
    const real *re = plan->halves, *im = re + n + 1;
    for (int64_t at = 1; at < n; at += LANES) {
        const int64_t k = NAME(start_between)(at, n);
        vector a[2], b[2], z[2];
        NAME(load_both)(a, b, in, k, n);
        PAIRS_FROM_WHOLE(z[0], z[1], a, b, LOAD(re + k), LOAD(im + k));
        NAME(store)(z, NAME(from)(out, k, 0), 1, LANES, 1);
    }
    const real first = ((const real *)in.re)[0], last = ((const real *)in.re)[n * in.step];
    real *to = out.re;
    to[0] = first + last;
    to[out.im] = first - last;
}

/* Continuous distributions. All but uniform and normal compute every element in double, from a double uniform or
 * normal number; every product that is added to something is one fma. */
#include <float.h>
#include <math.h>

#include "random.h"

static int refuse(const char *format, double value) {
    ow_fail(OW_RUNTIME_ERROR, format, value);
    return 0;
}

/* ---- uniform -------------------------------------------------------------------------------------------------- */

static double largest(int dtype) { return ow_dtype_precisions[dtype] ? ow_dtype_ends[dtype][1] : DBL_MAX; }

static int prepare_uniform(ow_random_call *f) {
    double from = f->numbers[0], to = f->numbers[1], limit = largest(f->target->dtype);
    const char *name = ow_type_names[f->target->dtype], *end = NULL;
    if (!(from >= -limit && from <= limit)) end = "from";
    else if (!(to >= -limit && to <= limit)) end = "to";
    if (end) {
        ow_fail(OW_RUNTIME_ERROR, "%s is out of bounds for %s", end, name);
        return 0;
    }
    if (from > to) {
        ow_fail(OW_RUNTIME_ERROR, "uniform_ expects to return a [from, to) range, but found from=%g > to=%g", from, to);
        return 0;
    }
    if (to - from > limit) {
        ow_fail(OW_RUNTIME_ERROR,
                "uniform_ expects to-from <= std::numeric_limits<%s>::max(), but found to=%g and from=%g which result in "
                "to-from to exceed the limit",
                ow_dtype_scalar_names[f->target->dtype], to, from);
        return 0;
    }
    return 1;
}

/* The value in the target's dtype, a half format. */
static float rounded(int dtype, float value) {
    uint16_t half;
    ow_cast_loop(dtype, OW_FLOAT32)((char *)&half, 2, (const char *)&value, 4, 1);
    ow_cast_loop(OW_FLOAT32, dtype)((char *)&value, 4, (const char *)&half, 2, 1);
    return value;
}

static void generate_uniform(ow_random_call *f, char *out, int64_t n) {
    int dtype = f->target->dtype;
    if (dtype == OW_FLOAT64) {
        ow_draw_doubles(f->generator, (double *)out, n, f->numbers[0], f->numbers[1]);
        return;
    }
    float *values = (float *)out, from = (float)f->numbers[0], to = (float)f->numbers[1];
    ow_draw_floats(f->generator, values, n, from, to);
    if (dtype == OW_FLOAT32) return;
    float end = rounded(dtype, to);
    for (int64_t k = 0; k < n; k++)
        if (rounded(dtype, values[k]) == end) values[k] = from;
}

const ow_distribution ow_distribution_uniform = {
    .kernel = "check_uniform_bounds", .compute = OW_PROMOTED, .prepare = prepare_uniform, .generate = generate_uniform,
    .part_divisor = 1};

/* ---- normal --------------------------------------------------------------------------------------------------- */

enum { PAIRS = 8, NORMAL_BLOCK = 2 * PAIRS }; /* Box-Muller works on blocks: 8 radii, then 8 angles */

static int prepare_normal(ow_random_call *f) {
    if (f->numbers[1] >= 0) return 1;
    return refuse("normal expects std >= 0.0, but found std %g", f->numbers[1]);
}

typedef struct {
    char *data;
    int dtype;
    double mean, std;
} normal_blocks;

static void box_muller_doubles(double *x, int64_t blocks, double mean, double std) {
    for (; blocks > 0; blocks--, x += NORMAL_BLOCK)
        for (int j = 0; j < PAIRS; j++) {
            double radius = sqrt(-2 * log(1 - x[j])), angle = 2 * M_PI * x[j + PAIRS];
            x[j] = fma(radius * cos(angle), std, mean);
            x[j + PAIRS] = fma(radius * sin(angle), std, mean);
        }
}

static void transform(void *context, int64_t begin, int64_t end) {
    const normal_blocks *b = context;
    if (b->dtype == OW_FLOAT64)
        box_muller_doubles((double *)b->data + begin * NORMAL_BLOCK, end - begin, b->mean, b->std);
    else
        ow_random_kernels_now()->box_muller((float *)b->data + begin * NORMAL_BLOCK, end - begin, (float)b->mean,
                                            (float)b->std);
}

/* Uniform numbers one after the other, then their transformation, which threads share. */
static void draw_blocks(const ow_random_call *f, char *data, int dtype, int64_t n) {
    if (dtype == OW_FLOAT64) ow_draw_doubles(f->generator, (double *)data, n, 0, 1);
    else ow_draw_floats(f->generator, (float *)data, n, 0, 1);
    normal_blocks b = {data, dtype, f->numbers[0], f->numbers[1]};
    ow_parallel_for(n / NORMAL_BLOCK, 64, (double)n * f->op->cost, transform, &b);
}

/* Elements behind the last full block: one block more over the last 16 elements, from draws of its own. */
static void fill_blocks(const ow_random_call *f) {
    const ow_tensor *t = f->target;
    int compute = ow_compute_dtype[t->dtype];
    int64_t n = t->numel, itemsize = ow_itemsize(t->dtype);
    if (compute == t->dtype) {
        draw_blocks(f, t->data, compute, n);
        if (n % NORMAL_BLOCK) draw_blocks(f, t->data + (n - NORMAL_BLOCK) * itemsize, compute, NORMAL_BLOCK);
        return;
    }
    _Alignas(64) char buffer[OW_BLOCK * 4];
    ow_cast cast = ow_cast_loop(t->dtype, compute);
    for (int64_t at = 0; at + NORMAL_BLOCK <= n; at += OW_BLOCK) {
        int64_t whole = (n - at) / NORMAL_BLOCK * NORMAL_BLOCK, count = whole < OW_BLOCK ? whole : OW_BLOCK;
        draw_blocks(f, buffer, compute, count);
        cast(t->data + at * itemsize, itemsize, buffer, 4, count);
    }
    if (n % NORMAL_BLOCK) {
        draw_blocks(f, buffer, compute, NORMAL_BLOCK);
        cast(t->data + (n - NORMAL_BLOCK) * itemsize, itemsize, buffer, 4, NORMAL_BLOCK);
    }
}

static void generate_normal(ow_random_call *f, char *out, int64_t n) {
    double *values = (double *)out;
    for (int64_t k = 0; k < n; k++) values[k] = fma(ow_draw_normal(f->generator), f->numbers[1], f->numbers[0]);
}

static const ow_distribution single_normals = {.compute = OW_FLOAT64, .generate = generate_normal};

static int fill_normal(ow_random_call *f) {
    if (f->target->numel >= NORMAL_BLOCK && f->target->flags & OW_CONTIGUOUS) fill_blocks(f);
    else ow_fill_elements(f, &single_normals);
    return 1;
}

const ow_distribution ow_distribution_normal = {
    .kernel = "normal_kernel_cpu", .prepare = prepare_normal, .fill = fill_normal,
    .part_divisor = M_SQRT2 /* half of the variance for each part */};

static int prepare_log_normal(ow_random_call *f) {
    if (f->numbers[1] > 0) return 1;
    return refuse("log_normal_ expects std > 0.0, but found std=%g", f->numbers[1]);
}

static void generate_log_normal(ow_random_call *f, char *out, int64_t n) {
    generate_normal(f, out, n);
    for (int64_t k = 0; k < n; k++) ((double *)out)[k] = exp(((double *)out)[k]);
}

const ow_distribution ow_distribution_log_normal = {.kernel = "log_normal_cpu",
                                                    .compute = OW_FLOAT64,
                                                    .prepare = prepare_log_normal,
                                                    .generate = generate_log_normal};

/* ---- by inversion of the distribution function ---------------------------------------------------------------- */

static int is_floating(const ow_random_call *f, const char *distribution, const char *name) {
    if (ow_dtype_kinds[f->target->dtype] == OW_KIND_FLOATING) return 1;
    ow_fail(OW_RUNTIME_ERROR,
            "%s distribution is a continuous probability distribution. dtype must be a floating point but you specified %s",
            distribution, name);
    return 0;
}

static int prepare_exponential(ow_random_call *f) {
    if (!is_floating(f, "Exponential", ow_dtype_scalar_names[f->target->dtype])) return 0;
    if (f->numbers[0] > 0) return 1;
    return refuse("exponential_ expects lambda > 0.0, but found lambda=%g", f->numbers[0]);
}

static void generate_exponential(ow_random_call *f, char *out, int64_t n) {
    double *values = (double *)out, scale = -1 / f->numbers[0];
    ow_draw_doubles(f->generator, values, n, 0, 1);
    for (int64_t k = 0; k < n; k++) values[k] = scale * log1p(-values[k]);
}

const ow_distribution ow_distribution_exponential = {.kernel = "exponential_cpu",
                                                     .compute = OW_FLOAT64,
                                                     .prepare = prepare_exponential,
                                                     .generate = generate_exponential};

static int prepare_cauchy(ow_random_call *f) {
    if (!is_floating(f, "Cauchy", ow_type_names[f->target->dtype])) return 0;
    if (f->numbers[1] > 0) return 1;
    return refuse("cauchy_ expects sigma > 0.0, but found sigma=%g", f->numbers[1]);
}

static void generate_cauchy(ow_random_call *f, char *out, int64_t n) {
    double *values = (double *)out;
    ow_draw_doubles(f->generator, values, n, 0, 1);
    for (int64_t k = 0; k < n; k++) values[k] = fma(f->numbers[1], tan(M_PI * (values[k] - 0.5)), f->numbers[0]);
}

const ow_distribution ow_distribution_cauchy = {
    .kernel = "cauchy_cpu", .compute = OW_FLOAT64, .prepare = prepare_cauchy, .generate = generate_cauchy};

static int prepare_geometric(ow_random_call *f) {
    if (f->numbers[0] > 0 && f->numbers[0] < 1) return 1;
    return refuse("geometric_ expects p to be in (0, 1), but got p=%g", f->numbers[0]);
}

static void generate_geometric(ow_random_call *f, char *out, int64_t n) {
    double *values = (double *)out, scale = log1p(-f->numbers[0]);
    ow_draw_doubles(f->generator, values, n, 0, 1);
    for (int64_t k = 0; k < n; k++) values[k] = ceil(log(values[k]) / scale);
}

const ow_distribution ow_distribution_geometric = {
    .kernel = "geometric_cpu", .compute = OW_FLOAT64, .prepare = prepare_geometric, .generate = generate_geometric};

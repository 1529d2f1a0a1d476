/* Gamma distributed numbers of rate one: G. Marsaglia, W. W. Tsang, A simple method for generating gamma variables
 * (ACM TOMS 26, 2000), by rejection of normal numbers. */
#include <float.h>
#include <math.h>

#include "random.h"

static const double third = (double)(1.0f / 3), squeeze = (double)0.0331f; /* constants of the stream, in single precision */

/* A number of concentration `a`. What is computed of `a` alone is rounded to single precision where `single`. */
static double gamma_number(ow_generator *g, double a, int single) {
    double boost = 1, d, c;
    if (a < 1) {
        if (a == 0) return 0;
        boost = pow(1 - ow_draw_double(g), single ? (double)(1 / (float)a) : 1 / a);
        a = single ? (double)((float)a + 1) : a + 1;
    }
    d = single ? (double)((float)a - (float)third) : a - third;
    if (!(d > 0)) return NAN; /* nothing would ever be taken */
    c = 1 / sqrt(9 * d);
    for (;;) {
        double x = ow_draw_normal(g), y = 1 + c * x;
        if (y <= 0) continue;
        double v = y * y * y, u = 1 - ow_draw_double(g), square = x * x;
        if (u < 1 - squeeze * square * square || log(u) < 0.5 * square + d * (1 - v + log(v))) return boost * d * v;
    }
}

static int accept(ow_random_call *f) {
    (void)f;
    return 1;
}

/* Numbers that are too small for the dtype are its smallest normal one: their logarithm is finite. */
static void generate_gamma(ow_random_call *f, char *out, int64_t n) {
    int single = f->target->dtype == OW_FLOAT32, from_single = f->row_dtypes[0] == OW_FLOAT32;
    double *numbers = (double *)out, least = single ? FLT_MIN : DBL_MIN;
    for (int64_t k = 0; k < n; k++) {
        double a = from_single ? (double)((const float *)f->rows[0])[k] : ((const double *)f->rows[0])[k];
        double number = gamma_number(f->generator, a, single);
        numbers[k] = number < least ? least : number;
    }
    f->rows[0] += n * ow_itemsize(f->row_dtypes[0]);
}

const ow_distribution ow_distribution_gamma = {
    .kernel = "gamma_cpu", .compute = OW_FLOAT64, .prepare = accept, .generate = generate_gamma};

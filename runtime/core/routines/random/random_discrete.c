/* Integers of a range, and distributions over integers that take one element at a time. */
#include <math.h>

#include "random.h"

static int fail(const char *message) {
    ow_fail(OW_RUNTIME_ERROR, "%s", message);
    return 0;
}

/* ---- integers of a range -------------------------------------------------------------------------------------- */

/* Ranges from here on take two draws for a number. */
#define WIDE_RANGE (1ull << 28)

/* Bits of precision of a floating dtype, 0 for the others. */
static int precision(int dtype) { return ow_dtype_precisions[dtype]; }

static int is_unsigned(int dtype) {
    return dtype == OW_BOOL || dtype == OW_UINT8 || dtype == OW_UINT16 || dtype == OW_UINT32 || dtype == OW_UINT64;
}

/* The largest integer of a dtype, as far as int64 goes; of floating ones the largest value, as a number to compare. */
static int64_t largest_integer(int dtype) {
    if (dtype == OW_BOOL) return 1;
    int bits = 8 * (int)ow_itemsize(dtype) - !is_unsigned(dtype);
    return bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
}

/* The integer as the dtype stores it. */
static int64_t stored(int dtype, int64_t value) {
    char bytes[8];
    double back;
    ow_cast_loop(dtype, OW_INT64)(bytes, 8, (const char *)&value, 8, 1);
    ow_cast_loop(OW_FLOAT64, dtype)((char *)&back, 8, bytes, 8, 1);
    return back >= 0x1p63 ? INT64_MAX : back < -0x1p63 ? INT64_MIN : (int64_t)back;
}

/* The distance of neighbours at `value`. */
static int64_t spacing(int dtype, int64_t value) {
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int exponent = magnitude ? 63 - __builtin_clzll(magnitude) : 0, shift = exponent - precision(dtype) + 1;
    return shift > 0 ? (int64_t)1 << shift : 1;
}

/* Bounds that a floating dtype rounds out of the range move inside. */
static void move_inside(int dtype, int64_t *from, int64_t *to) {
    int64_t above = stored(dtype, *from + 1), below = to ? stored(dtype, *to - 1) : 0;
    if (above < *from) *from = above + spacing(dtype, *from + 1);
    if (to && below >= *to) *to = below - spacing(dtype, *to - 1);
}

static int within(int dtype, int64_t value, const char *what) {
    int inside;
    if (precision(dtype)) inside = dtype != OW_FLOAT16 || (value >= -65504 && value <= 65504);
    else if (is_unsigned(dtype)) inside = value >= 0 && value <= largest_integer(dtype);
    else inside = value >= -largest_integer(dtype) - 1 && value <= largest_integer(dtype);
    if (!inside) ow_fail(OW_RUNTIME_ERROR, "%s is out of bounds for %s", what, ow_type_names[dtype]);
    return inside;
}

static void set_range(ow_random_call *f, int64_t first, uint64_t range, int wide) {
    f->first = first;
    f->range = range;
    f->wide = wide;
}

/* The integers from `first` to `last`, both of which belong to the range. */
static int set_inclusive(ow_random_call *f, int64_t first, int64_t last) {
    uint64_t range = (uint64_t)last - (uint64_t)first + 1;
    set_range(f, first, range, range >= WIDE_RANGE);
    return 1;
}

/* A floating dtype rounded the bounds until nothing was left between them; `relation` and `end` word the message. */
static int fail_rounded(const char *relation, const char *end, const char *sign, int64_t from, int64_t to) {
    ow_fail(OW_RUNTIME_ERROR,
            "random_ expects 'from' casted to dtype to be %s '%s' casted to dtype, but got from=%lld %s %s=%lld", relation,
            end, (long long)from, sign, end, (long long)to);
    return 0;
}

/* Without bounds: from 0 to the largest integer, or to the last one up to which a floating dtype has all integers. */
static int prepare_unbounded(ow_random_call *f) {
    int dtype = f->target->dtype;
    if (dtype == OW_UINT16 || dtype == OW_UINT32 || dtype == OW_UINT64) {
        ow_fail(OW_NOT_IMPLEMENTED, "\"random_kernel_cpu\" not implemented for '%s'", ow_dtype_scalar_names[dtype]);
        return 0;
    }
    uint64_t last = precision(dtype) ? 1ull << precision(dtype) : (uint64_t)largest_integer(dtype);
    set_range(f, 0, last + 1, dtype == OW_INT64 || dtype == OW_FLOAT64);
    return 1;
}

/* From `from` to the largest value; from the lowest int64 all 64 bits are taken. */
static int prepare_half_bounded(ow_random_call *f, int64_t from) {
    int dtype = f->target->dtype, digits = precision(dtype);
    int64_t last = digits ? (int64_t)1 << digits : largest_integer(dtype);
    if (from == INT64_MIN) {
        if (dtype == OW_FLOAT16) {
            ow_fail(OW_NOT_IMPLEMENTED, "\"random_full_64_bits_range_kernel_cpu\" not implemented for 'Half'");
            return 0;
        }
        if (dtype != OW_INT64 && !digits)
            return fail("random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16");
        set_range(f, 0, 0, 1);
        return 1;
    }
    if (digits) {
        move_inside(dtype, &from, NULL);
        if (from >= last) return fail_rounded("less than or equal to", "to_inc", ">", from, last);
    }
    return within(dtype, from, "from") && set_inclusive(f, from, last);
}

static int prepare_integers(ow_random_call *f) {
    int dtype = f->target->dtype;
    if (!f->given) return prepare_unbounded(f);
    int64_t from = f->given == 1 ? 0 : f->integers[0], to = f->integers[f->given - 1];
    if (to == OW_NONE) return prepare_half_bounded(f, from);
    if (from >= to) {
        ow_fail(OW_RUNTIME_ERROR, "random_ expects 'from' to be less than 'to', but got from=%lld >= to=%lld",
                (long long)from, (long long)to);
        return 0;
    }
    if (precision(dtype)) {
        move_inside(dtype, &from, &to);
        if (from >= to) return fail_rounded("less than", "to", ">=", from, to);
    }
    return within(dtype, from, "from") && within(dtype, to - 1, "to - 1") && set_inclusive(f, from, to - 1);
}

static void generate_integers(ow_random_call *f, char *out, int64_t n) {
    int64_t *values = (int64_t *)out;
    uint32_t draws[OW_BLOCK];
    for (int64_t at = 0; at < n && !f->wide; at += OW_BLOCK) {
        int64_t count = n - at < OW_BLOCK ? n - at : OW_BLOCK;
        ow_draw(f->generator, draws, count);
        ow_random_kernels_now()->remainders(draws, count, (uint32_t)f->range, 0);
        for (int64_t k = 0; k < count; k++) values[at + k] = (int64_t)((uint64_t)f->first + draws[k]);
    }
    for (int64_t k = 0; k < n && f->wide; k++) {
        uint64_t draw = ow_draw_u64(f->generator);
        values[k] = (int64_t)((uint64_t)f->first + (f->range ? draw % f->range : draw));
    }
}

const ow_distribution ow_distribution_integers = {.kernel = "random_from_to_kernel_cpu",
                                                  .compute = OW_INT64,
                                                  .prepare = prepare_integers,
                                                  .generate = generate_integers};

/* ---- bernoulli ------------------------------------------------------------------------------------------------ */

static int prepare_bernoulli(ow_random_call *f) {
    const ow_tensor *p = f->inputs[0];
    f->probability = 0.5;
    if (!p) return 1;
    if (!(p->flags & OW_NUMBER)) {
        if (ow_dtype_kinds[p->dtype] == OW_KIND_FLOATING) return 1;
        ow_fail(OW_NOT_IMPLEMENTED, "\"bernoulli_tensor_cpu_p_\" not implemented for '%s'",
                ow_dtype_scalar_names[p->dtype]);
        return 0;
    }
    ow_scalar value;
    if (!ow_load_param(p, OW_FLOAT64, &value)) return 0;
    f->probability = value.d;
    if (f->probability >= 0 && f->probability <= 1) return 1;
    ow_fail(OW_RUNTIME_ERROR, "bernoulli_ expects p to be in [0, 1], but got p=%g", f->probability);
    return 0;
}

static void fail_probability(void) {
    fail("Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, "
         "please report an enhancement request to PyTorch.)");
}

/* Against probabilities of single precision or less one draw is compared, against others a double uniform number. */
static void generate_bernoulli(ow_random_call *f, char *out, int64_t n) {
    _Alignas(64) double uniform[OW_BLOCK];
    for (int64_t at = 0; at < n; at += OW_BLOCK) {
        int64_t count = n - at < OW_BLOCK ? n - at : OW_BLOCK;
        int outside = 0;
        if (f->rows[0] && f->row_dtypes[0] == OW_FLOAT32) {
            const float *p = (const float *)f->rows[0] + at;
            float *u = (float *)uniform;
            ow_draw_floats(f->generator, u, count, 0, 1);
            for (int64_t k = 0; k < count; k++) {
                outside |= !(p[k] >= 0) | !(p[k] <= 1);
                out[at + k] = u[k] < p[k];
            }
        } else {
            const double *p = f->rows[0] ? (const double *)f->rows[0] + at : &f->probability;
            int step = f->rows[0] != NULL;
            ow_draw_doubles(f->generator, uniform, count, 0, 1);
            for (int64_t k = 0; k < count; k++) {
                outside |= !(p[k * step] >= 0) | !(p[k * step] <= 1);
                out[at + k] = uniform[k] < p[k * step];
            }
        }
        if (outside) fail_probability();
    }
    if (f->rows[0]) f->rows[0] += n * ow_itemsize(f->row_dtypes[0]);
}

const ow_distribution ow_distribution_bernoulli = {
    .kernel = "bernoulli_scalar_cpu_", .compute = OW_BOOL, .prepare = prepare_bernoulli, .generate = generate_bernoulli,
    .reads_numbers = 1};

/* ---- permutations --------------------------------------------------------------------------------------------- */

/* Below, one draw for each place; from here on, two. */
#define LONG_PERMUTATION (UINT32_MAX / 20)
enum { AHEAD = 16 }; /* places whose partners are fetched beforehand */

static const char *integer_name(int dtype) {
    switch (dtype) {
    case OW_UINT8: return "uint8_t";
    case OW_INT8: return "int8_t";
    case OW_INT16: return "int16_t";
    default: return "int";
    }
}

static int prepare_permutation(ow_random_call *f) {
    int dtype = f->target->dtype, digits = precision(dtype);
    int64_t n = f->target->numel;
    if (f->target->ndim != 1) {
        ow_fail(OW_RUNTIME_ERROR, "%s: a tensor of one dimension is expected, but got one of %d", f->op->name, f->target->ndim);
        return 0;
    }
    if (!digits && n - 1 > largest_integer(dtype)) { /* the last number is n - 1 */
        ow_fail(OW_RUNTIME_ERROR, "value cannot be converted to type %s without overflow", integer_name(dtype));
        return 0;
    }
    if (digits && n > ((int64_t)1 << digits) + 1) {
        const char *name = ow_dtype_scalar_names[dtype];
        if (digits < 24)
            ow_fail(OW_RUNTIME_ERROR, "n cannot be greater than %d for %s type.", (1 << digits) + 1, name);
        else ow_fail(OW_RUNTIME_ERROR, "n cannot be greater than 2^%d+1 for %s type.", digits, name);
        return 0;
    }
    return 1;
}

/* Fisher and Yates from the front: place i is exchanged with one of the n - i places from i on. */
static void shuffle(ow_generator *g, uint32_t *a, int64_t n) {
    uint32_t offsets[OW_BLOCK];
    for (int64_t i = 0; i < n; i++) a[i] = (uint32_t)i;
    for (int64_t at = 0; at < n - 1; at += OW_BLOCK) {
        int64_t count = n - 1 - at < OW_BLOCK ? n - 1 - at : OW_BLOCK;
        uint32_t *from = a + at;
        ow_draw(g, offsets, count);
        ow_random_kernels_now()->remainders(offsets, count, (uint32_t)(n - at), 1);
        for (int64_t k = 0; k < count; k++) {
            if (k + AHEAD < count) __builtin_prefetch(from + k + AHEAD + offsets[k + AHEAD], 1);
            uint32_t value = from[k];
            from[k] = from[k + offsets[k]];
            from[k + offsets[k]] = value;
        }
    }
}

/* The same from the inside out, over numbers of any size. */
static void shuffle_long(ow_generator *g, int64_t *a, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        int64_t z = (int64_t)(ow_draw_u64(g) % (uint64_t)(i + 1));
        a[i] = i;
        a[i] = a[z];
        a[z] = i;
    }
}

static int fill_permutation(ow_random_call *f) {
    ow_tensor *t = f->target;
    int64_t n = t->numel;
    int is_long = n >= LONG_PERMUTATION, dtype = is_long ? OW_INT64 : OW_UINT32;
    int64_t itemsize = ow_itemsize(dtype);
    char *work = ow_alloc(n * itemsize);
    if (!work) return 0;
    if (is_long) shuffle_long(f->generator, (int64_t *)work, n);
    else shuffle(f->generator, (uint32_t *)work, n);
    ow_cast_loop(t->dtype, dtype)(t->data, t->strides[0] * ow_itemsize(t->dtype), work, itemsize, n);
    ow_dealloc(work, n * itemsize);
    return 1;
}

const ow_distribution ow_distribution_permutation = {
    .kernel = "randperm", .prepare = prepare_permutation, .fill = fill_permutation};

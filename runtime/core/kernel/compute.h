/* What kernels of expressions over indices are given, and what they are made of.
 *
 * All tensors are contiguous and of the dtype of computation, or int64 where they are indices. */
#ifndef OPWEAVE_COMPUTE_H
#define OPWEAVE_COMPUTE_H

#include "kernel.h"
#include "view_geometry.h"

#define OW_MAX_VARIABLES 16 /* index variables of results and of products */
#define OW_MAX_UNIFORMS 48 /* integers that are the same in the whole call */

typedef struct ow_compute_context {
    const void *in[OW_MAX_INPUTS]; /* NULL: absent */
    void *out[OW_MAX_OUTPUTS];
    const int64_t *sizes[OW_MAX_INPUTS];  /* of the dimensions that indices are written for */
    int64_t batch[OW_MAX_INPUTS];         /* elements from one position of the batch to the next; 0: all have the same */
    int64_t range[OW_MAX_VARIABLES];      /* positions of each variable of the results */
    int inside;                           /* do all indices lie inside? The tensors have margins then */
    int64_t begin, end;                   /* the part of each line that is computed, as far as there is a line */
    int64_t uniform[OW_MAX_UNIFORMS];
    int64_t positions;                    /* of the dimensions in front, together */
    const ow_scalar *params;
} ow_compute_context;

/* The call's integers: fills in range, uniform, how far indices run beyond tensors that may have margins, before and behind
 * each dimension, and the work for an element of the result, in additions; 0 with the error in `view`, whose other fields are
 * not used. `shapes` are those of the tensors, `ints` and `lists` the arguments. */
typedef int ow_compute_geometry(ow_view *view, const ow_ints *shapes, const int64_t *ints, ow_ints *lists,
                                ow_compute_context *c, int64_t (*margins)[OW_MAX_VARIABLES][2], double *work);
/* Positions [begin, end) of the batch and of all variables but those of a line. OW_OK, or the kind of the first error. */
typedef int ow_compute_kernel(const ow_compute_context *c, int64_t begin, int64_t end);

/* A sum of products of elements of two tensors, of which each lies where multiples of the variables lead, as products of
 * matrices. Variables of four kinds follow one another: outer ones, for each position of which there is a product; those of
 * its rows, which the first tensor has; those of its columns, which the second one has, and which are the last ones of the
 * result; and the inner ones, of the sum. */
typedef struct ow_contraction_sizes {
    int applies;                        /* is the sum one of such products in this call? */
    int64_t range[OW_MAX_VARIABLES];    /* positions of each variable */
    int64_t step[2][OW_MAX_VARIABLES];  /* elements of each tensor from one position to the next, */
    int64_t origin[2];                  /* and from the first one to that of the first positions */
    int64_t to[OW_MAX_VARIABLES];       /* the same of the product, by outer variables and the last one of rows */
    int64_t product[OW_MAX_VARIABLES];  /* the sizes of the product as a tensor, from which results are gathered */
} ow_contraction_sizes;

typedef struct ow_contraction {
    void (*sizes)(const ow_compute_context *c, ow_contraction_sizes *s);
    uint8_t tensors[2]; /* which inputs the two are */
    uint8_t variables[4]; /* of each kind */
    uint8_t source; /* the input in whose place kernels that gather read the product */
    ow_compute_kernel *gather[OW_NDTYPES]; /* NULL: the product is the result */
    ow_compute_kernel *rest[OW_NDTYPES];   /* what is added; NULL: nothing */
    uint8_t rest_of_rows;                  /* is that the same for all columns and all dimensions in front? */
} ow_contraction;

/* What the margins of a tensor have. */
typedef struct ow_margin {
    enum { OW_MARGIN_NONE, OW_MARGIN_NUMBER, OW_MARGIN_NEAREST, OW_MARGIN_WRAP, OW_MARGIN_REFLECT } rule;
    uint32_t finite; /* bit set: an input that must be finite, as zeros in the margins stand for terms that are left out */
    double number;
} ow_margin;

typedef struct ow_compute_table {
    ow_compute_geometry *geometry;
    const ow_contraction *contraction; /* NULL: none */
    ow_compute_kernel *by[OW_NDTYPES]; /* by dtype of computation */
    uint8_t variables;                 /* of the results */
    uint8_t line;                      /* how many of them, from the last on, one step of a kernel runs through */
    uint8_t has_margins;               /* do all indices lie inside if tensors have margins? */
    uint8_t cuts_ranges;               /* are they outside alike in all lanes, so that loops leave them out? */
    ow_margin margins[OW_MAX_INPUTS];
    uint8_t splits;                    /* may threads share one line? */
    uint8_t sequence;                  /* how many variables before the line, from the last on, are run through in order */
    uint8_t over_batch;                /* is the first variable the index of all dimensions in front, as one? */
    uint8_t results;
    uint8_t indices[OW_MAX_INPUTS];  /* how many are written for each tensor */
    uint8_t optional[OW_MAX_INPUTS]; /* may it be absent? */
    uint8_t batched;                 /* bit set: tensors with further dimensions in front */
    uint8_t flat;                    /* bit set: those of which these are one dimension, for which there is an index */
    uint8_t dtypes[OW_MAX_OUTPUTS];  /* of each result, or OW_PROMOTED */
} ow_compute_table;

/* ---- kernels ------------------------------------------------------------------------------------------ */

/* Elements of a line that are computed at a time: two vectors, which stay in registers together with their accumulators. */
#if defined(__AVX512F__)
#define OW_VECTOR 64
#elif defined(__AVX__)
#define OW_VECTOR 32
#else
#define OW_VECTOR 16
#endif
#define OW_LANES(type) (2 * OW_VECTOR / (int64_t)sizeof(type))

#define OW_INLINE static inline __attribute__((always_inline))
/* Each half of the lanes is joined to the other one, until one lane is left. Unrolled: halves are then parts of registers. */
#define OW_FOR_HALVES _Pragma("GCC unroll 8") for (int64_t half = LANES / 2; half; half /= 2)
#define OW_FOR_LANES_IN(from, to) _Pragma("GCC ivdep") for (int64_t lane = from; lane < to; lane++)
#define OW_FOR_ROWS _Pragma("GCC unroll 4") for (int64_t row = 0; row < rows; row++)
#define OW_FOR_LANES _Pragma("GCC ivdep") for (int64_t lane = 0; lane < n; lane++)

/* a * b + c with one rounding where the processor does that in one instruction. */
#ifdef __FMA__
#define OW_FMA_f32(a, b, c) __builtin_fmaf(a, b, c)
#define OW_FMA_f64(a, b, c) __builtin_fma(a, b, c)
#else
#define OW_FMA_f32(a, b, c) ((a) * (b) + (c))
#define OW_FMA_f64(a, b, c) ((a) * (b) + (c))
#endif

/* The least and the greatest of factor * v where v runs from `first` to `last`. */
OW_INLINE int64_t ow_least(int64_t factor, int64_t first, int64_t last) { return factor * (factor < 0 ? last : first); }
OW_INLINE int64_t ow_greatest(int64_t factor, int64_t first, int64_t last) { return factor * (factor < 0 ? first : last); }
/* a / b rounded down, for b > 0. */
OW_INLINE int64_t ow_div_down(int64_t a, int64_t b) { return b == 1 ? a : a / b - (a % b < 0); }
/* Is a a multiple of b > 0? */
OW_INLINE int ow_divides(int64_t a, int64_t b) { return b == 1 || a % b == 0; }

/* Quotients of positions, less than 2^47, as products in double precision, rounded to the nearest integer: a dividend in the
 * middle of those with one quotient is no half away from it. Adding 1.5 * 2^52 leaves integers in the low bits, as vectors
 * have no conversions of 64 bits at most instruction-set levels. */
typedef struct ow_divisor {
    int64_t number, shift; /* what leads twice the dividend to that middle, */
    double half;           /* and half of the inverse */
} ow_divisor;
#define OW_WHOLE_BITS INT64_C(0x4338000000000000)
#define OW_MOST_DIVISOR (INT64_C(1) << 48) /* which has the quotients 0 and -1, as all larger ones */

OW_INLINE ow_divisor ow_divisor_of(int64_t b, int *err) {
    *err |= b == 0;
    const int64_t near = b > OW_MOST_DIVISOR ? OW_MOST_DIVISOR : b < -OW_MOST_DIVISOR ? -OW_MOST_DIVISOR : b ? b : 1;
    return (ow_divisor){b, (near > 0 ? 1 : -1) - near, 0.5 / (double)near};
}
OW_INLINE int64_t ow_quotient(int64_t a, ow_divisor b) {
    const double middle = ow_from_bits_i64(2 * a + b.shift + OW_WHOLE_BITS) - 0x1.8p52;
    return ow_bits_f64(middle * b.half + 0x1.8p52) - OW_WHOLE_BITS;
}
OW_INLINE int64_t ow_remainder(int64_t a, ow_divisor b) { return a - ow_quotient(a, b) * b.number; }

/* Is the step from lane to lane known to be 2 when compiling? */
#define OW_IS_SECOND(step) (__builtin_constant_p(step) && (step) == 2)
/* to[i] = from[2 * i] for i in [begin, end): of two vectors that end with the last element that is taken, as compilers do not
 * read beyond it. */
#define OW_PICK(suffix, type, lanes, ...)                                                                     \
    OW_INLINE void ow_pick_##suffix(type *to, const type *from, int64_t begin, int64_t end) {                 \
        typedef type vector __attribute__((vector_size(lanes * sizeof(type))));                               \
        int64_t i = begin;                                                                                    \
        for (; i + lanes <= end; i += lanes) {                                                                \
            vector a, b;                                                                                      \
            memcpy(&a, from + 2 * i, sizeof a);                                                               \
            memcpy(&b, from + 2 * i + lanes - 1, sizeof b);                                                   \
            a = __builtin_shufflevector(a, b, __VA_ARGS__);                                                   \
            memcpy(to + i, &a, sizeof a);                                                                     \
        }                                                                                                     \
        for (; i < end; i++) to[i] = from[2 * i];                                                             \
    }
OW_PICK(f32, float, 8, 0, 2, 4, 6, 9, 11, 13, 15)
OW_PICK(f64, double, 4, 0, 2, 5, 7)

/* Widens margins so that an index from `least` to `greatest` lies inside. */
OW_INLINE void ow_widen(int64_t *margin, int64_t least, int64_t greatest, int64_t size) {
    if (-least > margin[0]) margin[0] = -least;
    if (greatest - size + 1 > margin[1]) margin[1] = greatest - size + 1;
}
/* Cuts [*begin, *end) to the positions t of a line for which factor * t + [least, greatest] lies in [0, size). */
OW_INLINE void ow_cut(int64_t *begin, int64_t *end, int64_t factor, int64_t least, int64_t greatest, int64_t size) {
    if (!factor) {
        if (least < 0 || greatest >= size) *end = *begin;
        return;
    }
    const int64_t below = size - 1 - greatest, backwards = factor < 0;
    const int64_t from = -ow_div_down(backwards ? below : least, backwards ? -factor : factor);
    const int64_t to = ow_div_down(backwards ? least : below, backwards ? -factor : factor) + 1;
    if (from > *begin) *begin = from;
    if (to < *end) *end = to;
}

/* One more than the greatest number whose quotient lies in [0, size). */
OW_INLINE int64_t ow_dividends(int64_t size, int64_t divisor) {
    int64_t result;
    return __builtin_mul_overflow(size, divisor, &result) ? INT64_MAX : result;
}

/* Where the stretch begins that has `first` and along which i % divisor is i less the result; *next is where it ends at most. */
OW_INLINE int64_t ow_stretch(int64_t first, int64_t *next, int64_t divisor, int *err) {
    if (!divisor) return *err = 1, 0;
    const int64_t rest = first % divisor + (divisor < 0 && first % divisor ? divisor : 0), base = first - rest;
    if (divisor < 0) *next = first + 1;
    else if (divisor < *next - base) *next = base + divisor;
    return base;
}

/* Where an index outside of [0, size) leads; size > 0. */
OW_INLINE int64_t ow_at_nearest(int64_t i, int64_t size) { return i < 0 ? 0 : i < size ? i : size - 1; }
OW_INLINE int64_t ow_at_wrap(int64_t i, int64_t size) { return i - ow_div_down(i, size) * size; }
OW_INLINE int64_t ow_at_reflect(int64_t i, int64_t size) {
    int64_t period = size > 1 ? 2 * (size - 1) : 1, at = ow_at_wrap(i, period);
    return at < size ? at : period - at;
}
/* Bounds that are data: a loop that would leave [0, size) is left out, and `*status` set. */
OW_INLINE void ow_keep_inside(int64_t *first, int64_t *stop, int64_t size, int *status) {
    if (*first >= *stop || (*first >= 0 && *stop <= size)) return;
    *status = 1;
    *stop = *first;
}
/* Bounds of ranges and indices that are data are refused beyond these. */
#define OW_FURTHEST_BOUND ((int64_t)1 << 40)
#define OW_FURTHEST_INDEX ((int64_t)1 << 61)

/* Bounds that are data and further than any index are left out as well. */
OW_INLINE void ow_keep_near(int64_t *first, int64_t *stop, int far, int *status) {
    if (!far && (*first >= *stop || (*first >= -OW_FURTHEST_BOUND && *stop <= OW_FURTHEST_BOUND))) return;
    *status = 1;
    *first = *stop = 0; /* 64 bits hold what follows it */
}
/* An index of a number, whose fraction is left out; of NaN and of what 64 bits do not hold, one that is far. */
OW_INLINE int64_t ow_index_of(double x) { return x > -0x1p62 && x < 0x1p62 ? (int64_t)x : INT64_MIN / 2; }
/* Is it no index that anybody means, so that there is no nearest element? */
OW_INLINE int ow_is_far(int64_t i) { return i < -OW_FURTHEST_INDEX || i > OW_FURTHEST_INDEX; }
/* Arithmetic of indices that are data; `*far` is set where 64 bits do not hold the result. */
OW_INLINE int64_t ow_index_add(int64_t a, int64_t b, int *far) {
    int64_t result;
    *far |= __builtin_add_overflow(a, b, &result);
    return result;
}
OW_INLINE int64_t ow_index_sub(int64_t a, int64_t b, int *far) {
    int64_t result;
    *far |= __builtin_sub_overflow(a, b, &result);
    return result;
}
OW_INLINE int64_t ow_index_mul(int64_t a, int64_t b, int *far) {
    int64_t result;
    *far |= __builtin_mul_overflow(a, b, &result);
    return result;
}

/* ---- geometry ----------------------------------------------------------------------------------------- */

/* A list argument of n integers, for which one may stand. */
static inline int ow_view_fill_list(ow_view *view, const char *name, ow_ints *list, int n) {
    for (int k = 1; list->n == 1 && k < n; k++) list->v[k] = list->v[0];
    if (list->n == 1) list->n = n;
    if (list->n <= 0 || list->n == n) return 1;
    return ow_view_fail(view, OW_RUNTIME_ERROR, "%s must be one integer or %d, but got %d", name, n, list->n);
}

/* Checks that a tensor has the dimensions that indices are written for. */
static inline int ow_view_last(ow_view *view, const char *name, ow_list shape, int n, int batched) {
    int more = shape->n - n;
    if (more < 0 || (more && !batched))
        return ow_view_fail(view, OW_RUNTIME_ERROR, "%s must have %s%d dimensions, but has shape %s", name,
                            batched ? "at least " : "", n, ow_ints_text(&(ow_list_text_buffer){{0}}, shape));
    return 1;
}

#endif

/* The stable interface between generated operators and the core.
 *
 * Generated kernels and operator libraries woven outside the tree include this header and nothing else: an
 * operator is data (a descriptor) and pure functions (kernels), never a caller of the core. That keeps a woven
 * library a plain shared object without Python headers, and lets the core change behind a version number.
 */
#ifndef OPWEAVE_H
#define OPWEAVE_H

#include <stddef.h>
#include <stdint.h>

#include "ow_dtypes.h" /* generated: enum ow_dtype, OW_NDTYPES and the tables of dtypes */

/* A descriptor's size depends on the number of levels it was built for, so that is part of the version. */
#define OW_ABI_VERSION (16 * 256 + OW_NLEVELS)
#define OW_MAX_DIMS 64
#define OW_MAX_INPUTS 12
#define OW_MAX_PARAMS 8
#define OW_MAX_OUTPUTS 8 /* of elementwise operators and folds */
#define OW_MAX_REDUCTIONS 5
#define OW_MAX_SHORTCUTS 8

/* ---- values ------------------------------------------------------------------------------------------- */

/* A parameter of a kernel, converted beforehand: `d` for floating compute dtypes, `z` for complex ones, `i` for integers
 * and bool. */
typedef union ow_scalar {
    int64_t i;
    double d;
    double _Complex z;
} ow_scalar;

/* An element of dtype complex32: two float16. */
typedef struct ow_complex32 {
    uint16_t re, im;
} ow_complex32;

/* A list of integers passed by value: shapes, strides, dimension lists. */
typedef struct ow_ints {
    int32_t n;
    int64_t v[OW_MAX_DIMS];
} ow_ints;

#define OW_NONE INT64_MIN /* an optional integer argument that was not given */

/* Kinds of errors; runtime/_base/errors.py maps them to the Python exceptions that torch raises. */
typedef enum ow_error_kind {
    OW_OK = 0,
    OW_RUNTIME_ERROR,
    OW_INDEX_ERROR,
    OW_TYPE_ERROR,
    OW_VALUE_ERROR,
    OW_NOT_IMPLEMENTED,
    OW_ZERO_DIVISION, /* torch: RuntimeError("ZeroDivisionError") */
    OW_OUT_OF_MEMORY,
    OW_OVERFLOW_ERROR,
    OW_LINALG_ERROR
} ow_error_kind;

/* ---- kernels ------------------------------------------------------------------------------------------ */

/* Elementwise loop. ptr[0] is the output, ptr[1..] the inputs; of an operator with several results these come first, all of
 * them. Strides are in bytes and may be zero or negative.
 * `index` is the position of the first element in the result (only factories read it).
 * Returns OW_OK or the kind of the first error met; elements are always all written. */
typedef int (*ow_loop)(char *const *ptr, const int64_t *stride, int64_t n, const ow_scalar *params, int64_t index);

/* The same type is that of a loop in C: n batches, whose strides are followed by the sizes that its signature names. */
typedef struct ow_elementwise_table {
    ow_loop general[OW_NDTYPES]; /* by compute dtype; NULL: not defined for it */
    ow_loop plain[OW_NDTYPES];   /* specialised to default parameters; NULL: use general. Of a half dtype: over rows of
                                  * halves, where a number among the inputs is a float32 */
} ow_elementwise_table;

/* Reduction kernels for one compute dtype: accumulator and input both have it.
 * leaf: *acc = identity combined with n elements at `stride` bytes (lanes and order fixed by n alone; n may be 0).
 * start: acc[j] = identity combined with map(x[j]) for n contiguous j, the first of several rows.
 * fold: acc[j] = combine(acc[j], map(x[j])), the rows after it, `pitch` bytes apart.   merge: the same without map, acc with acc.
 * finish: out[j] = finalize(acc[j], count) in the accumulator's dtype; NULL when there is nothing to do.
 * scatter: for n rows, in order, combines the `nbytes` of elements at x + j * stride with those at acc + offsets[j].
 * Only where the result is a position (NULL else); NaN equals NaN:
 * find: the first of n elements that equals *value, n when none does.
 * match: index[j] = i where x[j] equals values[j] and index[j] is negative. */
typedef struct ow_reduce_kernels {
    void (*leaf)(char *acc, const char *x, int64_t stride, int64_t n);
    void (*start)(char *acc, const char *x, int64_t n);
    void (*fold)(char *acc, const char *x, int64_t pitch, int64_t rows, int64_t n);
    void (*merge)(char *acc, const char *other, int64_t n);
    void (*finish)(char *acc, int64_t n, int64_t count);
    void (*scatter)(char *acc, const int64_t *offsets, char *x, int64_t stride, int64_t n, int64_t nbytes);
    int64_t (*find)(const char *x, int64_t stride, int64_t n, const char *value);
    void (*match)(int64_t *index, const char *x, int64_t n, const char *values, int64_t i);
} ow_reduce_kernels;

typedef struct ow_reduce_table {
    ow_reduce_kernels by[OW_NDTYPES];
} ow_reduce_table;

/* Scan kernels for one compute dtype.
 * line: running combination of n elements along one dimension; `out` may be `x`.
 * narrow: the same of elements of half the precision, which the accumulator is rounded to each time (NULL: none such).
 * step: out[j] = combine(prev[j], x[j]), contiguous; prev NULL stands for identities.
 * choose: line over contiguous elements, with the position of the element that each combination came from, the last
 * one of equals; only where the result has positions (NULL else). */
typedef struct ow_scan_kernels {
    void (*line)(char *out, int64_t out_stride, const char *x, int64_t stride, int64_t n);
    void (*narrow)(char *out, int64_t out_stride, const char *x, int64_t stride, int64_t n);
    void (*step)(char *out, const char *prev, const char *x, int64_t n);
    void (*choose)(char *out, int64_t *index, const char *x, int64_t n);
} ow_scan_kernels;

typedef struct ow_scan_table {
    ow_scan_kernels by[OW_NDTYPES];
} ow_scan_table;

#define OW_MAX_RESULTS 3 /* of reductions of rows */

/* Folds: reductions and scans with a state of several values, for one compute dtype. A state is that of OW_FOLD_LANES lines,
 * which are computed side by side; inputs and results of a lane lie beside those of the next one.
 * begin: the state before the first element, whose inputs are at `x` (a reduction does not read them).
 * steps: n elements of `lanes` lines, input k `along[k]` bytes apart; x has the results first, if it is a scan.
 * merge: lane by lane with another state; of reductions, as the others.   close: all lanes into the first one.
 * finish: the results of `lanes` lines of `count` elements. */
#define OW_FOLD_LANES 16
#define OW_MAX_FOLD_STATE 4096 /* bytes */
typedef struct ow_fold_kernels {
    int32_t size; /* bytes of a state */
    void (*begin)(char *state, char *const *x, int64_t lanes, const ow_scalar *params);
    void (*steps)(char *state, char *const *x, const int64_t *along, int64_t n, int64_t lanes, const ow_scalar *params);
    void (*merge)(char *state, const char *other, const ow_scalar *params);
    void (*close)(char *state, const ow_scalar *params);
    void (*finish)(char *const *out, const char *state, int64_t lanes, int64_t count, const ow_scalar *params);
} ow_fold_kernels;

typedef struct ow_fold_table {
    ow_fold_kernels by[OW_NDTYPES];
} ow_fold_table;

/* Geometry of a view: the function rewrites shape, strides (in elements) and offset (in elements, relative to the
 * input's first element), or sets error and message and returns 0. `ints` holds the integer arguments in schema
 * order (OW_NONE when absent; bool as 0/1), `lists` the list arguments in schema order. */
#define OW_VIEW_LISTS 16
typedef struct ow_view {
    ow_ints shape, strides;
    int64_t offset, numel;
    const char *scalar_name; /* of the input's dtype, for messages */
    ow_error_kind error;
    char message[400];
    int32_t used; /* entries of scratch that hold intermediate lists */
    ow_ints scratch[OW_VIEW_LISTS];
} ow_view;

typedef int (*ow_view_function)(ow_view *view, const int64_t *ints, ow_ints *lists);

/* ---- descriptors -------------------------------------------------------------------------------------- */

typedef enum ow_family {
    OW_ELEMENTWISE,
    OW_REDUCE,
    OW_SCAN,
    OW_ROWS,
    OW_VIEW,
    OW_EXTERN,
    OW_INDEXING,
    OW_FACTORY,
    OW_RANDOM,
    OW_LAPACK,
    OW_CORE,
    OW_COMPUTE,
    OW_FOLD,
    OW_LOOP
} ow_family;

/* How the compute and the result dtype follow from the inputs; the names are torch's. */
typedef enum ow_promotion {
    OW_PROMOTE_DEFAULT,      /* both are the common dtype */
    OW_PROMOTE_INT_TO_FLOAT, /* integers and bool become the default floating dtype */
    OW_PROMOTE_ALWAYS_BOOL,  /* compute in the common dtype, result bool */
    OW_PROMOTE_INT_TO_LONG,  /* integers and bool become int64 (sum, prod, cumsum) */
    OW_PROMOTE_BOOL_TO_LONG, /* bool becomes int64 */
    OW_PROMOTE_BOOL,         /* the input is converted to bool first, result bool (any, all; uint8 stays uint8) */
    OW_PROMOTE_TO_DOUBLE,    /* everything becomes float64 */
    OW_PROMOTE_KEEP          /* the first input's dtype, whatever the others are */
} ow_promotion;

/* What a reduction or a scan gives: the combination, and where the element stands that it is. */
enum { OW_VALUE = 1, OW_POSITION = 2 };

/* Is the result's dtype that of promotion, of its real parts, or of complex numbers made of it? */
typedef enum ow_part { OW_PART_SAME, OW_PART_REAL, OW_PART_COMPLEX } ow_part;

#define OW_PROMOTED 0xff /* in `fixed`: the input takes part in promotion */

/* What stands in for an optional tensor argument that is None. */
typedef enum ow_absent { OW_REQUIRED, OW_ABSENT_LOWEST, OW_ABSENT_HIGHEST } ow_absent;

/* Conditions on the parameters of an elementwise operator: OW_OK, or the kind of error and its message. */
typedef int (*ow_requirements)(const double *params, int dtype, char *message, size_t capacity);

typedef struct ow_op {
    const char *name; /* of the function, as errors print it */
    uint8_t family;   /* ow_family */
    uint8_t promotion;
    uint8_t ninputs, nparams;
    uint8_t fixed[OW_MAX_INPUTS];  /* dtype an input must have, or OW_PROMOTED */
    uint8_t absent[OW_MAX_INPUTS]; /* ow_absent */
    uint8_t needs_elements;        /* reduce: no identity, an empty reduction is an error */
    uint8_t results;               /* reduce, scan: OW_VALUE, OW_POSITION or both; others: how many */
    uint8_t own[OW_MAX_OUTPUTS];   /* elementwise, fold: 1 + the dtype of a result; 0: that of promotion */
    uint32_t dtypes;               /* bit set of dtypes the operator accepts (after promotion) */
    float cost;                    /* time per element, in units of a float32 add: sets the parallel grain */
    double defaults[OW_MAX_PARAMS];
    uint8_t param_ends[OW_MAX_PARAMS]; /* ow_absent: a parameter that is None is a finite end of the result's range */
    uint8_t refuses_factors;            /* `refusal` is for the inputs after the first, none of which is accepted */
    uint8_t same_dtype;                /* tensors are not promoted: another dtype than the first one's is an error */
    uint8_t strict_numbers;            /* parameters must be of the kind of the result */
    uint8_t fitting_numbers;           /* numbers among the inputs must fit the common dtype */
    uint32_t in_range;                 /* numbers that a half format must hold: bit sets of inputs and, << 16, of parameters */
    uint8_t part;                      /* ow_part */
    const void *tables[OW_NLEVELS]; /* per instruction-set level: ow_{elementwise,reduce,scan}_table */
    ow_view_function view;
    uint8_t copies;         /* view: of a contiguous copy where the memory order has no such view */
    uint8_t opmath_number;  /* a one-element last input is not rounded to a half format that the result has */
    uint8_t rounds_params;  /* parameters are rounded to a half format that the result has */
    uint8_t real_params;    /* bit set of parameters that are floats, whatever the dtype: none is beyond its range */
    int8_t degrees[OW_MAX_RESULTS]; /* reduce, rows: a row times a has the results times a to this power; 0: no such thing; negative: terms are elements */
    uint8_t whole_params;   /* bit set of parameters that are integers or truth values, whatever the dtype */
    const char *natural[OW_MAX_INPUTS]; /* message when an integer number given as this input is negative; NULL: allowed */
    ow_requirements requirements; /* elementwise and loops: what must hold of parameters that are given, and of sizes; NULL: nothing */
    const char *refusal; /* message for real dtypes outside the set; NULL: "not implemented for" */
    const char *complex_refusal; /* the same for complex ones */
    const char *library; /* extern, indexing, random: the name of the core's routine or distribution */
    /* indexing: what combines values with those that are there, and the words that choose one of several */
    const struct ow_op *reductions[OW_MAX_REDUCTIONS];
    const char *words[OW_MAX_REDUCTIONS];
    /* elementwise: numbers in place of the last input, and the operators of the first that compute the same */
    const struct ow_op *shortcuts[OW_MAX_SHORTCUTS];
    double shortcut_numbers[OW_MAX_SHORTCUTS];
} ow_op;

/* What a woven shared object exports under the symbol `ow_library`: it defines `const ow_library ow_exports`. */
typedef struct ow_library {
    uint32_t abi_version, ndtypes;
    int32_t nops;
    const ow_op *const *ops;
} ow_library;

extern __attribute__((visibility("default"))) const ow_library ow_exports __asm__("ow_library");

#endif

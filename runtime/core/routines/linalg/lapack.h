/* What the routines of LAPACK share: batches of column-major matrices, memory to work in, the variants of a routine. */
#ifndef OPWEAVE_LAPACK_H
#define OPWEAVE_LAPACK_H

#include "families/invoke.h"

#include "ow_routines.h" /* generated */

enum { OW_LAPACK_WORKS = 4 };

/* A call of an operator with a lapack body. The first input says how many matrices there are; all have its dimensions
 * before the last two (the composites that call these operators have expanded them). Each routine begins with a look at
 * whether they do: LAPACK itself reads and writes beside what is smaller than it was told. */
typedef struct ow_lapack {
    const ow_op *op;
    ow_tensor *const *inputs;
    const int64_t *flags; /* the integers and truth values, in schema order */
    double number;
    ow_tensor **results; /* what the routine makes */
    int begins[OW_CALL_RESULTS]; /* 1 more than the input that a result is a copy of before the routine runs; 0: of none */
    int dtype, real_dtype;
    int letter;    /* 0 to 3 for s, d, c and z */
    int64_t batch; /* matrices */
    int64_t sizes[26]; /* by letter; l: the smaller one of the first input's; -1: not known */
    int64_t part;  /* so many of them are worth a look at signals */
    const struct ow_lapack_routine *routine;
    int copied, works;
    ow_tensor *copies[OW_MAX_INPUTS];
    struct {
        void *memory;
        int64_t nbytes;
    } work[OW_LAPACK_WORKS];
} ow_lapack;

/* A routine: which results it has, and how they are computed. Its functions return 1, or 0 with the error set.
 *
 * `inputs` and `results` have a word for each tensor, of what it has for each matrix of the batch: letters for its sizes, none
 * of numbers, which are equal where letters are; matrices are column-major. In front of these stands # for integers of 32 and
 * % for those of 64 bits, ~ for real and ^ for complex numbers of the call's precision. A result =k is a copy of input k when
 * the routine runs, which overwrites it. */
typedef struct ow_lapack_routine {
    const char *inputs, *results;
    int options;                /* the first integer is one of so many; 0: it is no choice */
    int (*check)(ow_lapack *l); /* what else there is to check, and sizes of results that no input has; NULL: nothing */
    int (*run)(ow_lapack *l);   /* on the CPU, where the results are there */
} ow_lapack_routine;

#define OW_DECLARE_LAPACK(name) extern const ow_lapack_routine ow_lapack_##name;
OW_LAPACKS(OW_DECLARE_LAPACK)

/* How many results there are, or 0 with the error set. */
int ow_lapack_call(ow_call *call);

/* Have the inputs these sizes? 1, or 0 with the error set. */
int ow_lapack_fits(ow_lapack *l, const char *inputs);
/* The size that a letter stands for. */
static inline int64_t *ow_lapack_size(ow_lapack *l, char letter) { return &l->sizes[letter - 'a']; }

/* ---- operands of a routine that runs; NULL with the error set --------------------------------------------- */

/* An input for reading, column-major: itself or a copy that the call keeps until its end. */
ow_tensor *ow_lapack_columns(ow_lapack *l, int input);
/* A column-major copy that the call may overwrite and does not return. */
ow_tensor *ow_lapack_scratch(ow_lapack *l, int input);
/* Like ow_lapack_columns, for vectors, whose dtype is kept. */
ow_tensor *ow_lapack_lines(ow_lapack *l, int input);
/* 1 if the matrices are column-major, or with `rows` row-major, without gaps. */
int ow_lapack_is_packed(const ow_tensor *t, int rows);

static inline int64_t ow_lapack_rows(const ow_tensor *t) { return t->sizes[t->ndim - 2]; }
static inline int64_t ow_lapack_width(const ow_tensor *t) { return t->sizes[t->ndim - 1]; }
/* A leading dimension as LAPACK wants it, which is at least one. */
static inline int64_t ow_lapack_leading(int64_t rows) { return rows > 1 ? rows : 1; }
/* The matrix, vector or number number k of a batch without gaps. */
static inline void *ow_lapack_at(const ow_lapack *l, const ow_tensor *t, int64_t k) {
    return t->data + k * (t->numel / l->batch) * ow_itemsize(t->dtype);
}
static inline int ow_lapack_is_complex(const ow_lapack *l) { return l->letter >= 2; }

/* ---- work ---------------------------------------------------------------------------------------------- */

/* Memory until the end of the call; NULL with the error set. */
void *ow_lapack_work(ow_lapack *l, int64_t count, int64_t itemsize);
/* What a query for the size of the work array left in its first element, of the call's dtype. */
int64_t ow_lapack_work_size(const ow_lapack *l, const void *first);
/* Around the loop over the batch: drops the interpreter's lock if that is worth it, and tells OpenBLAS how many threads
 * of its own it may use: one for matrices of fewer than `shared` rows or columns. `work` is that of one matrix, in units
 * of a float32 addition. */
void *ow_lapack_begin(ow_lapack *l, double work, int64_t shared);
/* What OpenBLAS's threads do for one another takes longer than they save up to here, ... */
#define OW_LAPACK_SHARED 800
/* ... or always, where the pool shares out products. */
#define OW_LAPACK_ALONE INT64_MAX
/* 1, or 0 with the error set, also where a signal's handler has raised in between. */
int ow_lapack_end(void *token);
/* Between both: 1 if the batch has a matrix number k, and no handler of a signal has raised. The caller loops itself. */
int ow_lapack_has(const ow_lapack *l, int64_t k);
/* Or: the task for ranges of the batch, which threads of the pool share if it has a matrix for each of them and these are
 * not tiny. */
void ow_lapack_each(const ow_lapack *l, double work, ow_task task, void *context);

/* c -= a @ b, shared out by the pool: between halves that are factorized or solved one after the other. */
struct ow_matrix;
void ow_lapack_subtract(const ow_lapack *l, const struct ow_matrix *a, const struct ow_matrix *b, const struct ow_matrix *c);

/* ---- triangles (lapack_triangular.c) --------------------------------------------------------------------- */

/* The triangle of a column-major matrix, or of its (conjugate) transposed. */
typedef struct ow_triangle {
    int is_upper, is_unit; /* of the matrix as it is in memory; a unit diagonal is not read */
    char trans;            /* 'N', 'T' or 'C' */
    int64_t n;
    char *a;
    int64_t lda;
} ow_triangle;

/* Overwrites `columns` columns of n rows by the solution with each triangle, one after the other; all have n rows. */
void ow_lapack_solve_triangles(const ow_lapack *l, const ow_triangle *t, int count, int64_t columns, char *x,
                               int64_t ldx);

/* ---- small matrices (lapack_small.c) --------------------------------------------------------------------- */

/* 1 for real matrices of so many rows and columns, which are factorized here. Codes are LAPACK's. */
static inline int ow_lapack_is_small(const ow_lapack *l, int64_t n) { return !ow_lapack_is_complex(l) && n <= 16; }
int64_t ow_lapack_small_lu(const ow_lapack *l, int64_t m, int64_t n, void *a, int64_t lda, int64_t *pivots);
int64_t ow_lapack_small_cholesky(const ow_lapack *l, int is_upper, int64_t n, void *a, int64_t lda);
/* Swaps rows as `count` pivots say, or with a step of -1 as the last one says first. */
void ow_lapack_small_swap(const ow_lapack *l, void *a, int64_t lda, int64_t count, const int64_t *pivots, int64_t step,
                          int64_t columns);
/* Overwrites columns by the solution with a triangle. */
void ow_lapack_small_substitute(const ow_lapack *l, const ow_triangle *t, char *x, int64_t ldx, int64_t columns);

/* ---- what is not finite -------------------------------------------------------------------------------- */

/* Returns what a column-major matrix of the call's dtype, or one triangle of it, holds: iterations of LAPACK need not end
 * where there are infinities or NaN. */
typedef enum ow_lapack_content { OW_FINITE, OW_INFINITE, OW_NOT_A_NUMBER } ow_lapack_content;
typedef enum ow_lapack_part { OW_WHOLE, OW_LOWER, OW_UPPER } ow_lapack_part;
ow_lapack_content ow_lapack_look(const ow_lapack *l, const void *matrix, int64_t rows, int64_t columns,
                                 ow_lapack_part part);
/* Result number k, of a floating or complex dtype, becomes NaN. */
void ow_lapack_forget(const ow_lapack *l, const ow_tensor *result, int64_t k);

/* ---- integers ------------------------------------------------------------------------------------------ */

/* OpenBLAS has integers of 64 bits; pivots and info are 32 bits wide in tensors. */
static inline void ow_lapack_narrow(void *to, const int64_t *from, int64_t n) {
    for (int64_t i = 0; i < n; i++) ((int32_t *)to)[i] = (int32_t)from[i];
}
static inline void ow_lapack_widen(int64_t *to, const void *from, int64_t n) {
    for (int64_t i = 0; i < n; i++) to[i] = ((const int32_t *)from)[i];
}

/* ---- routines of OpenBLAS ------------------------------------------------------------------------------ */

/* Every argument of a Fortran routine is an address, so that its variants are functions of one type where they have the
 * same arguments. The lengths of texts follow the arguments. */
#define OW_LAPACK_SYMBOL(name) scipy_##name##_64_
#define OW_LAPACK_TABLE(table, type, s, d, c, z)                                                    \
    extern type OW_LAPACK_SYMBOL(s), OW_LAPACK_SYMBOL(d), OW_LAPACK_SYMBOL(c), OW_LAPACK_SYMBOL(z); \
    static type *const table[4] = {OW_LAPACK_SYMBOL(s), OW_LAPACK_SYMBOL(d), OW_LAPACK_SYMBOL(c), OW_LAPACK_SYMBOL(z)};
#define OW_LAPACK_VARIANTS(name, type) OW_LAPACK_TABLE(name, type, s##name, d##name, c##name, z##name)
/* The number -1, 0 or 1 as a routine takes it; a real one takes the real part, which comes first. */
static inline const void *ow_lapack_number(const ow_lapack *l, int number) {
    static const float _Complex narrow[] = {-1, 0, 1};
    static const double _Complex wide[] = {-1, 0, 1};
    return l->letter & 1 ? (const void *)&wide[number + 1] : &narrow[number + 1];
}
/* Where real and complex routines differ in their arguments; indices 0 and 1. */
#define OW_LAPACK_PAIR(table, type, single, double)                 \
    extern type OW_LAPACK_SYMBOL(single), OW_LAPACK_SYMBOL(double); \
    static type *const table[2] = {OW_LAPACK_SYMBOL(single), OW_LAPACK_SYMBOL(double)};

/* Solutions with triangles, of which two files have need. */
typedef void ow_trsm_type(const char *side, const char *uplo, const char *trans, const char *diagonal, const int64_t *m,
                          const int64_t *n, const void *alpha, const void *a, const int64_t *lda, void *b,
                          const int64_t *ldb, size_t, size_t, size_t, size_t);

#endif

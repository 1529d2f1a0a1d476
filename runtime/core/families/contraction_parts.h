/* Parts of products of matrices whose elements are read where they lie (contraction.c). */
#ifndef OPWEAVE_CONTRACTION_PARTS_H
#define OPWEAVE_CONTRACTION_PARTS_H

#include <stdatomic.h>

#include "kernel/compute.h"
#include "routines/linalg/levels/half_product_kernels.h"
#include "routines/linalg/levels/panel_product_kernels.h"
#include "tensor/tensor.h"

/* The kinds of variables of a contraction, in their order, and its tensors. */
enum { OUTER_VARIABLES, ROW_VARIABLES, COLUMN_VARIABLES, INNER_VARIABLES, KINDS_OF_VARIABLES };
enum { LEFT, RIGHT };

enum {
    PART_ROWS = 512,  /* at most */
    PART_PANELS = 4,  /* of the second matrix, each of which is copied once for the part */
    PART_COLUMNS = PART_PANELS * 64
};

typedef struct {
    const ow_contraction *k;
    const ow_contraction_sizes *s;
    const ow_compute_context *c;
    const ow_panel_kernel *kernel; /* NULL: products are OpenBLAS's */
    int dtype;
    int64_t size, lines, readable[2];
    ow_half_product halves; /* that multiplies the elements as bfloat16, which they are exactly; or nothing */
    int64_t line;          /* terms of a product that follow one another; 1: it is computed by panels */
    char *start;           /* a number for each row to which products are added; NULL: none */
    int adds;              /* are they added to what is in their place? */
    int64_t joined;        /* positions of the dimensions in front that are columns of one product */
    int64_t count[KINDS_OF_VARIABLES]; /* positions of each kind of variables */
    int64_t height, width; /* of a part of a product, */
    int64_t down, across;  /* of which there are so many below and beside one another */
    int64_t first;         /* product that is computed, */
    char *to;              /* where, or NULL: where its elements are those of the result */
    atomic_int *failed;    /* to allocate */
} ow_contraction_task;

/* The first variable of a kind. */
int ow_contraction_first(const ow_contraction *k, int kind);
/* The kernel for a dtype; NULL: there is none. */
const ow_panel_kernel *ow_panel_kernel_of(int dtype);

/* Where rows and columns of a part of a product are in the tensors and in the result. */
typedef struct {
    int64_t left_rows[PART_ROWS], right_columns[PART_COLUMNS], to_columns[PART_COLUMNS];
} ow_contraction_places;

/* A part of the product, with these tables, but without the inner positions; what it is added to is set. */
ow_panel_product ow_contraction_part(const ow_contraction_task *t, int64_t index, ow_contraction_places *places);
/* Where n positions of the variables of a kind lie in a tensor, from `position` on. */
void ow_contraction_offsets(const ow_contraction_task *t, int kind, int tensor, int64_t position, int64_t n, int64_t *offsets);

/* Computes parts of a product, whose context is the task; by a kernel, by one for pairs of halves, or by OpenBLAS. */
void ow_contraction_panels(void *task, int64_t begin, int64_t end);
void ow_contraction_halves(void *task, int64_t begin, int64_t end);
void ow_contraction_blas(void *task, int64_t begin, int64_t end);

#endif

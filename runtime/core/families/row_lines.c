/* The rows of several tensors, broadcast together: see row_lines.h. */
#include <stdlib.h>

#include "row_lines.h"

#define LEAST_CUT 256 /* elements; rows that are made of shorter pieces are copied together */
#define SHORT (16 * OW_ROW_WIDTH)

/* ---- geometry ----------------------------------------------------------------------------------------- */

void ow_row_operand_add(ow_row_lines *l, const ow_tensor *t, int dtype, int is_result) {
    ow_row_operand *o = &l->operands[l->noperands++];
    o->data = t->data;
    o->item = ow_itemsize(dtype);
    o->move = is_result ? ow_cast_loop(t->dtype, dtype) : ow_cast_loop(dtype, t->dtype);
    o->converts = t->dtype != dtype;
    o->is_result = is_result;
}

/* Adds a dimension of `size`, slower than those there are, of which `strides` has a list for each operand. */
static void add(const ow_row_lines *l, int64_t size, const int64_t *strides, int *n, int64_t *sizes, int is_along) {
    if (size == 1) return;
    int merges = *n > 0;
    for (int k = 0; k < l->noperands && merges; k++) {
        const ow_row_operand *o = &l->operands[k];
        merges = strides[k] == (is_along ? o->along : o->apart)[*n - 1] * sizes[*n - 1];
    }
    if (merges) {
        sizes[*n - 1] *= size;
        return;
    }
    for (int k = 0; k < l->noperands; k++) {
        const ow_row_operand *o = &l->operands[k];
        ((int64_t *)(is_along ? o->along : o->apart))[*n] = strides[k];
    }
    sizes[(*n)++] = size;
}

void ow_row_lines_arrange(ow_row_lines *l, ow_tensor *const *tensors, int ndim, const int64_t *shape, uint64_t along) {
    l->length = l->number = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        int64_t strides[OW_MAX_OPERANDS];
        int is_along = along >> d & 1;
        for (int k = 0; k < l->noperands; k++) {
            const ow_tensor *t = tensors[k];
            int place = d - (ndim - t->ndim);
            strides[k] = place < 0 || t->sizes[place] == 1 ? 0 : t->strides[place] * ow_itemsize(t->dtype);
        }
        *(is_along ? &l->length : &l->number) *= shape[d];
        add(l, shape[d], strides, is_along ? &l->nalong : &l->napart, is_along ? l->along : l->apart, is_along);
    }
    int in_pieces = 0;
    for (int k = 0; k < l->noperands; k++) {
        ow_row_operand *o = &l->operands[k];
        o->is_linear = 1;
        o->is_constant = l->nalong && !o->along[0];
        for (int d = 1; d < l->nalong; d++) o->is_constant &= !o->along[d];
        for (int d = 1; d < l->nalong; d++) o->is_linear &= o->along[d] == o->along[d - 1] * l->along[d - 1];
        if (!l->nalong) o->along[0] = o->item;
        in_pieces |= !o->is_linear && !o->converts && o->along[0] == o->item;
    }
    l->cut = in_pieces && l->along[0] >= LEAST_CUT ? l->along[0] : 0;
    l->of_piece = l->nalong;
    for (int k = 0; k < l->noperands; k++)
        for (int d = 0; d < l->of_piece && l->per_piece >> k & 1; d++)
            if (l->operands[k].along[d]) l->of_piece = d;
    l->piece = 1;
    for (int d = 0; d < l->of_piece; d++) l->piece *= l->along[d];
}

int ow_row_lines_suit(const ow_row_lines *l) {
    if (l->number < OW_ROW_WIDTH / 2) return 0;
    if (l->length <= SHORT) return 1;
    for (int k = 0; k < l->noperands; k++) {
        const ow_row_operand *o = &l->operands[k];
        if (!(l->per_row >> k & 1) && l->napart && o->apart[0] == o->item && o->along[0] != o->item)
            return l->apart[0] >= OW_ROW_WIDTH && o->is_linear;
    }
    return 0;
}

int ow_row_lines_lie_as_taken(const ow_row_lines *l) {
    for (int k = 0; k < l->noperands; k++) {
        const ow_row_operand *o = &l->operands[k];
        if (o->converts) return 0;
        if (!(l->per_row >> k & 1) && l->length > 1 && (!o->is_linear || o->along[0] != o->item)) return 0;
    }
    return l->length <= OW_ROW_PART;
}

static int64_t offset(const int64_t *sizes, const int64_t *strides, int n, int64_t index) {
    int64_t at = 0;
    for (int d = 0; d < n - 1 && index; d++) {
        at += index % sizes[d] * strides[d];
        index /= sizes[d];
    }
    return n ? at + index * strides[n - 1] : 0;
}

int64_t ow_row_lines_at(const ow_row_lines *l, int64_t line, char **rows) {
    for (int k = 0; k < l->noperands; k++)
        rows[k] = l->operands[k].data + offset(l->apart, l->operands[k].apart, l->napart, line);
    return l->napart ? l->apart[0] - line % l->apart[0] : 1;
}

static int64_t piece_offset(const ow_row_lines *l, int k, int64_t index) {
    return offset(l->along + l->of_piece, l->operands[k].along + l->of_piece, l->nalong - l->of_piece, index);
}

void ow_row_lines_piece(const ow_row_lines *l, int64_t index, char *const *rows, char **x) {
    for (int k = 0; k < l->noperands; k++)
        if (l->per_piece >> k & 1) x[k] = rows[k] + piece_offset(l, k, index);
}

/* ---- parts -------------------------------------------------------------------------------------------- */

static int64_t aligned(int64_t nbytes) { return (nbytes + 63) & ~(int64_t)63; }

int ow_row_view_begin(ow_row_view *v, const ow_row_lines *l, int64_t width, uint32_t whole) {
    int64_t part = l->length < OW_ROW_PART ? l->length : OW_ROW_PART, at[OW_MAX_OPERANDS];
    v->l = l;
    v->width = width;
    v->whole = whole;
    v->nbytes = 0;
    for (int k = 0; k < l->noperands; k++) {
        int64_t n = l->per_row >> k & 1 ? 1 : whole >> k & 1 ? l->length : part;
        at[k] = v->nbytes;
        v->nbytes += aligned((n + !n) * width * l->operands[k].item);
        v->held[k] = NULL;
    }
    if (!(v->memory = ow_alloc(v->nbytes))) return 0;
    for (int k = 0; k < l->noperands; k++) v->buffer[k] = v->memory + at[k];
    return 1;
}

void ow_row_view_end(ow_row_view *v) {
    if (v->memory) ow_dealloc(v->memory, v->nbytes);
}

void ow_row_view_rows(ow_row_view *v, int64_t line, int64_t count) {
    const ow_row_lines *l = v->l;
    v->count = count;
    v->n = -1;
    char *first[OW_MAX_OPERANDS];
    for (int64_t j = 0, some; j < count; j += some) {
        int64_t left = ow_row_lines_at(l, line + j, first);
        some = left < count - j ? left : count - j;
        for (int k = 0; k < l->noperands; k++)
            for (int64_t i = 0; i < some; i++) v->base[k][j + i] = first[k] + (i ? i * l->operands[k].apart[0] : 0);
    }
    for (int k = 0; k < l->noperands; k++) {
        const ow_row_operand *o = &l->operands[k];
        if (v->width == 1 && !(l->per_row >> k & 1)) continue;
        for (int64_t j = count; j < v->width; j++) v->base[k][j] = v->base[k][count - 1]; /* in place of those that are missing */
        v->between[k] = count == v->width && count > 1 ? v->base[k][1] - v->base[k][0] : -1;
        for (int64_t j = 1; j < v->width && v->between[k] >= 0; j++)
            if (v->base[k][j] - v->base[k][j - 1] != v->between[k]) v->between[k] = -1;
        if (v->width > 1 && v->between[k]) v->held[k] = NULL; /* otherwise all rows are this one */
        if (!(l->per_row >> k & 1)) continue;
        if (v->between[k] >= 0) o->move(v->buffer[k], o->item, v->base[k][0], v->between[k], v->width);
        else
            for (int64_t j = 0; j < v->width; j++) o->move(v->buffer[k] + j * o->item, 0, v->base[k][j], 0, 1);
        v->x[k] = v->buffer[k];
        v->step[k] = 0;
    }
}

/* Do elements [at, at + n) of the rows lie in memory as kernels take them? */
static int is_direct(const ow_row_view *v, int k, int64_t at, int64_t n) {
    const ow_row_lines *l = v->l;
    const ow_row_operand *o = &l->operands[k];
    if (o->converts || (v->width > 1 && v->between[k] != o->item)) return 0;
    if (v->width == 1 && o->along[0] != o->item && l->length > 1) return 0;
    return o->is_linear || !n || at % l->along[0] + n <= l->along[0];
}

int ow_row_view_is_direct(const ow_row_view *v, int k) { return is_direct(v, k, 0, v->l->length); }

/* n elements from `at` on, between memory and a buffer. */
static void copy(const ow_row_view *v, int k, char *buffer, int64_t at, int64_t n) {
    const ow_row_lines *l = v->l;
    const ow_row_operand *o = &l->operands[k];
    int64_t row = v->width * o->item, rows = o->is_result ? v->count : v->width;
    for (int64_t some; n > 0; at += some, n -= some, buffer += some * row) {
        int64_t left = o->is_linear || !l->nalong ? n : l->along[0] - at % l->along[0];
        some = left < n ? left : n;
        int64_t from = o->is_linear ? at * o->along[0] : offset(l->along, o->along, l->nalong, at);
        if (v->width > 1 && !o->converts && v->between[k] > 0 && o->along[0] == o->item) {
            if (o->is_result) ow_transpose(v->base[k][0] + from, v->between[k], buffer, row, rows, some, o->item);
            else ow_transpose(buffer, row, v->base[k][0] + from, v->between[k], some, rows, o->item);
            continue;
        }
        for (int64_t j = 0; j < rows; j++) {
            char *memory = v->base[k][j] + from, *place = buffer + j * o->item;
            if (o->is_result) o->move(memory, o->along[0], place, row, some);
            else o->move(place, row, memory, o->along[0], some);
        }
    }
}

void ow_row_view_part(ow_row_view *v, int64_t at, int64_t n, uint32_t reads) {
    const ow_row_lines *l = v->l;
    if (v->at != at || v->n != n) v->found = l->per_row;
    v->at = at;
    v->n = n;
    for (int k = 0; k < l->noperands; k++) {
        const ow_row_operand *o = &l->operands[k];
        if (v->found >> k & 1 || !(o->is_result || reads >> k & 1)) continue;
        v->found |= (uint32_t)1 << k;
        if (is_direct(v, k, at, n)) {
            int64_t from = o->is_linear ? at * o->along[0] : offset(l->along, o->along, l->nalong, at);
            v->x[k] = v->base[k][0] + from;
            v->step[k] = o->along[0];
            continue;
        }
        v->step[k] = v->width * o->item;
        v->x[k] = v->buffer[k] + (v->whole >> k & 1 ? at * v->step[k] : 0);
        /* The same part of the same row, as of a weight, is there already. */
        int is_held = v->held[k] == v->base[k][0] &&
                      (o->is_constant ? v->held_n[k] >= n : v->held_at[k] == at && v->held_n[k] == n);
        if (o->is_result || is_held) continue;
        copy(v, k, v->buffer[k], at, n);
        v->held[k] = v->base[k][0];
        v->held_at[k] = at;
        v->held_n[k] = n;
    }
}

void ow_row_view_piece(ow_row_view *v, int64_t index, char **x) {
    const ow_row_lines *l = v->l;
    for (int k = 0; k < l->noperands; k++) {
        const ow_row_operand *o = &l->operands[k];
        if (!(l->per_piece >> k & 1)) continue;
        int64_t from = piece_offset(l, k, index);
        x[k] = v->width > 1 || o->converts ? v->buffer[k] : v->base[k][0] + from;
        for (int64_t j = 0; j < v->width && x[k] == v->buffer[k]; j++)
            o->move(v->buffer[k] + j * o->item, 0, v->base[k][j] + from, 0, 1);
    }
}

void ow_row_view_store(ow_row_view *v, int64_t at, int64_t n) {
    for (int k = 0; k < v->l->noperands; k++)
        if (v->l->operands[k].is_result && !is_direct(v, k, at, n)) copy(v, k, v->x[k], at, n);
}

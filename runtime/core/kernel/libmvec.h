/* The vector functions that compilers call in loops of SIMD mathematics (kernel.h): those of glibc's libmvec, found when the
 * library is loaded. Each library that has kernels includes this once, in its registry, which says what OW_LIBMVEC(one, two)
 * is: `one(name)` for each function of one number, `two(name)` for each of two.
 *
 * Linked with libmvec, a library would not load where a single one of its functions is missing: most came with glibc 2.35.
 * So the names are defined here, as jumps to where a table says: what a linker makes of calls to other libraries, at the
 * same cost. Where libmvec lacks a function, its place has a loop over the scalar one. This file must not see that vector
 * forms exist, lest that loop called itself. */
#ifndef OPWEAVE_LIBMVEC_H
#define OPWEAVE_LIBMVEC_H

#if defined(OW_HAVE_LIBMVEC) && defined(__x86_64__)
#include <dlfcn.h>
#include <math.h>
#include <stddef.h>

/* By the letter of its instruction set in symbols: `d` is AVX2. */
typedef double ow_doubles_b __attribute__((vector_size(16)));
typedef double ow_doubles_d __attribute__((vector_size(32)));
typedef double ow_doubles_e __attribute__((vector_size(64)));
typedef float ow_floats_b __attribute__((vector_size(16)));
typedef float ow_floats_d __attribute__((vector_size(32)));
typedef float ow_floats_e __attribute__((vector_size(64)));

/* Fills the lanes of a result. */
#define OW_EACH_LANE(vector, call) \
    vector result; \
    for (size_t i = 0; i < sizeof(vector) / sizeof result[0]; i++) result[i] = call; \
    return result;

#define OW_SCALAR_LOOP1(symbol, isa, vector, function) \
    static __attribute__((target(isa))) vector ow_loop##symbol(vector x) { OW_EACH_LANE(vector, function(x[i])) }
#define OW_SCALAR_LOOP2(symbol, isa, vector, function) \
    static __attribute__((target(isa))) vector ow_loop##symbol(vector x, vector y) { OW_EACH_LANE(vector, function(x[i], y[i])) }

#define OW_JUMP(symbol) \
    extern __attribute__((visibility("hidden"))) void *ow_place##symbol; \
    void *ow_place##symbol = (void *)ow_loop##symbol; \
    __asm__(".pushsection .text\n" \
            ".p2align 4\n" \
            ".globl " #symbol "\n" \
            ".hidden " #symbol "\n" \
            ".type " #symbol ", @function\n" \
            #symbol ":\n" \
            "\tjmp *ow_place" #symbol "(%rip)\n" \
            ".size " #symbol ", .-" #symbol "\n" \
            ".popsection\n");

#define OW_VECTOR_FUNCTION1(symbol, isa, vector, function) OW_SCALAR_LOOP1(symbol, isa, vector, function) OW_JUMP(symbol)
#define OW_VECTOR_FUNCTION2(symbol, isa, vector, function) OW_SCALAR_LOOP2(symbol, isa, vector, function) OW_JUMP(symbol)
#define OW_PLACE(symbol, isa, vector, function) {#symbol, &ow_place##symbol},

/* `what` of each vector form of a function: its symbol, the instruction set, the type of a vector and the scalar form. */
#define OW_FORMS(what, arguments, name) \
    what(_ZGVbN2##arguments##_##name, "sse2", ow_doubles_b, name) \
    what(_ZGVbN4##arguments##_##name##f, "sse2", ow_floats_b, name##f) \
    what(_ZGVdN4##arguments##_##name, "avx2", ow_doubles_d, name) \
    what(_ZGVdN8##arguments##_##name##f, "avx2", ow_floats_d, name##f) \
    what(_ZGVeN8##arguments##_##name, "avx512f", ow_doubles_e, name) \
    what(_ZGVeN16##arguments##_##name##f, "avx512f", ow_floats_e, name##f)

#define OW_DEFINE1(name) OW_FORMS(OW_VECTOR_FUNCTION1, v, name)
#define OW_DEFINE2(name) OW_FORMS(OW_VECTOR_FUNCTION2, vv, name)
OW_LIBMVEC(OW_DEFINE1, OW_DEFINE2)

static __attribute__((constructor)) void ow_find_vector_functions(void) {
#define OW_PLACES1(name) OW_FORMS(OW_PLACE, v, name)
#define OW_PLACES2(name) OW_FORMS(OW_PLACE, vv, name)
    static const struct {
        const char *symbol;
        void **place;
    } functions[] = {OW_LIBMVEC(OW_PLACES1, OW_PLACES2)};
    void *library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL); /* never closed: the table points into it */
    if (!library) return;
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        void *found = dlsym(library, functions[k].symbol);
        if (found) *functions[k].place = found;
    }
}
#endif

#endif

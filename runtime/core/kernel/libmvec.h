/* The vector functions that compilers call in loops of SIMD mathematics (kernel.h): those of glibc's libmvec, found when the
 * library is loaded. Each library that has kernels includes this once, in its registry, which says what OW_LIBMVEC(one, two)
 * is: `one(name)` for each function of one number, `two(name)` for each of two.
 *
 * Linked with libmvec, a library would not load where a single one of its functions is missing: most came with glibc 2.35.
 * So the names are defined here, as jumps to where a table says: what a linker makes of calls to other libraries, at the
 * same cost. The core fills the tables of all libraries (find_libmvec.h). This file must not see that vector forms exist. */
#ifndef OPWEAVE_LIBMVEC_H
#define OPWEAVE_LIBMVEC_H

/* A vector function by its symbol, and where its address is kept. */
typedef struct ow_vector_function {
    const char *symbol;
    void **place;
} ow_vector_function;

#if defined(OW_HAVE_LIBMVEC) && defined(__x86_64__)
#define OW_JUMP(symbol, isa, vector, function) \
    __attribute__((visibility("hidden"))) void *ow_place##symbol; \
    __asm__(".pushsection .text\n" \
            ".p2align 4\n" \
            ".globl " #symbol "\n" \
            ".hidden " #symbol "\n" \
            ".type " #symbol ", @function\n" \
            #symbol ":\n" \
            "\tjmp *ow_place" #symbol "(%rip)\n" \
            ".size " #symbol ", .-" #symbol "\n" \
            ".popsection\n");
#define OW_PLACE(symbol, isa, vector, function) {#symbol, &ow_place##symbol},

/* `what` of each vector form of a function: its symbol, the instruction set, the type of a vector and the scalar form.
 * Instruction sets have letters in symbols: `d` is AVX2. */
#define OW_FORMS(what, arguments, name) \
    what(_ZGVbN2##arguments##_##name, "sse2", ow_doubles_b, name) \
    what(_ZGVbN4##arguments##_##name##f, "sse2", ow_floats_b, name##f) \
    what(_ZGVdN4##arguments##_##name, "avx2", ow_doubles_d, name) \
    what(_ZGVdN8##arguments##_##name##f, "avx2", ow_floats_d, name##f) \
    what(_ZGVeN8##arguments##_##name, "avx512f", ow_doubles_e, name) \
    what(_ZGVeN16##arguments##_##name##f, "avx512f", ow_floats_e, name##f)

#define OW_JUMPS1(name) OW_FORMS(OW_JUMP, v, name)
#define OW_JUMPS2(name) OW_FORMS(OW_JUMP, vv, name)
OW_LIBMVEC(OW_JUMPS1, OW_JUMPS2)

#define OW_PLACES1(name) OW_FORMS(OW_PLACE, v, name)
#define OW_PLACES2(name) OW_FORMS(OW_PLACE, vv, name)
extern __attribute__((visibility("default"))) const ow_vector_function ow_vector_functions[];
const ow_vector_function ow_vector_functions[] = {OW_LIBMVEC(OW_PLACES1, OW_PLACES2) {0}};
#endif

#endif

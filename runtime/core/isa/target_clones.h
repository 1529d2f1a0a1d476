/* OW_CLONES: a function of the core that the compiler makes for several levels of instruction set; the loader chooses.
 *
 * For integer arithmetic, whose results are the same at every level. What computes with floating numbers is a kernel. */
#ifndef OPWEAVE_CLONES_H
#define OPWEAVE_CLONES_H

#if defined __x86_64__ && defined __gnu_linux__ && __GNUC__ >= 12 && !defined __clang__ && !defined __SANITIZE_ADDRESS__
#define OW_CLONES __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define OW_CLONES
#endif

#endif

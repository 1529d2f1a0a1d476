/* What the processor can, for the core when it is loaded and for tools/own_level.c when it is built. */
#ifndef OPWEAVE_PROCESSOR_H
#define OPWEAVE_PROCESSOR_H

#if defined __x86_64__
#include <cpuid.h>

/* The best instruction-set level: 0 for x86-64, 1 for x86-64-v3, 2 for x86-64-v4. Compilers know names for most of what a level
 * has, and whether the system saves the registers; the bits of the others are read here, as clang knows none for them. */
static inline int ow_processor_level(void) {
    unsigned a, b, c, d, basic = 0, extended = 0;
    if (__get_cpuid(1, &a, &b, &c, &d)) basic = c;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d)) extended = c;
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2") || !(basic & bit_F16C) || !(basic & bit_MOVBE) || !(extended & bit_LZCNT))
        return 0;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
               ? 2
               : 1;
}
#else
static inline int ow_processor_level(void) { return 0; }
#endif

#endif

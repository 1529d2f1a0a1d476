/* Whether the calling thread takes denormal numbers for zero, a mode of its processor. */
#ifndef OPWEAVE_DENORMALS_H
#define OPWEAVE_DENORMALS_H

#include <stdint.h>

#if defined __x86_64__ || defined __i386__
#define OW_FLUSHES 0x8040u /* of results (FTZ) and of operands (DAZ), in MXCSR */

static inline uint32_t ow_denormal_mode(void) { return __builtin_ia32_stmxcsr() & OW_FLUSHES; }

static inline void ow_set_denormal_mode(uint32_t mode) {
    uint32_t control = __builtin_ia32_stmxcsr();
    if ((control & OW_FLUSHES) != mode) __builtin_ia32_ldmxcsr((control & ~OW_FLUSHES) | mode);
}
#elif defined __aarch64__
#define OW_FLUSHES (1u << 24) /* FZ, in FPCR */

static inline uint32_t ow_denormal_mode(void) {
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (uint32_t)control & OW_FLUSHES;
}

static inline void ow_set_denormal_mode(uint32_t mode) {
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    if ((control & OW_FLUSHES) != mode)
        __asm__ volatile("msr fpcr, %0" : : "r"((control & ~(uint64_t)OW_FLUSHES) | mode));
}
#else
#define OW_FLUSHES 0u /* not that we know of */

static inline uint32_t ow_denormal_mode(void) { return 0; }

static inline void ow_set_denormal_mode(uint32_t mode) { (void)mode; }
#endif

#endif

/* What files of vector loops compiled for each instruction-set level begin with: the bytes of a vector, names that end with the
 * level or the dtype, and products and sums contracted where the processor has fused multiplications. Such files alone
 * include it, as it changes the code of all functions behind it. */
#ifndef OPWEAVE_CONTRACTED_VECTORS_H
#define OPWEAVE_CONTRACTED_VECTORS_H

#if defined __clang__
#pragma clang fp contract(fast)
#else
#pragma GCC optimize("fp-contract=fast")
#endif

#if defined __AVX512F__
#define OW_VECTOR_BYTES 64
#elif defined __AVX2__
#define OW_VECTOR_BYTES 32
#else
#define OW_VECTOR_BYTES 16
#endif

#define JOIN_(name, suffix) name##_##suffix
#define JOIN(name, suffix) JOIN_(name, suffix)

#endif

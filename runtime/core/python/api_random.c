/* Generators and random fills as Python sees them. */
#include "abi/api.h"
#include "routines/random/random.h"

/* NULL with the error set for an address that no generator has. */
static ow_generator *generator_at(uintptr_t g) {
    ow_generator *generator = ow_generator_at((ow_generator *)g);
    return generator ? generator : ow_fail(OW_RUNTIME_ERROR, "there is no generator at address 0x%llx", (unsigned long long)g);
}

double random_fill(int32_t op, double t, double a, double b, double x, double y, int64_t i, int64_t j, int32_t given,
                   uintptr_t generator) {
    ow_random_call f = {.op = ow_op_called(op, OW_FAMILY(RANDOM)),
                 .target = ow_unpack(t),
                 .inputs = {ow_unpack(a), ow_unpack(b)},
                 .numbers = {x, y},
                 .integers = {i, j},
                 .given = given,
                 .generator = generator_at(generator)};
    if (!f.op) return 0.0;
    uint32_t keys = ow_keys(f.target);
    for (int k = 0; k < 2; k++) keys |= ow_keys(f.inputs[k]);
    if (keys || !f.generator) return 0.0;
    return ow_random_fill(&f) ? 1.0 : 0.0;
}

uintptr_t generator_new(uint64_t seed) { return (uintptr_t)ow_generator_new(seed); }

void generator_free(uintptr_t g) {
    if (g && ow_generator_at((ow_generator *)g)) ow_generator_free((ow_generator *)g);
}

int32_t generator_seed(uintptr_t g, uint64_t seed) {
    ow_generator *generator = generator_at(g);
    if (generator) ow_generator_seed(generator, seed);
    return generator != NULL;
}

int32_t generator_initial_seed(uintptr_t g, uint64_t *seed) {
    const ow_generator *generator = generator_at(g);
    if (generator) *seed = generator->seed;
    return generator != NULL;
}

int32_t generator_save(uintptr_t g, uintptr_t bytes) {
    ow_generator *generator = generator_at(g);
    if (generator) ow_generator_save(generator, (char *)bytes);
    return generator != NULL;
}

int32_t generator_restore(uintptr_t g, uintptr_t bytes) {
    ow_generator *generator = generator_at(g);
    return generator && ow_generator_restore(generator, (const char *)bytes);
}

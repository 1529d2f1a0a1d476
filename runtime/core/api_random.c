/* Generators and random fills as Python sees them. */
#include "api.h"
#include "random.h"

static ow_generator *generator_at(uintptr_t g) { return g ? (ow_generator *)g : ow_generator_default(); }

double random_fill(int32_t op, double t, double a, double b, double x, double y, int64_t i, int64_t j, int32_t given,
                   uintptr_t generator) {
    ow_random_call f = {.op = ow_op_get(op),
                 .target = ow_unpack(t),
                 .inputs = {ow_unpack(a), ow_unpack(b)},
                 .numbers = {x, y},
                 .integers = {i, j},
                 .given = given,
                 .generator = generator_at(generator)};
    uint32_t keys = ow_keys(f.target);
    for (int k = 0; k < 2; k++) keys |= ow_keys(f.inputs[k]);
    if (keys) return 0.0;
    return ow_random_fill(&f) ? 1.0 : 0.0;
}

uintptr_t generator_new(uint64_t seed) { return (uintptr_t)ow_generator_new(seed); }

void generator_free(uintptr_t g) { ow_generator_free((ow_generator *)g); }

void generator_seed(uintptr_t g, uint64_t seed) { ow_generator_seed(generator_at(g), seed); }

uint64_t generator_initial_seed(uintptr_t g) { return generator_at(g)->seed; }

void generator_save(uintptr_t g, uintptr_t bytes) { ow_generator_save(generator_at(g), (char *)bytes); }

int32_t generator_restore(uintptr_t g, uintptr_t bytes) {
    return ow_generator_restore(generator_at(g), (const char *)bytes);
}

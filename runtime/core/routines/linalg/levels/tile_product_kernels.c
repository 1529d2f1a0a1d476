/* See tile_product_kernels.h. Tiles are no part of a level: the processor is asked for them, and the system for the memory
 * that it saves them in. */
#define _GNU_SOURCE
#include "tile_product_kernels.h"

#include <stddef.h>

#define NAME(level) NAMED(level)
#define NAMED(level) ow_tile_product_##level

#if defined __AVX512BW__ && defined __linux__ && (defined __clang__ || __GNUC__ >= 11)
#include <cpuid.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "word_squares.h"

/* A block of a panel: as many units of each line as a row of a tile holds. Four tiles of sums are those of two tiles of
 * each matrix, so that each element that is loaded serves twice. */
enum { LINES = 32, UNITS = 16, BYTES = 4 * UNITS, HALF = LINES / 2 };

#define TARGET __attribute__((target("amx-tile,amx-bf16,amx-int8")))
#define INLINE static inline __attribute__((always_inline))

/* ---- packing ------------------------------------------------------------------------------------------------------- */

/* Elements of lines that are beside each other in memory, `unit` of each line beside one another. */
INLINE void interleave(uint32_t to[UNITS][LINES], const char *from, int64_t step, int64_t count, int64_t left, const int size) {
    static const char zeros[BYTES];
    const int unit = 4 / size;
    for (int u = 0; u < UNITS; u++) {
        const void *rows[4];
        for (int q = 0; q < unit; q++) rows[q] = unit * u + q < left ? from + (unit * u + q) * step : zeros;
        if (size == 2) {
            const uint16_t *a = rows[0], *b = rows[1];
            for (int i = 0; i < count; i++) to[u][i] = a[i] | (uint32_t)b[i] << 16;
        } else {
            const uint8_t *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
            for (int i = 0; i < count; i++) to[u][i] = a[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16 | (uint32_t)d[i] << 24;
        }
        for (int64_t i = count; i < LINES; i++) to[u][i] = 0;
    }
}

/* Each line as it is. */
INLINE void gather(uint32_t to[LINES][UNITS], const char *from, int64_t line, int64_t step, int64_t count, int64_t left,
                   const int size) {
    const int64_t n = left < BYTES / size ? left : BYTES / size;
    if (count < LINES || n < BYTES / size) memset(to, 0, LINES * BYTES);
    for (int64_t i = 0; i < count; i++, from += line) {
        char *row = (char *)to[i];
        if (step == size && n == BYTES / size) memcpy(row, from, BYTES);
        else
            for (int64_t k = 0; k < n; k++) memcpy(row + k * size, from + k * step, (size_t)size);
    }
}

INLINE void pack(uint32_t *to, const char *from, int64_t line, int64_t step, int64_t count, int64_t inner, const int size,
                 const int by_lines) {
    _Alignas(64) uint32_t block[LINES * UNITS];
    for (int64_t k = 0; k < inner; k += BYTES / size, from += BYTES / size * step, to += LINES * UNITS) {
        const int across = line == size && step != size; /* lines are beside each other, elements of a line are not */
        uint32_t *made = across == by_lines ? block : to;
        if (across) interleave((void *)made, from, step, count, inner - k, size);
        else gather((void *)made, from, line, step, count, inner - k, size);
        if (made == to) continue;
        for (int i = 0; i < LINES; i += UNITS) {
            if (across) ow_turn_square(to + i * UNITS, UNITS, made + i, LINES);
            else ow_turn_square(to + i, LINES, made + i * UNITS, UNITS);
        }
    }
}

static void pack_halves_of_rows(uint32_t *to, const void *from, int64_t line, int64_t step, int64_t count, int64_t inner,
                                uint8_t flip, int is_signed, int32_t *sums) {
    (void)flip, (void)is_signed, (void)sums;
    pack(to, from, 2 * line, 2 * step, count, inner, 2, 1);
}

static void pack_halves_of_columns(uint32_t *to, const void *from, int64_t line, int64_t step, int64_t count, int64_t inner,
                                   uint8_t flip, int is_signed, int32_t *sums) {
    (void)flip, (void)is_signed, (void)sums;
    pack(to, from, 2 * line, 2 * step, count, inner, 2, 0);
}

/* Sums of bytes of each line of a panel whose blocks have words of a line at `line`, and the next ones at `next`. */
INLINE void add_up(int32_t *sums, const uint32_t *panel, int64_t inner, int is_signed, const int line, const int next) {
    memset(sums, 0, sizeof(int32_t) * LINES);
    for (int64_t k = 0; k < inner; k += BYTES, panel += LINES * UNITS)
        for (int i = 0; i < LINES; i++)
            for (int u = 0; u < UNITS; u++) {
                const uint32_t unit = panel[i * line + u * next];
                const int32_t low = (int32_t)(unit & 0xff) + (int32_t)(unit >> 8 & 0xff);
                const int32_t all = low + (int32_t)(unit >> 16 & 0xff) + (int32_t)(unit >> 24);
                /* A signed byte is 256 less than its bits, where the highest of these is set. */
                sums[i] += is_signed ? all - 256 * __builtin_popcount(unit & 0x80808080u) : all;
            }
}

static void pack_bytes_of_rows(uint32_t *to, const void *from, int64_t line, int64_t step, int64_t count, int64_t inner,
                               uint8_t flip, int is_signed, int32_t *sums) {
    (void)flip;
    pack(to, from, line, step, count, inner, 1, 1);
    if (sums) add_up(sums, to, inner, is_signed, UNITS, 1);
}

static void pack_bytes_of_columns(uint32_t *to, const void *from, int64_t line, int64_t step, int64_t count, int64_t inner,
                                  uint8_t flip, int is_signed, int32_t *sums) {
    (void)flip;
    pack(to, from, line, step, count, inner, 1, 0);
    if (sums) add_up(sums, to, inner, is_signed, 1, LINES);
}

/* ---- products ------------------------------------------------------------------------------------------------------ */

/* The first half of rows is in tile 4, the second one in 5, halves of columns are in 6 and 7, sums in 0 to 3. */
#define MULTIPLY(name, ADD) \
    TARGET static void name(void *sums, const void *a, int64_t line, int64_t next, const uint32_t *b, int64_t units, int begins) { \
        const char *rows = a; \
        float *tile = sums; \
        if (begins) { \
            _tile_zero(0); \
            _tile_zero(1); \
            _tile_zero(2); \
            _tile_zero(3); \
        } else { \
            _tile_loadd(0, tile, 4 * LINES); \
            _tile_loadd(1, tile + HALF, 4 * LINES); \
            _tile_loadd(2, tile + HALF * LINES, 4 * LINES); \
            _tile_loadd(3, tile + HALF * LINES + HALF, 4 * LINES); \
        } \
        for (int64_t k = 0; k < units; k += UNITS, rows += next, b += UNITS * LINES) { \
            _tile_loadd(4, rows, line); \
            _tile_loadd(6, b, 4 * LINES); \
            ADD(0, 4, 6); \
            _tile_loadd(7, b + HALF, 4 * LINES); \
            ADD(1, 4, 7); \
            _tile_loadd(5, rows + HALF * line, line); \
            ADD(2, 5, 6); \
            ADD(3, 5, 7); \
        } \
        _tile_stored(0, tile, 4 * LINES); \
        _tile_stored(1, tile + HALF, 4 * LINES); \
        _tile_stored(2, tile + HALF * LINES, 4 * LINES); \
        _tile_stored(3, tile + HALF * LINES + HALF, 4 * LINES); \
    }

MULTIPLY(multiply_halves, _tile_dpbf16ps)
MULTIPLY(multiply_signed, _tile_dpbssd)
MULTIPLY(multiply_signed_by_unsigned, _tile_dpbsud)
MULTIPLY(multiply_unsigned_by_signed, _tile_dpbusd)
MULTIPLY(multiply_unsigned, _tile_dpbuud)

TARGET static void begin(void) {
    static const struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } shapes = {.palette = 1, .row_bytes = {[0 ... 7] = BYTES}, .rows = {[0 ... 7] = HALF}};
    _tile_loadconfig(&shapes);
}

TARGET static void end(void) { _tile_release(); }

/* ---- the choice ---------------------------------------------------------------------------------------------------- */

#define KERNEL(unit, pack, multiply) \
    {unit, LINES, LINES, UNITS, 1, 0, pack##_of_rows, pack##_of_columns, begin, end, multiply}
static const ow_tile_product tiles = {
    .halves = KERNEL(2, pack_halves, multiply_halves),
    .bytes = {{KERNEL(4, pack_bytes, multiply_unsigned), KERNEL(4, pack_bytes, multiply_unsigned_by_signed)},
              {KERNEL(4, pack_bytes, multiply_signed_by_unsigned), KERNEL(4, pack_bytes, multiply_signed)}},
};

static int has_tiles(void) {
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 }; /* of arch_prctl, since Linux 5.16 */
    const unsigned wanted = 1u << 22 | 1u << 24 | 1u << 25; /* bfloat16, tiles, bytes */
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & wanted) != wanted) return 0;
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

const ow_tile_product *NAME(OW_LEVEL)(void) {
    static int known; /* 1: there are none, 2: there are */
    int state = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!state) __atomic_store_n(&known, state = 1 + has_tiles(), __ATOMIC_RELAXED);
    return state == 2 ? &tiles : NULL;
}
#else
const ow_tile_product *NAME(OW_LEVEL)(void) { return NULL; }
#endif

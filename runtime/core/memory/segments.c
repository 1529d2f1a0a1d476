/* Segments: memory from the system, aligned for huge pages and counted against the limit of this process. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise */
#endif
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "allocator.h"

static int64_t group_limit(const char *path) {
    FILE *file = fopen(path, "re");
    if (!file) return INT64_MAX;
    long long value;
    int read = fscanf(file, "%lld", &value); /* "max" when there is no limit */
    fclose(file);
    return read == 1 && value > 0 ? value : INT64_MAX;
}

/* The system may grant more address space than there is memory, and then kill the process that touches it. Memory that
 * can never exist is refused here instead, where an error can be raised. */
int64_t ow_memory_limit(void) {
    static _Atomic int64_t cached;
    int64_t limit = atomic_load_explicit(&cached, memory_order_relaxed);
    if (limit) return limit;
    struct sysinfo info;
    limit = INT64_MAX;
    if (sysinfo(&info) == 0) limit = (int64_t)((info.totalram + info.totalswap) * (uint64_t)info.mem_unit);
    static const char *const paths[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    for (int k = 0; k < 2; k++) {
        int64_t group = group_limit(paths[k]);
        if (group < limit) limit = group;
    }
    atomic_store_explicit(&cached, limit, memory_order_relaxed);
    return limit;
}

static char *map(int64_t nbytes) {
    void *p = mmap(NULL, (size_t)nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Lowest address that a segment has had, and the highest. */
static _Atomic uintptr_t lowest = UINTPTR_MAX, highest;

int ow_may_be_allocated(uintptr_t address) { return address >= lowest && address < highest; }

void *ow_segment_map(int64_t nbytes, int pool) {
    if (nbytes > ow_memory_limit() - ow_statistics[OW_STAT_reserved_bytes][OW_POOL_ALL].current) return NULL;
    char *p = map(nbytes); /* mostly aligned already: the kernel places it beside the previous segment */
    if (p && (uintptr_t)p % OW_SEGMENT) {
        munmap(p, (size_t)nbytes);
        char *wide = map(nbytes + OW_SEGMENT);
        if (!wide) return NULL;
        int64_t before = (int64_t)(-(uintptr_t)wide % OW_SEGMENT);
        p = wide + before;
        if (before) munmap(wide, (size_t)before);
        munmap(p + nbytes, (size_t)(OW_SEGMENT - before));
    }
    if (!p) return NULL;
    madvise(p, (size_t)nbytes, MADV_HUGEPAGE); /* a kernel without huge pages refuses; ordinary ones do */
    if ((uintptr_t)p < lowest) lowest = (uintptr_t)p;
    if ((uintptr_t)p + (uintptr_t)nbytes > highest) highest = (uintptr_t)p + (uintptr_t)nbytes;
    ow_statistic_add(OW_STAT_segment, pool, 1);
    ow_statistic_add(OW_STAT_reserved_bytes, pool, nbytes);
    return p;
}

void ow_segment_unmap(void *segment, int64_t nbytes, int pool) {
    OW_UNPOISON(segment, nbytes);
    munmap(segment, (size_t)nbytes);
    ow_statistic_add(OW_STAT_segment, pool, -1);
    ow_statistic_add(OW_STAT_reserved_bytes, pool, -nbytes);
}

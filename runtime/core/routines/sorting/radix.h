/* Stable radix sort of records, included once for each kind of record with these defined:
 * RECORD: the type. KEY(r): its unsigned key. KEY_BYTES: bytes of the largest key. NAME(f): f with the kind's suffix. */

/* A handful of records is sorted faster by moving each to its place. */
static void NAME(insertion_sort)(RECORD *records, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        RECORD moved = records[i];
        int64_t j = i;
        for (; j > 0 && KEY(records[j - 1]) > KEY(moved); j--) records[j] = records[j - 1];
        records[j] = moved;
    }
}

/* Sorts by the `bytes` lowest bytes of the keys, with room for n more records behind. Returns where the sorted ones are. */
static RECORD *NAME(radix_sort)(RECORD *records, int64_t n, int bytes) {
    if (n <= 48) {
        NAME(insertion_sort)(records, n);
        return records;
    }
    int64_t counts[KEY_BYTES][256];
    memset(counts, 0, sizeof counts[0] * (size_t)bytes);
    for (int64_t i = 0; i < n; i++)
        for (int b = 0; b < bytes; b++) counts[b][KEY(records[i]) >> 8 * b & 255]++;
    RECORD *from = records, *to = records + n;
    for (int b = 0; b < bytes; b++) {
        int64_t *starts = counts[b], total = 0;
        if (starts[KEY(from[0]) >> 8 * b & 255] == n) continue; /* all keys have this byte in common */
        for (int digit = 0; digit < 256; digit++) {
            int64_t count = starts[digit];
            starts[digit] = total;
            total += count;
        }
        for (int64_t i = 0; i < n; i++) to[starts[KEY(from[i]) >> 8 * b & 255]++] = from[i];
        RECORD *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* Adds a record to n gathered ones, of which the first `keep` are wanted. If no more are kept, these are always in order;
 * else they are cut down to so many, in order, when `kept` have come. Returns how many there are: no more than before if
 * the last one of the first `keep` is known. */
static inline int64_t NAME(gather)(RECORD *records, int64_t n, int64_t keep, int64_t kept, int bytes, RECORD added) {
    if (kept == keep) {
        if (n == keep && KEY(records[n - 1]) <= KEY(added)) return n;
        int64_t j = n < keep ? n++ : keep - 1;
        for (; j > 0 && KEY(records[j - 1]) > KEY(added); j--) records[j] = records[j - 1];
        records[j] = added;
        return n;
    }
    records[n++] = added;
    if (n < kept) return n;
    RECORD *sorted = NAME(radix_sort)(records, n, bytes);
    if (sorted != records) memcpy(records, sorted, (size_t)keep * sizeof *sorted);
    return keep;
}

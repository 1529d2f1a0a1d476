"""Facts and memory, without any operator: dtypes, sizes, errors, handles of the core, threads, the allocator."""

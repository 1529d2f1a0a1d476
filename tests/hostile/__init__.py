"""Hostile calls of everything public, and of the doors that are not: none may end the process or leave silent garbage.

Arguments are tensors of every layout and representation, finished and not, junk, numbers that fit nowhere, long
sequences, objects that nobody has initialized, and objects that act while the call reads them (`actors`). After each
call all tensors must lie within their memory, and no error or mode may be left behind (`calls`). What is called are
functions and methods, found by name (`callables`), and small programs that need several calls: layers, optimizers,
files, operators of users (`families`).

Each call follows from its seed, each argument from a seed of its own (`specs`), so that a failing call can be reduced:
arguments are dropped or replaced by plain ones as long as it still fails (`processes`).

    python tests/hostile COUNT [FIRST] [--only PART]   makes COUNT calls in processes of their own, of what has PART in
                                                       its name; reports and reduces failures
    python tests/hostile --repeat SPEC                 makes the one call that a report names
"""

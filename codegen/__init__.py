"""Reads ops.yaml and writes generated/: kernels, entry points, Python functions, stubs, tests, documentation."""

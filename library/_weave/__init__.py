"""Operators outside the package: the command line, the compiler, and the loading of woven libraries."""

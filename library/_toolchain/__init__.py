"""Compiling C that codegen has made: the compiler and its options, and what it compiled before."""

"""Python functions of composites for Fourier transforms and windows: checks, computation, derivatives."""

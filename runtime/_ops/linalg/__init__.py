"""Python functions of composites for linear algebra: checks, computation, derivatives."""

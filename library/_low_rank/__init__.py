"""Approximations of matrices of low rank, and the extreme eigenvalues of large ones: algorithms over operators."""

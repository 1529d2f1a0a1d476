"""Operators that users define: their schemas, kernels, fakes and gradients, and what checks them."""

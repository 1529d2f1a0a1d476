"""C kernels of expressions over indices: nodes of loops, texts of indices, elements, and kernels."""

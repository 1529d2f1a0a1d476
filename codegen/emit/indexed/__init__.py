"""C kernels of expressions over indices, made of their nests: texts of indices, elements, loops, and kernels."""

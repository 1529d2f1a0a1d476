"""First steps with opweave: tensors behave like PyTorch's and share memory with NumPy's arrays."""

import numpy as np
import opweave

# Made from numbers, from nothing, from a range.
prices = opweave.tensor([[2.0, 3.0, 5.0], [7.0, 11.0, 13.0]])
rebate = opweave.tensor([0.9, 1.0, 0.5])
print("prices\n", prices)

# Shapes broadcast, reductions take dimensions, Python's numbers mix in.
totals = (prices * rebate + 1).sum(dim=1)
print("totals", totals)

# Views share memory: writing to one is seen by all.
column = prices.t()[0]
column.mul_(10)
print("prices with the first column times ten\n", prices)

# So do NumPy's arrays, in both directions.
array = np.arange(4)
opweave.from_numpy(array).add_(100)
print("NumPy's array after add_", array)

# Every operator is a function, a method, often in place, and takes out=.
result = opweave.empty(3)
opweave.exp(rebate, out=result)
print("exp", result)

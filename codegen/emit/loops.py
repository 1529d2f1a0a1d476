"""The loops of an operator as people write them, for `opweave show`: what is computed, in which order, in one dtype.

The kernels are these loops in as many forms as memory layouts ask for (kernels.py); here are the names of the entry,
one loop for each line of elements, and the expressions as the kernels have them.
"""

from __future__ import annotations

from ..dtypes import FLOAT32, DType
from ..model.compute import Compute
from ..model.operator import Operator
from ..nest import people
from ..nest.indices import compute
from ..nest.of import of


def dtype_of(operator: Operator) -> DType | None:
    """The dtype that is shown: float32 where there is one."""
    dtypes = operator.compute_dtypes
    return FLOAT32 if FLOAT32 in dtypes else next(iter(dtypes), None)


def nest(operator: Operator) -> str | None:
    """The loops in that dtype; None where the operator is no loop over an expression, or is not computed by one."""
    dtype, body = dtype_of(operator), operator.body
    if dtype is None:
        return None
    loops, nodes = body.loops, of(operator, dtype)
    if not nodes and isinstance(loops, Compute) and (loops.places or loops.last):
        nodes = tuple(compute(operator, loops, dtype))
    return people.indented(people.lines(nodes)) or None

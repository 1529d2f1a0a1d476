"""The adjoint of a recurrence: how the gradient by the results depends on that by later elements.

An element counts for the result that it is and, through those that are computed from it, for later ones. With the
results as a tensor that is given, the gradient by them is gathered from that by the elements that use them:

    value[t]: self[t] + decay * value[t - 1]        through[t]: grad[t] + decay * through[t + 1]

That is a recurrence which runs the other way. What it gives stands for `grad` in the gradients by the other tensors.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from ..expr import Apply, Expr, Name
from ..expr.atoms import Atom, Atoms, Carrier, Read
from .compute import Border, Compute, Size
from .gradient import gradient
from .paths import NoAdjointError, grad_name

_VALUE = "value"
"""The result of the adjoint."""


def adjoint(body: Compute, values: str) -> Compute:
    """The gradient by each element of the result, of `grad` by the result and the elements that are computed from it;
    `body` reads the results as the tensor `values`. Raises NoAdjointError."""
    made = gradient(body, values, 0)
    if made.scattered or made.gathered is None:
        raise NoAdjointError("elements of the result are read at positions that are made of data")
    gathered, grad = made.gathered, grad_name(body)
    atoms = Atoms()

    def renamed(atom: Atom) -> Expr:
        if isinstance(atom, Read) and atom.tensor == grad:
            atom = replace(atom, tensor=_VALUE)
        return Name(atoms.name(atom))

    later = Carrier(gathered.atoms, atoms, renamed)(gathered.results[0].tree, {})
    own = Read(grad, tuple(map(Name, gathered.names)), body.batched)
    tree = Apply("add", (Name(atoms.name(own)), later))
    rank = len(gathered.names)
    outside = {name: rule for name, rule in gathered.outside.items() if name != grad}
    return replace(
        gathered,
        variables=tuple((name, Size(None, grad, dim - rank)) for dim, name in enumerate(gathered.names)),
        results=(replace(gathered.results[0], tree=tree, name=_VALUE),),
        atoms=MappingProxyType(atoms.named),
        outside=MappingProxyType({**outside, _VALUE: Border.SKIP}),
        tensors=MappingProxyType({**gathered.tensors, grad: rank, _VALUE: rank}),
        own=frozenset((_VALUE,)),
    ).settled()

"""The adjoint of a recurrence: how the gradient by the results depends on that by later elements.

An element counts for the result that it is and, through those that are computed from it, for later ones. With the
results as tensors that are given, the gradient by them is gathered from that by the elements that use them:

    value[t]: self[t] + decay * value[t - 1]        through[t]: grad[t] + decay * through[t + 1]

That is a recurrence which runs the other way. What it gives stands for `grad` in the gradients by the other tensors.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from ..dtypes import INT_LIST
from ..expr import Apply, Expr, Name
from ..expr.atoms import Atoms, Fold, Read
from ..expr.geometry import Geometry
from ..expr.indexed import SHAPE
from ..expr.typed import Arg, Node, replaced
from .adjoint import positions
from .choices import Choices, choices
from .compute import Border, Compute, Size, shape_argument, uniform_name
from .gradient import gradient
from .paths import IndependentError, NoAdjointError, grad_name
from .recurrence import renaming


@dataclass(frozen=True)
class Through:
    """The names of one result: as a tensor that is given, of the gradient by it, and of the result of the adjoint."""

    given: str
    grad: str
    label: str


def adjoint(body: Compute, results: Mapping[str, Through], taken: Collection[str]) -> tuple[Compute, Choices]:
    """The gradients by each element of the results, which counts for itself and for what is computed from it, and what
    extrema have chosen; the body reads the results as given tensors, and no tensor has a name that is `taken`. Raises
    NoAdjointError."""
    known = choices(body.rolled or body, [each.given for each in results.values()], taken)
    return _Adjoint(known.body, results, known.tests).body(), known


@dataclass
class _Adjoint:
    old: Compute
    results: Mapping[str, Through]
    tests: Mapping[Fold, Expr]
    atoms: Atoms = field(default_factory=Atoms)
    uniforms: dict[str, Geometry] = field(default_factory=dict)
    parts: list[Compute] = field(default_factory=list)

    def body(self) -> Compute:
        old = self.old
        names = positions(old)
        trees = [self._tree(each, names) for each in self.results.values()]
        if not self.parts:
            raise NoAdjointError("the results do not depend on earlier ones")
        first = next(iter(self.results.values())).grad
        labels = [each.label for each in self.results.values()]
        outside = {name: rule for each in self.parts for name, rule in each.outside.items() if name != grad_name(old)}
        tensors = {name: rank for each in self.parts for name, rank in each.tensors.items() if name != grad_name(old)}
        tensors |= dict.fromkeys((*(each.grad for each in self.results.values()), *labels), len(names))
        some = self.parts[0]
        return replace(
            some,
            variables=tuple((name, Size(None, first, dim - len(names))) for dim, name in enumerate(names)),
            results=tuple(
                replace(some.results[0], tree=tree, name=label) for tree, label in zip(trees, labels, strict=True)
            ),
            atoms=MappingProxyType(self.atoms.named),
            uniforms=MappingProxyType({name: self._known(each, tensors) for name, each in self.uniforms.items()}),
            let=tuple((name, self._known(each, tensors)) for name, each in some.let),
            outside=MappingProxyType({**outside, **dict.fromkeys(labels, Border.SKIP)}),
            tensors=MappingProxyType(tensors),
            integers=frozenset().union(*(each.integers for each in self.parts)),
            given=MappingProxyType({name: each for part in self.parts for name, each in part.given.items()}),
            optional=frozenset().union(*(each.optional for each in self.parts)),
            own=frozenset(labels),
        ).settled()

    def _tree(self, through: Through, names: tuple[str, ...]) -> Expr:
        """The gradient by the elements of one result."""
        own = Read(through.grad, tuple(map(Name, names)), self.old.batched)
        tree: Expr = Name(self.atoms.name(own))
        for index, user in enumerate(self.results.values() if through.given in self.old.tensors else ()):
            try:
                made = gradient(self.old, through.given, index, self.tests)
            except IndependentError:
                continue
            if made.scattered or made.gathered is None:
                raise NoAdjointError("it is not known which earlier elements count")
            self.parts.append(made.gathered)
            tree = Apply("add", (tree, self._later(made.gathered, user.label)))
        return tree

    def _later(self, gathered: Compute, label: str) -> Expr:
        """Return what is gathered of one result, of which the gradient is a result itself."""
        grad = grad_name(self.old)
        first = next(iter(self.results.values())).grad
        shape: dict[Node, Node] = {Arg(INT_LIST, grad + SHAPE): Arg(INT_LIST, first + SHAPE)}
        uniforms: dict[str, Expr] = {
            name: Name(uniform_name(replaced(each, shape), self.uniforms)) for name, each in gathered.uniforms.items()
        }
        return renaming(gathered, self.atoms, {grad: label})(gathered.results[0].tree, uniforms)

    def _known(self, tree: Geometry, tensors: Mapping[str, int]) -> Geometry:
        """An integer of the call, for which the shapes of these tensors are those of what is given."""
        given = tensors.keys() - {each.label for each in self.results.values()}
        return replaced(tree, {Arg(INT_LIST, shape_argument(each)): Arg(INT_LIST, each + SHAPE) for each in given})

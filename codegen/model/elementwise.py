"""The body `elementwise`: expressions of elements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..dtypes import BOOL, COMPLEX128, DTYPE_CLASSES, FLOAT64, DType, Promotion
from ..expr import Expr, ExpressionError, type_of
from ..expr.lower import Env
from . import inference
from .body import Body
from .computation import argument_dtypes, result_dtypes, value_dtypes, variable_dtypes, with_truths
from .family import Family
from .parts import End, Expression, Requirement

if TYPE_CHECKING:
    from .operator import Declaration, Derivative, Operator

_ROUNDS = 16
"""The number of rounds that a loop is expected to take."""


@dataclass(frozen=True)
class Iteration:
    """A loop for each element: `state` has what its variables start with, `following` those of the next round.

    There is one while `proceeds` holds (None: always), and at most `times` rounds, a number of the parameters.
    """

    state: tuple[tuple[str, Expression], ...]
    proceeds: Expression | None
    times: Expression
    following: tuple[Expression, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.state)

    @property
    def rounds(self) -> tuple[Expression, ...]:
        """The expressions of a round."""
        return (*([] if self.proceeds is None else [self.proceeds]), *self.following)


@dataclass(frozen=True)
class Elementwise(Body):
    """An expression of each result for every dtype, or for each class of dtypes."""

    family = Family.ELEMENTWISE

    cases: tuple[tuple[frozenset[DType], tuple[Expression, ...]], ...]
    fixed: Mapping[str, DType] = field()
    absent: Mapping[str, End | float] = field()
    natural: Mapping[str, str] = field()
    conditions: tuple[Requirement[Expression, Any], ...] = ()
    """Conditions on the parameters, as numbers of float64; their messages give values of parameters."""
    local: tuple[tuple[str, Expression], ...] = ()
    """The names that the entry gives to parts of the expressions, in which the parts stand in place of these names."""
    own: tuple[DType | None, ...] = (None,)
    """Declared dtypes of the results; None: those that follow from the inputs."""
    iterate: Iteration | None = None
    """The loop that is computed before the results, which may use its variables."""

    @property
    def is_uniform(self) -> bool:
        """True if the expression is the same for every dtype, whether it has a meaning there or not."""
        return len(self.cases) == 1 and self.cases[0][0] == DTYPE_CLASSES["any"]

    @property
    def is_single(self) -> bool:
        """True if there is one expression, from which all else follows."""
        return len(self.own) == 1 and self.iterate is None

    def expressions(self, dtype: DType) -> tuple[Expression, ...]:
        """The expressions of the results that are computed in `dtype`; none where they are not defined for it."""
        return next((expressions for dtypes, expressions in self.cases if dtype in dtypes), ())

    def expression(self, dtype: DType) -> Expression | None:
        """Return the expression of the first result."""
        return next(iter(self.expressions(dtype)), None)

    # ---- answers (body.py)

    @property
    def single(self) -> Expr | None:
        return self.cases[-1][1][0].tree if self.is_single else None

    @property
    def iterates(self) -> bool:
        return self.iterate is not None

    @property
    def floating(self) -> tuple[tuple[DType | None, Expression], ...]:
        return tuple(zip(self.own, self.expressions(FLOAT64), strict=False))

    def values(self, dtype: DType) -> tuple[Expression, ...]:
        return self.expressions(dtype)

    def computes(self, dtype: DType) -> bool:
        return bool(self.expressions(dtype))

    def variable_dtypes(self, operator: Declaration, dtype: DType) -> dict[str, DType]:
        return variable_dtypes(operator, self, dtype)

    def typed(self, operator: Operator, dtype: DType) -> Iterator[tuple[Expression, Env, DType]]:
        expressions = self.expressions(dtype)
        if not expressions:
            return
        arguments, loop = argument_dtypes(operator, self, dtype), self.iterate
        if loop is not None:
            env = variable_dtypes(operator, self, dtype)
            for name, start in loop.state:
                yield start, arguments, env[name]
            yield loop.times, arguments, FLOAT64
            if loop.proceeds is not None:
                yield loop.proceeds, env, BOOL
            for name, each in zip(loop.names, loop.following, strict=True):
                yield each, env, env[name]
        else:
            env = arguments
        for each, result in zip(expressions, result_dtypes(operator, dtype), strict=True):
            yield each, env, result

    def own_dtypes(self, operator: Declaration) -> tuple[DType | None, ...]:
        return self.own if len(self.own) == 1 else with_truths(operator, self, self.own)

    @property
    def cost(self) -> float:
        rounds = 0 if self.iterate is None else _ROUNDS * inference.cost_of(self.iterate.rounds, 0)
        return max((1.0, *(inference.cost_of(case, 1) for _, case in self.cases))) + rounds

    def dtypes(
        self,
        declaration: Declaration,
        derivatives: Mapping[str, Derivative],
        complex_derivatives: Mapping[str, Derivative],
    ) -> frozenset[DType]:
        """All real ones, and the complex ones where the expression and its derivatives are defined for them."""
        expressions = self.expressions(COMPLEX128)
        if not expressions or (self.is_uniform and not self._types(declaration, COMPLEX128)):
            return DTYPE_CLASSES["all"]
        differentiated = any(derivative.text != "none" for derivative in derivatives.values())
        by_parts = any(inference.uses_parts(each.tree) for each in expressions)
        conjugates = differentiated and by_parts and not complex_derivatives
        return DTYPE_CLASSES["all" if conjugates else "any"]

    def promotion(self, declaration: Declaration, dtypes: frozenset[DType]) -> Promotion:
        types = {dtype: self._types(declaration, dtype) for dtype in inference.computed(dtypes)}
        return inference.promotion(types, self.own, may_be_bool=len(self.own) == 1)

    def _types(self, declaration: Declaration, dtype: DType) -> tuple[DType, ...]:
        """The dtypes of the values of the results; none if a value has none, which the checks report."""
        values = value_dtypes(declaration, self, dtype)
        if self.iterate is None or not values:
            return values
        env = variable_dtypes(declaration, self, dtype)
        try:
            for each in (self.iterate.times, *self.iterate.rounds):
                type_of(each.tree, env)
        except ExpressionError:
            return ()
        return values

    def formula(self, names: tuple[str, ...]) -> str:
        texts = [
            f"{name} = {each.source.value}" if name else each.source.value
            for _, case in self.cases
            for name, each in zip(names or ("",), case, strict=True)
        ]
        formula = "; ".join(f"`{text}`" for text in dict.fromkeys(texts))
        local = ", ".join(f"`{name} = {each.source.value}`" for name, each in self.local)
        return f"{formula} with {local}" if local else formula

    def shape_text(self, operator: Operator) -> str | None:
        return "the shape to which the inputs broadcast" if len(operator.inputs) > 1 else "the input's shape"

    def dtype_text(self, operator: Operator) -> str | None:
        return str(self.own[0]) if self.is_single and self.own[0] is not None else None

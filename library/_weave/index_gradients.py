"""Checks the gradients of expressions over indices: each formula against differences of what the body gives.

Small calls of an entry are computed by loops (codegen/check/indices.py), and so is what its formulas call. With what
these are given they are checked in the same way, which are second derivatives of the entry.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from .._base.interchange import from_numpy
from .._ops.places import combined_at
from .._ops.stages import in_dtype_of_computation
from . import derivative_check

if TYPE_CHECKING:
    from ..codegen.check.indices import Steps
    from ..codegen.errors import Diagnostics
    from ..codegen.model.operator import Derivative, Elementwise, Operator

Array = Any
"""A NumPy array."""

_STEP = 1e-6
_OTHER_STEPS, _SPREAD = (4e-6, 1e-5), 4
_RELATIVE, _ABSOLUTE = 1e-4, 1e-6
_STEPS, _VALUES = 6000, 25_000
"""The largest numbers of steps of the loops of all calls of an entry, and of the expressions in them, which take some
seconds; gradients that would take more are not tried."""
_CALLS = 3
"""The number of calls of an entry, three times as many while they tell nothing; one may be where there is no
derivative, as of a maximum of equal numbers."""


def check(operators: tuple[Operator, ...], diagnostics: Diagnostics) -> None:
    """Reports every gradient that contradicts its body."""
    from ..codegen.check import indices, instances
    from ..codegen.dtypes import FLOAT64
    from ..codegen.model.compute import Compute
    from ..codegen.model.operator import Composite

    known = {each.name: each for each in operators}
    for operator in operators:
        body = operator.body.loops if isinstance(operator.body, Composite) else operator.body
        if operator.derived or not isinstance(body, Compute) or FLOAT64 not in operator.compute_dtypes:
            continue
        trial = _Trial(known, indices.Steps(_STEPS, _VALUES))
        for count, arguments in enumerate(islice(instances.calls(operator, body), 3 * _CALLS), 1):
            trial.run(operator, arguments)
            if count >= _CALLS and (trial.found or not operator.derivatives):
                break
        for derivative, problem in trial.contradictions():
            diagnostics.report(derivative.source.span, problem, "a mistake in the declared formula, or in opweave")


@dataclass
class _Trial:
    """Calls of operators, and what was found of each gradient."""

    operators: Mapping[str, Operator]
    steps: Steps
    found: dict[tuple[str, str], list[str | None]] = field(default_factory=dict)
    """The faults found at each call, by operator and tensor; None: nothing."""
    waiting: list[tuple[Operator, dict[str, Any]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.env = self._environment()

    def contradictions(self) -> list[tuple[Derivative, str]]:
        """The gradients that were wrong at all calls."""
        wrong = {key: texts[0] for key, texts in self.found.items() if None not in texts}
        return [(self.operators[key[0]].derivatives[key[1]], text) for key, text in wrong.items() if text is not None]

    def run(self, operator: Operator, arguments: Mapping[str, Any]) -> None:
        """Checks an operator, and what its formulas call."""
        from ..codegen.check.indices import RefusedError

        tensors = [_tensor(arguments[each.name]) for each in operator.schema.arguments]
        with suppress(RefusedError):
            self.env[operator.name](*tensors)
        seen: set[str] = set()
        while self.waiting:
            each, given = self.waiting.pop()
            if each.name not in seen:
                seen.add(each.name)
                with suppress(RefusedError):  # no gradient is no wrong one
                    self._check(each, given)

    # ---- calls

    def _environment(self) -> dict[str, Any]:
        """The functions that formulas call, those of the file computed by loops."""
        from ..codegen.model.compute import Compute
        from ..codegen.model.operator import Composite, Elementwise

        helpers = {"in_dtype_of_computation": in_dtype_of_computation, "combined_at": combined_at}
        env = {**derivative_check.functions(), **helpers, "__builtins__": derivative_check.BUILTINS}
        for each in self.operators.values():
            if isinstance(each.body, Compute):
                env[each.name] = self._noting(each)
            elif isinstance(each.body, Composite) and each.body.loops is not None:
                arguments = ", ".join(argument.name for argument in each.schema.arguments)
                own: dict[str, Any] = {}
                exec(f"def called({arguments}):\n{textwrap.indent(each.body.source.value, '    ')}", env, own)
                env[each.name] = own["called"]
            elif isinstance(each.body, Elementwise) and each.body.iterate is not None:
                env[each.name] = partial(_after_rounds, each, each.body)
        return env

    def _noting(self, operator: Operator) -> Callable[..., Any]:
        """The operator as a function of tensors, which notes what it is given."""
        names = [each.name for each in operator.schema.arguments]

        def called(*arguments: Any, **keywords: Any) -> Any:
            given = {name: _array(each) for name, each in (*zip(names, arguments, strict=False), *keywords.items())}
            self.waiting.append((operator, given))
            values = tuple(map(from_numpy, self._results(operator, given)))
            return values if len(values) > 1 else values[0]

        return called

    def _results(self, operator: Operator, given: Mapping[str, Any]) -> tuple[Array, ...]:
        import numpy as np

        from ..codegen.check import indices
        from ..codegen.dtypes import FLOAT64
        from ..codegen.model.compute import Compute

        assert isinstance(operator.body, Compute)
        tensors = {each.name: given[each.name] for each in operator.inputs}
        others = {each.name: given[each.name] for each in operator.schema.arguments if not each.is_tensor}
        return tuple(map(np.array, indices.results(operator, operator.body, tensors, others, FLOAT64, self.steps)))

    # ---- gradients

    def _check(self, operator: Operator, given: Mapping[str, Any]) -> None:
        import numpy as np

        values = self._results(operator, given)
        random = np.random.default_rng(3)
        grads = [np.array(random.standard_normal(each.shape) * (each.dtype.kind == "f")) for each in values]
        env = {**self.env, **{name: _tensor(each) for name, each in given.items()}}
        for kind, arrays in (("grad", grads), ("result", values)):
            env |= derivative_check.named(operator, kind, [from_numpy(each) for each in arrays])
        for name, derivative in operator.derivatives.items():
            if derivative.formula is None or given[name] is None or not self._is_tried(operator, name, derivative):
                continue
            direction = random.standard_normal(np.shape(given[name]))
            difference = partial(self._difference, operator, given, name, direction, grads)
            with np.errstate(all="ignore"):
                got = self._by_formula(operator, derivative, dict(env))
                along, want = float(np.sum(got * direction)), difference(_STEP)
                if along == want == 0 or not np.isfinite(want):
                    continue  # the call tells nothing: the root of a variance, say, ends where that is zero
                error = _RELATIVE * max(abs(along), abs(want)) + _ABSOLUTE
                is_near = abs(along - want) <= error
                if not is_near:
                    # As far as differences contradict each other they say nothing: values are rounded, and have kinks.
                    error += _SPREAD * max(abs(difference(step) - want) for step in _OTHER_STEPS)
                    is_near = abs(along - want) <= error
            what = f"the gradient of '{operator.name}' by '{name}' contradicts the body: along a direction the formula "
            text = None if is_near else f"{what}gives {along:.6g}, differences of the body give {want:.6g}"
            self.found.setdefault((operator.name, name), []).append(text)

    def _difference(
        self,
        operator: Operator,
        given: Mapping[str, Any],
        name: str,
        direction: Array,
        grads: Sequence[Array],
        step: float,
    ) -> float:
        """Return the difference quotient of the weighted results along a direction."""
        import numpy as np

        ends = (self._results(operator, {**given, name: given[name] + sign * direction}) for sign in (step, -step))
        above, below = ends
        pairs = zip(grads, above, below, strict=True)
        return sum(float(np.sum(grad * (up - down))) for grad, up, down in pairs) / (2 * step)

    def _is_tried(self, operator: Operator, name: str, derivative: Derivative) -> bool:
        """Return True if the derivative may be tried. What follows from the body calls operators of codegen; a declared
        formula names what may be run."""
        if operator.derived or derivative.source.value.strip() == "auto":
            return True
        _, attributes = derivative_check.names_of(derivative.text)
        return not derivative.differs and derivative_check.refusal(name, attributes) is None

    def _by_formula(self, operator: Operator, derivative: Derivative, env: dict[str, Any]) -> Array:
        import numpy as np

        env |= {f"_{name}": each for name, each in self.env.items()}
        if derivative.grads is not None:
            made = eval(_with_functions_apart(derivative.grads), env)
            env |= derivative_check.named(operator, "grad", [*made] if isinstance(made, tuple) else [made])
        return np.asarray(eval(_with_functions_apart(derivative.text), env).detach().numpy())


def _with_functions_apart(formula: str) -> str:
    """The formula in which functions have names of their own, as arguments may be called like them."""
    tree = ast.parse(" ".join(formula.split()), mode="eval")
    for each in ast.walk(tree):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name):
            each.func.id = f"_{each.func.id}"
    return ast.unparse(tree)


def _after_rounds(operator: Operator, body: Elementwise, *arguments: Any) -> Any:
    """The results of a loop for each element, whose own gradients are not tried."""
    from ..codegen.check import elements
    from ..codegen.dtypes import FLOAT64

    given = {each.name: _array(value) for each, value in zip(operator.schema.arguments, arguments, strict=True)}
    tensors = {each.name: given.pop(each.name) for each in operator.inputs}
    values = tuple(from_numpy(each.copy()) for each in elements.results(operator, body, tensors, given, FLOAT64))
    return values if len(values) > 1 else values[0]


def _tensor(value: Any) -> Any:
    import numpy as np

    return from_numpy(value) if isinstance(value, np.ndarray) else value


def _array(value: Any) -> Any:
    if hasattr(value, "detach"):
        return value.detach().numpy()
    return [*value] if isinstance(value, (tuple, list)) else value

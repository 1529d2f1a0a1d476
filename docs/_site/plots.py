"""Draws elementwise functions of one tensor and their gradients, where there is most to see, as SVG.

opweave itself computes the values. What is not finite is left out, and lines end at poles and steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import opweave
from opweave.codegen.docs.examples import sample_numbers
from opweave.codegen.dtypes import FLOAT64
from opweave.codegen.model.operator import Family, Operator
from opweave.codegen.model.variants import own_name

from .drawing import BLUE, GREY, ORANGE, drawn

Array = Any
"""A NumPy array."""
FURTHEST = 4.0
"""The greatest number that a function is drawn for."""
_POINTS = 1201


def draw(operator: Operator, folder: Path) -> str | None:
    """Draw an operator; return the name of the file, or None if there is nothing to see."""
    found = curves(operator)
    if found is None:
        return None
    places, value, gradient = found
    name = f"{operator.name}.svg"
    with drawn(folder / name, 5.6, 3.0) as axes:
        axes.axhline(0, color=GREY, linewidth=0.5)
        axes.axvline(0, color=GREY, linewidth=0.5)
        axes.plot(places, value, color=BLUE, label=own_name(operator))
        if gradient is not None:
            axes.plot(places, gradient, color=ORANGE, linestyle="--", label="gradient")
        axes.set_xlim(places[0], places[-1])
        axes.set_ylim(*_limits([value] if gradient is None else [value, gradient]))
        axes.legend(frameon=False)
    return name


def curves(operator: Operator) -> tuple[Array, Array, Array | None] | None:
    """Places, values and gradients of a function of one tensor of floating numbers; None if it is none, or has no
    finite value."""
    import numpy as np

    is_plain = operator.family is Family.ELEMENTWISE and len(operator.inputs) == 1 and not operator.internal
    if not is_plain or FLOAT64 not in operator.dtypes or operator.promotion.resolve(FLOAT64)[1] is not FLOAT64:
        return None
    if not operator.body.computes(FLOAT64):
        return None
    whole = _computed(operator, np.linspace(-FURTHEST, FURTHEST, _POINTS))
    finite = np.array([]) if whole is None else np.flatnonzero(np.isfinite(whole[0]))
    if finite.size < 2:
        return None
    # The domain, as far as it is near zero, which is where functions differ.
    first, last = (float(2 * FURTHEST * at / (_POINTS - 1) - FURTHEST) for at in (finite[0], finite[-1]))
    places = np.linspace(first, last, _POINTS)
    computed = _computed(operator, places)
    assert computed is not None
    value, gradient = computed
    return places, broken(value), None if gradient is None else broken(gradient)


def _computed(operator: Operator, places: Array) -> tuple[Array, Array | None] | None:
    """Values and gradients; None where the call needs more than numbers."""
    tensor = opweave.tensor(places.tolist(), dtype=opweave.float64)
    given = sample_numbers(operator, FLOAT64)
    named = {each.name: given[each.name] for each in operator.params if each.default is None}
    differentiable = operator.derivatives and next(iter(operator.derivatives.values())).formula is not None
    tensor.requires_grad_(bool(differentiable))
    result = _function(operator)(tensor, **named)
    if not isinstance(result, opweave.Tensor) or result.shape != tensor.shape:
        return None
    if not differentiable:
        return result.numpy(), None
    (gradient,) = opweave.autograd.grad(result.sum(), tensor)
    return result.detach().numpy(), gradient.numpy()


def _function(operator: Operator) -> Any:
    if not operator.function:
        return getattr(opweave.Tensor, operator.name)
    return attrgetter(".".join(filter(None, (operator.module, own_name(operator)))))(opweave)


def broken(values: Array) -> Array:
    """The values with gaps at poles and steps: where a line goes much further than elsewhere, against its direction."""
    import numpy as np

    values = np.where(np.isfinite(values), values, np.nan)
    steps = np.nan_to_num(np.diff(values))
    before, after = np.append(0, steps[:-1]), np.append(steps[1:], 0)
    usual = max(float(np.quantile(np.abs(steps), 0.9)), 1e-6)
    jumps = (np.abs(steps) > 40 * usual) & (steps * before <= 0) & (steps * after <= 0)
    return np.where(np.append(False, jumps), np.nan, values)


def _limits(lines: Sequence[Array]) -> tuple[float, float]:
    """The range of values that is shown: nearly all of them, without what poles reach."""
    import numpy as np

    values = np.concatenate([line[np.isfinite(line)] for line in lines])
    low, high = (float(each) for each in np.quantile(values, (0.25, 0.75)))
    least, greatest = float(values.min()), float(values.max())
    if high > low:
        least, greatest = max(least, low - 4 * (high - low)), min(greatest, high + 4 * (high - low))
    margin = 0.06 * (greatest - least) or 1.0
    return least - margin, greatest + margin

"""Draws elementwise functions as SVG, where there is most to see: those of one tensor with gradients, those of two
as curves over the first one, one for each of some numbers in the place of the second.

opweave itself computes the values. What is not finite is left out, and lines end at poles and steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from typing import Any

import opweave
from opweave.codegen.docs.examples import sample_numbers
from opweave.codegen.dtypes import FLOAT64
from opweave.codegen.model.operator import Family, Operator
from opweave.codegen.model.parts import python_name
from opweave.codegen.model.variants import own_name

from . import drawing
from .drawing import BLUE, GREEN, GREY, ORANGE, drawn, has_key

Array = Any
"""A NumPy array."""
FURTHEST = 4.0
"""The greatest number that a function is drawn for."""
SECONDS = (-1.0, 1.0, 2.0, 3.0)
"""The numbers that stand for the second tensor: degrees of polynomials among them."""
_POINTS = 1201
_LINES = ((BLUE, "-"), (ORANGE, "--"), (GREEN, "-."), (GREY, ":"))


def draw(operator: Operator, folder: Path) -> str | None:
    """Draw an operator; return the name of the file, or None if there is nothing to see."""
    lines: Mapping[str, Array] = {}
    if (found := curves(operator)) is not None:
        places, value, gradient = found
        lines = {own_name(operator): value, **({} if gradient is None else {"gradient": gradient})}
    elif (several := family(operator)) is not None:
        places, lines = several
    if not lines:
        return None
    name = f"{operator.name}.svg"
    if has_key(folder / name, key := _key(places, lines)):
        return name
    with drawn(folder / name, 5.6, 3.0, key=key) as axes:
        axes.axhline(0, color=GREY, linewidth=0.5)
        axes.axvline(0, color=GREY, linewidth=0.5)
        for (label, values), (colour, style) in zip(lines.items(), _LINES, strict=False):
            axes.plot(places, values, color=colour, linestyle=style, label=label)
        axes.set_xlim(places[0], places[-1])
        axes.set_ylim(*_limits(list(lines.values())))
        axes.legend(frameon=False)
    return name


def _key(places: Array, lines: Mapping[str, Array]) -> str:
    """A digest of all that a plot is made of: the lines, and this file with the style."""
    digest = blake2b(digest_size=16)
    for part in (*map(Path.read_bytes, (Path(__file__), Path(drawing.__file__))), places.tobytes()):
        digest.update(part)
    for label, values in lines.items():
        digest.update(label.encode() + values.tobytes())
    return digest.hexdigest()


def curves(operator: Operator) -> tuple[Array, Array, Array | None] | None:
    """Places, values and gradients of a function of one tensor of floating numbers; None if it is none, or has no
    finite value."""
    import numpy as np

    if not _is_of(operator, 1):
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


def family(operator: Operator) -> tuple[Array, Mapping[str, Array]] | None:
    """Places, and the values of a function of two tensors by the second one; None if it is none, or nowhere finite."""
    import numpy as np

    if not _is_of(operator, 2):
        return None
    places = np.linspace(-FURTHEST, FURTHEST, _POINTS)
    first = opweave.tensor(places.tolist(), dtype=opweave.float64)
    lines: dict[str, Array] = {}
    for number in SECONDS:
        result = _function(operator)(first, opweave.full_like(first, number), **_required(operator))
        if not isinstance(result, opweave.Tensor) or result.dtype is not opweave.float64:
            return None
        values = broken(result.numpy())
        if np.isfinite(values).sum() > 1:
            lines[f"{python_name(operator.inputs[1].name)} = {number:g}"] = values
    return (places, lines) if lines else None


def _is_of(operator: Operator, count: int) -> bool:
    """Whether a function is elementwise, of so many tensors of floating numbers, and has results of their dtype."""
    return (
        operator.family is Family.ELEMENTWISE
        and len(operator.inputs) == count
        and not operator.internal
        and FLOAT64 in operator.dtypes
        and operator.promotion.resolve(FLOAT64)[1] is FLOAT64
        and operator.body.computes(FLOAT64)
    )


def _required(operator: Operator) -> Mapping[str, Any]:
    """The numbers that a call needs besides tensors."""
    given = sample_numbers(operator, FLOAT64)
    return {each.name: given[each.name] for each in operator.params if each.default is None}


def _computed(operator: Operator, places: Array) -> tuple[Array, Array | None] | None:
    """Values and gradients; None where the call needs more than numbers."""
    tensor = opweave.tensor(places.tolist(), dtype=opweave.float64)
    differentiable = operator.derivatives and next(iter(operator.derivatives.values())).formula is not None
    tensor.requires_grad_(bool(differentiable))
    result = _function(operator)(tensor, **_required(operator))
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

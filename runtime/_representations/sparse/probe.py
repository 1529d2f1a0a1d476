"""A probe of an operator: it is called with numbers of all magnitudes, in the dtypes of a call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ..._autograd.grad_mode import AUTOGRAD
from ..._base.dtypes import BY_CODE, EXPORTS
from ..._base.tensor_class import Tensor
from ..._dispatch.dispatcher import redispatch
from ..._dispatch.op import NEW, Op
from ..._dispatch.ops import ops
from ..._handle import with_keys

__all__ = ["Probe", "samples"]


@cache
def samples(code: int) -> Any:
    """Numbers of a dtype, of all magnitudes: the powers of two, their negatives, and a few others."""
    dtype = BY_CODE[code]
    if dtype is EXPORTS["bool"]:
        return _fixed([True, True], dtype)
    if dtype.is_complex:
        real = samples(dtype.to_real().code)
        return ops.cat([real.to(dtype), real.to(dtype) * 1j, real.to(dtype) * (1 + 1j)])
    if dtype.is_floating_point:
        info = _limits(dtype)
        powers = ops.exp2(ops.arange(info[0], info[1], dtype=EXPORTS["float64"])).to(dtype)
        return ops.cat([powers, -powers, _fixed([0.1, -0.3, 1.5, 3.0, -7.0], dtype)])
    bits = 8 * dtype.itemsize
    powers = ops.bitwise_left_shift(ops.ones(bits, dtype=dtype), ops.arange(bits, dtype=dtype))
    return ops.cat([powers, powers * 0 + 3] + ([-powers] if dtype.name.startswith("int") else []))


def _fixed(values: list[Any], dtype: Any) -> Any:
    result = ops.empty(len(values), dtype=dtype)
    for place, value in enumerate(values):
        result[place] = value
    return result


def _limits(dtype: Any) -> tuple[int, int]:
    from ..._base.finfo import finfo

    info = finfo(dtype)
    return int(ops.log2(_fixed([info.tiny], EXPORTS["float64"])).item()), int(
        ops.log2(_fixed([info.max], EXPORTS["float64"])).item()
    )


class Probe:
    """The results of an operator for numbers in place of the tensors of a call."""

    def __init__(self, op: Op, args: Sequence[Any], places: Sequence[int]) -> None:
        self._op, self._args, self._places = op, args, places

    def _result(self, operands: Sequence[Any]) -> Any:
        given = [each.detach() if isinstance(each, Tensor) and not each.ndim else each for each in self._args]
        for place, operand in zip(self._places, operands, strict=True):
            given[place] = operand
        try:
            return with_keys(0, AUTOGRAD, _below, self._op, given)
        except NotImplementedError:  # of a dtype that it does not take
            raise
        except (RuntimeError, ZeroDivisionError):  # of integers, by zero
            return None

    def _zeros(self, like: Any, place: int) -> Any:
        return ops.zeros(like.shape, dtype=self._args[place].dtype)

    def of_zeros(self) -> bool:
        """Return True if the result is zero where all tensors are."""
        result = self._result([ops.zeros(1, dtype=self._args[place].dtype) for place in self._places])
        return result is not None and bool((result == 0).all())

    def _beside_samples(self, zero: int) -> tuple[Any, Any]:
        """The samples of the other tensor, and the result where the tensor number `zero` is zeros."""
        other = self._places[1 - zero]
        numbers = samples(self._args[other].dtype.code)
        numbers = ops.cat([numbers, numbers.new_zeros(1)])
        operands = [numbers, numbers]
        operands[zero] = self._zeros(numbers, self._places[zero])
        return numbers, self._result(operands)

    def is_zero_beside(self, zero: int) -> bool:
        """Return True if the result of two tensors is zero where that one is, whatever the other."""
        _, result = self._beside_samples(zero)
        return result is not None and bool((result == 0).all())

    def is_other_beside(self, zero: int) -> bool:
        """Return True if the result of two tensors is the other one where that one is zero."""
        numbers, result = self._beside_samples(zero)
        return result is not None and result.dtype is numbers.dtype and bool((result == numbers).all())

    def is_linear(self) -> bool:
        """Return True if sums of results are the results of sums, of one tensor. It is asked for doubles of numbers of
        all magnitudes."""
        dtype = self._args[self._places[0]].dtype
        if dtype is EXPORTS["bool"]:
            return False
        numbers = samples(dtype.code)
        one, two, three = (numbers.new_ones(1) * k for k in (1, 2, 3))
        results = [self._result([each]) for each in (numbers, numbers + numbers, one, two, three, two - three)]
        if any(each is None or each.dtype is EXPORTS["bool"] for each in results):
            return False
        once, twice, at_one, at_two, at_three, at_difference = results
        return (
            _are_sums(once + once, numbers + numbers, twice)
            and _are_sums(at_one + at_two, three, at_three)
            and _are_sums(at_two - at_three, two - three, at_difference)
        )


def _are_sums(sums: Any, numbers: Any, results: Any) -> bool:
    """Return True if sums are the results of these numbers, but for what rounding to the narrowest formats changes.
    Sums that left the range of their dtype are not compared; integers are equal."""
    if not (results.is_floating_point() or results.is_complex()):
        return bool((sums == results).all())
    close = (sums - results).abs() <= results.abs() * 2.0**-6
    return bool((close | (sums == results) | ~ops.isfinite(numbers)).all())


def _below(op: Op, args: Sequence[Any]) -> Any:
    return redispatch(op, args, None, NEW, below="sparse")

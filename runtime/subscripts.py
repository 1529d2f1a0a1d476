"""Subscripts of `einsum`: what they say about each dimension, checked; messages are those of torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .handles import type_name

__all__ = ["labels_of"]

Labels = list[Any]
"""Of each dimension: a letter, or a negative number for a dimension that the ellipsis stands for (-1 is the last)."""


def _fail(message: str) -> Any:
    raise RuntimeError(f"einsum(): {message}")


def _letters(text: str, whole: str, start: int, where: str) -> list[Any]:
    """The letters of one operand, `...` as Ellipsis."""
    found: list[Any] = []
    at = 0
    while at < len(text):
        sign = text[at]
        if sign == ".":
            if Ellipsis in found:
                _fail(f"found '.' for {where} for which an ellipsis was already found")
            if text[at : at + 3] != "...":
                hint = " (...)" if where == "output" else ""
                _fail(f"found '.' for {where} that is not part of any ellipsis{hint}")
            found.append(Ellipsis)
            at += 2
        elif sign.isascii() and sign.isalpha():
            found.append(sign)
        elif sign != " ":
            _fail(
                f"invalid subscript given at index {start + at} in the equation string, subscripts must be in [a-zA-Z]"
            )
        at += 1
    return found


def _sublist(numbers: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for number in numbers:
        if number is Ellipsis:
            found.append(Ellipsis)
        elif 0 <= number < 52:
            found.append(chr(ord("A") + number) if number < 26 else chr(ord("a") + number - 26))
        else:
            raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    return found


def _parse(equation: Any, operands: Sequence[Any]) -> tuple[list[Any], list[list[Any]], list[Any] | None]:
    """Operands, subscripts of each, and those of the result (None: they follow from the others)."""
    if hasattr(equation, "_h"):
        rest = [equation, *operands] if operands else [equation, []]
        tensors, lists = rest[0 : len(rest) // 2 * 2 : 2], rest[1::2]
        inputs = [_sublist(each) for each in lists]
        return tensors, inputs, _sublist(rest[-1]) if len(rest) % 2 else None
    if not operands:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    if not isinstance(equation, str):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type_name(equation)}")
    left, arrow, right = equation.partition("->")
    inputs, start = [], 0
    for place, part in enumerate(left.split(",")):
        inputs.append(_letters(part, equation, start, f"operand {place}"))
        start += len(part) + 1
    if len(inputs) < len(operands):
        _fail("more operands were provided than specified in the equation")
    if len(inputs) > len(operands):
        _fail("fewer operands were provided than specified in the equation")
    return list(operands), inputs, _letters(right, equation, start + 1, "output") if arrow else None


def labels_of(equation: Any, operands: Sequence[Any]) -> tuple[list[Any], list[Labels], Labels]:
    """Operands, labels of the dimensions of each, and those of the result."""
    tensors, inputs, output = _parse(equation, operands)
    labels, most = [], 0
    for place, (tensor, letters) in enumerate(zip(tensors, inputs, strict=True)):
        if not hasattr(tensor, "_h"):
            raise TypeError(f"expected Tensor as element {place} in argument 1, but got {type_name(tensor)}")
        named, ndim = len(letters) - (Ellipsis in letters), tensor.ndim
        if Ellipsis not in letters and named != ndim:
            _fail(
                f"the number of subscripts in the equation ({named}) does not match the number of dimensions ({ndim}) "
                f"for operand {place} and no ellipsis was given"
            )
        if named > ndim:
            _fail(
                f"the number of subscripts in the equation ({named}) is more than the number of dimensions ({ndim}) "
                f"for operand {place}"
            )
        most = max(most, ndim - named if Ellipsis in letters else 0)
        labels.append(_expanded(letters, ndim - named))
    if output is None:
        every = [label for each in labels for label in each if isinstance(label, str)]
        return tensors, labels, [*range(-most, 0), *sorted(label for label in set(every) if every.count(label) == 1)]
    known = {label for each in labels for label in each}
    for letter in output:
        if letter is not Ellipsis and letter not in known:
            _fail(f"output subscript {letter} does not appear in the equation for any input operand")
        if letter is not Ellipsis and output.count(letter) > 1:
            _fail(f"output subscript {letter} appears more than once in the output")
    return tensors, labels, _expanded(output, most)


def _expanded(letters: Sequence[Any], count: int) -> Labels:
    found: Labels = []
    for letter in letters:
        found += range(-count, 0) if letter is Ellipsis else [letter]
    return found

"""Parses and checks the subscripts of `einsum`; messages are torch's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._base.handles import type_name

__all__ = ["Labels", "labels_of", "separated"]

Labels = list[Any]
"""The label of each dimension: a letter, or a negative number for one that the ellipsis covers (-1 is the last)."""


def _fail(message: str) -> Any:
    raise RuntimeError(f"einsum(): {message}")


def _letters(text: str, whole: str, start: int, where: str) -> list[Any]:
    """Return the letters of one operand, with Ellipsis for `...`."""
    letters: list[Any] = []
    at = 0
    while at < len(text):
        sign = text[at]
        if sign == ".":
            if Ellipsis in letters:
                _fail(f"found '.' for {where} for which an ellipsis was already found")
            if text[at : at + 3] != "...":
                hint = " (...)" if where == "output" else ""
                _fail(f"found '.' for {where} that is not part of any ellipsis{hint}")
            letters.append(Ellipsis)
            at += 2
        elif sign.isascii() and sign.isalpha():
            letters.append(sign)
        elif sign != " ":
            _fail(
                f"invalid subscript given at index {start + at} in the equation string, subscripts must be in [a-zA-Z]"
            )
        at += 1
    return letters


def _sublist(numbers: Sequence[Any]) -> str:
    """Return the subscripts of one operand that numbers stand for."""
    letters = ""
    for number in numbers:
        if number is Ellipsis:
            letters += "..."
        elif 0 <= number < 52:
            letters += chr(ord("A") + number) if number < 26 else chr(ord("a") + number - 26)
        else:
            raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    return letters


def separated(equation: Any, operands: Sequence[Any]) -> tuple[Sequence[Any], str]:
    """Split einsum's arguments into (equation, operands); also of the interleaved form `einsum(op, [0, 1], ...)`."""
    if hasattr(equation, "_h"):
        rest = [equation, *operands] if operands else [equation, []]
        operands, lists = rest[0 : len(rest) // 2 * 2 : 2], rest[1::2]
        equation = ",".join(map(_sublist, lists)) + (f"->{_sublist(rest[-1])}" if len(rest) % 2 else "")
    if not operands:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    if not isinstance(equation, str):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type_name(equation)}")
    for index, tensor in enumerate(operands):
        if not hasattr(tensor, "_h"):
            raise TypeError(f"expected Tensor as element {index} in argument 1, but got {type_name(tensor)}")
    return operands, equation


def _parse(equation: str, count: int) -> tuple[list[list[Any]], list[Any] | None]:
    """Return the letters of each of `count` operands and of the result, which is None if it follows from the others."""
    left, arrow, right = equation.partition("->")
    inputs, start = [], 0
    for index, part in enumerate(left.split(",")):
        inputs.append(_letters(part, equation, start, f"operand {index}"))
        start += len(part) + 1
    if len(inputs) < count:
        _fail("more operands were provided than specified in the equation")
    if len(inputs) > count:
        _fail("fewer operands were provided than specified in the equation")
    return inputs, _letters(right, equation, start + 1, "output") if arrow else None


def labels_of(equation: str, ndims: Sequence[int]) -> tuple[list[Labels], Labels]:
    """Return the labels of the dimensions of each operand and of the result."""
    inputs, output = _parse(equation, len(ndims))
    labels: list[Labels] = []
    most = 0
    for index, (ndim, letters) in enumerate(zip(ndims, inputs, strict=True)):
        named = len(letters) - (Ellipsis in letters)
        if Ellipsis not in letters and named != ndim:
            _fail(
                f"the number of subscripts in the equation ({named}) does not match the number of dimensions ({ndim}) "
                f"for operand {index} and no ellipsis was given"
            )
        if named > ndim:
            _fail(
                f"the number of subscripts in the equation ({named}) is more than the number of dimensions ({ndim}) "
                f"for operand {index}"
            )
        most = max(most, ndim - named if Ellipsis in letters else 0)
        labels.append(_expanded(letters, ndim - named))
    if output is None:
        every = [label for each in labels for label in each if isinstance(label, str)]
        return labels, [*range(-most, 0), *sorted(label for label in set(every) if every.count(label) == 1)]
    known = {label for each in labels for label in each}
    for letter in output:
        if letter is not Ellipsis and letter not in known:
            _fail(f"output subscript {letter} does not appear in the equation for any input operand")
        if letter is not Ellipsis and output.count(letter) > 1:
            _fail(f"output subscript {letter} appears more than once in the output")
    return labels, _expanded(output, most)


def _expanded(letters: Sequence[Any], count: int) -> Labels:
    labels: Labels = []
    for letter in letters:
        labels += range(-count, 0) if letter is Ellipsis else [letter]
    return labels

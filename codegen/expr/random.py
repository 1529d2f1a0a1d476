"""Random numbers of expressions over indices: functions of a key and of positions, which are integers.

    rand(key, y, x)     from 0 on, below 1: a multiple of 2 ** -24
    randn(key, y, x)    of the normal distribution

The number belongs to its key and positions, whoever computes it and when: so results do not depend on threads, and a
gradient meets the numbers of its function again, which do not depend on any element. The bits are those of SplitMix64
with the key as its state, one position after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from .tree import Apply, Expr, Literal, Span

_STEP = 0x9E3779B97F4A7C15 - (1 << 64)
_ROUNDS = ((30, 0xBF58476D1CE4E5B9 - (1 << 64)), (27, 0x94D049BB133111EB - (1 << 64)))
_LAST = 31
_BITS = 24
"""The number of bits that every floating format of computation holds."""


def integers(tree: Expr) -> tuple[Expr, ...]:
    """Return the integers of an expression that steps a random number by one position: the number before it, and the
    position."""
    position = tree.args[1] if isinstance(tree, Apply) and tree.function == "add" else None
    if isinstance(tree, Apply) and isinstance(position, Apply) and position.args[1:] == (Literal(_STEP),):
        return tree.args[0], position.args[0]
    return ()


class _Writer:
    """Writes trees that stand where a call does."""

    def __init__(self, span: Span) -> None:
        self.span = span

    def apply(self, function: str, *args: Expr) -> Expr:
        return Apply(function, args, span=self.span)

    def number(self, value: float) -> Expr:
        return Literal(value, span=self.span)

    def shifted(self, word: Expr, count: int) -> Expr:
        """The word of 64 bits without its last ones, and zeros in front."""
        rest = self.apply("bitwise_right_shift", word, self.number(count))
        return self.apply("bitwise_and", rest, self.number((1 << (64 - count)) - 1))

    def mixed(self, word: Expr, position: Expr) -> Expr:
        word = self.apply("add", word, self.apply("mul", position, self.number(_STEP)))
        for count, factor in _ROUNDS:
            word = self.apply("bitwise_xor", word, self.shifted(word, count))
            word = self.apply("mul", word, self.number(factor))
        return self.apply("bitwise_xor", word, self.shifted(word, _LAST))

    def word(self, args: Sequence[Expr]) -> Expr:
        word = args[0]
        for position in args[1:]:
            word = self.mixed(word, position)
        return word

    def unit(self, word: Expr, offset: float = 0.0) -> Expr:
        upper = self.shifted(word, 64 - _BITS)
        moved = upper if not offset else self.apply("add", upper, self.number(offset))
        return self.apply("mul", moved, self.number(2.0**-_BITS))


def _rand(args: Sequence[Expr], span: Span) -> Expr:
    writer = _Writer(span)
    return writer.unit(writer.word(args))


def _randn(args: Sequence[Expr], span: Span) -> Expr:
    """Return a normal deviate of two random words by the method of Box and Muller."""
    writer = _Writer(span)
    word = writer.word(args)
    first, second = (writer.mixed(word, writer.number(each)) for each in (1, 2))
    logarithm = writer.apply("log", writer.unit(first, 0.5))
    radius = writer.apply("sqrt", writer.apply("mul", writer.number(-2.0), logarithm))
    angle = writer.apply("mul", writer.number(2 * math.pi), writer.unit(second))
    return writer.apply("mul", radius, writer.apply("cos", angle))


FUNCTIONS: Mapping[str, Callable[[Sequence[Expr], Span], Expr]] = MappingProxyType({"rand": _rand, "randn": _randn})

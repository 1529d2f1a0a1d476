"""Computes expressions over indices by loops over their ranges, with NumPy for all positions of the results at once.

It follows the tree that was read, and knows nothing of how kernels are made of it: tests compare the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf, prod
from typing import Any

from ..dtypes import BOOL, FLOAT64, INT64, DType
from ..expr import FUNCTIONS, Apply, Expr, applications, lower, names
from ..expr.atoms import Fold, Integer, Range, Read
from ..expr.evaluate import compute, primitive
from ..expr.functions.lists import ITEM, LENGTH
from ..expr.geometry import Geometry
from ..expr.indexed import POSITIONS, SHAPE
from ..expr.typed import Arg, Const, Node, Op
from ..model.computation import computed_dtype
from ..model.compute import BATCH, FURTHEST_BOUND, FURTHEST_INDEX, Border, Compute, Size
from ..model.operator import Operator, Requirement
from ..model.parts import End
from ..model.places import OUTSIDE
from ..model.recurrence import order
from ..model.rounds import Rounds
from ..read.rounds import loop_of
from . import elements
from .places import combined
from .reductions import end_of, joined, start_of
from .samples import Array

_LEADING = (Border.NEAREST, Border.WRAP, Border.REFLECT)


class RefusedError(ValueError):
    """The call is one of which a kernel says that it is wrong."""


@dataclass
class Steps:
    """The number of steps that reductions and recurrences may still take, and of expressions that may still be
    evaluated."""

    left: float = inf
    values: float = inf

    def take(self) -> None:
        """Count one step. Raises an error when none is left."""
        self.left -= 1
        self._check()

    def evaluate(self) -> None:
        """Count one expression that is evaluated. Raises an error when none is left."""
        self.values -= 1
        self._check()

    def _check(self) -> None:
        if self.left < 0 or self.values < 0:
            raise RefusedError("more steps than are tried")


def results(
    operator: Operator,
    body: Compute,
    tensors: Mapping[str, Array | None],
    arguments: Mapping[str, Any],
    dtype: DType,
    steps: Steps | None = None,
) -> tuple[Array, ...]:
    """The results of a call, computed in `dtype`. Tensors are of this dtype, of the one that is fixed, or absent;
    `arguments` are the others. Raises RefusedError, also where it would take more than so many steps."""
    return _Call(operator, body, tensors, arguments, dtype, steps or Steps()).results()


class _Call:
    def __init__(
        self,
        operator: Operator,
        body: Compute,
        tensors: Mapping[str, Array | None],
        arguments: Mapping[str, Any],
        dtype: DType,
        steps: Steps,
    ) -> None:
        import numpy as np

        self.rounds, body = body.rounds, body.of_terms
        self.operator, self.body, self.dtype = operator, body, dtype
        self.steps = steps
        given = {name: each for name, each in tensors.items() if each is not None}
        self.tensors = {name: each for name, each in given.items() if name in body.tensors}
        self.types = dict(body.env({each.name: dtype for each in operator.params}, dtype))
        self.integers: dict[str, Any] = {**arguments}
        for name, table in body.tables.items():
            numbers = np.array(table.numbers).reshape(table.sizes)
            self.tensors[name] = numbers.astype(body.read_dtype(Read(name, (), False), dtype).numpy)
        for each in operator.inputs:
            self.integers[f"{each.name}{SHAPE}"] = list(np.shape(given.get(each.name, ())))
        self.numbers = {each.name: np.array(arguments[each.name], dtype.numpy) for each in operator.params}
        self._flatten()
        self.skipped: list[Array] = []
        """The positions at which an element is left out, for each reduction that is being computed."""

    def results(self) -> tuple[Array, ...]:
        import numpy as np

        body = self.body
        self._require(body.require)
        for name, tree in body.let:
            self.integers[name] = _integer(tree, self.integers)
        self._require(body.late)
        for (tensor, dim), size in body.exact.items():
            if tensor in self.tensors and self.tensors[tensor].shape[dim] != size:
                raise RefusedError(f"'{tensor}' has another size at {dim} than {size}")
        batch = self._batch()
        sizes = tuple(self._size(size) for _, size in body.variables)
        if any(size < 0 for size in sizes):
            raise RefusedError("a negative size")
        self.shape = (*batch, *sizes)
        grid = np.ogrid[tuple(slice(size) for size in self.shape)] if self.shape else []
        self.before = grid[: len(batch)]
        env: dict[str, Array] = dict(zip(body.names, grid[len(batch) :], strict=True))
        env |= {name: np.array(_integer(tree, self.integers), np.int64) for name, tree in body.uniforms.items()}
        env |= self.numbers
        for read in body.reads.values():
            for divisor in (body.index(each).divisor for each in read.indices):
                if np.any(self._value(divisor, env, np.True_, INT64) <= 0):
                    raise RefusedError("an index is divided by what is not positive")
        if body.own:
            return self._in_order(env)
        found = [np.broadcast_to(each, self.shape) for each in self._elements(env)]
        if self.rounds is not None:
            return self._after_rounds(self.rounds, found)
        if not body.places:
            return tuple(found)
        return tuple(self._combined(batch, index, each, env) for index, each in enumerate(found))

    def _elements(self, env: Mapping[str, Array]) -> Iterator[Array]:
        """The values of the results at the positions of their variables."""
        import numpy as np

        for index, each in enumerate(self.body.results):
            result = computed_dtype(self.operator, self.body, index, self.dtype)
            self.skipped.append(np.False_)
            yield self._value(each.tree, env, np.True_, result)
            self.skipped.pop()

    def _after_rounds(self, found: Rounds, terms: Sequence[Array]) -> tuple[Array, ...]:
        """The results of a loop that has these terms."""
        import numpy as np

        tensors = {each.name: term for each, term in zip(found.terms, terms, strict=True)}
        numbers = {name: np.array(_integer(tree, self.integers), np.int64) for name, tree in found.integers.items()}
        loop = loop_of(self.operator, found)
        numbers = {each.name: {**self.numbers, **numbers}[each.name] for each in loop.params}
        return elements.results(loop, found.loop, tensors, numbers, self.dtype)

    def _combined(self, batch: tuple[int, ...], index: int, terms: Array, env: Mapping[str, Array]) -> Array:
        """The terms where they belong."""
        import numpy as np

        places, dtype = self.body.places[index], computed_dtype(self.operator, self.body, index, self.dtype)
        self.skipped.append(np.False_)
        rows = self._value(places.place.tree, env, np.True_, INT64)
        self.skipped.pop()
        sizes = [int(_integer(each, self.integers)) for each in places.sizes]
        if any(size < 0 for size in sizes):
            raise RefusedError("a negative size")
        rows = np.broadcast_to(rows, np.broadcast_shapes(rows.shape, (1,) * terms.ndim))
        positions = terms.shape[: terms.ndim - places.row]
        rows = np.broadcast_to(rows.reshape(rows.shape[: len(positions)]), positions)
        if np.any(rows == OUTSIDE):
            raise RefusedError("a place is outside")
        return combined(places, dtype, terms, rows, sizes, batch)

    def _in_order(self, env: Mapping[str, Array]) -> tuple[Array, ...]:
        """The results of a recurrence, position after position."""
        import numpy as np

        body = self.body
        found = order(body)
        assert found is not None
        for step in found.steps:
            if np.any(self._value(step, env, np.True_, INT64) <= 0):
                raise RefusedError("an element depends on one that is not an earlier one")
        made = []
        for index, each in enumerate(body.results):
            made.append(np.zeros(self.shape, computed_dtype(self.operator, body, index, self.dtype).numpy))
            if each.name in body.own:
                self.tensors[each.name] = made[-1]
        front, rank = len(self.before), len(body.names)
        last = rank if found.along_line else rank - 1
        places: list[tuple[int, ...]] = list(np.ndindex(self.shape[front + found.independent : front + last]))
        for place in reversed(places) if found.descending else places:
            self.steps.take()
            known = dict(env)
            at: list[Any] = [slice(None)] * len(self.shape)
            for dim, number in enumerate(place, found.independent):
                known[body.names[dim]] = np.array(number)
                at[front + dim] = slice(number, number + 1)
            for array, value in zip(made, self._elements(known), strict=True):
                array[tuple(at)] = value
        kept = (..., *(found.final if name in body.last else slice(None) for name in body.names))
        if any(not self.shape[front + body.names.index(name)] for name in body.last):
            raise RefusedError("there is no last line")
        return tuple(each[kept] for each in made)

    def _flatten(self) -> None:
        """Makes the dimensions in front one, where there is an index of them."""
        import numpy as np

        flat = {name: each for name, each in self.tensors.items() if name in self.body.flat}
        inner = {name: each.ndim + 1 - self.body.tensors[name] for name, each in flat.items()}
        if any(count < 0 for count in inner.values()):
            raise RefusedError("too few dimensions")
        front = self._broadcast(each.shape[: inner[name]] for name, each in flat.items())
        for name, each in flat.items():
            sizes = each.shape[inner[name] :]
            self.tensors[name] = np.broadcast_to(each, (*front, *sizes)).reshape(prod(front), *sizes)
        self.integers[BATCH] = prod(front)

    # ---- integers

    def _require(self, requirements: Sequence[Requirement[Geometry, Geometry]]) -> None:
        for each in requirements:
            if not _integer(each.check, self.integers):
                raise RefusedError("a requirement does not hold")

    def _size(self, size: Size) -> int:
        if size.geometry is None:
            return int(self.tensors[size.tensor].shape[size.dim])
        return int(_integer(size.geometry, self.integers))

    def _batch(self) -> tuple[int, ...]:
        body = self.body
        for name, each in self.tensors.items():
            rank = body.tensors.get(name, 0)
            if each.ndim < rank or (each.ndim > rank and not body.is_batched(name)):
                raise RefusedError(f"'{name}' has {each.ndim} dimensions")
        batches = [each.shape[: each.ndim - body.tensors.get(name, 0)] for name, each in self.tensors.items()]
        return self._broadcast(batches)

    @staticmethod
    def _broadcast(shapes: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
        import numpy as np

        try:
            return np.broadcast_shapes(*shapes)
        except ValueError as error:
            raise RefusedError(str(error)) from None

    # ---- values

    def _value(
        self,
        tree: Expr,
        env: Mapping[str, Array],
        live: Array,
        dtype: DType | None = None,
        done: dict[str, Array] | None = None,
    ) -> Array:
        """The value of an expression where it is `live`; elsewhere it may be anything. Atoms that are `done` have been
        computed at the same positions."""
        self.steps.evaluate()
        known = self._known(tree, env, live, {} if done is None else done)
        self._check_divisors(tree, known, live)
        return compute(_lowered(tree, self._types_in(tree), dtype), known)

    def _known(self, tree: Expr, env: Mapping[str, Array], live: Array, done: dict[str, Array]) -> Mapping[str, Array]:
        """The values of the names in an expression."""
        known = dict(env)
        for name in sorted(names(tree) & self.body.atoms.keys()):
            if name not in done:
                done[name] = self._atom(name, env, live, done)
            known[name] = done[name]
        return known

    def _atom(self, name: str, env: Mapping[str, Array], live: Array, done: dict[str, Array]) -> Array:
        atom = self.body.atoms[name]
        if isinstance(atom, Read):
            return self._read(atom, env, live, done)
        if isinstance(atom, Fold):
            return self._fold(atom, env, live, self.types[name])
        assert isinstance(atom, Integer)
        return _whole(self._value(atom.value, env, live, None, done))

    def _position(
        self, tree: Expr, env: Mapping[str, Array], live: Array, done: dict[str, Array] | None = None
    ) -> Array:
        """The value of an index or a bound, whose arithmetic stays within 64 bits where it is made of data."""
        import numpy as np

        done = {} if done is None else done
        value = self._value(tree, env, live, INT64, done)
        if self.body.index(tree).affine is None:
            known = {name: np.asarray(each, np.float64) for name, each in self._known(tree, env, live, done).items()}
            for part in applications(tree):
                if isinstance(part, Apply) and part.function in ("add", "sub", "mul", "neg") and self._types_in(part):
                    exact = compute(_lowered(part, tuple((name, FLOAT64) for name in sorted(names(part))), None), known)
                    if np.any((np.abs(exact) >= 2.0**63) & live):
                        raise RefusedError("an index is more than 64 bits hold")
        return value

    def _types_in(self, tree: Expr) -> tuple[tuple[str, DType], ...]:
        return tuple((name, self.types[name]) for name in sorted(names(tree)))

    def _check_divisors(self, tree: Expr, known: Mapping[str, Array], live: Array) -> None:
        """Integers are not divided by zero."""
        import numpy as np

        for child in tree.children:
            self._check_divisors(child, known, live)
        if isinstance(tree, Apply) and FUNCTIONS[tree.function].may_fail:
            divisor = _lowered(tree.args[1], self._types_in(tree.args[1]), None)
            if divisor.dtype.is_integer and np.any((compute(divisor, known) == 0) & live):
                raise RefusedError("a division by zero")

    def _read(self, read: Read, env: Mapping[str, Array], live: Array, done: dict[str, Array]) -> Array:
        import numpy as np

        tensor = self.tensors.get(read.tensor)
        if tensor is None:
            return np.zeros((), self.body.read_dtype(read, self.dtype).numpy)
        rule = self.body.outside.get(read.tensor, Border.ERROR)
        more = tensor.ndim - len(read.indices)
        places = [np.zeros_like(at) if size == 1 else at for at, size in self._in_front(tensor, more)]
        inside: Array = np.True_
        for dim, tree in enumerate(read.indices):
            index, size = self._position(tree, env, live, done), tensor.shape[more + dim]
            within = (index >= 0) & (index < size)
            is_data = rule in _LEADING and self.body.index(tree).affine is None
            if is_data and np.any((np.abs(index) > FURTHEST_INDEX) & live):
                raise RefusedError(f"index {dim} of '{read.tensor}' is further than any element is near to")
            if rule is Border.ERROR and not np.all(within | ~live):
                raise RefusedError(f"index {dim} of '{read.tensor}' is outside")
            inside = inside & within
            places.append(_led(index, size, rule))
        if tensor.size:
            value = tensor[tuple(np.broadcast_arrays(*places))] if places else tensor
        else:
            value = np.zeros((), tensor.dtype)
        if rule is Border.SKIP:
            self.skipped[-1] = self.skipped[-1] | ~inside
        if isinstance(rule, End):
            rule = float(end_of(self.body.read_dtype(read, self.dtype), rule))
        return value if isinstance(rule, Border) else np.where(inside, value, np.array(rule).astype(tensor.dtype))

    def _in_front(self, tensor: Array, count: int) -> Iterator[tuple[Array, int]]:
        """The indices of the dimensions in front, with the sizes that these have in a tensor."""
        return zip(self.before[len(self.before) - count :], tensor.shape[:count], strict=True)

    # ---- reductions

    def _fold(self, fold: Fold, env: Mapping[str, Array], live: Array, dtype: DType) -> Array:
        import numpy as np

        if fold.reduction in POSITIONS:
            dtype = self.body.value_dtype(fold, self.types)
        state: Array = np.array(start_of(fold.reduction, dtype)).astype(dtype.numpy)
        place: Array = np.array(-1, np.int64)
        for position, within, values in self._steps(fold.ranges, env, live, np.array(0, np.int64)):
            self.skipped.append(np.False_)
            if fold.condition is not None:
                within = within & self._value(fold.condition, values, within, BOOL)
            value = self._value(fold.value, values, within, dtype)
            within = within & ~self.skipped.pop()
            better = within & ((value > state) if fold.reduction.endswith("max") else (value < state))
            place = np.where(better | (within & (place < 0)), position, place)
            with np.errstate(all="ignore"):
                state = np.where(within, joined(fold.reduction, state, value), state)
        return place if fold.reduction in POSITIONS else state

    def _steps(
        self, ranges: Sequence[Range], env: Mapping[str, Array], live: Array, position: Array
    ) -> Iterator[tuple[Array, Array, Mapping[str, Array]]]:
        """The positions in the ranges, where they are taken part in, and the variables."""
        import numpy as np

        if not ranges:
            yield position, live, env
            return
        first, stop = (self._position(each, env, live) for each in (ranges[0].first, ranges[0].stop))
        is_far = (first < stop) & ((first < -FURTHEST_BOUND) | (stop > FURTHEST_BOUND))
        for each in (first, stop):
            is_far |= (each < -FURTHEST_INDEX) | (each > FURTHEST_INDEX)
        if ranges[0].name in self.body.ragged and np.any(is_far & live):
            raise RefusedError(f"the range of '{ranges[0].name}' is further than any index")
        nothing = not np.any(live) or not np.size(first) or not np.size(stop)
        for at in () if nothing else range(int(np.min(first)), int(np.max(stop))):
            within = live & (first <= at) & (at < stop)
            number = np.array(at, np.int64)
            if np.any(within):
                self.steps.take()
                reached = position * np.maximum(stop - first, 1) + (number - first)
                yield from self._steps(ranges[1:], {**env, ranges[0].name: number}, within, reached)


@cache
def _lowered(tree: Expr, types: tuple[tuple[str, DType], ...], dtype: DType | None) -> Node:
    return lower(tree, dict(types), dtype)


def _integer(tree: Geometry, known: Mapping[str, Any]) -> Any:
    """An integer, a truth value or a list of the call."""
    import numpy as np

    if isinstance(tree, Arg):
        return known[tree.name]
    if isinstance(tree, Const):
        return int(tree.value)
    assert isinstance(tree, Op)
    operands = [_integer(each, known) for each in tree.operands]
    if tree.function == LENGTH:
        return len(operands[0])
    if tree.function == ITEM:
        items, at = operands
        if not -len(items) <= at < len(items):
            raise RefusedError(f"there is no item {at}")
        return items[at]
    if any(isinstance(each, list) for each in operands):
        raise NotImplementedError(f"'{tree.function}' of lists")
    if tree.function in ("floor_divide", "remainder", "ceil_div") and operands[1] == 0:
        raise RefusedError("a division by zero")
    if tree.function == "ceil_div":
        return -(-operands[0] // operands[1])
    arrays = (np.array(each, node.dtype.numpy) for each, node in zip(operands, tree.operands, strict=True))
    return primitive(tree.row)(*arrays).item()


def _whole(value: Array) -> Array:
    import numpy as np

    if value.dtype.kind != "f":
        return value.astype(np.int64)
    fits = np.abs(value) < 2.0**62
    return np.where(fits, np.where(fits, value, 0).astype(np.int64), -(2**62))


def _led(index: Array, size: int, rule: Border | End | float) -> Array:
    """The position that stands for an index outside; where there is none, some position."""
    import numpy as np

    if rule is Border.WRAP:
        return np.mod(index, max(size, 1))
    if rule is Border.REFLECT:
        period = max(2 * size - 2, 1)
        turned = np.mod(index, period)
        return np.minimum(turned, period - turned) if size > 1 else np.zeros_like(index)
    return np.clip(index, 0, max(size - 1, 0))

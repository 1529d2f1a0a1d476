"""Tests of operators outside the tree that draw random numbers, of which no reference tells the values.

They are functions of their arguments and of the state of the generator: every variant, every memory layout and every
number of threads gives the same.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import opweave

from codegen.dtypes import DTYPES

from .arrays import Array, cast, dtype_of
from .bodies import as_tuple
from .compare import check_same
from .drawn import Drawn
from .layouts import layouts
from .promotion import resolve
from .suite import Case, OperatorTests, dtypes_of_variants

_SHAPE = (3, 40)
_SEED = 11


class _Keywords(Mapping[str, Any]):
    """Arguments with names; whenever they are given, the default generator has the same state."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given

    def __getitem__(self, name: str) -> Any:
        return self._given[name]

    def __iter__(self) -> Iterator[str]:
        opweave.manual_seed(_SEED)
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)


class RandomTests(OperatorTests):
    def values(self, name: str, dtype: str) -> Array:
        """Chances are between 0 and 1, and others may be."""
        random = Drawn(zlib.crc32(name.encode()))
        return cast(random.integers(1, 8, _SHAPE) / 8, DTYPES[dtype])

    def case(self, dtype: str, layout: str) -> Case:
        found = {}
        for name in self.spec.inputs:
            known = {each.name: each for each in layouts(_SHAPE, DTYPES[dtype])}
            found[name] = known.get(layout, known["contiguous"]).place(self.values(name, dtype), DTYPES[dtype])[0]
        first, *rest = found
        case = Case(found[first])
        case.keywords = _Keywords({name: found[name] for name in rest})  # type: ignore[assignment]
        return case

    def variant_cases(self) -> list[Case]:
        names = dtypes_of_variants(self.spec)
        return [self.case(name, layout) for name in names for layout in ("contiguous", "transposed")]

    def test_state(self, dtype: str) -> None:
        """What a call gives follows from its arguments and the state of the generator alone."""
        want = as_tuple(self.functional(self.case(dtype, "contiguous")))
        common = resolve(self.spec, DTYPES[dtype])[1]
        assert all(dtype_of(each) == common for each in want if each.is_floating_point())
        for layout in ("contiguous", "transposed", "negative", "step2"):
            got = as_tuple(self.functional(self.case(dtype, layout)))
            check_same(got, want, f"{self.spec.name} {dtype} {layout}")
        threads = opweave.get_num_threads()
        try:
            opweave.set_num_threads(1)
            got = as_tuple(self.functional(self.case(dtype, "contiguous")))
            check_same(got, want, f"{self.spec.name} {dtype} by one thread")
        finally:
            opweave.set_num_threads(threads)

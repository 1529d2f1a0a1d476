"""Indexing and assignment against torch: the same results, the same views, the same errors."""

from __future__ import annotations

import itertools

import opweave
import pytest
from harness import expressions, oracle
from harness.oracle import PRINTED
from harness.outcome import outcome

INDICES = """
0 | -1 | 2 | -3 | 5 | 2**63 | 2**70 | True | False | None | ... | () | : | 0:1 | 1: | :-1 | -1: | 5: | 1:0
::2 | ::5 | 0:10**30 | -10**30: | ::-1 | ::0 | 0:2:-1 | 1:'x' | 1.5:2 | zi: | z: | :zi | np.int64(1):
np.float32(1): | ::True | zi | z | L.tensor(True) | L.tensor(False) | L.tensor(1, dtype=L.uint8)
L.tensor(-1, dtype=L.int8) | L.tensor(9) | np.int64(1) | np.int8(-1) | np.True_ | np.float64(1) | np.array(1)
'x' | b'x' | 1.5 | 1j | {} | {1, 2} | object() | int | 0, 0 | 0, 5 | -3, 0 | 0, -4 | 0, 0, 0 | 0, 0, 0, 0
0, 0, ..., 0 | 1, : | :, 1 | :, -1 | :, :, : | :, :, :, : | :, 5 | :, : | ..., 0 | ..., 1: | 0, ... | ..., ...
..., None, ... | 0, ..., None | ..., 0, 0 | :, ..., 0 | None, 0 | 0, None | :, None | None, None
None, :, None, 0 | None, 5 | ..., None | 1:, ::2 | 1:2, None, :2 | :, 1:0 | 0:0, 0 | ::-1, 0 | 0, 'x' | 0, 1.5
0, object() | zi, 0 | 0, zi | zi, zi | np.int32(1), np.int64(0) | 0, np.array(1) | 2**70, 0 | :, 2**70 | (0,)
True, 0 | 0, True | True, True | False, True | :, True | :, False | ..., True | True, ..., True
True, :, True | True, None, True | None, True, 0, None, True | True, 0, True | :, :, True | None, True
True, :, 0 | L.tensor(True), 0
""".replace("\n", " | ").split(" | ")

SELF = ["a", "b", "u", "z", "e", "a.t()", "a[:, 1:]", "b[..., 1]", "L.zeros(1).expand(2, 3)", "L.zeros(2, 0, 3)"]


# Mistakes in the text of which torch speaks of C++, and indices with two mistakes, of which torch sees another first.
OTHER_TEXTS = {
    "z": {"0", "np.True_", "np.float64(1)", "np.array(1)"},
    "e": {"0, 'x'", "0, 1.5", "0, object()"},
}


@pytest.mark.parametrize("name", SELF)
def test_index(name: str) -> None:
    for index in filter(None, INDICES):
        text = f"{name}[{index}]"
        if index in OTHER_TEXTS.get(name, ()):
            want = oracle.ask(expressions.expression(text), text, PRINTED)
            got = outcome(expressions.expression(text), opweave)
            assert got.kind in ("IndexError", "TypeError")
            assert want.kind == "IndexError"
        else:
            expressions.check(text)


VIEWS = ["0", "..., 0", ":, 1:", "None", "zi", "True", "0, zi", "True, 0", "::2", "()", "...", "np.int64(1)", "None, 0"]


def test_shares_memory_where_torch_does() -> None:
    expressions.check_all(f"v = a[{index}]; a.copy_(9); v" for index in VIEWS)


PLACES = [
    "0",
    "-1",
    "0, 1",
    ":",
    "...",
    "()",
    "None",
    "True",
    "False",
    "0:0",
    ":, 1",
    ":, ::2",
    "None, 0",
    "zi",
    "5",
    "0, 0, 0",
    "'x'",
    "::-1",
    "1.5",
]

VALUES = """
1 | -2 | 2.7 | True | float('nan') | float('inf') | 2**70 | 1e300 | -1e300 | 300 | -300 | -255 | -256 | 255.5
-1.5 | 1j | 'x' | None | object() | {} | zi | z | L.tensor([7.0]) | L.tensor([[8]])
L.tensor([1.5, 2.5, 3.5]) | L.tensor([[1], [2]]) | L.zeros(4) | L.zeros(2, 3) | L.zeros(1, 1, 3)
L.zeros(2, 2, 3) | L.zeros(5, 2, 3) | L.zeros(0) | a.t() | L.zeros(3, 2)
""".replace("\n", " | ").split(" | ")


@pytest.mark.parametrize("name", ["a", "i", "u"])
def test_assignment(name: str) -> None:
    for index, value in itertools.product(PLACES, filter(None, VALUES)):
        expressions.check(f"{name}[{index}] = {value}; {name}")


DTYPES = ["bool", "int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float64"]
NUMBERS = ["1", "0.5", "-1", "300", "70000", "2**40", "-2**40", "1e5", "1e10", "1e39", "2**70", "-0.5"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_number_to_dtype(dtype: str) -> None:
    expressions.check_all(f"t = L.zeros(2, dtype=L.{dtype}); t[0] = {value}; t" for value in NUMBERS)


TENSOR_INDICES = """
L.tensor([0, 1]) | L.tensor([5]) | L.tensor([-3]) | L.tensor([-1, 0]) | L.tensor([], dtype=L.int64) | L.tensor([])
L.tensor([True, False]) | L.tensor([True]) | L.tensor([[True, False, True], [False, True, True]]) | L.tensor([[True]])
L.tensor([0], dtype=L.int8) | L.tensor([0.0]) | L.tensor([1], dtype=L.int32) | [0, 1] | [0], [1] | [[0, 1], [1, 0]]
[True, False] | [] | [slice(0, 1), 0] | [None, 0] | range(2) | np.array([0, 1]) | np.array([1], np.int16) | ([0], 1)
L.tensor([0, 1]), L.tensor([0, 1, 2]) | L.tensor([[0], [1]]), L.tensor([0, 2]) | :, L.tensor([5]) | 0, L.tensor([0])
L.tensor([0]), 0 | L.tensor([0]), None, L.tensor([1]) | ..., L.tensor([0, 1]) | L.tensor([0]), ..., L.tensor([1])
True, L.tensor([0]) | L.tensor([0]), False | L.tensor(True), L.tensor([0, 1]) | L.tensor([0]), L.tensor(0)
L.tensor([[0, 1], [1, 0]]).t() | L.tensor([0]), L.tensor([0]), L.tensor([0]) | :, L.tensor([True, False])
L.tensor([1, 0], dtype=L.uint8) | 1:, L.tensor([0, 0, -1]) | ::2, [1, 1] | a > 3 | a != a
""".replace("\n", " | ").split(" | ")


@pytest.mark.parametrize("name", SELF)
def test_tensor_index(name: str) -> None:
    expressions.check_all(f"{name}[{index}]" for index in TENSOR_INDICES if index)


SELECTED = """
1 | 2.7 | 300 | None | zi | L.tensor([7.0]) | L.tensor([1, 2, 3]) | L.zeros(2, 3) | L.zeros(1, 1, 3)
""".strip().split(" | ")


@pytest.mark.parametrize("name", ["a", "i", "u"])
def test_assignment_to_selection(name: str) -> None:
    for index, value in itertools.product(filter(None, TENSOR_INDICES), SELECTED):
        if name == "u" and "uint8" in index:
            continue  # two mistakes, of which torch sees another first
        expressions.check(f"{name}[{index}] = {value}; {name}")


OTHERS = """
a[L.tensor([0, 1])] = a[0]; a
i[i] = 0; i
t = L.zeros(3).expand(2, 3); t[0] = 1; t
t = L.zeros(1).expand(3); t[:] = 1; t
t = L.zeros(1).expand(3); t.copy_(L.ones(3)); t
a[0] = a[1]; a
a[1:] = a[:1]; a
a[0, 0] += 5; a
a[:, 1] *= 2; a
del a[0]; a
list(a)
list(u)
list(e)
list(z)
[row.tolist() for row in b]
iter(z)
len(a), len(e)
len(z)
3 in a
7 in a
zi in i
a[0] in a
3.5 in z
np.float32(3) in a
'x' in a
None in a
[x.item() for x in reversed(u)]
""".strip().splitlines()


def test_others() -> None:
    expressions.check_all(OTHERS)

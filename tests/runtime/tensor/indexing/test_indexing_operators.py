"""Operators that read and write at computed places, against torch: values, layouts, variants and mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np
import opweave
import pytest
from harness import expressions, oracle
from harness.oracle import PRINTED

# Arguments after self, a matrix of 3 x 4, by operator.
CALLS = {
    "index_select": ["0, L.tensor([2, 0])", "1, L.tensor([1], dtype=L.int32)", "-1, L.tensor(3)", "0, empty"],
    "gather": ["0, L.tensor([[0, 1, 2, 0]])", "1, L.tensor([[3], [0], [1]])", "-1, square"],
    "take": ["L.tensor([[0, -1], [5, 11]])", "empty"],
    "index_copy": ["0, L.tensor([2, 0]), L.ones(2, 4)", "1, L.tensor([1]), L.ones(3, 1)"],
    "index_fill": ["0, L.tensor([2, -3]), 7", "1, L.tensor([1]), L.tensor(2.5)", "0, empty, 1", "1, L.tensor(0), True"],
    "index_add": [
        "0, L.tensor([2, 0, 2]), L.ones(3, 4)",
        "1, L.tensor([1, 1]), L.ones(3, 2), alpha=2.5",
        "0, empty, L.ones(0, 4)",
    ],
    "index_reduce": [
        f"0, L.tensor([2, 0, 2]), half, '{word}', include_self={flag}"
        for word in ("prod", "mean", "amax", "amin")
        for flag in (True, False)
    ],
    "scatter": ["0, square, half", "1, square, 5", "0, square, half, reduce='add'", "1, square, 3, reduce='multiply'",
                "1, square, value=5", "0, square, value=L.tensor(2.0), reduce='add'"],
    "scatter_add": ["0, square, half", "-1, square, half", "1, L.tensor([[0]]), half"],
    "scatter_reduce": [
        f"1, square, half, '{word}', include_self={flag}"
        for word in ("sum", "prod", "mean", "amax", "amin")
        for flag in (True, False)
    ],
    "put": ["L.tensor([0, -1]), L.tensor([5.0, 6.0])", "L.tensor([0, 0]), L.tensor([5.0, 6.0]), accumulate=True"],
    "masked_select": ["mask", "mask[0]", "L.tensor(True)", "L.tensor(False)"],
    "masked_fill": ["mask, 7", "mask[0], 2.5", "mask[:, :1], L.tensor(True)"],
    "masked_scatter": ["mask, L.arange(100.0, 120.0)", "mask[0], L.arange(100.0, 120.0)"],
    "argwhere": [""],
    "nonzero": [""],
    "tril": ["", "1", "-2", "9", "-9"],
    "triu": ["", "1", "-2", "9", "-9", "diagonal=2"],
    "take_along_dim": ["square, 0", "L.tensor([[1]]), 1", "L.tensor([5])"],
    "diag": ["", "1", "-2", "5"],
    "diagflat": ["", "1"],
    "diag_embed": ["", "1", "-1, 0, 2", "0, dim1=1, dim2=0"],
    "diagonal_scatter": ["L.zeros(3)", "L.zeros(2), -1"],
    "select_scatter": ["L.zeros(4), 0, 1", "L.zeros(3), 1, -1"],
    "slice_scatter": ["L.zeros(1, 4), 0, 1, 2", "L.zeros(3, 2), 1, step=2"],
}  # fmt: skip
UPDATES = [
    "index_copy", "index_fill", "index_add", "index_reduce", "scatter", "scatter_add", "scatter_reduce", "put",
    "masked_fill", "masked_scatter", "tril", "triu",
]  # fmt: skip
SETUP = (
    "x = L.arange(12.0).reshape(3, 4){layout}; square = L.tensor([[0, 1, 2, 0], [2, 2, 1, 0], [1, 0, 0, 2]]); "
    "mask = x % 3 > 0; half = x / 2 + 1; empty = L.zeros(0, dtype=L.int64); "
)
LAYOUTS = ["", ".t().contiguous().t()", "[:, [0, 1, 2, 3]]"]
EACH = [(name, arguments) for name, calls in CALLS.items() for arguments in calls]


FLATTENS = "view size is not compatible"
"""What torch says where it flattens views only; opweave flattens any tensor."""


def same(expression: str) -> None:
    call = expressions.expression(expression)
    want = oracle.ask(call, expression, PRINTED)
    if FLATTENS not in str(want):
        oracle.agree(call, want, expression, PRINTED)


@pytest.mark.oracle
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str, layout: str) -> None:
    setup = SETUP.format(layout=layout)
    for arguments in CALLS[name]:
        same(f"{setup}L.{name}({', '.join(filter(None, ['x', arguments]))})")
        same(f"{setup}x.{name}({arguments})")
        if name in UPDATES:
            same(f"{setup}result = x.{name}_({arguments}); (result is x, x)")


@pytest.mark.parametrize(("name", "arguments"), EACH)
def test_out(name: str, arguments: str) -> None:
    """Of the right shape, empty, strided; torch has no out= for some."""
    call = f"L.{name}({', '.join(filter(None, ['x', arguments]))}"
    setup = SETUP.format(layout="") + f"want = {call}); "
    strided = "L.zeros((2, *want.shape), dtype=want.dtype).permute(*range(1, want.ndim + 1), 0)[..., 1]"
    for out in ("L.empty(want.shape, dtype=want.dtype)", "L.empty(0, dtype=want.dtype)", strided):
        result = "(r is o, o.shape == want.shape, (o == want).all())"
        got = expressions.expression(f"{setup}o = {out}; r = {call}, out=o); {result}")(opweave)
        assert all(got), (call, out)


DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float64"]


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype: str) -> None:
    for name, arguments in EACH:
        compare_dtype(name, arguments, dtype)


def compare_dtype(name: str, arguments: str, dtype: str) -> None:
    if dtype == "bool" and (name == "index_reduce" or (name == "scatter_reduce" and "mean" in arguments)):
        return  # torch refuses some of these
    converted = arguments
    for value in ("half", "L.ones(3, 4)", "L.ones(2, 4)", "L.ones(3, 1)", "L.ones(3, 2)", "L.ones(0, 4)",
                  "L.tensor([5.0, 6.0])", "L.arange(100.0, 120.0)"):  # fmt: skip
        converted = converted.replace(value, f"{value}.to(L.{dtype})")
    if "alpha" in arguments and "float" not in dtype:
        converted = converted.replace("alpha=2.5", "alpha=True" if dtype == "bool" else "alpha=2")
    if "'multiply'" in arguments and dtype in ("int8", "uint8", "bool"):
        converted = converted.replace("1, square, 3", "1, square, 1")
    same(f"{SETUP.format(layout='')}L.{name}({', '.join(filter(None, [f'x.to(L.{dtype})', converted]))})")


PUTS = """
x.index_put((L.tensor([0]),), zi + 1.5) | L.index_put(x, [L.tensor([0]), L.tensor(1)], z) | x.t().index_put((zi,), z)
x.index_put((square[0], square[1]), L.arange(4.0)) | x.index_put((L.tensor([0, 0]),), L.ones(2, 4), True)
x.index_put((mask,), z, accumulate=True) | x.index_put((mask,), L.arange(8.0), accumulate=True)
L.index_put_(x, (mask[:, 0],), half[:2, :1]) | x.index_put_((square, square), half, accumulate=True); x
x.index_put_((L.tensor([2, 2, 2]),), half, accumulate=True) | x.expand(2, 3, 4).index_put((zi,), z)
x.index_put((zi,), zi)
x.index_put((L.tensor([-1, 2]),), L.ones(2, 4), True) | x.bool().index_put((square[0],), mask[:1], accumulate=True)
x.byte().index_put((square[0],), x.byte()[2] * 20, accumulate=True) | x.index_put_((L.tensor([9]),), z)
x.index_put((L.tensor([0]),), L.ones(3, 4)) | x.index_put((L.tensor([0.5]),), z) | L.index_put(x, 5, z)
L.index_put(x, (0,), z) | L.index_put(x, (x > 1, None), z) | L.index_put(x, square, z) | L.index_put(x, (zi,), 1.5)
L.index_put(x, (zi,), z, 1) | L.index_put(5, (zi,), z)
""".replace("\n", " | ").split(" | ")


@pytest.mark.oracle
@pytest.mark.parametrize("layout", LAYOUTS)
def test_index_put(layout: str) -> None:
    for text in filter(None, PUTS):
        same(SETUP.format(layout=layout) + text)


def test_half_formats_accumulate_in_float32() -> None:
    """torch rounds after each addition."""
    x, index = opweave.zeros(3, dtype=opweave.float16), opweave.tensor([1] * 50)
    values = (opweave.arange(50.0) / 7).half()
    total = opweave.tensor([0.0, float(values.float().sum()), 0.0]).half()
    for result in (x.index_put((index,), values, True), x.index_add(0, index, values), x.put(index, values, True)):
        assert (result == total).all()


MISTAKES = """
x.index_select(0, L.tensor([5])) | x.index_select(0, L.tensor([-1])) | x.index_select(0, L.tensor([0.0]))
x.index_select(0, L.tensor([[0]])) | x.index_select(2, L.tensor([0])) | L.index_select(x, 0, 5)
z.index_select(0, L.tensor([0])) | z.index_select(0, L.tensor([0, 0])) | x.gather(0, L.tensor([[5]]))
x.gather(0, L.tensor([[-1]])) | x.gather(0, L.tensor([0])) | x.gather(0, L.tensor([[0] * 5])) | L.gather(x, 0, 5)
x.gather(0, L.tensor([])) | x.gather(2, square) | z.gather(0, L.tensor(0)) | z.gather(0, L.tensor([0, 0]))
x.gather(0, square.int()) | x.scatter(0, L.tensor([[5]]), x) | x.scatter(0, L.tensor([[0]]), L.tensor([[1]]))
x.scatter(0, L.tensor([[0] * 5]), x) | x.scatter(0, L.tensor([[0] * 4] * 4), x) | x.scatter(0, L.tensor([0]), x)
x.scatter(0, square, x, reduce='foo') | x.scatter(0, square, 1e300) | x.long().scatter(0, square, 1.5)
z.scatter(0, L.tensor(0), L.tensor(4.0)) | x.scatter_add(0, L.tensor([[5]]), x) | x.scatter_add(0, square, x.long())
x.scatter_reduce(0, square, x, 'foo') | x.scatter_reduce(0, L.tensor([[5]]), x, 'mean')
x.index_add(0, L.tensor([5]), x[:1]) | x.index_add(0, L.tensor([-1]), x[:1]) | x.index_add(0, L.tensor([0]), x)
x.index_add(0, L.tensor([0]), x[:1, :2]) | x.index_add(0, L.tensor([0]), x[:1].long())
x.index_add(0, L.tensor([0.0]), x[:1]) | x.index_add(0, L.tensor([[0]]), x[:1]) | z.index_add(0, zi * 0, z)
x.index_copy(0, L.tensor([5]), x[:1]) | x.index_copy(0, L.tensor([-1]), x[:1]) | x.index_copy(0, L.tensor([0]), x)
x.index_copy(0, L.tensor([0]), x[:1, :2]) | x.index_copy(0, L.tensor([0]), x[:1].long())
x.index_copy(0, L.tensor([0], dtype=L.int32), x[:1]) | x.index_copy(0, zi, x[1]) | z.index_copy(0, L.tensor([0]), z)
x.index_fill(0, L.tensor([5]), 1) | x.index_fill(0, L.tensor([0]), L.tensor([1.0]))
x.index_fill(0, L.tensor([0.0]), 1)
x.index_fill(0, L.tensor([0], dtype=L.int32), 1) | z.index_fill(0, L.tensor([0]), 4) | x.int().index_fill(0, zi, 1.5)
x.index_reduce(0, L.tensor([5]), x[:1], 'prod') | x.index_reduce(0, L.tensor([0]), x[:1], 'sum')
x.take(L.tensor([12])) | x.take(L.tensor([-13])) | x.take(L.tensor([0], dtype=L.int32)) | L.zeros(0).take(zi)
x.put(L.tensor([12]), L.tensor([1.0])) | x.put(L.tensor([0]), L.tensor([1.0, 2.0])) | x.put(L.tensor([0]), zi)
x.put(L.tensor([0], dtype=L.int32), L.tensor([1.0])) | x.masked_select(L.tensor([True, False]))
x.masked_select(L.tensor([1, 0, 1, 1])) | z.masked_select(L.tensor(True)) | x.masked_fill(L.tensor([1, 0, 1, 1]), 1)
x.masked_fill(L.tensor([True, False]), 1) | x.masked_fill(mask, L.tensor([1.0])) | x.masked_fill(mask, 1e300)
x.long().masked_fill(mask, 1.5) | x.bool().masked_fill(mask, 2.5) | x.byte().masked_fill(mask, 300)
x.masked_scatter(mask, L.tensor([1.0])) | x.masked_scatter(mask, L.tensor([1] * 20))
x.masked_scatter(L.tensor([1, 0, 1, 1]), x) | x.masked_fill(L.tensor([[[True]]]), 4)
L.index_select(x, 0, zi, out=x[1:2]) | L.gather(x, 0, square, out=x) | L.take(x, L.tensor([0, 1]), out=x[0, :2])
L.masked_select(x, mask, out=x) | L.index_select(x, 0, L.tensor([0, 1]), out=L.ones(1, 4).expand(2, 4))
x.masked_scatter(L.tensor([[[True]]]), x) | x.masked_fill_(L.tensor([[[True]]]), 4) | L.nonzero(z) | L.argwhere(z)
L.nonzero(x, as_tuple=True) | x.nonzero(as_tuple=True) | L.nonzero(z, as_tuple=True) | L.nonzero(e) | b.nonzero()
L.nonzero(e, as_tuple=True) | L.tril(x[0]) | L.triu(z) | x.t().tril() | L.diag(z) | L.diag(b) | L.diag(x[0])
L.diag_embed(z) | L.diag_embed(x, 0, 0, 0) | L.diag_embed(x, 0, 5, 0) | L.diag_embed(x[0], 1)
L.diagonal_scatter(x, L.ones(2)) | L.select_scatter(x, L.ones(2), 0, 0) | L.slice_scatter(x, L.ones(2), 0, 0)
L.take_along_dim(x, L.tensor([0]), 0) | x.scatter_(0, square, x) | x.index_copy_(0, L.tensor([0]), x[1:2])
x.index_add_(0, L.tensor([0, 0]), x[:2])
y = L.zeros(3); y.scatter_(0, L.tensor([0, 9]), L.ones(2)) | x.masked_fill_(x > 3, True)
L.zeros(0, 3).index_select(1, L.tensor([0])) | L.zeros(3, 0).gather(0, L.zeros(3, 0, dtype=L.int64))
""".replace("\n", " | ").split(" | ")


@pytest.mark.oracle
def test_edges_and_mistakes() -> None:
    for text in filter(None, MISTAKES):
        same(SETUP.format(layout="") + text)


def test_nothing_is_written_when_one_index_is_wrong() -> None:
    for call in (
        lambda t: t.scatter_(0, opweave.tensor([0, 9]), opweave.ones(2)),
        lambda t: t.index_add_(0, opweave.tensor([0, 9]), opweave.ones(2)),
        lambda t: t.index_fill_(0, opweave.tensor([0, 9]), 1),
        lambda t: t.index_copy_(0, opweave.tensor([0, 9]), opweave.ones(2)),
        lambda t: t.put_(opweave.tensor([0, 9]), opweave.ones(2)),
        lambda t: t.index_reduce_(0, opweave.tensor([0, 9]), opweave.ones(2), "amax", include_self=False),
        lambda t: opweave.index_select(opweave.ones(3), 0, opweave.tensor([0, 1, 9]), out=t),
        lambda t: opweave.gather(opweave.ones(3), 0, opweave.tensor([0, 1, 9]), out=t),
        lambda t: opweave.take(opweave.ones(3), opweave.tensor([0, 1, 9]), out=t),
    ):
        tensor = opweave.zeros(3)
        with pytest.raises((RuntimeError, IndexError)):
            call(tensor)
        assert tensor.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_large_accumulations(threads: int, dtype: str) -> None:
    """Duplicates are counted in the order of the index, whatever the number of threads."""
    rng = np.random.default_rng(0)
    before = opweave.get_num_threads()
    values = (rng.standard_normal((30_000, 8)) * 10).astype(dtype)
    indices = rng.integers(0, 50, 30_000)
    expected = np.zeros((50, 8), dtype)
    np.add.at(expected, indices, values)
    wide: Any = np.broadcast_to(indices[:, None], values.shape)
    opweave.set_num_threads(threads)
    try:
        zeros = opweave.zeros(50, 8, dtype=getattr(opweave, dtype))
        index, source = opweave.tensor(indices), opweave.tensor(values)
        for result in (
            zeros.index_add(0, index, source),
            zeros.scatter_add(0, opweave.tensor(np.ascontiguousarray(wide)), source),
            zeros.scatter_reduce(0, opweave.tensor(np.ascontiguousarray(wide)), source, "sum"),
            zeros.t().index_add(1, index, source.t()).t(),
        ):
            np.testing.assert_array_equal(result.numpy(), expected)
    finally:
        opweave.set_num_threads(before)


@pytest.mark.parametrize(("arguments", "expected"), [
    ((0, [0], [5], 2), "index_reduce(): argument 'reduce' (position 5) must be str, not int"),
    ((0, [0], [5], None), "index_reduce(): argument 'reduce' (position 5) must be str, not NoneType"),
    (("amax", [0], [5], "amax"), "index_reduce(): argument 'dim' (position 2) must be int, not str"),
])  # fmt: skip
def test_a_word_is_no_number(arguments: tuple[Any, ...], expected: str) -> None:
    """The core finds the reduction by a number, for which no other number may stand."""
    dim, index, source, reduce = arguments
    with pytest.raises(TypeError) as error:
        opweave.index_reduce(opweave.tensor([1]), dim, opweave.tensor(index), opweave.tensor(source), reduce)
    assert str(error.value) == expected

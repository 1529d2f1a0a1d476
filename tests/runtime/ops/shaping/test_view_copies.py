"""Operators that give what a view does in memory of its own: values, memory, gradients, `out=`."""

from __future__ import annotations

from typing import Any

import opweave
import pytest

X = opweave.arange(6.0).view(2, 3)
CALLS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("view_copy", ((3, 2),), [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]),
    ("t_copy", (), [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]),
    ("transpose_copy", (0, -1), [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]),
    ("permute_copy", ((1, 0),), [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]),
    ("select_copy", (1, -1), [2.0, 5.0]),
    ("slice_copy", (1, 0, 3, 2), [[0.0, 2.0], [3.0, 5.0]]),
    ("squeeze_copy", (), [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]),
    ("unsqueeze_copy", (1,), [[[0.0, 1.0, 2.0]], [[3.0, 4.0, 5.0]]]),
    ("as_strided_copy", ((2,), (4,), 1), [1.0, 5.0]),
    ("expand_copy", ((1, -1, 3),), [[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]]),
    ("diagonal_copy", (1,), [1.0, 5.0]),
    ("unfold_copy", (1, 2, 1), [[[0.0, 1.0], [1.0, 2.0]], [[3.0, 4.0], [4.0, 5.0]]]),
    ("narrow_copy", (1, 1, 1), [[1.0], [4.0]]),
    ("detach_copy", (), [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]),
    ("alias_copy", (), [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]),
]


@pytest.mark.parametrize(("name", "args", "values"), CALLS, ids=[name for name, _, _ in CALLS])
def test_a_copy_is_contiguous_and_shares_nothing(name: str, args: Any, values: Any) -> None:
    function = getattr(opweave, name)
    result = function(X, *args)
    assert result.tolist() == values
    assert result.is_contiguous()
    assert not result._is_view()
    result.fill_(-1)
    assert X.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    out = opweave.empty(0)
    assert function(X, *args, out=out) is out
    assert out.tolist() == values
    meta = function(X.to("meta"), *args)
    assert (meta.shape, meta.stride()) == (result.shape, result.stride())


@pytest.mark.parametrize(
    ("name", "args", "values"),
    [
        ("unbind_copy", (), [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]),
        ("split_copy", (2, 1), [[[0.0, 1.0], [3.0, 4.0]], [[2.0], [5.0]]]),
        ("split_with_sizes_copy", ((1, 2), 1), [[[0.0], [3.0]], [[1.0, 2.0], [4.0, 5.0]]]),
    ],
)
def test_lists_of_copies(name: str, args: Any, values: Any) -> None:
    results = getattr(opweave, name)(X, *args)
    assert [each.tolist() for each in results] == values
    assert all(each.is_contiguous() and not each._is_view() for each in results)


def test_gradients_are_those_of_the_view() -> None:
    x = opweave.ones(2, 3, requires_grad=True)
    opweave.select_copy(x, 0, 1).sum().backward()
    first, _ = opweave.unbind_copy(x)
    first.mul_(2).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[2.0, 2.0, 2.0], [1.0, 1.0, 1.0]]
    assert not opweave.detach_copy(x).requires_grad


def test_complex_parts() -> None:
    z = opweave.tensor([1 + 2j, 3 - 1j])
    parts = opweave.view_as_real_copy(z)
    assert parts.tolist() == [[1.0, 2.0], [3.0, -1.0]]
    joined = opweave.view_as_complex_copy(parts)
    parts.zero_()
    assert joined.tolist() == [1 + 2j, 3 - 1j]


def test_the_strides_that_a_view_needs_its_copy_needs_too() -> None:
    with pytest.raises(RuntimeError, match="Tensor must have a last dimension with stride 1"):
        opweave.view_as_complex_copy(opweave.ones(2, 3).t())


def test_bytes_are_copied_as_elements_of_a_dtype() -> None:
    x = opweave.tensor([1.0, -2.0])
    words = opweave.view_copy(x, opweave.int32)
    assert (words.tolist(), words.dtype) == ([1065353216, -1073741824], opweave.int32)
    out = opweave.empty(0, dtype=opweave.int32)
    assert opweave.view_copy(x, opweave.int32, out=out) is out
    assert out.tolist() == words.tolist()
    with pytest.raises(TypeError, match="argument 'size' \\(position 2\\) must be tuple of ints, not str"):
        opweave.view_copy(x, "int32")


def test_what_is_refused() -> None:
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got double instead"):
        opweave.t_copy(X, out=opweave.empty(0, dtype=opweave.float64))
    with pytest.raises(TypeError, match="select_copy\\(\\): argument 'dim' \\(position 2\\) must be int, not str"):
        opweave.select_copy(X, "a", 1)
    assert not hasattr(opweave.Tensor, "t_copy")
    assert not hasattr(opweave, "swapaxes_copy")


def test_view_copy_takes_any_memory_order() -> None:
    assert opweave.view_copy(X.t(), (2, 3)).tolist() == [[0.0, 3.0, 1.0], [4.0, 2.0, 5.0]]


def test_schemas() -> None:
    assert str(opweave.ops.aten.select_copy.int._schema) == (
        "aten::select_copy.int(Tensor self, int dim, SymInt index) -> Tensor"
    )
    assert str(opweave.ops.aten.unbind_copy.int._schema) == "aten::unbind_copy.int(Tensor self, int dim=0) -> Tensor[]"

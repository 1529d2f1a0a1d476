"""Names of dimensions: which there may be, how tensors get others, and what is said of mistakes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import opweave
import pytest
from representations.named import named

Call = Callable[[opweave.Tensor], Any]


# ---- making tensors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        opweave.empty,
        opweave.zeros,
        opweave.ones,
        opweave.rand,
        opweave.randn,
        lambda *size, **kw: opweave.full(size, 2.0, **kw),
    ],
)
def test_factories(function: Any) -> None:
    assert function(1, 2, 3, names=("N", None, "batch_5")).names == ("N", None, "batch_5")
    assert function(1, 2, names=None).names == (None, None)
    assert function(1, 2, names=[None, None]).has_names() is False
    assert function(3, names=("_1",), dtype=opweave.float64, requires_grad=True).requires_grad


def test_tensors_of_values() -> None:
    x = opweave.tensor([[1, 2]], names=("N", "C"))
    assert x.names == ("N", "C")
    assert x.tolist() == [[1, 2]]
    assert opweave.arange(3, names=("i",)).names == ("i",)
    assert opweave.tensor(1.0, names=()).names == ()
    with pytest.warns(UserWarning, match="To copy construct"):
        copied = opweave.tensor(x)
    assert copied.names == ("N", "C")
    with pytest.warns(UserWarning, match="To copy construct"), pytest.raises(RuntimeError, match="Name mismatch"):
        opweave.tensor(x, names=("N", "D"))


def test_sixty_four_names() -> None:
    names = tuple("A" * length for length in range(1, 65))
    assert opweave.ones([1] * 64, names=names).names == names


BAD_NAMES: list[tuple[Any, type[Exception], str]] = [
    (("1", "C"), RuntimeError, ("Invalid name: a valid identifier contains only digits, alphabetical characters, "
     "and/or underscore and starts with a non-digit. got: '1'.")),
    (("?", "C"), RuntimeError, "got: '?'."),
    (("", "C"), RuntimeError, "got: ''."),
    (("é", "C"), RuntimeError, "got: 'é'."),
    (("N C", "C"), RuntimeError, "got: 'N C'."),
    (("N\n", "C"), RuntimeError, "got: 'N\n'."),
    (("N",), RuntimeError, ("Number of names (1) and number of dimensions in tensor (2) do not match. Attempted to "
     "create a tensor with names ['N']")),
    (("N", "N"), RuntimeError, "Cannot construct a tensor with duplicate names. Got names: ['N', 'N']."),
    ("NC", TypeError, "argument 'names' must be tuple of names, not str"),
    ((0, 1), TypeError, "argument 'names' must be tuple of names, but found element of type int at pos 0"),
    (("N", b"C"), TypeError, "found element of type bytes at pos 1"),
    ({"N": 1}, TypeError, "not dict"),
]  # fmt: skip


@pytest.mark.parametrize(("names", "kind", "text"), BAD_NAMES, ids=lambda value: repr(value)[:20])
def test_bad_names(names: Any, kind: type[Exception], text: str) -> None:
    x = opweave.ones(2, 3, names=("N", "C"))

    def assign() -> None:
        x.names = names

    for call in (lambda: opweave.ones(2, 3, names=names), lambda: opweave.tensor([[1, 2]], names=names), assign):
        with pytest.raises(kind) as caught:
            call()
        assert text in str(caught.value)
    assert x.names == ("N", "C")


def test_the_attribute() -> None:
    x = opweave.ones(2, 3)
    assert x.names == (None, None)
    x.names = ["N", "C"]
    assert (x.names, x.has_names()) == (("N", "C"), True)
    x.names = None
    assert (x.names, x.has_names()) == ((None, None), False)


# ---- other names --------------------------------------------------------------------------------------------

NAMES: dict[str, tuple[str, Call, tuple[str | None, ...]]] = {
    "rename": ("N:1,C:2", lambda x: x.rename("H", "W"), ("H", "W")),
    "rename list": ("N:1,C:2", lambda x: x.rename(["H", "W"]), ("H", "W")),
    "rename none": ("N:1,C:2", lambda x: x.rename(None), (None, None)),
    "rename rest": ("1,1,1,1", lambda x: x.rename("N", "...", "W"), ("N", None, None, "W")),
    "rename keeps": ("N:1,C:1,H:1", lambda x: x.rename("batch", ...), ("batch", "C", "H")),
    "rename empty rest": ("N:1,C:1", lambda x: x.rename("N", ..., "D"), ("N", "D")),
    "rename scalar": ("", lambda x: x.rename(...), ()),
    "rename by name": ("N:1,C:1,H:1", lambda x: x.rename(N="batch", H="height"), ("batch", "C", "height")),
    "rename exchanged": ("N:1,C:1", lambda x: x.rename(N="C", C="N"), ("C", "N")),
    "rename to none": ("N:1,C:1", lambda x: x.rename(N=None), (None, "C")),
    "refine": ("1,1,1", lambda x: x.refine_names("N", "C", "H"), ("N", "C", "H")),
    "refine same": ("N:1,None:1", lambda x: x.refine_names("N", None), ("N", None)),
    "refine rest": ("1,1,1,1", lambda x: x.refine_names("N", ..., "C"), ("N", None, None, "C")),
}


@pytest.mark.parametrize("what", NAMES)
def test_names(what: str) -> None:
    text, call, names = NAMES[what]
    x = named(text)
    before = x.names
    result = call(x)
    assert result.names == names
    assert result.data_ptr() == x.data_ptr()
    assert x.names == before


def test_rename_in_place() -> None:
    x = named("N:1,C:1")
    assert x.rename_(None) is x
    assert x.names == (None, None)
    assert x.rename_("H", "W").names == ("H", "W")
    assert x.rename_(H="N").names == ("N", "W")
    for bad in (("N", "C", "W"), ("N", "N")):
        with pytest.raises(RuntimeError):
            x.rename_(*bad)
    assert x.names == ("N", "W")


ORDERS: dict[str, tuple[str, Call, tuple[str | None, ...], tuple[int, ...]]] = {
    "same": ("N:3", lambda x: x.align_to("N"), ("N",), (3,)),
    "new": ("N:3", lambda x: x.align_to("N", "D"), ("N", "D"), (3, 1)),
    "exchanged": ("N:3,C:2", lambda x: x.align_to("C", "N"), ("C", "N"), (2, 3)),
    "both": ("C:2,N:3,H:5", lambda x: x.align_to("N", "H", "W", "C"), ("N", "H", "W", "C"), (3, 5, 1, 2)),
    "rest": ("N:7,H:3,W:5,C:2", lambda x: x.align_to(...), ("N", "H", "W", "C"), (7, 3, 5, 2)),
    "rest first": ("N:7,H:3,W:5,C:2", lambda x: x.align_to("...", "W", "N"), ("H", "C", "W", "N"), (3, 2, 5, 7)),
    "rest last": ("N:7,H:3,W:5,C:2", lambda x: x.align_to("H", "C", ...), ("H", "C", "N", "W"), (3, 2, 7, 5)),
    "rest amid": ("N:7,H:3,W:5,C:2", lambda x: x.align_to("W", ..., "N"), ("W", "H", "C", "N"), (5, 3, 2, 7)),
    "no rest": (
        "N:7,H:3,W:5,C:2",
        lambda x: x.align_to("N", ..., "C", "D", "H", "W"),
        ("N", "C", "D", "H", "W"),
        (7, 2, 1, 3, 5),
    ),
    "unnamed rest": ("None:2,None:3,None:5,C:7", lambda x: x.align_to("C", ...), ("C", None, None, None), (7, 2, 3, 5)),
    "as": ("C:2,N:3,H:5", lambda x: x.align_as(named("N:1,H:1,W:1,C:1")), ("N", "H", "W", "C"), (3, 5, 1, 2)),
}


@pytest.mark.parametrize("what", ORDERS)
def test_orders(what: str) -> None:
    text, call, names, shape = ORDERS[what]
    x = named(text)
    result = call(x)
    assert (result.names, tuple(result.shape)) == (names, shape)
    assert result.data_ptr() == x.data_ptr()
    assert sorted(result.rename(None).flatten().tolist()) == sorted(x.rename(None).flatten().tolist())


def test_align_moves_elements() -> None:
    x = opweave.tensor([[1, 2, 3], [4, 5, 6]], names=("N", "C"))
    assert x.align_to("C", "H", "N").tolist() == [[[1, 4]], [[2, 5]], [[3, 6]]]


def test_align_tensors() -> None:
    x, y, z = named("N:1,H:1"), named("N:2,C:3,H:5"), named("N:2")
    results = opweave.align_tensors(x, y, z)
    assert [each.names for each in results] == [("N", "C", "H")] * 3
    assert [tuple(each.shape) for each in results] == [(1, 1, 1), (2, 3, 5), (2, 1, 1)]
    assert [tuple(each.shape) for each in opweave.align_tensors(named("3"), named("2,3"))] == [(1, 3), (2, 3)]
    assert opweave.align_tensors() == []
    with pytest.raises(RuntimeError, match=r"Could not align Tensor.'H', 'N'. to `names` .'N', 'C', 'H'. because"):
        opweave.align_tensors(named("H:5,N:2"), y)
    with pytest.raises(RuntimeError, match="would change the absolute position from the right of an unnamed dimension"):
        opweave.align_tensors(named("None:2"), named("None:2,N:3"))


# ---- several dimensions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.flatten(["D", "H"], "features"),
        lambda x: x.flatten("D", "H", "features"),
        lambda x: x.flatten(2, -1, "features"),
        lambda x: x.flatten(dims=("D", "H"), out_dim="features"),
        lambda x: opweave.flatten(x, start_dim="D", end_dim="H", out_dim="features"),
    ],
)
def test_flatten(call: Call) -> None:
    x = named("N:2,C:3,D:5,H:7")
    result = call(x)
    assert (result.names, result.shape) == (("N", "C", "features"), (2, 3, 35))
    assert result.tolist() == x.rename(None).flatten(2, 3).tolist()


def test_flatten_what_is_not_adjacent_in_memory() -> None:
    x = named("N:2,T:3,H:5,D:7").transpose("T", "H")
    result = x.flatten("N", "H", "N_H")
    assert (result.names, result.shape) == (("N_H", "T", "D"), (10, 3, 7))
    assert result.tolist() == x.rename(None).flatten(0, 1).tolist()


UNFLATTENED: list[tuple[str, Any, Any, tuple[str, ...], tuple[int, ...]]] = [
    ("A:4", "A", (("A", 2), ("B", 2)), ("A", "B"), (2, 2)),
    ("A:4", "A", [["A", 2], ["B", 2]], ("A", "B"), (2, 2)),
    ("A:4", 0, (("A", 2), ("B", 2)), ("A", "B"), (2, 2)),
    ("A:2,B:10", "B", (["B1", -1],), ("A", "B1"), (2, 10)),
    ("A:2,B:360", "B", (("B1", 3), ("B2", 4), ("B3", -1), ("B4", 6)), ("A", "B1", "B2", "B3", "B4"), (2, 3, 4, 5, 6)),
    ("N:7,D:30,K:11", "D", OrderedDict((("C", 2), ("H", 3), ("W", 5))), ("N", "C", "H", "W", "K"), (7, 2, 3, 5, 11)),
    ("N:7,D:30,K:11", "N", (("N", 7), ("H", 1)), ("N", "H", "D", "K"), (7, 1, 30, 11)),
    ("2,0", 1, (("H", 3), ("W", -1), ("K", 4)), (None, "H", "W", "K"), (2, 3, 0, 4)),
]


@pytest.mark.parametrize(("text", "dim", "sizes", "names", "shape"), UNFLATTENED)
def test_unflatten(text: str, dim: Any, sizes: Any, names: tuple[str, ...], shape: tuple[int, ...]) -> None:
    x = named(text)
    result = x.unflatten(dim, sizes)
    assert (result.names, tuple(result.shape)) == (names, shape)
    assert result.data_ptr() == x.data_ptr()


def test_plain_tensors_are_flattened_as_ever() -> None:
    x = opweave.arange(6.0).view(2, 3).requires_grad_()
    assert x.flatten(0, 1).shape == (6,)
    assert x.unflatten(1, (3, 1)).shape == (2, 3, 1)
    with pytest.raises(TypeError, match=r"argument 'start_dim' .position 2. must be int, not str"):
        x.flatten("N", 1)


# ---- mistakes -----------------------------------------------------------------------------------------------

MISTAKES: list[tuple[str, Call, type[Exception], str]] = [
    (
        "N:1,C:1",
        lambda x: x.rename("N", "C", "W"),
        RuntimeError,
        "Number of names (3) and number of dimensions in tensor (2)",
    ),
    ("N:1,C:1", lambda x: x.rename("N", "N"), RuntimeError, "duplicate names. Got names: ['N', 'N']"),
    (
        "N:1,C:1",
        lambda x: x.rename(None, N="batch"),
        RuntimeError,
        "rename: This function takes either positional args or keyword args, but not both.",
    ),
    (
        "N:1,C:1",
        lambda x: x.rename("...", "C", ...),
        RuntimeError,
        "rename: More than one Ellipsis ('...') found in names",
    ),
    (
        "N:1,C:1",
        lambda x: x.rename(B="batch"),
        RuntimeError,
        "rename: Tried to rename dim 'B' to dim batch in Tensor[('N', 'C')] but dim 'B' does not exist",
    ),
    ("N:1,C:1", lambda x: x.rename_(N="C"), RuntimeError, "duplicate names. Got names: ['C', 'C']"),
    ("N:1,C:1", lambda x: x.rename(N="2"), RuntimeError, "Invalid name"),
    ("N:1,C:1", lambda x: x.rename(1, 2), TypeError, "rename(): names must be str, None or ..., not int"),
    (
        "2,3",
        lambda x: x.refine_names("N", "C", "H"),
        RuntimeError,
        (
            "refine_names: cannot coerce Tensor[None, None] to Tensor['N', 'C', 'H'] because they have a different "
            "number of dims (2 and 3 respectively)."
        ),
    ),
    (
        "D:3",
        lambda x: x.refine_names("N"),
        RuntimeError,
        "refine_names: cannot coerce Tensor['D'] to Tensor['N'] because 'D' is different from 'N' at index 0",
    ),
    ("D:3", lambda x: x.refine_names(None), RuntimeError, "because 'D' is more specific than None at index 0"),
    ("2,3", lambda x: x.refine_names("N", "N"), RuntimeError, "duplicate names"),
    (
        "None:2,C:3",
        lambda x: x.align_to("N", "C"),
        RuntimeError,
        "align_to: All input dims must be named. Found unnamed dim at index 0 of Tensor[None, 'C']",
    ),
    (
        "N:2,C:3",
        lambda x: x.align_to("C"),
        RuntimeError,
        "align_to: Cannot find dim 'N' from Tensor['N', 'C'] in desired alignment ['C'].",
    ),
    ("N:2,C:3", lambda x: x.align_to("D", "N"), RuntimeError, "Cannot find dim 'C'"),
    (
        "N:2,C:3",
        lambda x: x.align_to(..., "N", None),
        RuntimeError,
        "align_to: the desired order of dimensions cannot contain a None name, got ['N', None]",
    ),
    ("N:2,C:3", lambda x: x.align_to(..., "N", "N"), RuntimeError, "duplicate names"),
    ("N:2,C:3", lambda x: x.align_to(3), TypeError, "align_to(): names must be str, None or ..., not int"),
    ("N:2,C:3,D:5", lambda x: x.flatten(["C", "L"], "f"), RuntimeError, "Name 'L' not found in Tensor['N', 'C', 'D']."),
    (
        "N:2,C:3,D:5",
        lambda x: x.flatten(["N", "D"], "f"),
        RuntimeError,
        "flatten(tensor, dims, out_dim): dims ['N', 'D'] must be consecutive in Tensor['N', 'C', 'D']",
    ),
    ("N:2,C:3,D:5", lambda x: x.flatten(["C", "N"], "f"), RuntimeError, "must be consecutive"),
    ("N:2,C:3,D:5", lambda x: x.flatten([], "f"), RuntimeError, "dims cannot be empty"),
    ("N:2,C:3,D:5", lambda x: x.flatten(["C", "D"], "N"), RuntimeError, "duplicate names. Got names: ['N', 'N']"),
    ("N:2,C:3,D:5", lambda x: x.flatten("D", "C", "f"), RuntimeError, "start_dim cannot come after end_dim"),
    ("N:2,C:3,D:5", lambda x: x.flatten([0.5], "f"), TypeError, "must be int, not float"),
    (
        "A:1",
        lambda x: x.unflatten("A", (1, 1)),
        TypeError,
        "unflatten(): argument 'dim' (position 1) must be int, not str",
    ),
    (
        "A:1",
        lambda x: x.unflatten(0, (1, 1)),
        RuntimeError,
        "unflatten: input is a named tensor but no names were given for unflattened sizes",
    ),
    (
        "A:2,B:4",
        lambda x: x.unflatten("B", (("B1", 3), ("B2", -1))),
        RuntimeError,
        "unflatten: Provided sizes [3, -1] don't multiply up to the size of dim 1 ('B': 4) in Tensor['A', 'B']",
    ),
    (
        "A:2,B:0",
        lambda x: x.unflatten("B", (("B1", 0), ("B2", -1))),
        RuntimeError,
        "the unspecified dimension size -1 can be any value and is ambiguous",
    ),
    ("A:4", lambda x: x.unflatten("A", None), RuntimeError, "unflatten: sizes must be non-empty"),
    ("A:4", lambda x: x.unflatten("A", {}), RuntimeError, "unflatten: sizes must be non-empty"),
    (
        "A:4",
        lambda x: x.unflatten("A", (("A", 2, 2),)),
        TypeError,
        "must be pairs of a name and a size, but found ('A', 2, 2)",
    ),
    ("A:4", lambda x: x.unflatten("A", ((2, "A"),)), TypeError, "argument 'names' must be tuple of names"),
    ("A:4", lambda x: x.unflatten("A", (("A", 2), ("A", 2))), RuntimeError, "duplicate names"),
    ("N:2,C:3", lambda x: x.sum("H"), RuntimeError, "Name 'H' not found in Tensor['N', 'C']."),
    ("N:2,C:3", lambda x: x.sum([None, "C"]), RuntimeError, "Please look up dimensions by name, got: name = None."),
    ("N:2,C:3", lambda x: x.select(None, 0), RuntimeError, "Please look up dimensions by name, got: name = None."),
    ("N:2,C:3", lambda x: x.softmax("a b"), RuntimeError, "Invalid name"),
    ("N:2,C:3", lambda x: x.size("channels"), RuntimeError, "Name 'channels' not found in Tensor['N', 'C']."),
    ("2,3", lambda x: x.size("N"), TypeError, "size(): argument 'dim' (position 1) must be int, not str"),
    ("2,3", lambda x: x.sum("N"), TypeError, "sum(): argument 'dim' (position 2) must be tuple of ints, not str"),
    ("2,3", lambda x: x.cumsum("N"), TypeError, "cumsum(): argument 'dim' must be int, not str"),
]


@pytest.mark.parametrize(("text", "call", "kind", "message"), MISTAKES)
def test_mistakes(text: str, call: Call, kind: type[Exception], message: str) -> None:
    x = named(text)
    before = x.names
    with pytest.raises(kind) as caught:
        call(x)
    assert type(caught.value) is kind
    assert message in str(caught.value)
    assert x.names == before


# ---- printing -----------------------------------------------------------------------------------------------


def test_printing() -> None:
    assert repr(opweave.zeros(2, 3).rename_("N", "C")) == (
        "tensor([[0., 0., 0.],\n        [0., 0., 0.]], names=('N', 'C'))"
    )
    assert repr(opweave.zeros(2, names=(None,))) == "tensor([0., 0.])"
    assert (
        repr(opweave.tensor([1.5], names=("N",), requires_grad=True))
        == "tensor([1.5000], requires_grad=True, names=('N',))"
    )
    assert (
        repr(opweave.ones(1, names=("N",), requires_grad=True) * 2)
        == "tensor([2.], grad_fn=<MulBackward0>, names=('N',))"
    )
    assert repr(opweave.ones(2, names=("N",)).sum()) == "tensor(2.)"
    assert repr(opweave.ones(2, 0, names=("N", "C"))) == "tensor([], size=(2, 0), names=('N', 'C'))"
    assert repr(opweave.ones(2, names=("N",), device="meta")) == "tensor(..., device='meta', size=(2,), names=('N',))"
    assert "names=('N', 'C')" in repr(opweave.ones(128, 300, names=("N", "C")))
    assert repr(opweave.nn.Parameter(opweave.ones(1, names=("N",)))) == (
        "Parameter containing:\ntensor([1.], requires_grad=True, names=('N',))"
    )

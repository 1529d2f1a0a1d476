"""The text of tensors against torch's, to the character: every dtype, many shapes, layouts, magnitudes and options.

Texts with a dtype break elsewhere under the name of another library, so opweave prints its tensors as if their dtypes
were torch's (`Seen`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import opweave
import pytest
from harness import oracle
from harness.drawn import Drawn
from opweave._tensor import printing

FLOATS = ("float16", "bfloat16", "float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
DTYPES = ("bool", *SIGNED, *UNSIGNED, *FLOATS)

OPTIONS: list[dict[str, Any]] = [
    {},
    {"profile": "short"},
    {"profile": "full"},
    {"precision": 0},
    {"precision": 1, "threshold": 5},
    {"precision": 9, "linewidth": 120},
    {"precision": 20, "linewidth": 40},
    {"sci_mode": True},
    {"sci_mode": False},
    {"sci_mode": True, "precision": 0, "threshold": 20},
    {"sci_mode": False, "precision": 2, "threshold": 0},
    {"edgeitems": 0},
    {"edgeitems": 0, "threshold": 3},
    {"edgeitems": 0, "threshold": 0},
    {"edgeitems": 1, "threshold": 0},
    {"edgeitems": 2, "threshold": 10, "linewidth": 30},
    {"edgeitems": 5, "threshold": 40, "linewidth": 60},
    {"edgeitems": 50, "threshold": 10},
    {"linewidth": 0},
    {"linewidth": 1},
    {"linewidth": 20},
    {"linewidth": 100000},
    {"threshold": 6.5},
    {"threshold": math.inf, "edgeitems": 1},
]


class SeenDtype:
    """A dtype of opweave under torch's name."""

    def __init__(self, dtype: opweave.dtype) -> None:
        self._dtype = dtype

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dtype, name)

    def __str__(self) -> str:
        return str(self._dtype).replace("opweave.", "torch.")


class Seen:
    """A tensor reduced to what printing may use; counts the elements that are turned into Python numbers."""

    def __init__(self, tensor: Any, converted: list[int] | None = None) -> None:
        self._tensor = tensor
        self.converted = [0] if converted is None else converted
        self.shape, self.ndim, self.numel = tensor.shape, tensor.ndim, tensor.numel
        self.requires_grad, self.grad_fn = tensor.requires_grad, tensor.grad_fn

    @property
    def dtype(self) -> SeenDtype:
        return SeenDtype(self._tensor.dtype)

    def tolist(self) -> Any:
        self.converted[0] += self.numel()
        return self._tensor.tolist()

    def __getitem__(self, index: int | slice) -> Seen:
        assert isinstance(index, (int, slice))
        return type(self)(self._tensor[index], self.converted)


Seen.__name__ = "Tensor"


def text(library: ModuleType, tensor: Any, contents: str | None = None, kind: type = Seen) -> list[str]:
    """The lines of the printed tensor, with blanks that no comparison takes for white space."""
    if library is opweave:
        default = str(opweave.get_default_dtype()).rpartition(".")[2]
        printed = printing.tensor_text(kind(tensor), default_dtype_name=default, contents=contents)
    else:
        printed = tensor.__repr__(tensor_contents=contents)
    return printed.replace(" ", "_").split("\n")


def check(make: Callable[[ModuleType], Any], what: str, options: dict[str, Any] | None = None) -> None:
    """The tensor that `make` makes, or each of the tensors that it lists, is printed as torch prints it."""

    def printed(library: ModuleType) -> Any:
        library.set_printoptions(**(options or {}))
        try:
            tensors = make(library)
            return [text(library, each) for each in (tensors if isinstance(tensors, list) else [tensors])]
        finally:
            library.set_printoptions(profile="default")

    oracle.check(printed, what)


# --- random tensors ----------------------------------------------------------------------------------------


def random_shape(rng: random.Random, most: int) -> tuple[int, ...]:
    """0 to 5 dimensions; empty now and then; at most `most` elements."""
    ndim = rng.choice((0, 1, 1, 1, 2, 2, 3, 4, 5))
    shape = [rng.choice((1, 2, 3, 4, 6, 7, 8, 13, 30, 200)) for _ in range(ndim)]
    while math.prod(shape) > most:
        longest = shape.index(max(shape))
        shape[longest] = max(1, shape[longest] // 2)
    if shape and rng.random() < 0.06:
        shape[rng.randrange(len(shape))] = 0
    return tuple(shape)


def power(rng: random.Random, low: int, high: int) -> float:
    return float(f"{rng.uniform(1, 10)!r}e{rng.randrange(low, high)}")


def random_float(rng: random.Random, style: str) -> float:
    sign = rng.choice((-1.0, 1.0, 1.0))
    if style == "any":
        return sign * power(rng, -40, 38)
    if style == "double":
        return sign * power(rng, -323, 308)
    if style == "near":
        return sign * power(rng, -2, 1)
    if style == "limits":  # values at and around the bounds of the scientific notation
        bound = rng.choice((1e-4, 1e-1, 1.0, 1e3, 1e5, 1e8, 99999.5, 0.99995, 9.99995, 0.00005))
        below, above = math.nextafter(bound, 0), math.nextafter(bound, math.inf)
        return sign * rng.choice((bound, below, above, bound * 1.001))
    if style == "whole":
        return sign * float(rng.randrange(10 ** rng.randrange(1, 12)))
    if style == "small whole":
        return float(rng.randrange(-5, 100))
    if style == "half":
        return rng.randrange(-40, 40) / 2
    assert style == "special"
    return rng.choice((0.0, -0.0, math.nan, math.inf, -math.inf))


STYLES = ("any", "double", "near", "near", "limits", "whole", "small whole", "half", "special")


def random_values(rng: random.Random, dtype: str, count: int) -> list[Any]:
    """Numbers of one style, floats often mixed with zeros, infinities and NaNs."""
    if dtype == "bool":
        return [rng.random() < 0.5 for _ in range(count)]
    if dtype in FLOATS:
        style, mixed = rng.choice(STYLES), rng.choice((0.0, 0.0, 0.1, 0.6))
        return [random_float(rng, "special" if rng.random() < mixed else style) for _ in range(count)]
    info = opweave.iinfo(getattr(opweave, dtype))
    reach = rng.choice((9, 120, info.max))
    low, high = max(info.min, -reach), min(info.max, reach)
    return [rng.choice((rng.randint(low, high), low, high, 0, 1)) for _ in range(count)]


def random_layout(rng: random.Random, ndim: int, size: int) -> Callable[[Any], Any]:
    """A function that gives the same values or some of them, seen through other strides."""
    layout = rng.choice(("same", "same", "permuted", "step", "offset", "expanded"))
    if ndim and layout == "permuted":
        order = rng.sample(range(ndim), ndim)
        return lambda t: t.permute(*order)
    if ndim and layout == "step":
        return lambda t: t[..., ::2]
    if ndim and layout == "offset":
        return lambda t: t[size // 3 :]
    if 0 < ndim < 5 and layout == "expanded":
        times = rng.choice((1, 2, 7, 9))
        return lambda t: t.unsqueeze(0).expand(times, *t.shape)
    return lambda t: t


def random_tensor(rng: random.Random, dtype: str, most: int) -> Callable[[ModuleType], Any]:
    shape = random_shape(rng, most)
    values = random_values(rng, dtype, math.prod(shape))
    layout = random_layout(rng, len(shape), shape[0] if shape else 1)
    given = "float64" if dtype in FLOATS else dtype

    def make(library: ModuleType) -> Any:
        tensor = library.tensor(values, dtype=getattr(library, given)).to(getattr(library, dtype))
        return layout(tensor.reshape(shape))

    return make


@pytest.mark.parametrize("dtype", DTYPES)
def test_random_tensors(dtype: str) -> None:
    for seed in oracle.sweep(range(1500 if dtype in FLOATS else 200), 80 if dtype in FLOATS else 20):
        rng = random.Random(f"values {dtype} {seed}")
        check(random_tensor(rng, dtype, rng.choice((1, 10, 30, 100, 300))), f"seed {seed}")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_random_tensors_under_options(options: dict[str, Any]) -> None:
    for seed in oracle.sweep(range(100), 15):
        rng = random.Random(f"options {options} {seed}")
        dtype = rng.choice(DTYPES) if rng.random() < 0.4 else rng.choice(FLOATS)
        check(random_tensor(rng, dtype, rng.choice((1, 10, 60, 120))), f"seed {seed}", options)


@pytest.fixture
def float64_by_default() -> Iterator[Callable[[ModuleType], None]]:
    """Sets the default dtype, until the test ends."""
    changed = []

    def change(library: ModuleType) -> None:
        changed.append(library)
        library.set_default_dtype(library.float64)

    yield change
    for library in changed:
        library.set_default_dtype(library.float32)


@pytest.mark.parametrize("dtype", [*FLOATS, "int64", "bool"])
def test_default_dtype(dtype: str, float64_by_default: Callable[[ModuleType], None]) -> None:
    for seed in range(15):
        make = random_tensor(random.Random(f"default {dtype} {seed}"), dtype, 20)

        def made(library: ModuleType, make: Callable[[ModuleType], Any] = make) -> Any:
            float64_by_default(library)
            return make(library)

        check(made, f"seed {seed}")


# --- shapes ------------------------------------------------------------------------------------------------

SHAPES = [
    (),
    (0,),
    (0, 3),
    (3, 0),
    (2, 0, 5),
    (1,) * 12,
    (2, 1, 2, 1, 2),
    (1000,),
    (1001,),
    (7, 143),
    (6, 167),
    (1000, 2),
    (2, 1000),
    (1, 1, 1001),
    (1001, 1, 1),
    (40, 5, 9),
    (7, 7, 7, 7),
    (2, 3, 6, 7, 8),
    (9, 8, 2, 7, 7),
    (1000000,),
    (1000, 1000),
    (300, 20, 9, 30),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(shape: tuple[int, ...]) -> None:
    dtypes = (*FLOATS, "int64", "int16", "bool")
    values = Drawn(len(shape)).integers(-20000, 20000, 3001) / 1000

    def make(library: ModuleType, dtype: str) -> Any:
        count = math.prod(shape)
        repeated = library.tensor(values.tolist(), dtype=library.float64).repeat(count // 3001 + 1)
        tensor = repeated[:count].reshape(shape).to(getattr(library, dtype))
        return [tensor, tensor.transpose(0, -1)] if shape else tensor

    for dtype in oracle.sweep(dtypes, 3):
        check(lambda L, dtype=dtype: make(L, dtype), dtype)


@pytest.mark.parametrize(("shape", "shown"), [((1000,), 1000), ((1001,), 6), ((5, 2000), 30), ((300, 20, 9, 30), 6**4)])
def test_converts_only_what_it_shows(shape: tuple[int, ...], shown: int) -> None:
    t = Seen(opweave.zeros(shape))
    printing.tensor_text(t)
    assert t.converted == [shown]


def test_hidden_values_do_not_decide_the_format() -> None:
    def make(library: ModuleType) -> Any:
        t = library.ones(2000)
        t[1000] = 1e-20
        wide = t.clone()
        wide[2] = 1.5
        return [t, wide]

    check(make, "ones")


@pytest.mark.parametrize("dtype", FLOATS)
def test_every_pair_of_special_values(dtype: str) -> None:
    info = opweave.finfo(getattr(opweave, dtype))
    specials = [0.0, -0.0, 1.0, -1.0, 0.5, math.inf, -math.inf, math.nan, 1e-4, 1e3, 1001.0, 1e8]
    specials += [2.0**24 + 1, 2.0**53 + 1, info.max, info.min, info.eps, info.tiny, info.tiny / 2]

    def make(library: ModuleType) -> list[Any]:
        rows = [[a, *b] for a in specials for b in ([], *([b] for b in specials))]
        return [library.tensor(row, dtype=library.float64).to(getattr(library, dtype)) for row in rows]

    check(make, "pairs")


# --- suffixes ----------------------------------------------------------------------------------------------


def test_suffixes_wrap_where_the_oracle_wraps() -> None:
    def make(library: ModuleType) -> Iterator[Any]:
        for shape in ((0, 3), (3,), (2, 2)):
            yield library.ones(shape, dtype=library.int16)
            for dtype in (library.float32, library.float64):
                leaf = library.ones(shape, dtype=dtype, requires_grad=True)
                yield from (leaf, leaf * 2, leaf.sum())

    for linewidth in range(100):
        check(lambda L: list(make(L)), f"linewidth {linewidth}", {"linewidth": linewidth})

    # A long first line, so that a suffix moves to the next one and others may follow it there.
    def long(library: ModuleType) -> list[str]:
        return text(library, library.ones((0, 3), dtype=library.float64, requires_grad=True), "x" * 60)

    oracle.check(long, "long")


def test_subclass_name_is_the_prefix() -> None:
    # torch cannot format the elements of a subclass, so the contents are given.
    def make(library: ModuleType, contents: str) -> list[str]:
        tensor = library.ones(2, 3).double()
        if library is opweave:
            return text(library, tensor, contents, type("Picture", (Seen,), {}))
        return text(library, tensor.as_subclass(type("Picture", (library.Tensor,), {})), contents)

    for contents in ("[...]", "[1, 2,\n         3]", "x" * 60):
        oracle.check(lambda L, contents=contents: make(L, contents), contents)
    picture = type("Picture", (Seen,), {})(opweave.ones(2, 3).double())
    assert printing.tensor_text(picture[0][:2]) == "Picture([1., 1.], dtype=torch.float64)"


def test_given_contents_replace_the_values() -> None:
    def make(library: ModuleType) -> list[Any]:
        tensors = (library.zeros(3, dtype=library.float64), library.zeros(0, 2), library.zeros(100, 100))
        return [text(library, each, "...") for each in tensors]

    oracle.check(make, "contents")


def test_dtype_is_named_as_it_names_itself() -> None:
    t = opweave.tensor([1.0, 2.5], dtype=opweave.float64)
    assert printing.tensor_text(t) == "tensor([1.0000, 2.5000], dtype=opweave.float64)"
    assert printing.tensor_text(t, default_dtype_name="float64") == "tensor([1.0000, 2.5000])"


# --- options -----------------------------------------------------------------------------------------------


def test_options() -> None:
    rng = random.Random(7)
    choices: dict[str, list[Any]] = {
        "precision": [None, 0, 3, 8],
        "threshold": [None, 0, 10.5, math.inf, -1],
        "edgeitems": [None, 0, 2],
        "linewidth": [None, 10, 200],
        "profile": [None, "default", "short", "full"],
        "sci_mode": [None, True, False],
    }
    calls = []
    for _ in range(300):
        names = rng.sample(list(choices), rng.randrange(len(choices) + 1))
        calls.append({name: rng.choice(choices[name]) for name in names})

    def follow(library: ModuleType) -> list[Any]:
        # torch gives its options from this module only.
        module = printing if library is opweave else library._tensor_str
        try:
            results = []
            for options in calls:
                module.set_printoptions(**options)
                results.append(list(module.get_printoptions().items()))
            module.set_printoptions(2, 50, 1, 70, None, True)
            return [*results, list(module.get_printoptions().items())]
        finally:
            module.set_printoptions(profile="default")

    oracle.check(follow, "options")

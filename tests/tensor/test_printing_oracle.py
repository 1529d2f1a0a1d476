"""The text of tensors against PyTorch's: every dtype, many shapes, layouts, magnitudes and print options.

`opweave._tensor.printing` asks little of a tensor, so it is run here on PyTorch's tensors, seen through an object
that has that small interface and nothing else.
"""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from opweave._tensor import printing

torch = pytest.importorskip("torch")


FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
SIGNED = [torch.int8, torch.int16, torch.int32, torch.int64]
UNSIGNED = [torch.uint8, torch.uint16, torch.uint32, torch.uint64]
DTYPES = [torch.bool, *SIGNED, *UNSIGNED, *FLOATS]

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


class Tensor:
    """A PyTorch tensor reduced to what printing may use; counts the elements turned into Python numbers."""

    __slots__ = ("_t", "converted")

    def __init__(self, t: Any, converted: list[int] | None = None) -> None:
        self._t = t
        self.converted = [0] if converted is None else converted

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._t.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        return self._t.dtype

    def numel(self) -> int:
        return int(self._t.numel())

    def tolist(self) -> Any:
        self.converted[0] += self.numel()
        return self._t.tolist()

    def __getitem__(self, index: int | slice) -> Tensor:
        assert isinstance(index, (int, slice))
        return Tensor(self._t[index], self.converted)


@pytest.fixture(autouse=True)
def _default_options() -> Any:
    yield
    torch.set_printoptions(profile="default")
    torch.set_default_dtype(torch.float32)
    printing.set_printoptions(profile="default")


def set_both(options: dict[str, Any]) -> None:
    for module in (torch, printing):
        module.set_printoptions(profile="default")
        module.set_printoptions(**options)


def assert_same(t: Any) -> None:
    default = str(torch.get_default_dtype()).rpartition(".")[2]
    assert printing.tensor_text(Tensor(t), default_dtype_name=default) == repr(t)


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


def random_float(rng: random.Random, style: str) -> float:
    sign = rng.choice((-1.0, 1.0, 1.0))
    if style == "any":
        return sign * math.pow(10.0, rng.uniform(-40, 38))
    if style == "double":
        return sign * math.pow(10.0, rng.uniform(-323, 308))
    if style == "near":
        return sign * math.pow(10.0, rng.uniform(-2, 1))
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


def random_floats(rng: random.Random, count: int) -> list[float]:
    """Values of one style, often mixed with zeros, infinities and NaNs."""
    style = rng.choice(STYLES)
    mixed = rng.choice((0.0, 0.0, 0.1, 0.6))
    return [random_float(rng, "special" if rng.random() < mixed else style) for _ in range(count)]


def random_integers(rng: random.Random, dtype: Any, count: int) -> list[int]:
    info = torch.iinfo(dtype)
    reach = rng.choice((9, 120, info.max))
    low, high = max(info.min, -reach), min(info.max, reach)
    return [rng.choice((rng.randint(low, high), low, high, 0, 1)) for _ in range(count)]


def random_layout(rng: random.Random, t: Any) -> Any:
    """The same values or some of them, seen through other strides."""
    layout = rng.choice(("same", "same", "permuted", "step", "offset", "expanded"))
    if t.ndim == 0:
        return t
    if layout == "permuted":
        return t.permute(*rng.sample(range(t.ndim), t.ndim))
    if layout == "step":
        return t[..., ::2]
    if layout == "offset":
        return t[t.shape[0] // 3 :]
    if layout == "expanded" and t.ndim < 5:
        return t.unsqueeze(0).expand(rng.choice((1, 2, 7, 9)), *t.shape)
    return t


def random_tensor(rng: random.Random, dtype: Any, most: int) -> Any:
    shape = random_shape(rng, most)
    count = math.prod(shape)
    if dtype == torch.bool:
        t = torch.tensor([rng.random() < 0.5 for _ in range(count)], dtype=dtype)
    elif dtype in FLOATS:
        t = torch.tensor(random_floats(rng, count), dtype=torch.float64).to(dtype)
    else:
        t = torch.tensor(random_integers(rng, dtype, count), dtype=dtype)
    return random_layout(rng, t.reshape(shape))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_random_tensors(dtype: Any) -> None:
    rng = random.Random(f"values {dtype}")
    for _ in range(1500 if dtype in FLOATS else 200):
        assert_same(random_tensor(rng, dtype, rng.choice((1, 10, 100, 100, 300))))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_random_tensors_under_options(options: dict[str, Any]) -> None:
    set_both(options)
    rng = random.Random(f"options {options}")
    for _ in range(100):
        dtype = rng.choice(DTYPES) if rng.random() < 0.4 else rng.choice(FLOATS)
        assert_same(random_tensor(rng, dtype, rng.choice((1, 10, 60, 120))))


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int64, torch.bool], ids=str)
def test_default_dtype(dtype: Any) -> None:
    rng = random.Random(f"default {dtype}")
    torch.set_default_dtype(torch.float64)
    for _ in range(40):
        assert_same(random_tensor(rng, dtype, 20))


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
@pytest.mark.parametrize("dtype", [*FLOATS, torch.int64, torch.int16, torch.bool], ids=str)
def test_shapes(shape: tuple[int, ...], dtype: Any) -> None:
    generator = torch.Generator().manual_seed(sum(shape) + len(shape))
    t = (torch.randn(shape, generator=generator) * 20).to(dtype)
    assert_same(t)
    if t.ndim:
        assert_same(t.transpose(0, -1))


@pytest.mark.parametrize(("shape", "shown"), [((1000,), 1000), ((1001,), 6), ((5, 2000), 30), ((300, 20, 9, 30), 6**4)])
def test_converts_only_what_it_shows(shape: tuple[int, ...], shown: int) -> None:
    t = Tensor(torch.zeros(shape))
    printing.tensor_text(t)
    assert t.converted == [shown]


def test_hidden_values_do_not_decide_the_format() -> None:
    t = torch.ones(2000)
    t[1000] = 1e-20
    assert_same(t)
    t[2] = 1.5
    assert_same(t)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_every_pair_of_special_values(dtype: Any) -> None:
    info = torch.finfo(dtype)
    specials = [0.0, -0.0, 1.0, -1.0, 0.5, math.inf, -math.inf, math.nan, 1e-4, 1e3, 1001.0, 1e8]
    specials += [2.0**24 + 1, 2.0**53 + 1, info.max, info.min, info.eps, info.tiny, info.tiny / 2]
    for a in specials:
        assert_same(torch.tensor(a, dtype=torch.float64).to(dtype))
        for b in specials:
            assert_same(torch.tensor([a, b], dtype=torch.float64).to(dtype))


# --- suffixes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("linewidth", range(100))
def test_suffixes_wrap_where_the_oracle_wraps(linewidth: int) -> None:
    set_both({"linewidth": linewidth})
    for shape in ((0, 3), (3,), (2, 2)):
        assert_same(torch.ones(shape, dtype=torch.int16))
        for dtype in (torch.float32, torch.float64):
            leaf = torch.ones(shape, dtype=dtype, requires_grad=True)
            for t in (leaf, leaf * 2, leaf.sum()):
                assert printing.tensor_text(t) == repr(t)
    # A long first line, so that a suffix moves to the next one and others may follow it there.
    leaf = torch.ones((0, 3), dtype=torch.float64, requires_grad=True)
    assert printing.tensor_text(leaf, contents="x" * 60) == leaf.__repr__(tensor_contents="x" * 60)


def test_subclass_name_is_the_prefix() -> None:
    picture = torch.ones(2, 3).double().as_subclass(type("Picture", (torch.Tensor,), {}))
    for contents in ("[...]", "[1, 2,\n         3]", "x" * 60):
        # The oracle cannot format the elements of a subclass, so the contents are given.
        expected = picture.__repr__(tensor_contents=contents)
        assert printing.tensor_text(picture, contents=contents) == expected
    assert printing.tensor_text(picture[0, :2]) == "Picture([1., 1.], dtype=torch.float64)"
    parameter = torch.nn.Parameter(torch.ones(40))
    assert "Parameter containing:\n" + printing.tensor_text(parameter) == repr(parameter)


def test_given_contents_replace_the_values() -> None:
    for t in (torch.zeros(3, dtype=torch.float64), torch.zeros(0, 2), torch.zeros(100, 100)):
        assert printing.tensor_text(t, contents="...") == t.__repr__(tensor_contents="...")


def test_dtype_is_named_as_it_names_itself() -> None:
    class Float64:
        def __getattr__(self, name: str) -> Any:
            return getattr(torch.float64, name)

        def __str__(self) -> str:
            return "opweave.float64"

    class Doubles(Tensor):
        @property
        def dtype(self) -> Any:
            return Float64()

    Doubles.__name__ = "Tensor"
    t = Doubles(torch.tensor([1.0, 2.5]))
    assert printing.tensor_text(t) == "tensor([1.0000, 2.5000], dtype=opweave.float64)"
    assert printing.tensor_text(t, default_dtype_name="float64") == "tensor([1.0000, 2.5000])"

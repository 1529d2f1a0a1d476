"""The text of 2,000 random tensors under random options, compared with torch's character by character."""

from __future__ import annotations

import random
import re
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from harness import oracle
from harness.drawn import Drawn

DTYPES = (
    "float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "bool",
)  # fmt: skip
SHAPES = (
    (), (0,), (1,), (3,), (7,), (2, 3), (0, 3), (3, 0), (1, 1, 1), (2, 1, 3), (4, 30), (40,), (1000,), (1001,),
    (2, 600), (40, 40), (3, 4, 5), (12, 12, 12), (2, 2, 2, 2), (1, 7, 1, 2), (50, 2), (101, 11),
)  # fmt: skip
VIEWS = ("", ".t()", "[::2]", ".expand(2, *{})")
OPTIONS: dict[str, tuple[Any, ...]] = {
    "precision": (0, 1, 2, 6, 10),
    "threshold": (0, 5, 100, float("inf")),
    "edgeitems": (1, 2, 5),
    "linewidth": (20, 40, 120, 200),
    "sci_mode": (True, False),
    "profile": ("default", "short", "full"),
}


def values(choose: random.Random, shape: tuple[int, ...], dtype: str) -> Any:
    generator = Drawn(choose.getrandbits(32))
    if dtype == "bool":
        return generator.integers(0, 2, shape).astype(bool).tolist()
    if "int" in dtype:
        limits = np.iinfo(dtype)
        if choose.random() < 0.4:
            return generator.integers(max(int(limits.min), -9), 10, shape).tolist()
        return generator.integers(int(limits.min), int(limits.max) + 1, shape).astype(dtype).tolist()
    drawn = generator.normal(shape)
    scale = choose.choice((1.0, 10.0 ** choose.randint(-6, 9), 1e30, 1e-30, 0.0, float("nan"), None))
    drawn = drawn * (10.0 ** generator.integers(-5, 6, shape).astype(float) if scale is None else scale)
    if choose.random() < 0.3:
        drawn = np.round(drawn)
    if choose.random() < 0.3:
        kind = generator.random(shape)
        special = np.where(kind < 0.15, np.nan, np.where(kind < 0.3, np.inf, np.where(kind < 0.4, -np.inf, -0.0)))
        drawn = np.where(kind < 0.5, special, drawn)
    return np.asarray(drawn).tolist()


def text(library: ModuleType, data: Any, dtype: str, view: str, options: dict[str, Any]) -> str:
    library.set_printoptions(profile="default")
    try:
        library.set_printoptions(**options)
        x = library.tensor(data, dtype=getattr(library, dtype))
        printed = repr(eval(f"x{view}", {"x": x}))
    finally:
        library.set_printoptions(profile="default")
    # The longer name of the library moves the dtype to a line of its own two columns sooner.
    return re.sub(r",\s+dtype=\w+\.", ", dtype=", printed)


@pytest.mark.parametrize("block", range(20))
def test_random_tensors(block: int) -> None:
    for seed in oracle.sweep(range(100 * block, 100 * block + 100), 50):
        choose = random.Random(seed)
        dtype, shape = choose.choice(DTYPES), choose.choice(SHAPES)
        data = values(choose, shape, dtype)
        view = choose.choice(VIEWS)
        if (view == ".t()" and len(shape) != 2) or (view == "[::2]" and not shape) or 0 in shape:
            view = ""
        if view.startswith(".expand"):
            view = f".expand(2, {', '.join(map(str, shape))})" if shape else ".expand(2)"
        options = {name: choose.choice(choices) for name, choices in OPTIONS.items() if choose.random() < 0.15}
        oracle.check(
            lambda L, data=data, dtype=dtype, view=view, options=options: text(L, data, dtype, view, options),
            f"seed {seed}: {dtype} {shape} {view} {options}",
        )

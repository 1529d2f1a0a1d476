"""Steps of optimizers beside torch's: of 8 parameters with 64 elements, 100 with 10,000, and 2 with a million.

    python benchmarks/optimizers.py [PATTERN]

PATTERN selects rows by a part of their name. torch takes part when it is installed. Two threads each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import measure
from figures import Libraries, show

OPTIMIZERS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("SGD", {}),
    ("SGD", {"momentum": 0.9}),
    ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("Adam", {}),
    ("Adam", {"amsgrad": True}),
    ("AdamW", {}),
    ("RMSprop", {}),
    ("RMSprop", {"centered": True, "momentum": 0.9}),
    ("Adagrad", {}),
)


def step(library: Any, name: str, options: Mapping[str, Any], count: int, size: int) -> Callable[[], Any]:
    parameters = [library.rand(size).requires_grad_() for _ in range(count)]
    for parameter in parameters:
        parameter.grad = library.rand(size)
    take: Callable[[], Any] = getattr(library.optim, name)(parameters, lr=1e-3, **options).step
    take()
    return take


def rows(lib: Libraries) -> Iterator[measure.Figure]:
    for count, size, limit in ((8, 64, 0.3), (100, 10**4, 1.0), (2, 10**6, 1.0)):
        for name, options in OPTIMIZERS:
            work = f"{name}({', '.join(f'{key}={value}' for key, value in options.items())}), {count} x {size}"
            make = partial(step, name=name, options=options, count=count, size=size)
            yield from lib.run(work, make, None, limit)


def main() -> None:
    show(list(rows(Libraries(" ".join(sys.argv[1:])))))


if __name__ == "__main__":
    main()

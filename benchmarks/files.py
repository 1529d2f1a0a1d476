"""Saving, loading, pickling and exchange of arrays beside torch and NumPy.

    python benchmarks/files.py [PATTERN]

PATTERN selects rows by a part of their name. torch takes part when it is installed. Files lie in the folder for
temporary files, whose file system decides much of the time.
"""

from __future__ import annotations

import io
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import measure
import numpy as np
from figures import Libraries, show

MILLION = 10**6
MAPPED = 2**28
"""Elements of the file that is mapped: a gibibyte of float32."""


def saved_and_loaded(library: Any, path: Path | None, content: Callable[[Any], Any]) -> Callable[[], Any]:
    """Saves and loads by way of a path, or of memory."""
    tensors = content(library)
    place: Any = io.BytesIO() if path is None else path / library.__name__

    def call() -> Any:
        if path is None:
            place.seek(0)
        library.save(tensors, place)
        if path is None:
            place.seek(0)
        return library.load(place)

    return call


def mapped(library: Any, path: Path, elements: int) -> Callable[[], Any]:
    file = path / f"{library.__name__}-{elements}"
    with library.serialization.skip_data():
        library.save(library.empty(elements), file)
    return lambda: library.load(file, mmap=True)


def pickled(value: Any) -> Callable[[], Any]:
    return lambda: pickle.loads(pickle.dumps(value, 5))


def rows(lib: Libraries) -> Iterator[measure.Figure]:
    with tempfile.TemporaryDirectory() as folder:
        yield from of_files(lib, Path(folder))
    numbers = np.random.default_rng(0).random(MILLION, dtype=np.float32)
    yield from lib.run(
        "pickle and unpickle 1e6 float32",
        lambda library: pickled(library.rand(MILLION)),
        pickled(numbers),
        1.1,
        "numpy",
    )
    four = np.arange(4, dtype=np.float32)
    given: tuple[tuple[str, Callable[[Any], Callable[[], Any]]], ...] = (
        ("from_numpy", lambda library: lambda: library.from_numpy(four)),
        ("from_dlpack of an array", lambda library: lambda: library.from_dlpack(four)),
        ("np.asarray", lambda library: partial(np.asarray, library.ones(4))),
    )
    for name, make in given:
        yield from lib.run(f"{name}, 4 elements", make, None, 0.6)


def of_files(lib: Libraries, folder: Path) -> Iterator[measure.Figure]:
    """Figures, with files in a folder."""
    contents: tuple[tuple[str, Callable[[Any], Any]], ...] = (
        ("1e6 float32", lambda library: library.rand(MILLION)),
        ("1,000 tensors of 10", lambda library: {str(index): library.rand(10) for index in range(1000)}),
        ("2 float32", lambda library: library.rand(2)),
    )
    for name, content in contents:
        for place, path in (("a file", folder), ("memory", None)):
            make = partial(saved_and_loaded, path=path, content=content)
            yield from lib.run(f"save and load {name}, {place}", make, None, 0.5)
    for elements in (MILLION, MAPPED):
        yield from lib.run(
            f"load with mmap, {elements:,} float32", partial(mapped, path=folder, elements=elements), None, 1.0
        )


if __name__ == "__main__":
    show(list(rows(Libraries(" ".join(sys.argv[1:])))))

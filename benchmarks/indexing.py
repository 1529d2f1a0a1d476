"""Indexing in opweave, torch and NumPy: `python benchmarks/indexing.py [PATTERN]`, with the ratios to reach.

A million float32 elements, and four of them; two threads each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping

import figures
import measure
import numpy as np

LARGE, SMALL = 0.8, 0.5


def arrays(rows: int, columns: int) -> Mapping[str, np.ndarray]:
    """Return the arrays that the expressions below use."""
    rng = np.random.default_rng(0)
    n = rows * columns
    return {
        "v": rng.standard_normal(n).astype(np.float32),
        "m": rng.standard_normal((rows, columns)).astype(np.float32),
        "s": rng.standard_normal((rows, columns)).astype(np.float32),
        "p": rng.permutation(n),
        "i": rng.integers(0, rows, rows),
        "j": rng.integers(0, columns, columns),
        "g": rng.integers(0, rows, (rows, columns)),
        "h": rng.integers(0, columns, (rows, columns)),
        "k": rng.random(n) > 0.5,
        "q": rng.random((rows, columns)) > 0.5,
    }


READS = ("v[p]", "m[i]", "m[:, j]", "m[i[:, None], j]", "v[k]", "m[q]", "m[k[:m.shape[0]]]")
METHODS = (
    "m.index_select(0, i)", "m.index_select(1, j)", "v.index_select(0, p)", "m.gather(0, g)", "m.gather(1, h)",
    "v.take(p)",
    "k.nonzero()", "q.nonzero()", "m.masked_select(q)", "m.masked_fill(q, 1)", "m.tril()",
    "m.scatter(0, g, s)", "m.scatter(1, h, s)", "m.scatter_add(0, g, s)", "m.scatter_add(1, h, s)",
    "m.scatter_add(0, i[:, None].expand(-1, m.shape[1]), s)", "v.scatter_add(0, p, v)", "v.histc(100)",
    "m.scatter_reduce(1, h, s, 'amax')", "m.index_add(0, i, s)", "m.index_add(1, j, s)", "m.index_copy(0, i, s)",
    "m.index_fill(0, i, 1)", "v.put(p, s)",
)  # fmt: skip
WRITES = ("v[p] = v2", "v[p] = 1", "m[i] = s", "m[:, j] = s", "v[k] = 1", "m[q] = 1", "v[k] = c")


def rows(lib: figures.Libraries) -> Iterator[measure.Figure]:
    for shape, size, limit in (((1000, 1000), "1e6", LARGE), ((2, 2), "4", SMALL)):
        data = dict(arrays(*shape))
        data["v2"] = data["v"][::-1].copy()
        data["c"] = data["v"][data["k"]].copy()
        for text in (*READS, *METHODS, *WRITES):
            yield from lib.run(f"{text}, {size} elements", make(text, data), None, limit)


def make(text: str, data: Mapping[str, np.ndarray]) -> figures.Make:
    def prepare(library: object) -> Callable[[], object]:
        tensor = library.from_numpy  # type: ignore[attr-defined]
        names: dict[str, object] = {name: tensor(value.copy()) for name, value in data.items()}
        body = f"return {text}" if " = " not in text else text
        exec(f"def call({', '.join(f'{name}={name}' for name in names)}):\n    {body}", names)
        call: Callable[[], object] = names["call"]  # type: ignore[assignment]
        return call

    return prepare


def main() -> None:
    figures.show(list(rows(figures.Libraries(" ".join(sys.argv[1:])))))


if __name__ == "__main__":
    main()

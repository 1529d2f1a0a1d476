"""Classes and constructors that are no operators have an example, which prints what its docstring says."""

from __future__ import annotations

import doctest
import inspect
import re
from typing import Any

import opweave
import pytest
from opweave import distributions, nn, optim

CONSTRUCTORS = (
    "as_tensor", "asarray", "frombuffer", "from_dlpack", "from_file", "from_numpy", "load", "manual_seed", "save",
    "sparse_bsc_tensor", "sparse_bsr_tensor", "sparse_compressed_tensor", "sparse_coo_tensor", "sparse_csc_tensor",
    "sparse_csr_tensor", "tensor",
)  # fmt: skip
BASES = frozenset(
    "Container Distribution ExponentialFamily LRScheduler Optimizer RNNBase RNNCellBase Transform".split()  # noqa: SIM905
)
"""Classes that others derive from, and that nobody calls."""
PLACES = (nn, optim, optim.lr_scheduler, distributions)
CLASSES = {
    f"{place.__name__.removeprefix('opweave.')}.{name}": kind
    for place in PLACES
    for name in place.__all__
    if inspect.isclass(kind := getattr(place, name)) and name not in BASES and not re.match("Lazy|Uninitialized", name)
}
DOCUMENTED = {**CLASSES, **{name: getattr(opweave, name) for name in CONSTRUCTORS}}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_example_prints_what_it_says(name: str) -> None:
    doc: Any = inspect.getdoc(DOCUMENTED[name])
    example = doctest.DocTestParser().get_doctest(doc, {"opweave": opweave}, name, None, 0)
    assert example.examples, "no example"
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert not report, "".join(report)

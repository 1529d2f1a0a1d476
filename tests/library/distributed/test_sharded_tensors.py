"""Distributed tensors in real processes."""

from __future__ import annotations

from functools import cache

import pytest

from .ranks import check, names, needs_mpi, run_cases

pytestmark = needs_mpi


FILES = ("sharded_tensors", "sharded_samples", "linear_algebra", "sharded_dimensions")


@cache
def reports(file, size, folder):
    return run_cases(file, size, folder)


@pytest.mark.parametrize(
    ("file", "size", "name"), [(file, size, name) for file in FILES for size in (2, 4) for name in names(file)]
)
def test_on_all_ranks(file, size, name, tmp_path_factory):
    """The first test of a file runs all of its cases."""
    folder = tmp_path_factory.getbasetemp() / f"{file}-{size}"
    folder.mkdir(exist_ok=True)
    check(reports(file, size, folder), name)

"""Distributed tensors in real processes."""

from __future__ import annotations

from .ranks import check, each_case, needs_mpi

pytestmark = needs_mpi


@each_case(sharded_tensors=(2, 4), sharded_samples=(2, 4), linear_algebra=(2, 4), sharded_dimensions=(2, 4))
def test_on_all_ranks(reports, name):
    check(reports, name)

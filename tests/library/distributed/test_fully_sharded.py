"""Modules whose parameters are divided among real processes."""

from __future__ import annotations

from .ranks import check, each_case, needs_mpi

pytestmark = needs_mpi


@each_case(fully_sharded=(2, 4), sharded_modules=(2, 4), fsdp_wrapper=(2, 4))
def test_on_all_ranks(reports, name):
    check(reports, name)

"""What several tests ask of the same processes."""

from __future__ import annotations

from functools import cache

import pytest

from .ranks import run_cases

_reports = cache(run_cases)


@pytest.fixture
def reports(request, tmp_path_factory):
    """What each rank reports of the cases of a module, in so many processes: `ranks.each_case` says which. The first
    test of a module runs all of its cases."""
    module, size = request.param
    folder = tmp_path_factory.getbasetemp() / f"{module}-{size}"
    folder.mkdir(exist_ok=True)
    return _reports(module, size, folder)

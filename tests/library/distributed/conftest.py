"""What several tests ask of the same processes."""

from __future__ import annotations

from functools import cache

import pytest
from folders import shared_folder

from .ranks import run_cases

_reports = cache(run_cases)


@pytest.fixture
def reports(request, tmp_path_factory):
    """What each rank reports of the cases of a module, in so many processes: `ranks.each_case` says which. The first
    test of a module runs all of its cases."""
    module, size = request.param
    return _reports(module, size, shared_folder(tmp_path_factory, f"{module}-{size}"))

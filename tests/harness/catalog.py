"""The operators of ops.yaml as the tests see them, for tests that go through all of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from codegen import library
from codegen.emit.tests import callables, facts, has_suite
from codegen.model.operator import Family

from .spec import Spec

ROOT = Path(__file__).resolve().parent.parent.parent


@cache
def specs(family: str) -> tuple[Spec, ...]:
    """Of one family, by its name in ops.yaml, that can be compared value by value."""
    operators = library.read(ROOT / "ops.yaml", "ops.yaml")
    chosen = (each for each in callables(operators) if each.operator.family is Family(family))
    return tuple(Spec(**dict(facts(each))) for each in chosen if has_suite(each.operator))

"""The operators of ops.yaml as the tests see them, for tests that go through all of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from codegen import library
from codegen.emit.tests import callables, facts
from codegen.model import Family

from .spec import Spec

ROOT = Path(__file__).resolve().parent.parent.parent


@cache
def specs(family: str) -> tuple[Spec, ...]:
    """Of one family, by its name in ops.yaml."""
    operators = library.read(ROOT / "ops.yaml", "ops.yaml")
    return tuple(Spec(**dict(facts(each))) for each in callables(operators) if each.operator.family is Family(family))

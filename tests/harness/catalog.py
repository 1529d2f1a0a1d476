"""The operators of ops.yaml as the tests see them, for tests that go through all of them."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from types import ModuleType
from typing import Any

from codegen import library
from codegen.model.operator import Operator

from . import accumulate, elementwise, factories, products, views
from .paths import ROOT
from .spec import Spec

_SUITES = {
    "elementwise": elementwise.ElementwiseTests,
    "reduce": accumulate.ReduceTests,
    "scan": accumulate.ScanTests,
    "view": views.ViewTests,
    "factory": factories.FactoryTests,
    "extern": products.ExternTests,
    "composite": products.CompositeTests,
}


@cache
def described() -> tuple[dict[str, Any], ...]:
    """The operators as codegen describes them in operators.json."""
    return tuple(json.loads((ROOT / "generated" / "python" / "operators.json").read_text(encoding="utf-8")))


def differentiable(family: str) -> list[dict[str, Any]]:
    """Operators of a family that have gradients in float64."""
    real = (each for each in described() if each["family"] == family and "float64" in each["dtypes"])
    return [each for each in real if any(each["derivatives"].values())]


@cache
def operators() -> tuple[Operator, ...]:
    """As codegen reads them, which takes seconds: for tests to call, not for modules that pytest collects."""
    return library.read(ROOT / "ops.yaml", "ops.yaml")


@cache
def _generated() -> ModuleType:
    path = ROOT / "generated" / "tests" / "test_operators.py"
    spec = importlib.util.spec_from_file_location("generated_tests_of_operators", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def specs(family: str) -> tuple[Spec, ...]:
    """Of one family, by its name in ops.yaml, that can be compared value by value."""
    classes = (each for each in vars(_generated()).values() if isinstance(each, type))
    return tuple(each.spec for each in classes if issubclass(each, _SUITES[family]) and "spec" in vars(each))

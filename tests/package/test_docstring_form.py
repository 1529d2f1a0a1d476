"""Docstrings say what a thing is: they begin with a noun or a verb, and everything public has one."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import opweave
import pytest
from opweave._dispatch.ops import namespaces
from opweave.nn.modules._declared import Call

ROOT = Path(__file__).parents[2]

RIDDLES = frozenset(
    "Are As Does How Is Of That Those What When Where Which Who Whom Whose Why With".split()  # noqa: SIM905
)
"""First words of answers to a question that the reader would have to guess, and of questions."""
QUESTION = re.compile(r"[\w`)\]]\?(?=\s|$)")


def riddle(docstring: str) -> str | None:
    """Return the first line of a docstring that does not begin with a noun or a verb, or a question in it, or None."""
    first = docstring.strip().partition("\n")[0]
    asked = QUESTION.search(docstring)
    if first.partition(" ")[0].rstrip(",:;.?") in RIDDLES:
        return first
    return docstring[: asked.end()].rpartition("\n")[2] if asked else None


# ---- sources ------------------------------------------------------------------------------------------------


def docstrings(body: list[ast.stmt]) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of a module and of all that is in it, with their lines: those behind attributes as well."""
    for statement in body:
        value = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield statement.lineno, value.value
        for part in ("body", "orelse", "handlers", "finalbody"):
            yield from docstrings(getattr(statement, part, []))


@pytest.mark.parametrize("folder", ["benchmarks", "codegen", "examples", "library", "runtime", "tools"])
def test_docstrings_begin_with_a_noun_or_a_verb(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    found = [
        f"{file.relative_to(ROOT)}:{line}: {riddle(text)}"
        for file in files
        for line, text in docstrings(ast.parse(file.read_text(encoding="utf-8")).body)
        if riddle(text)
    ]
    assert not found, "\n".join(found)


def test_docstrings_of_operators_begin_with_a_noun_or_a_verb() -> None:
    texts = {name: function.__doc__ for space in namespaces.values() for name, function in space.items()}
    assert len(texts) > 900
    assert [f"{name}: {text}" for name, text in texts.items() if text and riddle(text)] == []


# ---- what is public -----------------------------------------------------------------------------------------

COMMANDS = ("codegen", "core", "demo", "weave")
"""Modules that are no part of the interface: the build's, and commands."""
OTHERS = ("opweave.utils.einops_backend", "opweave.utils.tensorboard")
"""Modules that need packages beside opweave's own."""


def public_modules() -> Iterator[ModuleType]:
    """Yield the modules of opweave without an underscore in their names."""
    yield opweave
    for found in pkgutil.walk_packages(opweave.__path__, "opweave."):
        path = found.name.split(".")[1:]
        if path[0] not in COMMANDS and found.name not in OTHERS and not any(each.startswith("_") for each in path):
            yield importlib.import_module(found.name)


def is_own(value: Any) -> bool:
    module = getattr(value, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] == "opweave"


def missing_in(kind: type) -> Iterator[str]:
    """Yield the public members of a class that neither it nor a base of it documents."""
    for name in dir(kind):
        if name.startswith("_"):
            continue
        owners = [base for base in kind.__mro__ if name in vars(base)]
        value = inspect.getattr_static(kind, name)
        value = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        is_member = owners and is_own(owners[0]) and (callable(value) or isinstance(value, property))
        texts = (inspect.getdoc(getattr(base, name)) for base in owners)
        if is_member and not isinstance(value, type) and not any(texts):
            yield f"{owners[0].__module__}.{owners[0].__qualname__}.{name}"


def test_everything_public_has_a_docstring() -> None:
    of_tensor = (name for name in dir(opweave.Tensor) if not name.startswith("_") and hasattr(opweave.Tensor, name))
    missing = {f"Tensor.{name}" for name in of_tensor if not getattr(opweave.Tensor, name).__doc__}
    seen: set[int] = set()
    for module in public_modules():
        for name in dir(module):  # with those that are imported where they are asked for
            value = getattr(module, name, None)
            if name.startswith("_") or not callable(value) or not is_own(value) or id(value) in seen:
                continue
            seen.add(id(value))
            if not inspect.getdoc(value):
                missing.add(f"{value.__module__}.{getattr(value, '__qualname__', name)}")
            if isinstance(value, type):
                missing.update(missing_in(value))
    assert sorted(missing) == []


def test_modules_of_one_call_name_the_function() -> None:
    kinds = [each for each in vars(opweave.nn).values() if isinstance(each, type) and issubclass(each, Call)]
    kinds = [each for each in kinds if "_ow_call" in vars(each)]  # others are a second name
    assert len(kinds) > 70
    for kind in kinds:
        name = kind._ow_call
        assert kind.__doc__ is not None
        assert f"`nn.functional.{name}`" in kind.__doc__
        assert callable(getattr(opweave.nn.functional, name))

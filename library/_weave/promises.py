"""`opweave test`: the tests that entries promise, run over a file of declarations outside the tree.

They are those of opweave's own operators: codegen writes a class for each operator, and the suites of its family
compare values with the reference in all dtypes and memory layouts, and the variants (method, in place, `out=`) with
the function; gradients are compared with differences. pytest runs them.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

from . import text
from .weave import WeaveError, read

if TYPE_CHECKING:
    from ..codegen.model.operator import Operator


def run(yaml: Path, options: Sequence[str] = (), slow: bool = False) -> int:
    """Weaves the operators and tests them; pytest's exit status. `options` are pytest's. Raises WeaveError."""
    if importlib.util.find_spec("pytest") is None:
        raise WeaveError("the tests are run by pytest, which is not installed: pip install pytest")
    try:
        declarations = yaml.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise WeaveError(f"{yaml}: cannot read the declarations: {error}") from None
    import opweave

    from ..codegen.emit import tests

    read_ = read(yaml, text.name_of(declarations))
    operators = [replace(_with_reference(each), file=os.fspath(yaml.resolve())) for each in read_]
    module = text.woven(declarations, os.fspath(yaml))
    public = [each for each in operators if not each.internal]
    untested = [each.name for each in public if not tests.has_suite(each, outside=True)]
    if untested:
        print(f"no suite compares the values of {', '.join(untested)}")
    if len(untested) == len(public):
        return 0
    # The suites find functions where opweave has its own.
    for name in module.__all__:
        setattr(opweave, name, getattr(module, name))
    sys.meta_path.insert(0, _Elsewhere())
    with tempfile.TemporaryDirectory(prefix="opweave-") as folder:
        file = Path(folder, f"test_{yaml.stem}.py")
        file.write_text(tests.emit(operators, yaml.name, file.name, gradients=True), "utf-8")
        return _pytest(file, options, slow)


def _with_reference(operator: Operator) -> Operator:
    """Return the operator, with reference `none` if it has none of its own and NumPy no function of its name."""
    import numpy as np

    has_one = operator.reference is not None or hasattr(np, operator.name)
    return operator if has_one else replace(operator, reference="none")


class _Elsewhere(MetaPathFinder, Loader):
    """Finds the modules of the tests, and of codegen for them, by the names that they have in the source tree."""

    _PACKAGES: ClassVar = {"codegen": "opweave.codegen", "harness": "opweave._harness"}

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname.partition(".")[0] in self._PACKAGES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        first, dot, rest = spec.name.partition(".")
        module = importlib.import_module(f"{self._PACKAGES[first]}{dot}{rest}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def _pytest(file: Path, options: Sequence[str], slow: bool) -> int:
    import pytest

    own = ("-c", os.devnull, "--rootdir", str(file.parent), "-p", "no:cacheprovider", "--import-mode=importlib")
    marks = ("-o", "markers=slow: all dtypes and layouts", *(() if slow else ("-m", "not slow")))
    return int(pytest.main([str(file), "-q", "--tb=short", *own, *marks, *options]))

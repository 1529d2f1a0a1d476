"""Modules of torch that have no meaning here: their names can be imported, and say so where they are used."""

from __future__ import annotations

import functools
import importlib
import os
import subprocess
import sys

import opweave
import pytest
from opweave._names.absent_modules import ABSENT
from opweave._names.module_names import MODULES


def test_every_name_says_why_it_has_no_meaning() -> None:
    assert not ABSENT.keys() & MODULES.keys()
    for module, (reason, marked) in ABSENT.items():
        names = marked.replace("@", "")
        found = importlib.import_module(f"opweave.{module}")
        assert found is functools.reduce(getattr, module.split("."), opweave) or module.startswith("_torch_c")
        assert ". " in reason, "what it is, and what to do"
        assert dir(found) == sorted(names.split())
        for name in names.split():
            value = getattr(found, name)
            assert getattr(found, name) is value
            assert not isinstance(value, type) or not isinstance(3, value)
            with pytest.raises(NotImplementedError, match=f"opweave.{module}.{name}.*: {reason[:20]}"):
                value(3)
        with pytest.raises(AttributeError, match=f"module 'opweave.{module}' has no attribute 'nothing'"):
            found.nothing  # noqa: B018
        with pytest.raises(ModuleNotFoundError, match=f"opweave.{module}.nothing"):
            importlib.import_module(f"opweave.{module}.nothing")


def test_their_decorators_decorate() -> None:
    api = importlib.import_module("opweave.distributed.rpc.api")

    @api._require_initialized
    def remote() -> None:
        """Nothing."""

    assert (remote.__name__, remote.__doc__) == ("remote", "Nothing.")
    with pytest.raises(NotImplementedError, match="functions are not called in other processes"):
        remote()


def test_their_classes_can_be_derived_from() -> None:
    derived = type("Own", (opweave.package.PackageExporter,), {})
    assert not isinstance(opweave.ones(2), derived)


@pytest.mark.parametrize("module", ["_dynamo.utils", "_inductor", "distributed.tensor.parallel"])
def test_they_are_found_first_of_all(module: str) -> None:
    program = f"import opweave.{module}"
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "PYTHONPATH": ""}, timeout=120)


def test_dispatch_keys_are_looked_at_or_not() -> None:
    c = importlib.import_module("opweave._torch_c")
    keys = c.DispatchKeySet(c.DispatchKey.AutocastCPU) | c.DispatchKeySet(c.DispatchKey.CUDA)
    assert [each.name for each in keys] == ["AutocastCPU", "CUDA"]
    assert keys.has(c.DispatchKey.CUDA)
    assert keys - c.DispatchKeySet(c.DispatchKey.CUDA) == c.DispatchKeySet(c.DispatchKey.AutocastCPU)
    assert repr(c.DispatchKeySet().add(c.DispatchKey.Python)) == "DispatchKeySet(Python)"
    x = opweave.ones(2, 2)
    with opweave.autocast("cpu"):
        with c._ExcludeDispatchKeyGuard(keys):
            assert (x @ x).dtype is opweave.float32
        assert (x @ x).dtype is opweave.bfloat16


def test_what_is_exported_is_said_at_import() -> None:
    helper = importlib.import_module("opweave.onnx.symbolic_helper")
    assert helper.parse_args("v", "i")(divmod) is divmod
    assert opweave.onnx.register_custom_op_symbolic("own::op", len, 11) is None
    assert opweave.onnx.TensorProtoDataType.FLOAT == 1
    annotations = importlib.import_module("opweave.jit.annotations")
    assert annotations.BroadcastingList2[int] == list[int]
    assert annotations.List is importlib.import_module("typing").List
    chosen = opweave.jit.boolean_dispatch("r", 1, False, lambda *a, **k: 1, lambda *a, **k: 2, __name__, "chosen")
    assert [chosen(0), chosen(0, True), chosen(0, r=True), chosen(0, r=False)] == [2, 1, 1, 2]


def test_questions_of_transforms_and_compilers() -> None:
    x = opweave.ones(2)
    functorch = importlib.import_module("opweave._torch_c._functorch")
    assert not functorch.is_batchedtensor(x)
    assert not importlib.import_module("opweave._subclasses.fake_tensor").is_fake(x)
    assert importlib.import_module("opweave._guards").active_fake_mode() is None
    shapes = importlib.import_module("opweave.fx.experimental.symbolic_shapes")
    assert shapes.guard_or_false(3 > 2) is True
    assert shapes.free_symbols(x) == set()
    assert not isinstance(x, opweave._dynamo.OptimizedModule)

"""Every public name of torch is here, or its AttributeError says what to use in place of it."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
import types
import typing
from collections.abc import Iterator
from typing import Any

import opweave
import pytest
from harness import oracle, recording
from opweave._names import advice
from opweave._tensor import absent_names

# fmt: off
MODULES = [
    "accelerator", "amp", "ao.nn", "ao.pruning", "ao.quantization", "autograd", "autograd.profiler", "backends",
    "backends.cpu", "backends.cuda", "backends.cudnn", "backends.mkl", "backends.mkldnn", "backends.mps",
    "backends.openmp", "backends.opt_einsum", "compiler", "cpu", "cuda", "cuda.amp", "cuda.memory", "distributed",
    "distributed.algorithms", "distributed.checkpoint", "distributed.checkpoint.state_dict",
    "distributed.device_mesh", "distributed.elastic", "distributed.fsdp", "distributed.nn", "distributed.optim",
    "distributed.pipelining", "distributed.rpc", "distributed.tensor", "distributed.tensor.parallel",
    "distributions", "export", "fft", "func", "futures", "fx", "fx.experimental", "fx.passes", "hub", "jit",
    "library", "linalg", "masked", "monitor", "mps", "multiprocessing", "nested", "nn", "nn.attention",
    "nn.functional", "nn.init", "nn.modules", "nn.parallel", "nn.utils", "nn.utils.parametrizations",
    "nn.utils.parametrize", "nn.utils.prune", "nn.utils.rnn", "onnx", "optim", "optim.lr_scheduler",
    "optim.swa_utils", "overrides", "package", "profiler", "quantization", "random", "return_types",
    "serialization", "signal.windows", "sparse", "special", "testing", "types", "utils", "utils.benchmark",
    "utils.checkpoint", "utils.cpp_extension", "utils.data", "utils.dlpack", "xpu",
]
# fmt: on


def public(library: Any, path: str) -> str:
    """The names that a module exports, or where it does not say which, those of torch's own; and its modules."""
    module = importlib.import_module(f"{library.__name__}.{path}")
    names = set(getattr(module, "__all__", ()))
    if not names:
        names = {name for name, value in vars(module).items() if _origin(value).startswith(f"torch.{path}")}
    names |= {each.name for each in pkgutil.iter_modules(getattr(module, "__path__", ()))}
    return " ".join(sorted(name for name in names if name[0] != "_"))


def _origin(value: Any) -> str:
    found = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", "")
    return found if isinstance(found, str) else ""


def absent(path: str, names: list[str]) -> Iterator[str]:
    """The names that cannot be reached, and whose errors say nothing."""
    owner: Any = opweave
    if path:
        owner = opweave.ones(2) if path == "Tensor" else importlib.import_module(f"opweave.{path}")
    for name in names:
        try:
            getattr(owner, name)
        except AttributeError as error:
            _, _, said = str(error).partition(f"has no attribute {name!r}")
            if not said.startswith("; ") and not _is_module(f"opweave.{path}.{name}"):
                yield name
        except (ImportError, RuntimeError):  # what it needs is not there: `imag` of real numbers, tensorboard
            pass


def _is_module(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def test_advice_names_what_there_is() -> None:
    for text in [*advice._ADVICE, *absent_names.TORCH_METHODS.values()]:
        for path in re.findall(r"\bopweave\.([\w.]+\w)", text):
            assert pkgutil.resolve_name(f"opweave.{path}") is not None, text


def test_other_names_have_no_advice() -> None:
    for module in (opweave, opweave.nn, opweave.utils, opweave.distributed, opweave.compiler):
        with pytest.raises(AttributeError, match=rf"module '{module.__name__}' has no attribute 'nothing'$"):
            module.nothing  # noqa: B018


def test_modules_that_are_not_there() -> None:
    """Names in them have the advice of the module, and old names of modules lead to the others."""
    with pytest.raises(AttributeError, match=r"'opweave\.cuda' has no attribute 'nvtx'; there are no such devices;"):
        opweave.cuda.nvtx  # noqa: B018
    assert opweave.nn.quantized.FloatFunctional is opweave.ao.nn.quantized.FloatFunctional
    assert opweave.quantization.QuantStub is opweave.ao.quantization.QuantStub
    assert advice.advice_on("mtia.memory.memory_stats") == advice.advice_on("cuda.nothing")


@pytest.mark.parametrize("path", MODULES)
def test_names_of_modules(path: str) -> None:
    names = oracle.ask(lambda library: public(library, path), path)
    assert isinstance(names, str)
    assert [*absent(path, names.split())] == []


@pytest.mark.parametrize("path", recording.PLACES)
def test_all_names_of_places(path: str) -> None:
    foreign = {*sys.stdlib_module_names, *dir(typing), "torch", "np", "Tensor"}  # what torch's modules import
    texts = ("_notes", "common_args", "_common")  # parts of docstrings
    names = sorted(recording.names_of(path) - foreign)
    assert [*absent(path, [name for name in names if name[0] != "_" and not name.endswith(texts)])] == []

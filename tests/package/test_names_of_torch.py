"""Names that programs take from torch: integers of a few bits, exchanged tensors, and what says that it is absent."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import opweave as ow
import pytest
from opweave import nn

SMALL = [f"{sign}int{bits}" for sign in ("", "u") for bits in range(1, 8)]


@pytest.mark.parametrize("name", SMALL)
def test_integers_of_a_few_bits_are_names(name: str) -> None:
    dtype = getattr(ow, name)
    assert isinstance(dtype, ow.dtype)
    assert (str(dtype), dtype.itemsize, dtype.is_floating_point) == (f"opweave.{name}", 1, False)
    assert dtype.is_signed is (name[0] != "u")
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    kind = name.title().replace("Uint", "UInt")
    with pytest.raises(NotImplementedError, match=f"not implemented for '{kind}'"):
        ow.zeros(2, dtype=dtype)
    with pytest.raises(NotImplementedError, match=f"not implemented for '{kind}'"):
        ow.ones(2).to(dtype)
    with pytest.raises(TypeError):
        ow.iinfo(dtype)
    assert ow.promote_types(dtype, dtype) is dtype
    with pytest.raises(RuntimeError, match="attempted to promote"):
        ow.promote_types(dtype, ow.int8)


def test_swapped_tensors_are_each_other() -> None:
    first = nn.Parameter(ow.ones(2))
    second = nn.Parameter(ow.zeros(3, dtype=ow.float64), requires_grad=False)
    first.note = "first"  # type: ignore[attr-defined]
    first.grad = ow.full((2,), 5.0)
    ow.utils.swap_tensors(first, second)
    assert (first.tolist(), first.dtype, first.requires_grad, first.grad) == ([0, 0, 0], ow.float64, False, None)
    assert (second.tolist(), second.requires_grad, second.note) == ([1, 1], True, "first")  # type: ignore[attr-defined]
    assert second.grad is not None
    assert second.grad.tolist() == [5, 5]
    plain = ow.arange(3)
    ow.utils.swap_tensors(plain, second)
    assert type(plain) is nn.Parameter
    assert type(second) is ow.Tensor
    (plain * 3).sum().backward()
    assert plain.grad.tolist() == [8, 8]


def test_tensors_that_cannot_be_swapped() -> None:
    x, y = ow.ones(2), ow.zeros(2)
    reference = weakref.ref(x)
    with pytest.raises(RuntimeError, match="Cannot swap t1 because it has weakref associated with it"):
        ow.utils.swap_tensors(x, y)
    assert reference() is x

    class Slotted(ow.Tensor):
        __slots__ = ("own",)

    with pytest.raises(RuntimeError, match="different slots"):
        ow.utils.swap_tensors(y, ow.ones(2).as_subclass(Slotted))
    result = nn.Parameter(ow.ones(2)) * 2
    with pytest.raises(RuntimeError, match="Expected t2"):
        ow.utils.swap_tensors(y, result)


def test_classes_of_other_languages_are_absent() -> None:
    with pytest.raises(RuntimeError, match=r"Tried to instantiate class 'some\.Kind', but it does not exist"):
        ow.classes.some.Kind  # noqa: B018
    with pytest.raises(OSError, match="Could not load this library"):
        ow.classes.load_library("library.so")
    extension = importlib.import_module("opweave.utils.cpp_extension")
    assert extension.CUDA_HOME is extension.ROCM_HOME is None
    with pytest.raises(NotImplementedError, match=r"load\(\) does not exist"):
        extension.load("name", [])


def test_operators_of_functions_say_that_there_are_none(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from torch._ops import HigherOrderOperator, OpOverload\n"
        "import torch, torch.testing._internal.common_utils\n"
        "assert isinstance(torch.ops.aten.add.Tensor, OpOverload)\n"
        "try:\n    HigherOrderOperator('name')\n"
        "except NotImplementedError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "opweave.as_torch", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert "HigherOrderOperator has no instances" in done.stdout


def test_events_of_tensorboard(tmp_path: Path) -> None:
    try:
        importlib.import_module("tensorboard")
    except ImportError:
        with pytest.raises(ImportError, match="needs the package tensorboard"):
            importlib.import_module("opweave.utils.tensorboard")
        return
    module: Any = importlib.import_module("opweave.utils.tensorboard")
    with module.SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("loss", ow.tensor(0.5), 3)
        writer.add_scalars("both", {"a": 1, "b": 2.0}, 1)
        writer.add_text("note", "some words", 2)
        writer.add_histogram("weights", ow.arange(5.0), 4)
        with pytest.raises(NotImplementedError, match=r"SummaryWriter.add_figure\(\) does not exist"):
            writer.add_figure("figure", None)
    accumulators: Any = importlib.import_module("tensorboard.backend.event_processing.event_accumulator")
    events = accumulators.EventAccumulator(str(tmp_path)).Reload()
    assert [(each.step, each.value) for each in events.Scalars("loss")] == [(3, 0.5)]
    assert events.Tensors("note/text_summary")[0].tensor_proto.string_val[0] == b"some words"
    histogram = events.Histograms("weights")[0].histogram_value
    assert (histogram.num, histogram.sum) == (5, 10)
    assert len(list(tmp_path.iterdir())) == 3


def test_options_of_printing_are_read_as_they_are() -> None:
    module = importlib.import_module("opweave._tensor_str")
    options, x = module.PRINT_OPTS, ow.tensor([0.5, 1.25])
    assert (options.threshold, options.linewidth) == (1000, 80)
    with ow.printoptions(precision=1, threshold=3):
        assert (options.threshold, options.precision) == (3, 1)
        assert module._tensor_str(x, 0) == "[0.5, 1.2]"
    assert module._tensor_str(x, indent=0) == "[0.5000, 1.2500]"

"""Files of programs: what is read is what was written, without the Python of the module, and damage is said."""

from __future__ import annotations

import io
import json
import zipfile
from collections import OrderedDict, deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import opweave
import pytest
from harness.processes import python, succeed
from opweave import nn
from opweave.utils import _pytree


class Tied(nn.Module):
    """One parameter under two names, and arguments of all kinds of values."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(3, 3)
        self.other = nn.Linear(3, 3, bias=False)
        self.other.weight = self.one.weight
        self.one.bias.requires_grad_(False)
        self.register_buffer("complex", opweave.tensor([1 + 2j, 3j]))

    def forward(self, x: Any, kind: str = "sum") -> Any:
        y = self.other(self.one(x)).masked_fill(x > 0, float("inf")).clamp(min=-1)
        total = self.complex.to(opweave.complex128) * 2j
        return [y, (total.sum(), opweave.full((2,), 3, dtype=opweave.int16, device="cpu")), {"kind": kind, 3: None}]


@pytest.fixture
def program() -> opweave.export.ExportedProgram:
    return opweave.export.export(Tied(), (opweave.randn(2, 3), "sum"))


def read(program: Any, **changes: Any) -> Any:
    """The program in its file, after changes of its text."""
    file, changed = io.BytesIO(), io.BytesIO()
    opweave.export.save(program, file)
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(changed, "w") as other:
        for name in archive.namelist():
            data = archive.read(name)
            if name == "program.json":
                data = json.dumps(json.loads(data) | changes).encode()
            other.writestr(name, data)
    return opweave.export.load(changed)


def test_programs_are_read_as_they_were(program: Any) -> None:
    loaded = read(program)
    assert str(loaded) == str(program)
    assert str(loaded.graph) == str(program.graph)
    assert loaded.state_dict["one.weight"] is loaded.state_dict["other.weight"]
    assert isinstance(loaded.state_dict["one.weight"], nn.Parameter)
    assert not loaded.state_dict["one.bias"].requires_grad
    x = opweave.randn(2, 3)
    one, other = program.module()(x, "sum"), loaded.module()(x, "sum")
    assert one[0].equal(other[0])
    assert one[1][0].equal(other[1][0])
    assert other[1][1].dtype is opweave.int16
    assert other[2] == {"kind": "sum", 3: None}


def test_nothing_of_the_module_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "program.pt2"
    opweave.export.save(opweave.export.export(Tied(), (opweave.ones(2, 3),)), path, extra_files={"note": "text"})
    names = {"note": "", "other": ""}
    opweave.export.load(path, extra_files=names)
    assert names == {"note": "text", "other": ""}
    code = f"""
import opweave
program = opweave.export.load({str(path)!r})
assert program.module()(opweave.zeros(2, 3))[2]["kind"] == "sum"
"""
    succeed(python("-c", code, timeout=60))


def test_dynamic_sizes_are_read(program: Any) -> None:
    rows = opweave.export.Dim("rows", min=1, max=8)
    module = nn.Flatten()
    program = opweave.export.export(module, (opweave.ones(2, 3, 4),), dynamic_shapes=({0: rows},))
    loaded = read(program)
    assert str(loaded) == str(program)
    assert loaded.module()(opweave.ones(8, 3, 4)).shape == (8, 12)
    with pytest.raises(AssertionError, match=r"Guard failed: 1 <= input_1.size\(\)\[0\] <= 8"):
        loaded.module()(opweave.ones(9, 3, 4))


def test_damage_is_said(program: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="has version 7, and this opweave reads version 2"):
        read(program, version=7)
    with pytest.raises(RuntimeError, match=r"calls the operator aten\.nothing\.default, which there is not"):
        read(
            program,
            nodes=[{"name": "y", "op": "call_function", "target": "aten.nothing.default", "args": [], "kwargs": {}}],
        )
    with pytest.raises(RuntimeError, match="damaged: ValueError: the node y is a call_method of __class__"):
        read(program, nodes=[{"name": "y", "op": "call_method", "target": "__class__", "args": [], "kwargs": {}}])
    with pytest.raises(RuntimeError, match="damaged: KeyError"):
        read(program, nodes=[{"name": "y", "op": "output", "args": [[{"node": "x"}]], "kwargs": {}}])
    with pytest.raises(RuntimeError, match="damaged: KeyError: 'float8'"):
        read(program, tensors=[{"dtype": "float8", "shape": [2], "parameter": False, "requires_grad": False}])
    with pytest.raises(zipfile.BadZipFile):
        opweave.export.load(io.BytesIO(b"no zip"))
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme", "text")
    with pytest.raises(RuntimeError, match=r"no exported program: it has no program\.json"):
        opweave.export.load(path)


def test_what_files_do_not_have() -> None:
    class Odd(nn.Module):
        def forward(self, x: Any) -> Any:
            return x.max(0)

    path = io.BytesIO()
    with pytest.raises(NotImplementedError, match="Can't serialize TreeSpec of namedtuple class"):
        opweave.export.save(opweave.export.export(Odd(), (opweave.ones(2),)), path)
    with pytest.raises(TypeError, match="must be an instance of 'ExportedProgram', got 'int' instead"):
        opweave.export.save(3, path)


class Output(dict[str, Any]):
    """A dictionary that is registered, as classes of results of libraries are."""


@dataclass
class Record:
    first: Any
    second: Any = None


@dataclass
class Unnamed:
    first: Any


class Pair(NamedTuple):
    first: Any
    second: Any


_pytree.register_pytree_node(
    Output,
    lambda value: (list(value.values()), list(value)),
    lambda values, keys: Output(zip(keys, values, strict=True)),
    serialized_type_name="tests.Output",
)
_pytree.register_dataclass(Record, serialized_type_name="tests.Record")
_pytree.register_dataclass(Unnamed)
_pytree._register_namedtuple(Pair, serialized_type_name="tests.Pair")


class Holder(nn.Module):
    def __init__(self, made: Any) -> None:
        super().__init__()
        self.made = made

    def forward(self, x: Any) -> Any:
        return self.made(x + 1)


@pytest.mark.parametrize(
    "made",
    [
        lambda x: Output(a=x, b=[x * 2, {"c": x}]),
        lambda x: Record(x),
        lambda x: Pair(x, (x * 2,)),
        lambda x: OrderedDict(b=x, a=x * 2),
        lambda x: deque([x, x * 2], maxlen=3),
    ],
)
def test_registered_classes(made: Any) -> None:
    x = opweave.ones(3)
    program = opweave.export.export(Holder(made), (x,))
    found, wanted = read(program).module()(x), made(x + 1)
    assert type(found) is type(wanted)
    assert str(found) == str(wanted)


def test_classes_without_a_name() -> None:
    program = opweave.export.export(Holder(Unnamed), (opweave.ones(3),))
    with pytest.raises(NotImplementedError, match=r"No registered serialization name for .*Unnamed"):
        opweave.export.save(program, io.BytesIO())


def test_classes_that_nobody_has_registered() -> None:
    program = opweave.export.export(Holder(Record), (opweave.ones(3),))
    unknown = {"type": "tests.Unknown", "context": "null", "children_spec": []}
    with pytest.raises(NotImplementedError, match=r"Deserializing tests\.Unknown in pytree is not registered"):
        read(program, result=unknown)

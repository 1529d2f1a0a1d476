"""Files in both directions between this package and torch, where torch is installed: every dtype, layout and class."""

from __future__ import annotations

import importlib
import io
import pickle
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import opweave as ow
import pytest
from opweave.serialization.pickler import torch_name

from codegen.dtypes import NARROW

torch: Any = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore")

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex32", "complex64", "complex128",
)  # fmt: skip
FLOAT8 = tuple(each.name for each in NARROW)

WITHOUT_STORAGE_TYPE = ("uint16", "uint32", "uint64", "complex32", "storages", *FLOAT8)


def contents(library: Any) -> Iterator[tuple[str, Any]]:
    """The same objects of either library, with names."""
    x = library.arange(6.0).reshape(2, 3)
    yield "views", {"x": x, "t": x.t(), "row": x[1], "columns": x[:, 1:], "none": x[0:0]}
    yield "parameters", {"p": library.nn.Parameter(x), "q": library.nn.Parameter(x[0], requires_grad=False)}
    for name, tensor in (("parameter", library.nn.Parameter(library.ones(2))), ("tensor", library.ones(2))):
        tensor.note = [1, 2]
        yield f"attributes of a {name}", tensor
    yield "requires_grad", x.clone().requires_grad_()
    yield "not a leaf", x.clone().requires_grad_() * 2
    yield "conjugates", [library.ones(2, dtype=library.complex64).conj()]
    yield "meta", [library.empty(3, 2, device="meta"), library.nn.Parameter(library.empty(3, device="meta"))]
    yield "one number", library.tensor(3.5)
    yield "empty", library.empty(0, 3)
    yield "buffer", library.nn.Buffer(library.ones(1))
    yield "twice", (x, x)
    yield "expanded", library.ones(1).expand(5)
    yield "channels last", library.ones(1, 2, 3, 4).to(memory_format=library.channels_last)
    yield "storages", [library.ones(2).untyped_storage(), library.ones(2).storage()]
    yield "values", [library.float32, library.device("cpu"), x.shape, None, -5, 1.5, b"ab", "\u20ac", (1, 2, 3, 4), {1}]
    for name in (*DTYPES, *FLOAT8):
        dtype = getattr(library, name)
        values = library.tensor([0, 1, 1]).to(dtype)
        yield name, {"of": dtype, "values": values, "strided": library.zeros(4, dtype=dtype)[::2]}
    model = library.nn.Sequential(library.nn.Linear(2, 3), library.nn.BatchNorm1d(3))
    with library.no_grad():
        for each in model.parameters():
            each.fill_(0.5)
    for each in model.parameters():
        each.grad = library.ones_like(each)
    optimizer = library.optim.SGD(model.parameters(), lr=0.25, momentum=0.5)
    optimizer.step()
    yield "state of a module", model.state_dict()
    yield "state of an optimizer", optimizer.state_dict()


NAMES = [name for name, _ in contents(ow)]


def records(file: io.BytesIO) -> dict[str, bytes]:
    """What the archive has, but for the number that says which file it is."""
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("serialization_id")}


def saved(library: Any, obj: Any, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    library.save(obj, file, **options)
    file.seek(0)
    return file


@pytest.mark.parametrize("name", NAMES)
def test_the_same_file(name: str) -> None:
    theirs, ours = (saved(library, dict(contents(library))[name]) for library in (torch, ow))
    assert records(ours) == records(theirs)
    assert [each.header_offset for each in zipfile.ZipFile(ours).infolist()] == [
        each.header_offset for each in zipfile.ZipFile(theirs).infolist()
    ]


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_both_directions(name: str, zipped: bool) -> None:
    theirs, ours = (
        saved(library, dict(contents(library))[name], _use_new_zipfile_serialization=zipped) for library in (torch, ow)
    )
    assert described(ow.load(theirs)) == described(dict(contents(ow))[name])
    if zipped or name not in WITHOUT_STORAGE_TYPE:  # torch cannot read its own
        assert described(torch.load(ours)) == described(dict(contents(torch))[name])


def described(value: Any) -> Any:
    """All that is to be seen of an object, without the name of the library."""
    if isinstance(value, dict):
        return {key: described(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return [described(each) for each in value]
    if isinstance(value, (torch.Tensor, ow.Tensor)):
        kind = type(value).__name__, str(value.dtype).rpartition(".")[2], tuple(value.shape), value.stride()
        if value.is_meta:
            return kind
        values = value.detach().to(value.dtype.to_complex() if value.dtype.is_complex else value.dtype)
        wide = "complex64" if str(value.dtype).endswith("complex32") else str(value.dtype).rpartition(".")[2]
        values = values.to(getattr(torch if isinstance(value, torch.Tensor) else ow, wide)).tolist()
        return *kind, values, value.requires_grad, value.is_conj(), value.storage_offset(), value.__dict__
    if isinstance(value, (torch.UntypedStorage, torch.TypedStorage, ow.UntypedStorage, ow.TypedStorage)):
        return list(value)
    return str(value).replace("opweave", "torch")


MODULES: list[tuple[str, tuple[Any, ...]]] = [
    ("Linear", (2, 3)), ("Conv2d", (1, 2, 3)), ("ConvTranspose1d", (1, 2, 3)), ("BatchNorm2d", (2,)),
    ("LSTM", (2, 3)), ("GRUCell", (2, 3)), ("Embedding", (4, 2)), ("LayerNorm", (2,)), ("MultiheadAttention", (4, 2)),
    ("Dropout", (0.5,)), ("InstanceNorm1d", (2,)), ("ZeroPad2d", (1,)), ("Flatten", ()), ("PixelShuffle", (2,)),
    ("Unfold", (2,)), ("CrossEntropyLoss", ()), ("MaxPool2d", (2,)), ("Softmax", (-1,)), ("GELU", ()),
    ("ParameterList", ()), ("TransformerEncoderLayer", (4, 2)), ("Upsample", (4,)), ("PairwiseDistance", (1.0,)),
    ("Sequential", ()), ("ModuleDict", ()), ("PReLU", ()),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments"), MODULES, ids=[name for name, _ in MODULES])
def test_whole_modules(name: str, arguments: tuple[Any, ...]) -> None:
    theirs, ours = (getattr(library.nn, name)(*arguments) for library in (torch, ow))
    read_by_us = ow.load(saved(torch, theirs), weights_only=False)
    read_by_torch = torch.load(saved(ow, ours), weights_only=False)
    assert (type(read_by_us), type(read_by_torch)) == (type(ours), type(theirs))
    assert str(read_by_us) == str(theirs)
    assert str(read_by_torch) == str(ours)
    for one, other in ((read_by_us, theirs), (read_by_torch, ours)):
        assert described(one.state_dict()) == described(other.state_dict())


def test_classes_have_the_names_that_torch_gives_them() -> None:
    for name in ("nn", "optim", "optim.lr_scheduler", "utils.data"):
        ours, theirs = (pytest.importorskip(f"{package}.{name}") for package in ("opweave", "torch"))
        for own in ours.__all__ if hasattr(ours, "__all__") else dir(ours):
            one, other = getattr(ours, own), getattr(theirs, own, None)
            if isinstance(one, type) and isinstance(other, type) and other.__module__.startswith("torch."):
                assert torch_name(one, None) == (other.__module__, other.__qualname__)


def test_hooks_of_weights() -> None:
    importlib.import_module("torch.nn.utils.prune")
    made = [library.nn.utils.weight_norm(library.nn.Linear(2, 3)) for library in (torch, ow)]
    pruned = [library.nn.utils.prune.l1_unstructured(library.nn.Linear(4, 4), "weight", 3) for library in (torch, ow)]
    for theirs, ours in (made, pruned):
        read_by_us = ow.load(saved(torch, theirs), weights_only=False)
        read_by_torch = torch.load(saved(ow, ours), weights_only=False)
        for one, other in ((read_by_us, theirs), (read_by_torch, ours)):
            x = [1.0, 2.0, 3.0, 4.0][: one.in_features]
            assert [type(each).__name__ for each in one._forward_pre_hooks.values()] == [
                type(each).__name__ for each in other._forward_pre_hooks.values()
            ]
            results = [
                module((torch if isinstance(module, torch.nn.Module) else ow).tensor(x)).tolist()
                for module in (one, other)
            ]
            assert results[0] == pytest.approx(results[1], rel=1e-5)
    hook = ow.nn.utils.spectral_norm(ow.nn.Linear(2, 3))._forward_pre_hooks.popitem()[1]
    assert torch_name(type(hook), None) == ("torch.nn.utils.spectral_norm", "SpectralNorm")


def test_generators(tmp_path: Path) -> None:
    ow.save(ow.Generator().manual_seed(5), tmp_path / "ours.pt")
    torch.save(torch.Generator().manual_seed(5), tmp_path / "theirs.pt")
    read_by_torch = torch.load(tmp_path / "ours.pt", weights_only=False)
    read_by_us = ow.load(tmp_path / "theirs.pt", weights_only=False)
    assert torch.rand(3, generator=read_by_torch).tolist() == ow.rand(3, generator=read_by_us).tolist()


def values(library: Any) -> Iterator[tuple[str, Any]]:
    yield "functions", [library.sin, library.nn.functional.gelu, library.nn.init.zeros_, library.nn.Linear]
    yield "results", library.tensor([[1.0, 2.0]]).max(1)
    yield "sequences", library.nn.utils.rnn.pack_sequence([library.ones(3), library.ones(2)])
    for name in ("Adam", "AdamW", "Adagrad", "RMSprop", "Adafactor", "NAdam", "LBFGS", "ASGD"):
        parameter = library.nn.Parameter(library.ones(2))
        parameter.grad = library.ones(2)
        optimizer = getattr(library.optim, name)([parameter])
        optimizer.step(*([parameter.sum] if name == "LBFGS" else []))
        yield name, optimizer
        yield f"scheduler of {name}", library.optim.lr_scheduler.StepLR(optimizer, 3)


@pytest.mark.parametrize("name", [name for name, _ in values(torch)])
def test_objects_that_need_trust(name: str) -> None:
    for one, other in ((torch, ow), (ow, torch)):
        found = other.load(saved(one, dict(values(one))[name]), weights_only=False)
        expected = dict(values(other))[name]
        assert type(found) is type(expected)
        if name == "functions":
            assert all(one is other for one, other in zip(found, expected, strict=True))
        elif hasattr(found, "state_dict"):
            assert described(found.state_dict()).keys() == described(expected.state_dict()).keys()


def test_folders_are_named_after_files(tmp_path: Path) -> None:
    for library in (torch, ow):
        names = []
        for file in ("my.model.pt", "plain", "\u00fc.pt"):
            library.save([1], tmp_path / file)
            names.append(zipfile.ZipFile(tmp_path / file).namelist()[0])
        assert names == ["my.model/data.pkl", "plain/data.pkl", "archive/data.pkl"]


def test_mapped_files(tmp_path: Path) -> None:
    for one, other in ((torch, ow), (ow, torch)):
        content = {name: each for name, each in contents(one) if name in DTYPES}
        one.save(content, tmp_path / "x.pt")
        found = other.load(tmp_path / "x.pt", mmap=True)
        assert described(found) == described({name: each for name, each in contents(other) if name in DTYPES})


def test_files_without_checksums(tmp_path: Path) -> None:
    for library in (torch, ow):
        library.serialization.set_crc32_options(False)
        try:
            library.save(library.arange(3.0), tmp_path / "x.pt")
        finally:
            library.serialization.set_crc32_options(True)
        assert {each.CRC for each in zipfile.ZipFile(tmp_path / "x.pt").infolist()} == {0}
        assert ow.load(tmp_path / "x.pt").tolist() == torch.load(tmp_path / "x.pt").tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_protocols(protocol: int) -> None:
    content = {"x": ow.ones(2), "n": -(2**40)}
    ours = saved(ow, content, pickle_protocol=protocol)
    assert described(ow.load(ours)) == described(content)
    ours.seek(0)
    assert described(torch.load(ours, weights_only=False)) == described(content)
    theirs = saved(torch, {"x": torch.ones(2), "n": -(2**40)}, pickle_protocol=protocol)
    assert described(ow.load(theirs)) == described(content)

"""`save` and `load`: what comes back, where from and where to, and what the options do."""

from __future__ import annotations

import collections
import errno
import gc
import io
import mmap
import os
import pickle
import stat
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import opweave as ow
import pytest
from opweave import serialization


def through(obj: Any, **options: Any) -> Any:
    file = io.BytesIO()
    ow.save(obj, file)
    file.seek(0)
    return ow.load(file, **options)


# ---- what comes back ----------------------------------------------------------------------------------------


def test_tensors_share_what_they_shared() -> None:
    x = ow.arange(12).reshape(3, 4)
    first, second, third, again = through([x, x.t(), x[1:, ::2], x])
    assert first is again
    first[1, 2] = 100
    assert second.tolist() == [[0, 4, 8], [1, 5, 9], [2, 100, 10], [3, 7, 11]]
    assert third.tolist() == [[4, 100], [8, 10]]
    assert third.stride() == (4, 2)
    assert third.untyped_storage().nbytes() == 96, "the whole storage is in the file"


@pytest.mark.parametrize("zipped", [True, False])
def test_a_storage_as_two_dtypes_is_refused(zipped: bool) -> None:
    x = ow.arange(4.0)
    for values in ([x, x.view(ow.int32)], [x.untyped_storage(), x.storage()], [x, x.untyped_storage()]):
        with pytest.raises(RuntimeError, match="view the same data as different types"):
            ow.save(values, io.BytesIO(), _use_new_zipfile_serialization=zipped)


def test_storages_without_memory() -> None:
    storage = ow.empty(3, device="meta").untyped_storage()
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        ow.save(storage, io.BytesIO(), _use_new_zipfile_serialization=False)
    assert through(storage).device == ow.device("meta")


class Point(ow.Tensor):
    pass


def test_subclasses_and_attributes() -> None:
    point = ow.ones(2).as_subclass(Point)
    point.name = "here"  # type: ignore[attr-defined]
    with pytest.raises(pickle.UnpicklingError, match="Unsupported global"):
        through(point)
    with serialization.safe_globals([Point]):
        found = through(point)
    assert type(found) is Point
    assert found.name == "here"
    assert type(through(point, weights_only=False)) is Point


class Settings:
    def __init__(self, rate: float) -> None:
        self.rate = rate


class Slotted:
    __slots__ = ("left", "right")


def test_classes_of_users_have_to_be_allowed() -> None:
    settings = Settings(0.5)
    slotted = Slotted()
    slotted.left, slotted.right = 1, ow.ones(1)
    with pytest.raises(pickle.UnpicklingError, match=r"add_safe_globals\(\[Settings\]\)"):
        through(settings)
    serialization.add_safe_globals([Settings, (Slotted, f"{__name__}.Slotted")])
    try:
        assert serialization.get_safe_globals() == [Settings, (Slotted, f"{__name__}.Slotted")]
        found = through([settings, slotted, {settings: 1}])
        assert found[0].rate == 0.5
        assert found[1].right.tolist() == [1.0]
        assert list(found[2]) == [found[0]]
    finally:
        serialization.clear_safe_globals()
    assert through(settings, weights_only=False).rate == 0.5


def test_hooks_are_left_out_with_a_warning() -> None:
    x = ow.ones(2, requires_grad=True)
    x.register_hook(lambda grad: grad)
    with pytest.warns(UserWarning, match="backward hook .* will not be serialized"):
        found = through(x)
    assert found.requires_grad
    quiet = ow.ones(2, requires_grad=True)
    quiet.register_hook(ow.utils.hooks.unserializable_hook(lambda grad: grad))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        through(quiet)


def test_modules_whose_shape_is_not_known() -> None:
    model = through(ow.nn.LazyLinear(3), weights_only=False)
    assert model(ow.ones(2, 4)).shape == (2, 3)
    assert type(model) is ow.nn.Linear
    hooks: collections.OrderedDict[int, Any] = collections.OrderedDict()
    handle, restored = pickle.loads(pickle.dumps([ow.utils.hooks.RemovableHandle(hooks, print), hooks]))
    assert list(restored.values()) == [print]
    handle.remove()
    assert not restored


def test_containers() -> None:
    counter = collections.Counter("abca")
    found = through([collections.OrderedDict(b=1, a=2), counter, {(1, "x"): ow.int8}, frozenset([1]), bytearray(b"ab")],
                    weights_only=False)  # fmt: skip
    assert list(found[0]) == ["b", "a"]
    assert found[1] == counter
    assert found[2] == {(1, "x"): ow.int8}
    assert found[3:] == [{1}, bytearray(b"ab")]
    assert through([counter, {ow.float32: 1}]) == [counter, {ow.float32: 1}]
    itself: list[Any] = []
    itself.append(itself)
    found = through(itself)
    assert found[0] is found


def test_training_goes_on() -> None:
    def trained(steps: int, state: Any = None) -> tuple[Any, Any]:
        ow.manual_seed(0)
        model = ow.nn.Sequential(ow.nn.Linear(3, 4), ow.nn.BatchNorm1d(4), ow.nn.LSTM(4, 2))
        optimizer = ow.optim.Adam(model.parameters(), lr=0.1)
        if state is not None:
            model.load_state_dict(state["model"])
            optimizer.load_state_dict(state["optimizer"])
        for _ in range(steps):
            optimizer.zero_grad()
            model(ow.arange(12.0).reshape(4, 3))[0].sum().backward()
            optimizer.step()
        return model, optimizer

    model, optimizer = trained(2)
    state = through({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    resumed, whole = trained(3, state)[0], trained(5)[0]
    for one, other in zip(resumed.state_dict().values(), whole.state_dict().values(), strict=True):
        assert one.tolist() == other.tolist()


def test_storages() -> None:
    x = ow.arange(3.0)
    found = through([x.storage(), x])
    assert type(found[0]) is ow.FloatStorage
    assert found[0].tolist() == [0.0, 1.0, 2.0]
    found[0][0] = 5.0
    assert found[1].tolist() == [5.0, 1.0, 2.0]
    found = through(x.untyped_storage())
    assert found.tolist() == list(x.numpy().tobytes())
    part = x.storage()[1:]
    found = through([part, part, x])
    assert found[0] is found[1]
    assert [each.tolist() for each in found[1:]] == [[1.0, 2.0], [0.0, 1.0, 2.0]]


# ---- where to and from --------------------------------------------------------------------------------------


def test_paths_and_file_objects(tmp_path: Path) -> None:
    x = ow.arange(3.0)
    for path in (str(tmp_path / "a.pt"), tmp_path / "b.pt"):
        ow.save(x, path)
        assert ow.load(path).tolist() == [0.0, 1.0, 2.0]
    with open(tmp_path / "c.pt", "wb", buffering=0) as raw:
        raw.write(b"before")
        ow.save(x, raw)
    with open(tmp_path / "c.pt", "rb") as file:
        file.seek(6)
        assert ow.load(file).tolist() == [0.0, 1.0, 2.0]
        assert not file.read()
    with pytest.raises(AttributeError, match="'write' attribute"):
        ow.save(x, 3)
    with pytest.raises(AttributeError, match="has no attribute 'read'"):
        ow.load(None)
    with pytest.raises(FileNotFoundError):
        ow.load(tmp_path / "none.pt")
    with pytest.raises(RuntimeError, match=r"Parent directory .*none does not exist"):
        ow.save(x, tmp_path / "none" / "a.pt")
    with pytest.raises(IsADirectoryError):
        ow.save(x, tmp_path)
    with pytest.raises(FileNotFoundError):
        ow.save(x, "")


def test_objects_one_after_the_other() -> None:
    file = io.BytesIO()
    for number in range(3):
        ow.save(ow.tensor([number]), file, _use_new_zipfile_serialization=False)
    file.seek(0)
    assert [ow.load(file).item() for _ in range(3)] == [0, 1, 2]


def test_file_objects_of_few_methods() -> None:
    class File:
        def __init__(self, data: bytes) -> None:
            self.file = io.BytesIO(data)
            self.seek, self.tell = self.file.seek, self.file.tell

        def read(self, count: int) -> bytes:
            return self.file.read(min(count, 1000))  # it returns less than it is asked for

    file = io.BytesIO()
    ow.save(ow.arange(1000), file)
    assert ow.load(File(file.getvalue()))[-1] == 999
    with pytest.raises((TypeError, ValueError)):
        ow.load(io.StringIO("text"))


def test_files_that_cannot_seek_are_written() -> None:
    class Pipe:
        def __init__(self) -> None:
            self.parts: list[bytes] = []

        def write(self, data: Any) -> int:
            self.parts.append(bytes(data[:1000]))  # it takes less than it is given
            return len(self.parts[-1])

    pipe = Pipe()
    ow.save(ow.arange(1000), pipe)
    assert ow.load(io.BytesIO(b"".join(pipe.parts)))[-1] == 999


def test_permissions_are_those_of_open(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        ow.save(1, tmp_path / "new.pt")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.pt").stat().st_mode) == 0o640
    (tmp_path / "new.pt").chmod(0o604)
    ow.save(2, tmp_path / "new.pt")
    assert stat.S_IMODE((tmp_path / "new.pt").stat().st_mode) == 0o604
    assert ow.load(tmp_path / "new.pt") == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of others")
def test_owners_stay(tmp_path: Path) -> None:
    ow.save(1, tmp_path / "x.pt")
    os.chown(tmp_path / "x.pt", 1234, 2345)
    ow.save(2, tmp_path / "x.pt")
    status = (tmp_path / "x.pt").stat()
    assert (status.st_uid, status.st_gid) == (1234, 2345)


def test_links_are_followed(tmp_path: Path) -> None:
    ow.save(1, tmp_path / "a.pt")
    (tmp_path / "link.pt").symlink_to("a.pt")
    ow.save(2, tmp_path / "link.pt")
    assert (tmp_path / "link.pt").is_symlink()
    assert ow.load(tmp_path / "a.pt") == 2
    (tmp_path / "nowhere.pt").symlink_to("b.pt")
    ow.save(3, tmp_path / "nowhere.pt")
    assert ow.load(tmp_path / "b.pt") == 3


def test_what_is_no_file_is_written_to() -> None:
    ow.save(ow.ones(2), "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


class Unpicklable:
    def __reduce__(self) -> Any:
        raise TypeError("not this one")


def test_an_error_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.pt"
    ow.save(1, path)
    with pytest.raises(TypeError, match="not this one"):
        ow.save([ow.ones(2), Unpicklable()], path)

    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left"):
        ow.save(ow.ones(1_000_000), path)
    assert ow.load(path) == 1
    assert [each.name for each in tmp_path.iterdir()] == ["x.pt"]


def test_a_killed_process_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    ow.save(ow.zeros(10), path)
    program = f"""
import os, opweave as ow
from opweave.serialization import archive_writer
archive_writer.ArchiveWriter.finish = lambda self: os.kill(os.getpid(), 9)
ow.save(ow.ones(1_000_000), {str(path)!r})
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    assert ow.load(path).tolist() == [0.0] * 10


def test_memory_that_others_write_to() -> None:
    x = ow.zeros(100_000).share_memory_()

    class Changing(io.BytesIO):
        def write(self, data: Any) -> int:
            x.add_(1)
            return super().write(data)

    changing = Changing()
    ow.save(x, changing)
    changing.seek(0)
    assert ow.load(changing).max() > 0, "no checksum is written that does not fit"


def test_files_are_closed(tmp_path: Path) -> None:
    ow.save(ow.ones(3), tmp_path / "x.pt")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ow.load(tmp_path / "x.pt")
        (tmp_path / "bad.pt").write_bytes(b"PK\3\4")
        with pytest.raises(RuntimeError):
            ow.load(tmp_path / "bad.pt")
        gc.collect()


# ---- options ------------------------------------------------------------------------------------------------


def test_mapped_files(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    ow.save({"x": ow.arange(100.0), "n": ow.tensor(1, dtype=ow.int8)}, path)
    found = ow.load(path, mmap=True)
    found["x"][0] = 5.0
    assert ow.load(path)["x"][0] == 0.0
    path.unlink()
    assert found["x"][:3].tolist() == [5.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="f must be a file path"):
        ow.load(io.BytesIO(), mmap=True)


def test_mapped_files_can_be_shared(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    ow.save(ow.arange(100.0), path)
    with serialization.set_default_mmap_options(mmap.MAP_SHARED):
        ow.load(path, mmap=True)[0] = 5.0
    assert serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    with open(path, "rb") as file:
        assert b"\0\0\xa0\x40\0\0\x80\x3f" in file.read()
    assert ow.load(path, mmap=True)[0] == 5.0
    with pytest.raises(ValueError, match="MAP_PRIVATE or"):
        serialization.set_default_mmap_options(17)


def test_map_location() -> None:
    x = ow.arange(2.0)
    for location in ("cpu", ow.device("cpu"), {"cpu": "cpu"}, {"cuda:0": "cpu"}, lambda storage, tag: storage,
                     lambda storage, tag: None):  # fmt: skip
        assert through(x, map_location=location).tolist() == [0.0, 1.0]
    for location in ("meta", ow.device("meta"), {"cpu": "meta"}):
        found = through([x, x[1:]], map_location=location)
        assert found[0].is_meta
        assert found[1].storage_offset() == 1
    seen: list[Any] = []
    through(x, map_location=lambda storage, tag: seen.append((type(storage), storage.nbytes(), tag)))
    assert seen == [(ow.UntypedStorage, 8, "cpu")]
    for location in ("cuda", "nowhere", {"cpu": "cuda:1"}):
        with pytest.raises(RuntimeError, match="don't know how to restore data location"):
            through(x, map_location=location)
    with pytest.raises(TypeError, match="map_location must be"):
        through(x, map_location=3)


def test_registered_locations(monkeypatch: pytest.MonkeyPatch) -> None:
    from opweave.serialization import locations

    monkeypatch.setattr(locations, "_registered", [*locations._registered])
    serialization.register_package(5, lambda storage: "here", lambda storage, tag: storage if tag == "here" else None)
    file = io.BytesIO()
    ow.save(ow.ones(1), file)
    assert b"here" in file.getvalue()
    file.seek(0)
    assert ow.load(file).tolist() == [1.0]


def test_pickle_modules() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    file = io.BytesIO()
    ow.save({"x": ow.ones(2), "f": lambda: 3}, file, pickle_module=cloudpickle)
    file.seek(0)
    found = ow.load(file, weights_only=False)
    assert found["x"].tolist() == [1.0, 1.0]
    assert found["f"]() == 3
    file.seek(0)
    with pytest.raises(RuntimeError, match="explicit pickle_module"):
        ow.load(file, weights_only=True, pickle_module=pickle)
    file.seek(0)
    assert ow.load(file, pickle_module=pickle)["x"].tolist() == [1.0, 1.0]


def test_skipped_data() -> None:
    file = io.BytesIO()
    with serialization.skip_data():
        ow.save(ow.ones(100_000), file)
    file.seek(0)
    assert ow.load(file).count_nonzero() == 0


def test_orders_of_bytes_are_chosen_where_files_have_none() -> None:
    file = io.BytesIO()
    ow.save(ow.tensor([1, 256], dtype=ow.int16), file, _disable_byteorder_record=True)
    for order, expected in ((None, [1, 256]), (serialization.LoadEndianness.BIG, [256, 1])):
        serialization.set_default_load_endianness(order)
        file.seek(0)
        try:
            assert ow.load(file).tolist() == expected
        finally:
            serialization.set_default_load_endianness(None)


def test_large_records_have_wide_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    from opweave.serialization import archive_reader, archive_writer

    monkeypatch.setattr(archive_writer, "_LIMIT32", 2000)
    monkeypatch.setattr(archive_reader, "_LIMIT32", 2000)
    file = io.BytesIO()
    ow.save([ow.arange(1000), ow.ones(2)], file)
    file.seek(0)
    found = ow.load(file)
    assert found[0][-1] == 999
    assert found[1].tolist() == [1.0, 1.0]

"""Files that are truncated, damaged or forged: an error of one family, and nothing else happens.

The errors are UnpicklingError, RuntimeError, ValueError and EOFError. No code of a file runs, no tensor reaches beyond
its storage, and memory is bounded by the size of the file.
"""

from __future__ import annotations

import collections
import io
import pickle
import random
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import opweave as ow
import pytest
from harness.damage import archived, damage, look, saved
from opweave._base.memory import max_memory_allocated, memory_allocated, reset_peak_memory_stats
from opweave.serialization.checksums import checksum

FAMILY = (pickle.UnpicklingError, RuntimeError, ValueError, EOFError)
"""What `load` raises for such files."""


def content() -> Any:
    x = ow.arange(6.0).reshape(2, 3)
    return {"x": x, "row": x[1], "p": ow.nn.Parameter(ow.ones(2, dtype=ow.float64)), "n": [1, 2.5, (None, "text")],
            "u": ow.ones(2, dtype=ow.uint16), "o": collections.OrderedDict(a=ow.tensor([1j]).conj())}  # fmt: skip


def load(data: bytes, **options: Any) -> Any:
    return ow.load(io.BytesIO(data), **options)


def refused(data: bytes, match: str = "", **options: Any) -> None:
    with pytest.raises(FAMILY, match=match or None):
        load(data, **options)


# ---- the pickle, opcode by opcode ---------------------------------------------------------------------------


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def number(value: int) -> bytes:
    data = value.to_bytes(17, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data


def numbers(*values: int) -> bytes:
    return b"(" + b"".join(map(number, values)) + b"t"


def reference(count: int = 6, kind: str = "torch\nFloatStorage", key: str = "0", location: str = "cpu") -> bytes:
    named = f"c{kind}\n".encode()
    return b"(" + text("storage") + named + text(key) + text(location) + number(count) + b"tQ"


def tensor(
    storage: bytes | None = None, offset: int = 0, size: tuple[int, ...] = (2, 3), stride: tuple[int, ...] = (3, 1),
    rest: bytes = b"\x89N",
) -> bytes:  # fmt: skip
    inner = (storage or reference()) + number(offset) + numbers(*size) + numbers(*stride) + rest
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + inner + b"tR."


SIX = {"0": struct.pack("<6f", *range(6))}


def test_the_helpers_make_a_tensor() -> None:
    assert load(archived(tensor(), SIX)).tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


@pytest.mark.parametrize("forged", [
    tensor(size=(2, 4)), tensor(size=(7,), stride=(1,)), tensor(offset=1), tensor(offset=-1), tensor(stride=(4, 1)),
    tensor(stride=(3, -1)), tensor(size=(-1, 3)), tensor(size=(2,)), tensor(size=(2**62, 2**62)),
    tensor(size=(2**70, 1)), tensor(offset=2**62), tensor(offset=2**70), tensor(stride=(2**62, 1)),
    tensor(size=(1,) * 70, stride=(1,) * 70), tensor(storage=reference(7)), tensor(storage=reference(5)),
    tensor(storage=reference(-1)), tensor(storage=reference(2**62)), tensor(storage=reference(2**80)),
    tensor(storage=reference(3, "torch\nDoubleStorage")), tensor(rest=b"\x89N}" + text("neg") + b"\x88s" + b"N"),
    tensor(storage=reference(key="1")), tensor(storage=reference(key="../data.pkl")),
    tensor(storage=reference(key="../../../etc/passwd")), tensor(storage=reference(key="/etc/passwd")),
    tensor(storage=reference(key="0\0")), tensor(storage=reference(kind="torch\nfloat32")),
    tensor(storage=reference(kind="builtins\nset")), tensor(storage=reference(location="cuda:0")),
    tensor(storage=reference(location="nowhere")), tensor(storage=b"N"), tensor(storage=b"]"), tensor(storage=b"(tQ"),
    tensor(storage=text("storage") + b"Q"), tensor(rest=b"NN"), tensor(rest=b"\x89"), tensor(rest=b"\x89NNNNN"),
])  # fmt: skip
def test_forged_tensors(forged: bytes) -> None:
    refused(archived(forged, SIX))


def test_tensors_of_other_devices() -> None:
    file = archived(tensor(storage=reference(kind="torch.cuda\nFloatStorage", location="cuda:0")), SIX)
    refused(file, "tagged with 'cuda:0'.*map_location='cpu'")
    for location in ("cpu", {"cuda:0": "cpu"}, lambda storage, tag: storage):
        assert load(file, map_location=location).tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_references_must_agree() -> None:
    first, second = tensor()[2:-1], tensor(storage=reference(12, "torch\nDoubleStorage"), size=(12,), stride=(1,))[2:-1]
    refused(archived(b"\x80\x02(" + first + second + b"t.", SIX), "contradict")


CODE = [
    b"cos\nsystem\n(" + text("echo hostile") + b"tR.",
    b"c__builtin__\neval\n(" + text("1") + b"tR.",
    b"cbuiltins\ngetattr\n(N" + text("x") + b"tR.",
    b"ctorch._utils\n__builtins__\n.",
    b"ctorch\nload\n(N" + b"tR.",
    b"copweave._operators\nones\n(K\x02tR.",
    b"copweave\nload\n.",
    b"ctorch.serialization\n_get_layout.__globals__\n.",
    b"\x8c\x02os\x8c\x06system\x93.",
    b"(ios\nsystem\n.",
    b"(cos\nsystem\no.",
    b"\x82\x01.",
    b"ccollections\nOrderedDict\n)R}" + text("update") + b"K\x01sb0.",  # ends without an object
    b"ctorch\nTensor\n)\x81.",
    b"ctorch\nTensor\n)R}" + text("a") + b"K\x01sb.",
    b"ctorch._utils\n_rebuild_tensor_v2\n}" + text("__defaults__") + b")sb.",
    b"ctorch._utils\n_rebuild_tensor_v2\nN}" + text("__code__") + b"Ns\x86b.",
    b"cbuiltins\nset\n}" + text("x") + b"Nsb.",
    b"cbuiltins\nbytearray\n" + number(2**40) + b"\x85R.",
    b"ccollections\nCounter\n" + number(2**40) + b"\x85R.",
    b"Nos\n.",
    b"Pos\n.",
]


@pytest.mark.parametrize("pickled", CODE)
def test_pickles_that_would_run_code(pickled: bytes) -> None:
    before = ow.serialization.rebuild.rebuild_tensor_v2.__defaults__
    refused(archived(b"\x80\x02" + pickled))
    assert ow.serialization.rebuild.rebuild_tensor_v2.__defaults__ == before


def doubled(times: int) -> bytes:
    """A tuple of two tuples of two tuples ..., each there once."""
    return b")q\0" + b"".join(b"h%ch%c\x86q%c" % (index, index, index + 1) for index in range(times))


def deep(times: int) -> bytes:
    return b")" + b"\x85" * times


def expanded(times: int) -> bytes:
    """A tensor of one element of the storage 0, seen so many times."""
    reference = b"(X\7\0\0\0storagectorch\nLongStorage\nX\1\0\0\0000X\3\0\0\0cpuK\1tQ"
    size = b"\x8a\5" + struct.pack("<q", times)[:5]
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + reference + b"K\0" + size + b"\x85K\0\x85\x89}tR"


BOMBS: dict[str, bytes] = {
    "a key that takes long to hash": b"}" + doubled(60) + b"Ns.",
    "a key that is nested deep": b"}" + deep(300_000) + b"Ns.",
    "a set of one": b"\x8f(" + deep(300_000) + b"\x90.",
    "a frozenset of one": b"(" + deep(300_000) + b"\x91.",
    "an ordered dict of one": b"ccollections\nOrderedDict\n]" + deep(300_000) + b"N\x86a\x85R.",
    "a list copied often": b"]q\x00(" + b"N" * 50_000 + b"e0(" + b"cbuiltins\nset\nh\x00\x85R" * 5_000 + b"t.",
    "bytes copied often": b"B" + struct.pack("<I", 50_000) + bytes(50_000) + b"q\x000("
    + b"cbuiltins\nbytearray\nh\x00\x85R" * 5_000 + b"t.",
    "text that is not there": b"X\xff\xff\xff\xff.",
    "more text that is not there": b"\x8d\xff\xff\xff\xff\xff\xff\xff\x7f.",
    "bytes that are not there": b"\x96\xff\xff\xff\xff\xff\xff\xff\x7f.",
    "a number that is not there": b"\x8b\xff\xff\xff\x7f.",
    "a number of negative length": b"\x8b\xff\xff\xff\xff.",
    "a memo that is not there": b"j\xff\xff\xff\xff.",
    "a reference that takes long to show": doubled(60) + b"Q.",
    "many keys that take long to hash": b"}(" + doubled(12) + b"N" + b"h\x0cN" * 3_000 + b"u.",
    "a layout that takes long to show": b"ctorch.serialization\n_get_layout\n" + doubled(60) + b"\x85R.",
    "a copy of more elements than memory has": b"ctorch._utils\n_rebuild_device_tensor_from_cpu_tensor\n("
    + expanded(2**31) + b"ctorch\nfloat32\nN\x89tR.",
    "indices that are not there": b"ctorch._utils\n_rebuild_sparse_tensor\n(ctorch.serialization\n_get_layout\n"
    b"X\x10\0\0\0torch.sparse_coo\x85R(" + expanded(2**31) + expanded(2**31) + b"K\3\x85\x88ttR.",
    "no object": b".",
    "no mark": b"Nt.",
    "no end": b"N",
    "another protocol": b"\x80\x09N.",
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_pickles_that_ask_for_much(name: str) -> None:
    refused(archived(b"\x80\x02" + BOMBS[name], {"0": bytes(8)}))


def test_tensors_that_are_expanded_may_have_attributes() -> None:
    x = ow.ones(1).expand(10**6)
    x.note = "text"  # type: ignore[attr-defined]
    assert load(saved(x)).shape == (10**6,)


def test_a_far_memo_takes_no_room() -> None:
    assert load(archived(b"\x80\x02Nr\xff\xff\xff\xff.")) is None


def test_deep_lists_are_loaded() -> None:
    found, depth = load(archived(b"\x80\x02" + b"]" * 200_000 + b"a" * 199_999 + b".")), 1
    while found:
        found, depth = found[0], depth + 1
    assert depth == 200_000


# ---- the archive --------------------------------------------------------------------------------------------


def test_versions() -> None:
    for version, match in ((b"0", "version 0"), (b"11", "version 11"), (b"x", "parse"), (b"", "parse")):
        refused(zipped(version=version), match)


def zipped(method: int = zipfile.ZIP_STORED, **records: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in {"data.pkl": b"\x80\x02N.", "version": b"3\n", **records}.items():
            archive.writestr(f"archive/{name}", data)
    return file.getvalue()


def test_other_programs_may_write_the_archive() -> None:
    assert load(zipped()) is None


def test_compressed_records() -> None:
    refused(zipped(zipfile.ZIP_DEFLATED), "compressed")


def test_byte_orders() -> None:
    big = archived(tensor(), {"0": struct.pack(">6f", *range(6))}, byteorder=b"big")
    assert load(big).tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    refused(archived(tensor(), SIX, byteorder=b"middle"), "Unknown endianness type: middle")
    refused(archived(tensor(), SIX, byteorder=b"\xff"), "Unknown endianness type")


def test_records_that_occur_twice_or_overlap() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02N.")
        archive.writestr("archive/version", b"3\n")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("archive/data.pkl", b"\x80\x02K\x01.")
    refused(file.getvalue(), "one folder|twice")
    data = bytearray(zipped())
    directory = data.index(b"PK\1\2", data.index(b"PK\1\2") + 1)
    data[directory + 42 : directory + 46] = bytes(4)  # the second record is where the first one is
    refused(bytes(data), "overlaps")


def test_two_folders() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in ("a/data.pkl", "a/version", "b/data.pkl"):
            archive.writestr(name, b"3")
    refused(file.getvalue(), "one folder")


def test_wrong_checksums() -> None:
    data = archived(tensor(), SIX)
    place = data.index(SIX["0"])
    refused(data[:place] + b"\x01" + data[place + 1 :], "checksum of the record 'data/0'")


@pytest.mark.parametrize("legacy", [False, True])
def test_truncated_at_every_byte(legacy: bool) -> None:
    data = saved({"x": ow.arange(3.0), "n": [1]}, _use_new_zipfile_serialization=not legacy)
    for length in range(len(data)):
        refused(data[:length])
        refused(data[:length], weights_only=False)


def test_truncated_files_that_are_mapped(tmp_path: Any) -> None:
    data = saved(ow.arange(3.0))
    for length in range(0, len(data), 7):
        (tmp_path / "x.pt").write_bytes(data[:length])
        with pytest.raises(FAMILY):
            ow.load(tmp_path / "x.pt", mmap=True)


def test_files_of_another_kind() -> None:
    refused(b"", "Ran out of input")
    refused(b"junk", "no file that save")
    refused(b"PK\3\4", "end of the archive")
    refused(b"\x80\x02N.", "magic")
    refused(bytes(257) + b"ustar" + bytes(300), "tar archive")


def test_storages_of_the_old_format_must_fit_into_the_file() -> None:
    data = saved(ow.arange(3.0), _use_new_zipfile_serialization=False)
    for count in (2**40, 2**20, 4):
        forged = data.replace(b"cpuq\x04K\x03N", b"cpuq\x04" + number(count) + b"N")
        assert forged != data
        refused(forged)


def test_parts_of_storages_in_the_old_format() -> None:
    data = saved(ow.arange(6.0), _use_new_zipfile_serialization=False)
    whole = b"K\x06Ntq\x05QK\x00K\x06\x85"
    part = b"K\x06(" + text("view") + b"K%cK%ctq\x63tq\x05QK%cK%c\x85"  # begin and length of it; offset and size in it
    assert whole in data
    assert load(data.replace(whole, part % (2, 3, 1, 2))).tolist() == [3.0, 4.0]
    for forged in ((2, 5, 0, 1), (7, 0, 0, 1), (2, 3, 0, 6), (2, 3, 4, 1)):
        refused(data.replace(whole, part % forged))


# ---- mutations ----------------------------------------------------------------------------------------------

MUTATIONS = 10_000


def mutated(count: int) -> Iterator[tuple[int, bytes]]:
    """Files with a few mutations: of the file, or of its pickle with what is around it made to fit."""
    whole, old = saved(content()), saved(content(), _use_new_zipfile_serialization=False)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        records = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    storages = {name.partition("/")[2]: data for name, data in records.items() if name.startswith("data/")}
    for seed in range(count):
        rng = random.Random(seed)
        kind = seed % 4
        data = bytearray((records["data.pkl"], records["data.pkl"], whole, old)[kind])
        damage(rng, data)
        yield seed, archived(bytes(data), storages) if kind < 2 else bytes(data)


@pytest.mark.filterwarnings("ignore")
def test_mutated_files() -> None:
    loaded = 0
    reset_peak_memory_stats()
    before = memory_allocated()
    for seed, data in mutated(MUTATIONS):
        try:
            look(load(data, map_location="cpu"))
            loaded += 1
        except FAMILY:
            pass
        except Exception as error:
            raise AssertionError(f"file {seed}: {error!r}") from error
    assert loaded, "some mutations change values alone"
    assert max_memory_allocated() - before < 1 << 20


@pytest.mark.parametrize("length", [0, 1, 4095, 4096, 4159, 4160, 4288, 65536, 100_003, (1 << 24) + 64, (1 << 25) + 77])
def test_checksums(length: int) -> None:
    data = random.Random(length).randbytes(length)
    assert checksum(data) == zlib.crc32(data)
    assert checksum(memoryview(data)[3:]) == zlib.crc32(data[3:])


def test_checksums_are_those_of_zip() -> None:
    with zipfile.ZipFile(io.BytesIO(saved(content()))) as archive:
        for each in archive.infolist():
            assert zlib.crc32(archive.read(each)) == each.CRC

"""What other libraries make, as tensors: objects with `__dlpack__`, NumPy's protocols or access to their memory."""

from __future__ import annotations

import array
import pickle
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import opweave
import pytest

CONSTRUCTORS = {"tensor": opweave.tensor, "as_tensor": opweave.as_tensor, "asarray": opweave.asarray}


class WithArray:
    """As pandas and many others have it."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values

    def keys(self) -> list[int]:
        return [0]


class WithInterface:
    """As images have it."""

    def __init__(self, values: Any) -> None:
        self.values = values
        self.__array_interface__ = values.__array_interface__


class WithDLPack:
    """As other tensors have it."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class WithoutPack(WithArray):
    """Packed bits, as Arrow has them, are no elements of DLPack."""

    def __dlpack__(self, **options: Any) -> Any:
        raise TypeError("packed bits")


KINDS = [WithArray, WithInterface, WithDLPack, WithoutPack]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_objects_of_other_libraries(kind: Any, name: str) -> None:
    make = CONSTRUCTORS[name]
    values = np.array([[1, 2], [3, 4]], dtype=np.int16)
    result = make(kind(values))
    assert result.dtype is opweave.int16
    assert result.tolist() == [[1, 2], [3, 4]]
    wide = make(kind(values), dtype=opweave.float64)
    assert wide.dtype is opweave.float64
    assert wide.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    values[0, 0] = 9
    assert result[0, 0].item() == (1 if name == "tensor" else 9)


@pytest.mark.parametrize("kind", KINDS)
def test_nested_lists_of_them(kind: Any) -> None:
    values = np.array([1.0, 2.0])
    for result in (opweave.tensor([kind(values), kind(values)]), opweave.tensor((kind(values), [1.0, 2.0]))):
        assert result.dtype is opweave.float64
        assert result.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert opweave.tensor([kind(np.array(1.5)), 2], dtype=opweave.int64).tolist() == [1, 2]
    assert opweave.tensor([[kind(np.array(1))], [2]]).tolist() == [[1], [2]]
    with pytest.raises(ValueError, match="expected sequence of length 2"):
        opweave.tensor([kind(values), kind(values[:1])])


def test_legacy_constructors_take_them() -> None:
    values = WithArray(np.array([1.5, 2.5]))
    assert opweave.ones(1).new_tensor(values).tolist() == [1.5, 2.5]
    assert opweave.LongTensor([values, values]).tolist() == [[1, 2], [1, 2]]


def test_memory_that_must_not_be_written_is_copied() -> None:
    values = np.arange(3.0)
    values.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = opweave.as_tensor(WithArray(values))
        other = opweave.asarray(WithArray(values))
    result += 1
    other += 1
    assert values.tolist() == [0.0, 1.0, 2.0]
    with pytest.warns(UserWarning, match="not writable"):
        shared = opweave.asarray(WithArray(values), copy=False)
    assert shared.data_ptr() == values.ctypes.data
    with pytest.raises(RuntimeError):
        shared.add_(1)


def test_objects_in_arrays_say_what_they_are() -> None:
    mixed = np.array([1, 2.5], dtype=object)
    assert opweave.tensor(WithArray(mixed)).tolist() == [1.0, 2.5]
    assert opweave.tensor([WithArray(mixed)]).tolist() == [[1.0, 2.5]]
    assert opweave.as_tensor(WithArray(mixed)).dtype is opweave.float32
    with pytest.raises(RuntimeError, match="Could not infer dtype of NoneType"):
        opweave.tensor(WithArray(np.array([None], dtype=object)))
    with pytest.raises(TypeError, match=r"can't convert np.ndarray of type numpy.datetime64"):
        opweave.tensor(WithArray(np.array(["2020"], dtype="M8[D]")))


def test_indices_and_values_to_write() -> None:
    class Sequence(WithArray):
        def __len__(self) -> int:
            return len(self.values)

        def __getitem__(self, index: int) -> Any:
            raise KeyError(index)  # as by labels

    x = opweave.arange(4.0)
    for index in (Sequence(np.array([2, 0])), array.array("b", [2, 0]), memoryview(np.array([2, 0]))):
        assert x[index].tolist() == [2.0, 0.0]
        assert x[index, None].tolist() == [[2.0], [0.0]]
    assert x[Sequence(np.array([True, False, False, True]))].tolist() == [0.0, 3.0]
    for kind in KINDS:
        x[1:3] = kind(np.array([7, 8]))
        assert x.tolist() == [0.0, 7.0, 8.0, 3.0]
        x[1:3] = 0
    for index in ({0: 1}, {0}, "0", WithArray):
        with pytest.raises((IndexError, TypeError)):
            x[index]


def test_classes_are_no_arrays() -> None:
    with pytest.raises(RuntimeError, match="Could not infer dtype of type"):
        opweave.tensor(WithArray)


def test_errors_of_other_libraries_are_passed_on() -> None:
    class Remote(WithDLPack):
        def __dlpack__(self, **options: Any) -> Any:
            raise BufferError("on another device")

    with pytest.raises(BufferError, match="on another device"):
        opweave.tensor(Remote(np.ones(1)))


# ---- memory -------------------------------------------------------------------------------------------------


def test_elements_of_buffers() -> None:
    matrix = memoryview(np.array([[1.0, 2.0], [3.0, 4.0]]))
    for make in (opweave.tensor, opweave.as_tensor):
        # As of any sequence of Python's floats.
        assert make(array.array("d", [1, 2])).dtype is opweave.float32
        assert make(array.array("h", [1, 2])).dtype is opweave.int64
        assert make(bytearray(b"ab")).tolist() == [97, 98]
        assert make(matrix).tolist() == [[1.0, 2.0], [3.0, 4.0]]
        assert make(matrix, dtype=opweave.int32).tolist() == [[1, 2], [3, 4]]
        assert make([array.array("i", [1, 2]), [3, 4]]).tolist() == [[1, 2], [3, 4]]
        assert make(pickle.PickleBuffer(b"ab")).tolist() == [97, 98]


def test_asarray_reads_typed_memory_as_what_it_is() -> None:
    numbers = array.array("d", [1, 2])
    shared = opweave.asarray(numbers)
    assert shared.dtype is opweave.float64
    assert shared.tolist() == [1.0, 2.0]
    numbers[0] = 5
    assert shared[0].item() == 5
    assert opweave.asarray(memoryview(np.ones((2, 3), np.int16))).shape == (2, 3)
    # Bytes have no type of their own.
    assert opweave.asarray(bytearray(np.float32([1, 2]).tobytes())).tolist() == [1.0, 2.0]
    assert opweave.asarray(bytearray(b"ab"), dtype=opweave.uint8).tolist() == [97, 98]


def test_numbers_of_other_classes() -> None:
    assert opweave.tensor(Decimal("1.5"), dtype=opweave.float64).item() == 1.5
    assert opweave.tensor([Fraction(1, 2), 1], dtype=opweave.float32).tolist() == [0.5, 1.0]
    with pytest.raises(RuntimeError, match=r"Could not infer dtype of decimal\.Decimal"):
        opweave.tensor(Decimal("1.5"))
    with pytest.raises(TypeError, match="must be real number, not dict"):
        opweave.tensor({}, dtype=opweave.float32)
    for text in ("1", b"1"):
        with pytest.raises(TypeError, match="invalid data type"):
            opweave.tensor(text, dtype=opweave.complex64)


# ---- pandas -------------------------------------------------------------------------------------------------


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([1.0, 2.0, 3.0], index=list("abc"))
    frame = pandas.DataFrame({"x": [1, 2], "y": [1.5, 2.5]})
    for make in CONSTRUCTORS.values():
        assert make(series).tolist() == [1.0, 2.0, 3.0]
        assert make(series > 1).dtype is opweave.bool
        assert make(frame).tolist() == [[1.0, 1.5], [2.0, 2.5]]
        assert make(series.index.map(ord)).tolist() == [97, 98, 99]
        assert make([series, series]).shape == (2, 3)
        assert make(pandas.Series([1, 2], dtype="Int64")).dtype is opweave.int64
        make(series).add_(1)
    assert series.tolist() == [1.0, 2.0, 3.0]
    assert str(opweave.tensor(pandas.Series([1, None], dtype="Int64")).tolist()) == "[1.0, nan]"


def test_pandas_in_operators() -> None:
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([1.0, 2.0, 3.0])
    w = opweave.ones(3, requires_grad=True)
    for form in (lambda: w * series, lambda: series * w, lambda: w @ series, lambda: series.index.map(float) + 1 + w):
        assert form().requires_grad
    ((series * w).sum() + w @ series).backward()
    assert w.grad.tolist() == [2.0, 4.0, 6.0]
    for result in (w == series, series == w):
        assert type(result) is opweave.Tensor
        assert result.tolist() == [True, False, False]
    assert (opweave.ones(2, 2) - pandas.DataFrame([[1, 2], [3, 4]])).tolist() == [[0.0, -1.0], [-2.0, -3.0]]


class Described:
    """An object that describes memory by `__array_interface__`, two float64 unless something else is said."""

    def __init__(self, **facts: Any) -> None:
        self.memory = np.ones(4)
        data = (self.memory.ctypes.data, False)
        self.__array_interface__ = {"version": 3, "shape": (2,), "typestr": "<f8", "data": data, **facts}


@pytest.mark.parametrize(
    "facts",
    [
        {"shape": (-1,)},
        {"shape": (2**62, 2**62)},
        {"shape": "a"},
        {"strides": (8, 8)},
        {"strides": (3,)},
        {"typestr": "<f3"},
        {"typestr": ">f8"},
        {"typestr": "|O8"},  # pointers to objects
        {"typestr": "|V8"},
        {"data": b"123"},  # fewer bytes than two numbers take
        {"data": bytes(16), "offset": 8},
        {"data": bytes(16), "strides": (16,)},
        {"data": bytearray(24), "strides": (-8,)},
        {"data": (0, False)},
        {"data": (1, False)},
        {"data": None},
    ],
)
def test_descriptions_of_memory_that_is_not_there(facts: dict[str, Any]) -> None:
    for function in (opweave.asarray, opweave.tensor, opweave.as_tensor):
        with pytest.raises((TypeError, ValueError)):
            function(Described(**facts))
        assert function(Described(data=bytes(24), offset=8)).tolist() == [0, 0]
        assert function(Described()).tolist() == [1, 1]


def test_descriptions_that_are_made_when_they_are_asked_for() -> None:
    class Image:
        @property
        def __array_interface__(self) -> dict[str, Any]:
            return {"version": 3, "shape": (2, 3), "typestr": "|u1", "data": bytes(range(6))}

    for function in (opweave.asarray, opweave.tensor, opweave.as_tensor):
        assert function(Image()).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_arguments_of_numpy() -> None:
    """Libraries call functions by their names as they call NumPy's."""
    x = opweave.arange(24).view(2, 3, 4)
    assert opweave.transpose(x).shape == (4, 3, 2)
    assert opweave.transpose(x, (1, 0, 2)).shape == opweave.transpose(x, axes=[1, 0, 2]).shape == (3, 2, 4)
    assert x.transpose((2, 1, 0)).tolist() == opweave.transpose(x, dim0=0, dim1=2).tolist()
    assert opweave.tensordot(x, x, axes=((0, 1), (0, 1))).shape == (4, 4)
    assert opweave.stack([x, x], axis=1).shape == (2, 2, 3, 4)
    for wrong in ((x, 0), (x, "a"), (x, 0, 1, 2), (), (x, (0, 1), 2)):
        with pytest.raises(TypeError):
            opweave.transpose(*wrong)


def test_what_dtypes_say_to_libraries() -> None:
    kinds = {"float32": "f", "bfloat16": "f", "int8": "i", "uint16": "u", "bool": "b", "complex64": "c"}
    for name, kind in kinds.items():
        dtype = getattr(opweave, name)
        assert (dtype.name, dtype.kind) == (name, kind)
    assert opweave.ones(2).to_numpy().tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="requires grad"):
        opweave.ones(2, requires_grad=True).to_numpy()

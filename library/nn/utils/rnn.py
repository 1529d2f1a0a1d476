"""opweave.nn.utils.rnn: sequences of several lengths, padded or packed."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from typing import Any

from ... import _operators as ops
from ..._base.dtypes import EXPORTS
from ..._base.tensor_class import Tensor
from ..._tensor.construct import tensor

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]

_Packed = namedtuple("_Packed", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])


def invert_permutation(permutation: Any) -> Any:
    """Return the permutation that undoes another one; None of None."""
    if permutation is None:
        return None
    places = ops.arange(permutation.numel(), dtype=permutation.dtype)
    return ops.empty_like(permutation).scatter_(0, permutation, places)


class PackedSequence(_Packed):
    """Sequences of several lengths, step by step: `data` has the first elements of all, then the second ones of those
    that have such, and so on, `batch_sizes` how many there are of each. `pack_sequence` and `pack_padded_sequence` make
    such.
    """

    __slots__ = ()

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> Any:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("a packed sequence is made of its data and the sizes of its batches")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Return the sequence with data as `Tensor.to` gives it."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    def _converted(self, name: str) -> Any:
        return self.to(dtype=EXPORTS[name])

    def double(self) -> Any:
        """Return the sequence with data in float64."""
        return self._converted("float64")

    def float(self) -> Any:
        """Return the sequence with data in float32."""
        return self._converted("float32")

    def half(self) -> Any:
        """Return the sequence with data in float16."""
        return self._converted("float16")

    def long(self) -> Any:
        """Return the sequence with data in int64."""
        return self._converted("int64")

    def int(self) -> Any:
        """Return the sequence with data in int32."""
        return self._converted("int32")

    def cpu(self) -> Any:
        """Return the sequence with data on the CPU."""
        return self.to("cpu")

    def pin_memory(self) -> Any:
        """Return the sequence in memory of the CPU that the accelerator allocates. Raises RuntimeError where there is
        none."""
        data, sizes, *places = self
        return type(self)(data.pin_memory(), sizes, *[None if each is None else each.pin_memory() for each in places])

    @property
    def is_cuda(self) -> bool:
        """Always False."""
        return False

    def is_pinned(self) -> bool:
        """Return whether a device has allocated the memory of the data."""
        return bool(self.data.is_pinned())


def pack_padded_sequence(input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True) -> Any:
    """Pack sequences that are padded to one length.

    Args:
        input (Tensor): of shape (T, N, *), with `batch_first` (N, T, *).
        lengths (Tensor or list of int): the lengths of the sequences, of shape (N).
        batch_first (bool): whether N is the first dimension.
        enforce_sorted (bool): whether lengths must descend. Otherwise the sequences are sorted.

    Returns:
        A PackedSequence.

    Raises:
        RuntimeError: a length is less than 1, or more than T, or they do not descend.
    """
    lengths = lengths.to(EXPORTS["int64"]) if isinstance(lengths, Tensor) else tensor(lengths, dtype=EXPORTS["int64"])
    order = None
    if not enforce_sorted:
        lengths, order = lengths.sort(descending=True)
        input = input.index_select(0 if batch_first else 1, order)
    if batch_first:
        input = input.transpose(0, 1)
    listed = lengths.tolist()
    if not listed or input.size(1) != len(listed):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(listed)} (batch_size={input.size(1)})"
        )
    if listed[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if listed != sorted(listed, reverse=True):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        )
    if listed[0] > input.size(0):
        raise RuntimeError(f"a sequence has length {listed[0]}, but the padded ones have {input.size(0)}")
    sizes = [sum(length > step for length in listed) for step in range(listed[0])]
    data = ops.cat([input[step, :size] for step, size in enumerate(sizes)])
    return PackedSequence(data, tensor(sizes, dtype=EXPORTS["int64"]), order, None)


def pad_packed_sequence(
    sequence: Any, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Any, Any]:
    """Undo `pack_padded_sequence`.

    Args:
        sequence (PackedSequence): the sequences.
        batch_first (bool): whether N becomes the first dimension.
        padding_value (float): what follows the end of a sequence.
        total_length (int): T; None: the length of the longest sequence.

    Returns:
        A tensor of shape (T, N, *), and the lengths.

    Raises:
        ValueError: `total_length` is less than that of the longest sequence.
    """
    data, batch_sizes, _, restore = sequence
    sizes = batch_sizes.tolist()
    steps = len(sizes)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    rest = tuple(data.shape[1:])
    margins = [0, 0] * len(rest)
    parts = [ops.pad(part, [*margins, 0, sizes[0] - part.size(0)], value=padding_value) for part in data.split(sizes)]
    if steps > len(sizes):
        parts += [data.new_full((sizes[0], *rest), padding_value)] * (steps - len(sizes))
    padded = ops.stack(parts)
    padded = padded.transpose(0, 1) if batch_first else padded
    lengths = tensor([sum(size > place for size in sizes) for place in range(sizes[0])], dtype=EXPORTS["int64"])
    if restore is not None:
        padded, lengths = padded.index_select(0 if batch_first else 1, restore), lengths.index_select(0, restore)
    return padded, lengths


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Any:
    """Stack sequences (L, *), filled up to the length of the longest.

    Args:
        sequences (iterable of Tensor): the sequences.
        batch_first (bool): whether the result is (N, T, *), and not (T, N, *).
        padding_value (float): what they are filled with.
        padding_side (str): `right`, behind their end, or `left`.

    Raises:
        RuntimeError: they are no iterable, or the side is not known.
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    listed = sequences.unbind(0) if isinstance(sequences, Tensor) else tuple(sequences)
    if not listed:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    longest = max(each.size(0) for each in listed)
    parts = []
    for each in listed:
        missing = longest - each.size(0)
        width = [missing, 0] if padding_side == "left" else [0, missing]
        parts.append(ops.pad(each, [0, 0] * (each.dim() - 1) + width, value=padding_value))
    return ops.stack(parts, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """Return the sequences that `pad_sequence` stacked, each as long as `lengths` says."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    counts = lengths.tolist() if isinstance(lengths, Tensor) else lengths
    return [each[:count] for each, count in zip(padded_sequences.unbind(0), counts, strict=True)]


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> Any:
    """Pack sequences (L, *). The arguments are those of `pack_padded_sequence`."""
    lengths = tensor([each.size(0) for each in sequences], dtype=EXPORTS["int64"])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: Any) -> list[Any]:
    """Return the sequences that `pack_sequence` packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)

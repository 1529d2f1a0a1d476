"""Tensors of every layout, dtype and representation."""

from __future__ import annotations

from random import Random
from typing import Any

import fuzzing
import numpy as np
import opweave


class Kind(opweave.Tensor):
    """A subclass."""


def random_tensor(random: Random) -> Any:
    dtype = random.choice(fuzzing.DTYPE_NAMES)
    tensor = fuzzing.random_tensor(random, fuzzing.random_shape(random), dtype)
    choice = random.random()
    if choice < 0.05:
        return opweave.Tensor.__new__(random.choice((opweave.Tensor, Kind)))
    if choice < 0.1:
        return tensor.as_subclass(Kind)
    if choice < 0.2 and tensor.is_floating_point():
        return tensor.requires_grad_()
    if choice < 0.25:
        with opweave.inference_mode():
            return tensor.clone()
    if choice < 0.3:
        return opweave.from_numpy(np.arange(6.0).reshape(2, 3))
    if choice < 0.4:
        return random_representation(random)
    if random.random() < 0.1:
        tensor = tensor.conj()
    return tensor.to("meta") if random.random() < 0.1 else tensor


def random_representation(random: Random) -> Any:
    """A tensor that is not dense, or has names or complex elements."""
    return random.choice((coordinates, compressed, loose, quantized, named, complex_one))(random)


def _dense(random: Random, *shape: int) -> Any:
    return opweave.tensor(
        np.array([random.choice((0, 0, 1, -2, 3)) for _ in range(int(np.prod(shape)))]), dtype=_dtype(random)
    ).reshape(shape)


def _dtype(random: Random) -> Any:
    return random.choice((opweave.float32, opweave.float64, opweave.int64, opweave.bfloat16, opweave.uint8))


def coordinates(random: Random) -> Any:
    result = _dense(random, random.choice((0, 1, 3, 4)), random.choice((0, 2, 3)), 2).to_sparse(
        random.choice((1, 2, 3))
    )
    return result.requires_grad_() if random.random() < 0.3 and result.is_floating_point() else result


def compressed(random: Random) -> Any:
    dense = _dense(random, random.choice((2, 4)), random.choice((2, 4)))
    way = random.choice(("csr", "csc", "bsr", "bsc"))
    return getattr(dense, f"to_sparse_{way}")(*(((2, 2),) if way[0] == "b" else ()))


def loose(random: Random) -> Any:
    """Coordinates that nobody has checked: out of order, there twice, or beyond the shape."""
    count = random.choice((0, 1, 3, 5))
    places = [[random.choice((0, 1, 1, 2, -1, 7, 2**40)) for _ in range(count)] for _ in range(2)]
    indices = opweave.tensor(places, dtype=opweave.int64).reshape(2, count)
    shape = random.choice(((3, 3), (2, 8), (1, 1)))
    return opweave.sparse_coo_tensor(
        indices, opweave.ones(count, dtype=_dtype(random)), shape, check_invariants=False,
        is_coalesced=random.choice((None, True, False)),
    )  # fmt: skip


def quantized(random: Random) -> Any:
    dense = _dense(random, random.choice((0, 1, 3)), 4).float()
    dtype = random.choice((opweave.quint8, opweave.qint8, opweave.qint32))
    if random.random() < 0.5:
        return opweave.quantize_per_tensor(dense, 0.5, random.choice((0, 3)), dtype)
    return opweave.quantize_per_channel(dense, opweave.ones(4), opweave.zeros(4, dtype=opweave.int64), 1, dtype)


def named(random: Random) -> Any:
    return _dense(random, 2, random.choice((0, 3))).refine_names("N", random.choice((None, "C")))


def complex_one(random: Random) -> Any:
    return _dense(random, 2, 3).to(random.choice((opweave.complex64, opweave.complex128))).t()

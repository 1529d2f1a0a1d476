"""Class Generator: a stream of random numbers with a state of its own.

The engine is MT19937 of the core (core/routines/random/random_engine.c). States are those of torch 2.13, byte for byte.
"""

from __future__ import annotations

import operator
import os
from typing import TYPE_CHECKING, Any

from .._C import ffi, lib
from .._handle import TensorBase
from .allocation import allocate
from .devices import CPU, available, device, is_registered, number_of, on_device
from .dtypes import EXPORTS
from .errors import raise_pending
from .type_names import type_name

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor

__all__ = ["Generator", "default_generator"]

_FIRST_SEED = 67280421310721
_STATE_BYTES = 5056
_CONTIGUOUS = 1
"""OW_CONTIGUOUS, a flag of handles."""


class Generator:
    """A stream of random numbers. Functions that draw take one as `generator`; without it they use the default one.

    A fill is one indivisible piece of the stream: threads may share a generator. The child of a fork has a copy.
    """

    __slots__ = ("__weakref__", "_address", "_device", "_lender", "_number")
    __module__ = "opweave"

    _lender: Generator | None
    """The generator that frees the stream, where it is another one."""

    def __init__(self, device: device | str = "cpu") -> None:
        self._device, self._lender = available(device), None
        self._number = number_of(self._device)
        if not (self._device is CPU or is_registered(self._device)):
            raise RuntimeError("META device type not an accelerator.")
        self._address: int = lib.generator_new(_FIRST_SEED)
        if not self._address:
            raise_pending()

    def __del__(self) -> None:
        address = getattr(self, "_address", 0)
        if address and getattr(self, "_lender", None) is None:
            del self._address
            lib.generator_free(address)

    def _for_cpu(self) -> Generator:
        """The same stream for tensors of the CPU, in whose place a device has them filled."""
        made = Generator.__new__(Generator)
        made._address, made._lender, made._device, made._number = self._address, self, CPU, number_of(CPU)
        return made

    @property
    def device(self) -> device:
        """The device whose tensors are filled from the stream."""
        return self._device

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of a seed, of which the low 32 bits count, and return the generator."""
        if not hasattr(seed, "__index__"):
            raise RuntimeError(f"manual_seed expected a long, but got {type_name(seed)}")
        seed = operator.index(seed)
        if not -(2**63) <= seed < 2**64:
            raise ValueError("Overflow when unpacking long long")
        if not lib.generator_seed(self._address, seed % 2**64):
            raise_pending()
        return self

    def seed(self) -> int:
        """Start the stream of a seed that the system chooses, and return the seed as an int."""
        seed = int.from_bytes(os.urandom(8), "little")
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """Return the seed of the stream as an int."""
        seed = ffi.new("uint64_t *")
        if not lib.generator_initial_seed(self._address, seed):
            raise_pending()
        return int(seed[0])

    def get_state(self) -> Tensor:
        """Return the state as a uint8 tensor of shape (5056,), from which `set_state` goes on."""
        state: Tensor = on_device(CPU, allocate, (_STATE_BYTES,), EXPORTS["uint8"].code)
        if not lib.generator_save(self._address, lib.data_ptr(state._h)):
            raise_pending()
        return state

    def set_state(self, new_state: Tensor) -> None:
        """Go on from a state that `get_state` returned, or torch's. Raises TypeError for anything but a uint8
        tensor, RuntimeError for one that holds no state.
        """
        if not isinstance(new_state, TensorBase):
            raise TypeError(f"expected a opweave.ByteTensor, but got {type_name(new_state)}")
        if lib.dtype(new_state._h) != EXPORTS["uint8"].code:
            raise TypeError("RNG state must be a opweave.ByteTensor")
        if new_state.device is not CPU:
            raise RuntimeError(f"RNG state must be on the CPU, but got a tensor on the device {new_state.device}")
        # The core is asked, and not methods that a subclass may have replaced: an address is about to be read from.
        if not lib.flags(new_state._h) & _CONTIGUOUS:
            raise RuntimeError("RNG state must be contiguous")
        if lib.numel(new_state._h) != _STATE_BYTES:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE_BYTES} but found the input RNG state size to be "
                f"{lib.numel(new_state._h)}"
            )
        if not lib.generator_restore(self._address, lib.data_ptr(new_state._h)):
            raise_pending()

    def clone_state(self) -> Generator:
        """Return a new generator that goes on from the state of this one."""
        other = Generator(self._device)
        other.set_state(self.get_state())
        return other

    def get_offset(self) -> int:
        """Raise RuntimeError: the generator of the CPU has no offset."""
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset: int) -> None:
        """Raise RuntimeError: the generator of the CPU has no offset."""
        raise RuntimeError("CPU Generator does not use offset")

    def __reduce__(self) -> tuple[Any, ...]:
        return Generator, (self._device,), (self.initial_seed(), None, self.get_state())

    def __setstate__(self, state: tuple[int, None, Tensor]) -> None:
        self.set_state(state[2])


# The core's own, of address 0, which is not to be freed.
default_generator: Generator = Generator.__new__(Generator)
default_generator._address, default_generator._device, default_generator._number = 0, CPU, number_of(CPU)

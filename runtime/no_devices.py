"""What the namespace of a kind of device answers where there is none of them: `opweave.cuda` and `opweave.xpu`.

Questions are answered, and what concerns every device there is does nothing, for there is none. What needs one raises
the exception that torch raises then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


class NoDevices:
    """The functions of such a namespace. `name` is what messages call the kind."""

    def __init__(self, name: str) -> None:
        self._refusal = f"opweave is not compiled with {name}: tensors live on the CPU"

    # ---- questions ----

    def is_available(self) -> bool:
        """Is there such a device? No."""
        return False

    def is_initialized(self) -> bool:
        return False

    def is_bf16_supported(self, including_emulation: bool = True) -> bool:
        return False

    def is_tf32_supported(self) -> bool:
        return False

    def device_count(self) -> int:
        """How many such devices are there? 0."""
        return 0

    def get_arch_list(self) -> list[str]:
        """The architectures that this build has code for: none."""
        return []

    def bytes_in_use(self, device: Any = None) -> int:
        """Of the memory of such devices: 0."""
        return 0

    def memory_stats(self, device: Any = None) -> dict[str, int]:
        return {}

    def get_rng_state_all(self) -> list[Any]:
        return []

    # ---- what concerns all devices, of which there are none ----

    def empty_cache(self) -> None:
        pass

    def reset_peak_memory_stats(self, device: Any = None) -> None:
        pass

    def manual_seed(self, seed: int) -> None:
        pass

    def seed_all(self) -> None:
        pass

    def set_rng_state_all(self, new_states: Any) -> None:
        pass

    # ---- what needs one ----

    def refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises AssertionError: it needs a device."""
        raise AssertionError(self._refusal)

    @contextmanager
    def device(self, device: Any) -> Iterator[None]:
        """A context in which that device is the current one; None and negative numbers stand for none."""
        if not (device is None or (isinstance(device, int) and device < 0)):
            self.refuse()
        yield

    @contextmanager
    def stream(self, stream: Any) -> Iterator[None]:
        """A context in which that stream is the current one; None stands for none."""
        if stream is not None:
            self.refuse()
        yield

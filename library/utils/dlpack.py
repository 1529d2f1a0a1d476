"""opweave.utils.dlpack: memory that libraries lend each other as DLPack's capsules, as in torch.utils.dlpack."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from .._base.interchange import from_dlpack

if TYPE_CHECKING:
    from .._tensor.tensor import Tensor

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
_PACKAGE_NAMES = ["to_dlpack"]


class DLDeviceType(enum.IntEnum):
    """The kinds of devices that DLPack knows, by its names. Tensors of this build are on `kDLCPU`."""

    kDLCPU = 1  # noqa: N815 (the names of DLPack)
    kDLCUDA = 2  # noqa: N815
    kDLCUDAHost = 3  # noqa: N815
    kDLOpenCL = 4  # noqa: N815
    kDLVulkan = 7  # noqa: N815
    kDLMetal = 8  # noqa: N815
    kDLVPI = 9  # noqa: N815
    kDLROCM = 10  # noqa: N815
    kDLROCMHost = 11  # noqa: N815
    kDLExtDev = 12  # noqa: N815
    kDLCUDAManaged = 13  # noqa: N815
    kDLOneAPI = 14  # noqa: N815
    kDLWebGPU = 15  # noqa: N815
    kDLHexagon = 16  # noqa: N815
    kDLMAIA = 17  # noqa: N815


def to_dlpack(tensor: Tensor) -> object:
    """Return a capsule over the memory of the tensor, of DLPack before version 1, which can be taken once."""
    capsule: object = tensor.__dlpack__()
    return capsule

"""opweave.fx.passes.shape_prop: the shapes and dtypes of all values of a graph, by running it."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..._base.dtypes import dtype
from ..._base.tensor_class import Tensor
from ..._base.types import Size, channels_last, channels_last_3d, contiguous_format, memory_format
from ..interpreter import Interpreter
from ..node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """The metadata of a tensor."""

    shape: Size
    dtype: dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


class ShapeProp(Interpreter):
    """Runs a graph and writes into `meta` of each node: `tensor_meta`, a TensorMetadata for each tensor of the value,
    and `type`, its class.

        ShapeProp(module).propagate(opweave.randn(1, 3, 32, 32))
    """

    def run_node(self, n: Node) -> Any:
        """Return the value of a node, after its `meta` has been written."""
        result = super().run_node(n)
        found = []

        def described(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            found.append(value)
            return _metadata(value)

        metadata = map_aggregate(result, described)
        if found:
            n.meta["tensor_meta"] = metadata
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph and return its result.

        Args:
            *args: the inputs.
        """
        return self.run(*args)


def _metadata(tensor: Tensor) -> TensorMetadata:
    formats = (contiguous_format, channels_last, channels_last_3d)
    dims = {channels_last: 4, channels_last_3d: 5}
    possible = [each for each in formats if dims.get(each, tensor.ndim) == tensor.ndim]
    fitting = (each for each in possible if tensor.is_contiguous(memory_format=each))
    return TensorMetadata(
        tensor.shape,
        tensor.dtype,
        tensor.requires_grad,
        tensor.stride(),
        next(fitting, None),
        tensor.is_quantized,
        {},
    )

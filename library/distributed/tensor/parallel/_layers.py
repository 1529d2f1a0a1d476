"""Styles of layers: linear maps and embeddings by columns or rows, and layers of sequences."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from ....nn import Embedding, Linear, Module
from ...device_mesh import DeviceMesh
from .._modules import distribute_module
from ..placement_types import Placement, Replicate, Shard
from ._style import ParallelStyle, brought, given_back

__all__ = ["ColwiseParallel", "RowwiseParallel", "SequenceParallel"]


class _Layer(ParallelStyle):
    """Base class: parameters are sharded, the input is brought to a placement, and so is the output.

    Args:
        input_layouts (Placement): that of an input which is not distributed.
        output_layouts (Placement): that of the output.
        use_local_output (bool): whether the output is the part of this process alone.
    """

    _input: Placement = Replicate()
    _output: Placement = Replicate()
    _parameters: ClassVar[Mapping[type[Module], dict[str, Placement]]] = {}
    _desired: ClassVar[Mapping[type[Module], Placement]] = {}
    """The placement that the input of a layer must have, by its class."""

    def __init__(
        self,
        *,
        input_layouts: Placement | None = None,
        output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:
        self.input_layouts = (input_layouts or self._input,)
        self.output_layouts = (output_layouts or self._output,)
        self.use_local_output = use_local_output

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        kind = next((kind for kind in self._parameters if isinstance(module, kind)), None)
        if kind is None:
            raise NotImplementedError(
                f"{type(self).__name__} currently only support nn.Linear and nn.Embedding! Got {type(module).__name__}"
            )
        return distribute_module(
            module,
            device_mesh,
            partial(_sharded, self, self._parameters[kind]),
            partial(_input, self, self._desired[kind]),
            partial(_output, self),
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(input_layouts={self.input_layouts}, output_layouts={self.output_layouts}, "
            f"use_local_output={self.use_local_output})"
        )


def _sharded(
    style: ParallelStyle, placements: dict[str, Placement], name: str, module: Module, mesh: DeviceMesh
) -> None:
    style._shard(module, mesh, placements)


def _input(style: _Layer, wanted: Placement, module: Module, inputs: Any, mesh: DeviceMesh) -> Any:
    return brought(inputs[0], mesh, style.input_layouts[0], wanted), *inputs[1:]


def _output(style: _Layer, module: Module, output: Any, mesh: DeviceMesh) -> Any:
    return given_back(brought(output, mesh, style.output_layouts[0], style.output_layouts[0]), style.use_local_output)


class ColwiseParallel(_Layer):
    """`nn.Linear` by its outputs, or `nn.Embedding` by the columns of its table: each process computes some columns.

    Args:
        input_layouts (Placement): that of an input which is not distributed; None: `Replicate`.
        output_layouts (Placement): that of the output; None: sharded along the last dimension.
        use_local_output (bool): whether the output is the part of this process alone.
    """

    _output = Shard(-1)
    _parameters: ClassVar[Mapping[type[Module], dict[str, Placement]]] = {
        Linear: {"weight": Shard(0), "bias": Shard(0)},
        Embedding: {"weight": Shard(1)},
    }
    _desired: ClassVar[Mapping[type[Module], Placement]] = {Linear: Replicate(), Embedding: Replicate()}


class RowwiseParallel(_Layer):
    """`nn.Linear` by its inputs, or `nn.Embedding` by the rows of its table: outputs are sums over the processes.

    Args:
        input_layouts (Placement): that of an input which is not distributed; None: sharded along the last dimension.
        output_layouts (Placement): that of the output; None: `Replicate`.
        use_local_output (bool): whether the output is the part of this process alone.
    """

    _input = Shard(-1)
    _parameters: ClassVar[Mapping[type[Module], dict[str, Placement]]] = {
        Linear: {"weight": Shard(1), "bias": Replicate()},
        Embedding: {"weight": Shard(0)},
    }
    _desired: ClassVar[Mapping[type[Module], Placement]] = {Linear: Shard(-1), Embedding: Replicate()}


class SequenceParallel(ParallelStyle):
    """Layers that treat each position of a sequence alike, such as `nn.LayerNorm` and `nn.Dropout`: their parameters
    are replicated, their inputs sharded along the sequence.

    Args:
        sequence_dim (int): the dimension of positions.
        use_local_output (bool): whether the output is the part of this process alone.
    """

    def __init__(self, *, sequence_dim: int = 1, use_local_output: bool = False) -> None:
        self.sequence_sharding = (Shard(sequence_dim),)
        self.use_local_output = use_local_output

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        layout = self.sequence_sharding[0]

        def replicated(name: str, each: Module, mesh: DeviceMesh) -> None:
            for own, parameter in list(each._parameters.items()):
                if parameter is not None:
                    self._shard(each, mesh, {own: Replicate()})

        def prepared(each: Module, inputs: Any, mesh: DeviceMesh) -> Any:
            return brought(inputs[0], mesh, layout, layout), *inputs[1:]

        def finished(each: Module, output: Any, mesh: DeviceMesh) -> Any:
            return given_back(output, self.use_local_output)

        return distribute_module(module, device_mesh, replicated, prepared, finished)

    def __repr__(self) -> str:
        return (
            f"SequenceParallel(sequence_dim={self.sequence_sharding[0].dim}, use_local_output={self.use_local_output})"
        )

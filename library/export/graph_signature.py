"""opweave.export.graph_signature: what the inputs and the results of an exported graph are."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any, NamedTuple

__all__ = [
    "ConstantArgument",
    "ExportGraphSignature",
    "InputKind",
    "InputSpec",
    "OutputKind",
    "OutputSpec",
    "TensorArgument",
]


class TensorArgument(NamedTuple):
    """A tensor, by the name of its node."""

    name: str


class ConstantArgument(NamedTuple):
    """A value that is no tensor and the same in all calls."""

    name: str
    value: Any


class InputKind(Enum):
    """The kinds of inputs of a graph."""

    USER_INPUT = auto()
    PARAMETER = auto()
    BUFFER = auto()
    CONSTANT_TENSOR = auto()
    CUSTOM_OBJ = auto()
    TOKEN = auto()


class OutputKind(Enum):
    """The kinds of results of a graph, of which exported ones have the first."""

    USER_OUTPUT = auto()
    LOSS_OUTPUT = auto()
    BUFFER_MUTATION = auto()
    PARAMETER_MUTATION = auto()
    GRADIENT_TO_PARAMETER = auto()
    GRADIENT_TO_USER_INPUT = auto()
    USER_INPUT_MUTATION = auto()
    TOKEN = auto()


class InputSpec(NamedTuple):
    """An input: its node, and the path of the parameter, buffer or constant that it is."""

    kind: InputKind
    arg: TensorArgument | ConstantArgument
    target: str | None
    persistent: bool | None = None
    """Whether a buffer is part of the state."""

    def __str__(self) -> str:
        target = "" if self.target is None else f" target={self.target!r}"
        persistent = "" if self.persistent is None else f" persistent={self.persistent}"
        return f"{self.arg.name}: {self.kind.name}{target}{persistent}"


class OutputSpec(NamedTuple):
    """A result and its node."""

    kind: OutputKind
    arg: TensorArgument | ConstantArgument
    target: str | None = None

    def __str__(self) -> str:
        return f"{self.arg.name or repr(_value(self.arg))}: {self.kind.name}"


class ExportGraphSignature(NamedTuple):
    """Description of the inputs and the results of a graph, in their order."""

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]

    def _of(self, kind: InputKind) -> list[InputSpec]:
        return [each for each in self.input_specs if each.kind is kind]

    def _paths(self, kind: InputKind) -> dict[str, str]:
        return {each.arg.name: each.target for each in self._of(kind) if each.target is not None}

    @property
    def inputs_to_parameters(self) -> Mapping[str, str]:
        """The paths of parameters by the names of their nodes."""
        return self._paths(InputKind.PARAMETER)

    @property
    def inputs_to_buffers(self) -> Mapping[str, str]:
        """The paths of buffers by the names of their nodes."""
        return self._paths(InputKind.BUFFER)

    @property
    def inputs_to_lifted_tensor_constants(self) -> Mapping[str, str]:
        """The names of constants by the names of their nodes."""
        return self._paths(InputKind.CONSTANT_TENSOR)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The paths of the parameters."""
        return tuple(self.inputs_to_parameters.values())

    @property
    def buffers(self) -> tuple[str, ...]:
        """The paths of the buffers."""
        return tuple(self.inputs_to_buffers.values())

    @property
    def lifted_tensor_constants(self) -> tuple[str, ...]:
        """The names of the constants."""
        return tuple(self.inputs_to_lifted_tensor_constants.values())

    @property
    def non_persistent_buffers(self) -> tuple[str, ...]:
        """The paths of the buffers that are no part of the state."""
        found = (each.target for each in self._of(InputKind.BUFFER) if each.persistent is False)
        return tuple(each for each in found if each is not None)

    @property
    def user_inputs(self) -> tuple[Any, ...]:
        """The nodes' names of arguments that are tensors, and the values of the others."""
        return tuple(_value(each.arg) for each in self._of(InputKind.USER_INPUT))

    @property
    def user_outputs(self) -> tuple[Any, ...]:
        """The nodes' names of results that are tensors, and the values of the others."""
        return tuple(_value(each.arg) for each in self.output_specs)

    def __str__(self) -> str:
        inputs, outputs = ("\n".join(map(str, each)) for each in (self.input_specs, self.output_specs))
        return f"\n# inputs\n{inputs}\n\n# outputs\n{outputs}\n"


def _value(argument: TensorArgument | ConstantArgument) -> Any:
    return argument.name if isinstance(argument, TensorArgument) else argument.value

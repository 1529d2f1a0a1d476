"""Styles that bring the inputs or outputs of a module to placements, and leave its parameters as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ....nn import Module
from ...device_mesh import DeviceMesh
from ..placement_types import Placement
from ._style import ParallelStyle, brought, given_back, listed

__all__ = ["PrepareModuleInput", "PrepareModuleInputOutput", "PrepareModuleOutput"]

Layouts: TypeAlias = Placement | Sequence[Placement | None] | None


class PrepareModuleInput(ParallelStyle):
    """Bring the inputs of a module to placements before each call.

    Args:
        input_layouts (Placement or tuple): those of positional inputs that are not distributed; None: the input is left
            as it is.
        desired_input_layouts (Placement or tuple): those that the module needs.
        input_kwarg_layouts (dict): the same of inputs by name.
        desired_input_kwarg_layouts (dict): the same of inputs by name.
        use_local_output (bool): whether the module is given the parts of this process alone.

    Raises:
        AssertionError: there are not as many desired placements as others.
    """

    def __init__(
        self,
        *,
        input_layouts: Layouts = None,
        desired_input_layouts: Layouts = None,
        input_kwarg_layouts: dict[str, Placement] | None = None,
        desired_input_kwarg_layouts: dict[str, Placement] | None = None,
        use_local_output: bool = False,
    ) -> None:
        self.input_layouts, self.desired_input_layouts = listed(input_layouts), listed(desired_input_layouts)
        self.input_kwarg_layouts = input_kwarg_layouts or {}
        self.desired_input_kwarg_layouts = desired_input_kwarg_layouts or {}
        self.use_local_output = use_local_output
        _check_equally_many("input", self.input_layouts, self.desired_input_layouts)

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        def prepare(own: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            by_name = {name: self._by_name(name, value, device_mesh) for name, value in kwargs.items()}
            return _each(
                args, self.input_layouts, self.desired_input_layouts, device_mesh, self.use_local_output
            ), by_name

        module.register_forward_pre_hook(prepare, with_kwargs=True)
        return module

    def _by_name(self, name: str, value: Any, mesh: DeviceMesh) -> Any:
        layout, wanted = self.input_kwarg_layouts.get(name), self.desired_input_kwarg_layouts.get(name)
        return given_back(brought(value, mesh, layout, wanted), self.use_local_output)


class PrepareModuleOutput(ParallelStyle):
    """Bring the outputs of a module to placements after each call.

    Args:
        output_layouts (Placement or tuple): those of outputs that are not distributed; None: the output is left as
            it is.
        desired_output_layouts (Placement or tuple): those to bring them to.
        use_local_output (bool): whether the result is the parts of this process alone.

    Raises:
        AssertionError: there are not as many desired placements as others.
    """

    def __init__(
        self, *, output_layouts: Layouts, desired_output_layouts: Layouts, use_local_output: bool = True
    ) -> None:
        self.output_layouts, self.desired_output_layouts = listed(output_layouts), listed(desired_output_layouts)
        self.use_local_output = use_local_output
        _check_equally_many("output", self.output_layouts, self.desired_output_layouts)

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        def finish(own: Module, args: Any, output: Any) -> Any:
            values = output if isinstance(output, tuple) else (output,)
            found = _each(values, self.output_layouts, self.desired_output_layouts, device_mesh, self.use_local_output)
            return found if isinstance(output, tuple) else found[0]

        module.register_forward_hook(finish)
        return module


class PrepareModuleInputOutput(ParallelStyle):
    """Bring the inputs and the outputs of a module to placements: `PrepareModuleInput` and `PrepareModuleOutput`, whose
    arguments it takes, with `use_local_input` for that of the former."""

    def __init__(
        self,
        *,
        input_layouts: Layouts = None,
        desired_input_layouts: Layouts = None,
        input_kwarg_layouts: dict[str, Placement] | None = None,
        desired_input_kwarg_layouts: dict[str, Placement] | None = None,
        use_local_input: bool = False,
        output_layouts: Layouts,
        desired_output_layouts: Layouts,
        use_local_output: bool = True,
    ) -> None:
        self.prepare_module_input = PrepareModuleInput(
            input_layouts=input_layouts,
            desired_input_layouts=desired_input_layouts,
            input_kwarg_layouts=input_kwarg_layouts,
            desired_input_kwarg_layouts=desired_input_kwarg_layouts,
            use_local_output=use_local_input,
        )
        self.prepare_module_output = PrepareModuleOutput(
            output_layouts=output_layouts,
            desired_output_layouts=desired_output_layouts,
            use_local_output=use_local_output,
        )

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        self.prepare_module_input._apply(module, device_mesh)
        return self.prepare_module_output._apply(module, device_mesh)


def _each(
    values: Sequence[Any],
    layouts: Sequence[Placement | None],
    wanted: Sequence[Placement | None],
    mesh: DeviceMesh,
    is_local: bool,
) -> tuple[Any, ...]:
    if layouts and len(values) != len(layouts):
        raise ValueError(
            f"module inputs and input_layouts should have same length! Got {len(values)} and {len(layouts)}"
        )
    if not layouts:
        return tuple(values)
    found = [brought(*each) for each in zip(values, [mesh] * len(values), layouts, wanted, strict=True)]
    return tuple([given_back(each, is_local) for each in found])


def _check_equally_many(what: str, layouts: Sequence[Any], desired: Sequence[Any]) -> None:
    if len(layouts) != len(desired):
        raise AssertionError(
            f"{what}_layouts and desired_{what}_layouts should have same length! Got {len(layouts)} and {len(desired)}"
        )

"""`state_dict` of optimizers: parameters are numbers there, counted through all groups, as in torch.

The dict is `{"state": {number: {name: value}}, "param_groups": [{"params": [number], option: value}]}`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from .._tensor.tensor import Tensor
from .parameter_groups import Group


def packed(state: Mapping[Any, Any], groups: Sequence[Group]) -> dict[str, Any]:
    """The state and the groups with numbers in place of parameters. Tensors in it are not copied."""
    numbers: dict[Any, int] = {}
    saved_groups = []
    first = 0
    for group in groups:
        for number, parameter in enumerate(group["params"], first):
            numbers.setdefault(parameter, number)
        first += len(group["params"])
        options = {name: value for name, value in group.items() if name != "params"}
        saved_groups.append({**options, "params": [numbers[parameter] for parameter in group["params"]]})
    saved_state = {numbers[key] if isinstance(key, Tensor) else key: value for key, value in state.items()}
    return {"state": saved_state, "param_groups": saved_groups}


def unpacked(saved: Mapping[str, Any], groups: Sequence[Group]) -> tuple[defaultdict[Any, Any], list[Group]]:
    """State and groups of the parameters in `groups`, from what `packed` gave. Nothing of it is shared.

    Raises ValueError when the groups are not as many, or not as long.
    """
    saved_groups = saved["param_groups"]
    if len(saved_groups) != len(groups):
        raise ValueError("loaded state dict has a different number of parameter groups")
    parameters: dict[Any, Tensor] = {}
    loaded = []
    for saved_group, group in zip(saved_groups, groups, strict=True):
        if len(saved_group["params"]) != len(group["params"]):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        parameters.update(zip(saved_group["params"], group["params"], strict=True))
        names = {"param_names": group["param_names"]} if "param_names" in group else {}
        options = {name: deepcopy(value) for name, value in saved_group.items() if name != "params"}
        loaded.append({**names, **options, "params": group["params"]})
    state: defaultdict[Any, Any] = defaultdict(dict)
    for key, value in saved["state"].items():
        if key in parameters:
            state[parameters[key]] = _fitting(value, parameters[key])
        else:
            state[key] = deepcopy(value)
    return state, loaded


def _fitting(value: Any, parameter: Tensor, name: Any = None) -> Any:
    """A copy of part of a parameter's state, whose tensors have its dtype; but a count of steps keeps its own."""
    if isinstance(value, Tensor):
        keeps = name == "step" or not parameter.is_floating_point()
        return value.to(value.dtype if keeps else parameter.dtype, copy=True)
    if isinstance(value, Mapping):
        return {key: _fitting(each, parameter, key) for key, each in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        kind: Any = type(value)
        return kind(_fitting(each, parameter) for each in value)
    return value

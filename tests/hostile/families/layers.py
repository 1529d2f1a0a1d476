"""Layers that are made, called, differentiated, saved and loaded."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from opweave import Tensor, nn

from ..callables import Target, suggested


def targets() -> Mapping[str, Target]:
    kinds = {
        name: value for name, value in vars(nn).items() if isinstance(value, type) and issubclass(value, nn.Module)
    }
    return {name: _target(kind) for name, kind in kinds.items()} | {
        "hooks": Target(hooks, ("answer", "answer", "answer", "Tensor")),
        "state": Target(state, ("self Linear", "any", "any")),
        "converted": Target(converted, ("self Linear", "any")),
    }


def _target(kind: type[nn.Module]) -> Target:
    places, keywords = suggested(kind.__init__)
    made = (places or ("self",))[1:]
    called = [
        each
        for each in inspect.signature(kind.forward).parameters.values()
        if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD
    ][1:]

    def use(*arguments: Any, **options: Any) -> Any:
        layer = kind(*arguments[: len(made)], **options)
        result = layer(*arguments[len(made) :])
        if isinstance(result, Tensor) and result.requires_grad:
            result.sum().backward()
        return result

    return Target(use, (*made, *("Tensor" for _ in called)), keywords)


def hooks(before: Any, after: Any, backward: Any, x: Any) -> Any:
    layer = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    handles = [layer.register_forward_pre_hook(before), layer[0].register_forward_hook(after)]
    handles += [layer.register_full_backward_hook(backward), layer[0].register_full_backward_pre_hook(backward)]
    result = layer(x)
    handles.pop(0).remove()
    result.sum().backward()
    return result


def state(layer: Any, key: Any, value: Any) -> Any:
    found = layer.state_dict()
    for name in [*found][:1]:
        found[name] = value
    found[key] = value
    layer.load_state_dict(found, strict=False)
    return [*layer.parameters()]


def converted(layer: Any, wanted: Any) -> Any:
    layer.to(wanted)
    return [*layer.parameters()]

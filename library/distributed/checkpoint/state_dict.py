"""State dicts of modules and optimizers that do not depend on how these are distributed.

Keys are names of parameters as the module alone has them, also in states of optimizers, which number parameters
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from ... import empty, no_grad, tensor, zeros_like
from ..._base.tensor_class import Tensor
from ...nn.parallel.distributed import DistributedDataParallel
from ...optim import Optimizer
from .. import broadcast, broadcast_object_list, get_rank, is_initialized
from ._chunks import is_distributed, local_chunk, local_part, narrowed, with_part

__all__ = [
    "StateDictOptions",
    "get_model_state_dict",
    "get_optimizer_state_dict",
    "get_state_dict",
    "set_model_state_dict",
    "set_optimizer_state_dict",
    "set_state_dict",
]

_WRAPPERS = ("_orig_mod", "_checkpoint_wrapped_module", "_fsdp_wrapped_module")
"""Names of modules in those that wrap them, which the names of parameters leave out."""


@dataclass
class StateDictOptions:
    """The options of the functions of this module.

    Attributes:
        full_state_dict: whether tensors are whole, and not distributed.
        cpu_offload: whether tensors are on the CPU; of whole ones, rank 0 alone has them.
        ignore_frozen_params: whether parameters without `requires_grad` are left out.
        keep_submodule_prefixes, dsd_fqn_modifiers: without effect.
        strict: whether what is loaded must have all keys of the module and of the optimizers, and no others.
        broadcast_from_rank0: whether rank 0 has what is loaded, and sends it; needs `full_state_dict`.
        flatten_optimizer_state_dict: whether states of optimizers have one level, with keys such as
            `state.NAME.exp_avg`.
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


# ---- what programs call --------------------------------------------------------------------------------------


def get_model_state_dict(model: Any, *, submodules: Any = None, options: StateDictOptions | None = None) -> Any:
    """Return the state dict of a module. All ranks of its meshes must call it for whole tensors.

    Args:
        model (Module): the module.
        submodules: None; select keys of the result instead.
        options (StateDictOptions): what the result has.
    """
    options = _checked(options, submodules)
    state = {_name(model, key): value for key, value in model.state_dict().items()}
    if options.ignore_frozen_params:
        for key, parameter in model.named_parameters():
            if not parameter.requires_grad:
                state.pop(_name(model, key), None)
    return _gathered(state, options)


def get_optimizer_state_dict(
    model: Any,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    submodules: Any = None,
    options: StateDictOptions | None = None,
) -> Any:
    """Return the state of optimizers of a module's parameters, which has their names. An optimizer that has made no
    step gets the state that it begins with.

    Args:
        model (Module): the module.
        optimizers (Optimizer or iterable of Optimizer): one or several.
        submodules: None.
        options (StateDictOptions): what the result has.

    Raises:
        KeyError: an optimizer has a parameter that the module does not have.
    """
    options = _checked(options, submodules)
    result: dict[str, Any] = {"state": {}, "param_groups": []}
    for optimizer in _listed(optimizers):
        state = _named_state(model, optimizer)
        result["state"].update(state["state"])
        result["param_groups"] += state["param_groups"]
    return _gathered(_flat(result) if options.flatten_optimizer_state_dict else result, options)


def get_state_dict(
    model: Any,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    submodules: Any = None,
    options: StateDictOptions | None = None,
) -> tuple[Any, Any]:
    """Return the state dict of a module and the state of its optimizers: see `get_model_state_dict` and
    `get_optimizer_state_dict`."""
    return (
        get_model_state_dict(model, submodules=submodules, options=options),
        get_optimizer_state_dict(model, optimizers, submodules=submodules, options=options),
    )


@no_grad()
def set_model_state_dict(model: Any, model_state_dict: Any, *, options: StateDictOptions | None = None) -> Any:
    """Load a state dict into a module.

    Args:
        model (Module): the module. Its parameters of the device `meta` are replaced by what is loaded.
        model_state_dict (dict): what `get_model_state_dict` returns.
        options (StateDictOptions): what the state dict has.

    Returns:
        The missing and the unexpected keys, as of `Module.load_state_dict`.

    Raises:
        RuntimeError: keys are missing or unexpected and `strict`, or sizes differ.
    """
    options = _checked(options)
    if not model_state_dict and options.strict and not options.broadcast_from_rank0:
        raise RuntimeError(
            "The option indicates that model state_dict is required to save or load, but model state_dict is empty."
        )
    own = model.state_dict()
    keys = {_name(model, key): key for key in own}
    state = {keys.get(name, name): value for name, value in model_state_dict.items()}
    if options.full_state_dict:
        state = _distributed(state, own, options)
    assign = any(isinstance(value, Tensor) and value.device.type == "meta" for value in own.values())
    return model.load_state_dict(state, strict=options.strict, assign=assign)


@no_grad()
def set_optimizer_state_dict(
    model: Any,
    optimizers: Optimizer | Iterable[Optimizer],
    optim_state_dict: Any,
    *,
    options: StateDictOptions | None = None,
) -> None:
    """Load a state into optimizers of a module's parameters.

    Args:
        model (Module): the module.
        optimizers (Optimizer or iterable of Optimizer): one or several.
        optim_state_dict (dict): what `get_optimizer_state_dict` returns.
        options (StateDictOptions): what the state has.

    Raises:
        RuntimeError: a parameter has no state and `strict`.
    """
    options = _checked(options)
    for optimizer in _listed(optimizers):
        optimizer.load_state_dict(loadable_optimizer_state(model, optimizer, optim_state_dict, options))


def set_state_dict(
    model: Any,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    model_state_dict: Any,
    optim_state_dict: Any,
    options: StateDictOptions | None = None,
) -> Any:
    """Load a state dict into a module and a state into its optimizers: see `set_model_state_dict`, whose result is
    returned, and `set_optimizer_state_dict`."""
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return set_model_state_dict(model, model_state_dict, options=options)


# ---- names ---------------------------------------------------------------------------------------------------


def _checked(options: StateDictOptions | None, submodules: Any = None) -> StateDictOptions:
    options = options or StateDictOptions()
    if submodules:
        raise NotImplementedError("`submodules` is not there: select keys of the state dict")
    if options.broadcast_from_rank0 and not options.full_state_dict:
        raise ValueError("full_state_dict must be True when broadcast_from_rank0 is True.")
    return options


def _listed(optimizers: Optimizer | Iterable[Optimizer]) -> list[Optimizer]:
    return [optimizers] if isinstance(optimizers, Optimizer) else list(optimizers)


def _name(model: Any, key: str) -> str:
    """The name of a parameter or buffer without the modules that wrap others."""
    names = []
    module = model
    for name in key.split("."):
        if name not in _WRAPPERS and not (name == "module" and isinstance(module, DistributedDataParallel)):
            names.append(name)
        module = getattr(module, name, None)
    return ".".join(names)


def _named_state(model: Any, optimizer: Optimizer) -> dict[str, Any]:
    """The state of an optimizer by the names of parameters."""
    _begin(optimizer)
    state = optimizer.state_dict()
    parameters = chain.from_iterable(group["params"] for group in optimizer.param_groups)
    by_parameter = {parameter: _name(model, key) for key, parameter in model.named_parameters()}
    names = dict(enumerate(by_parameter[parameter] for parameter in parameters))
    return {
        "state": {names[number]: value for number, value in state["state"].items()},
        "param_groups": [
            {**group, "params": [names[number] for number in group["params"]]} for group in state["param_groups"]
        ],
    }


@no_grad()
def _begin(optimizer: Optimizer) -> None:
    """Give an optimizer the state that it begins with, by a step with gradients and learning rates of zero."""
    parameters = list(chain.from_iterable(group["params"] for group in optimizer.param_groups))
    if optimizer.state or any(parameter.grad is not None for parameter in parameters):
        return
    for parameter in parameters:
        if parameter.requires_grad:
            parameter.grad = zeros_like(parameter)
    rates = [group.get("lr") for group in optimizer.param_groups]
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        if rate is not None:
            group["lr"] = tensor(0.0) if isinstance(rate, Tensor) else 0.0
    optimizer.step(closure=None)
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        if rate is not None:
            group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)


# ---- states of optimizers ------------------------------------------------------------------------------------


def _flat(state: dict[str, Any]) -> dict[str, Any]:
    """A state of one level, with the values of groups for each parameter."""
    result: dict[str, Any] = {}

    def visit(prefix: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, each in value.items():
                visit(f"{prefix}.{key}", each)
        elif isinstance(value, (Tensor, int, float)):
            result[prefix] = value
        else:
            raise NotImplementedError(
                f"Flattening optimizer state_dict only supports tensor, int, float, dict states now. Type is "
                f"{type(value)}."
            )

    visit("state", state["state"])
    for group in state["param_groups"]:
        for name in group["params"]:
            result.update({f"param_groups.{name}.{key}": value for key, value in group.items() if key != "params"})
    return result


def _nested(flat: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """The state of one level as one of the levels that an optimizer's own state has."""

    def found(prefix: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: found(f"{prefix}.{key}", each) for key, each in value.items()}
        return flat[prefix]

    groups = []
    for group in own["param_groups"]:
        values = {}
        for key in group.keys() - {"params"}:
            given = [flat[f"param_groups.{name}.{key}"] for name in group["params"]]
            if any(each != given[0] for each in given):
                raise RuntimeError(
                    "All the parameters in the same parameter group should have the same saved param_group value. But "
                    f"{key} is {given}."
                )
            values[key] = given[0] if given else group[key]
        groups.append({**values, "params": group["params"]})
    return {"state": found("state", own["state"]), "param_groups": groups}


@no_grad()
def loadable_optimizer_state(
    model: Any, optimizer: Optimizer, state: dict[str, Any], options: StateDictOptions
) -> dict[str, Any]:
    """Return what `load_state_dict` of one optimizer takes, of a state of several by the names of parameters."""
    own = _named_state(model, optimizer)
    if options.full_state_dict:
        flat = options.flatten_optimizer_state_dict
        state = _distributed(state, _flat(own) if flat else own, options)
    if state and "state" not in state:
        state = _nested(state, own)
    return _selected(state, own, options.strict)


def _selected(state: dict[str, Any], own: dict[str, Any], strict: bool) -> dict[str, Any]:
    """The part of a state of several optimizers that one takes, with its groups in its order."""
    if not state or all(isinstance(key, int) for key in state["state"]):
        return state
    missing = [name for name in own["state"] if name not in state["state"]]
    if missing and strict:
        raise RuntimeError(
            f"Missing optimizer state for parameter '{missing[0]}' in checkpoint. The parameter requires gradients but "
            "has no saved optimizer state. To load anyway, use StateDictOptions(strict=False)."
        )
    groups = []
    for group in own["param_groups"]:
        saved = [each for each in state["param_groups"] if set(each["params"]) & set(group["params"])]
        groups.append({**(saved[0] if saved else group), "params": group["params"]})
    chosen = {name: state["state"][name] for name in own["state"] if name in state["state"]}
    return {"state": chosen, "param_groups": groups}


# ---- whole and distributed tensors ---------------------------------------------------------------------------


def _gathered(state: dict[str, Any], options: StateDictOptions) -> dict[str, Any]:
    """A state with the tensors that the options ask for."""

    def each(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: each(item) for key, item in value.items()}
        if type(value) in (list, tuple):
            return type(value)([each(item) for item in value])
        if not isinstance(value, Tensor):
            return value
        if options.full_state_dict and is_distributed(value):
            value = value.full_tensor()
        if not options.cpu_offload or value.device.type == "cpu":
            return value
        return with_part(value, local_part(value).cpu())

    if not (options.full_state_dict or options.cpu_offload):
        return state
    with no_grad():
        result: dict[str, Any] = each(state)
    is_without = options.full_state_dict and options.cpu_offload and is_initialized() and get_rank() > 0
    return {} if is_without else result


class _Sent(NamedTuple):
    """Stands for a tensor that rank 0 sends."""

    shape: tuple[int, ...]
    dtype: Any


def _distributed(state: Any, own: Any, options: StateDictOptions) -> Any:
    """Whole tensors of a state, or of that of rank 0, distributed as those of one's own state."""

    def described(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: described(each) for key, each in value.items()}
        if type(value) in (list, tuple):
            return type(value)([described(each) for each in value])
        return _Sent(tuple(value.shape), value.dtype) if isinstance(value, Tensor) else value

    def matched(value: Any, beside: Any) -> Any:
        if isinstance(value, dict):
            others = beside if isinstance(beside, dict) else {}
            return {key: matched(each, others.get(key)) for key, each in value.items()}
        if type(value) in (list, tuple):
            return type(value)([matched(each, None) for each in value])
        if not isinstance(value, (Tensor, _Sent)):
            return value
        if options.broadcast_from_rank0:
            value = value.detach().contiguous() if isinstance(value, Tensor) else empty(value.shape, dtype=value.dtype)
            broadcast(value, 0)
        return as_part(value, beside)

    if options.broadcast_from_rank0:
        sent = [described(state) if get_rank() == 0 else None]
        broadcast_object_list(sent, 0)
        state = state if get_rank() == 0 else sent[0]
    return matched(state, own)


def as_part(whole: Any, beside: Any) -> Any:
    """Return the part of a whole tensor that another one, of the same sizes, has in this process; other values as they
    are."""
    if not isinstance(beside, Tensor) or not is_distributed(beside) or is_distributed(whole):
        return whole
    if whole.shape != beside.shape:
        return whole
    chunk = local_chunk("a tensor", beside)
    if chunk is None:
        return beside
    return with_part(beside, narrowed(whole.detach(), chunk.offsets, chunk.sizes).clone())

"""Replaces modules of a model by their quantized counterparts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from ..._base.dtypes import dtype as dtype_class
from ..._base.dtypes import qint8
from ...nn.modules.linear import Linear
from ...nn.modules.module import Module
from ...nn.modules.rnn import GRU, LSTM
from ...nn.modules.rnn_cells import GRUCell, LSTMCell, RNNCell
from ...nn.modules.sparse import Embedding, EmbeddingBag
from ..nn.quantized.dynamic import Linear as DynamicLinear
from .qconfig import QConfig, default_dynamic_qconfig

__all__ = ["DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS", "quantize_dynamic"]

DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS: dict[type, type] = {Linear: DynamicLinear}
"""The quantized class for each class of modules."""

_WITHOUT = (LSTM, GRU, LSTMCell, GRUCell, RNNCell, Embedding, EmbeddingBag)
"""Classes of modules for which torch has a quantized class and opweave has none."""


def quantize_dynamic(
    model: Module,
    qconfig_spec: Mapping[Any, Any] | Iterable[Any] | None = None,
    dtype: dtype_class = qint8,
    mapping: Mapping[type, type] | None = None,
    inplace: bool = False,
) -> Module:
    """Return a model whose linear modules have weights of `qint8`, and quantize what they are given by its own range.

    Args:
        model (Module): a float model, which stays as it is unless `inplace`.
        qconfig_spec: classes of modules, or names of submodules, that are replaced, each of which may have a QConfig
        of its own as the value of a dictionary; None: all linear modules.
        dtype: `qint8`.
        mapping: the quantized class for each class; None: `Linear` alone has one.
    """
    if dtype is not qint8:
        raise ValueError(f"Don't know how to quantize with default settings for {dtype}. Provide full qconfig please")
    spec: Mapping[Any, Any]
    if qconfig_spec is None:
        spec = {Linear: default_dynamic_qconfig}
    elif isinstance(qconfig_spec, Mapping):
        spec = qconfig_spec
    else:
        spec = dict.fromkeys(qconfig_spec, default_dynamic_qconfig)
    classes = DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS if mapping is None else mapping
    model = model if inplace else deepcopy(model)
    model.eval()
    return _converted(model, "", spec, classes, None)


def _converted(
    module: Module, name: str, spec: Mapping[Any, Any], classes: Mapping[type, type], inherited: QConfig | None
) -> Module:
    """The module, or its counterpart; what a name asks for holds for all modules within."""
    config = spec.get(name, spec.get(type(module), inherited))
    if config is not None and type(module) in classes:
        module.qconfig = config
        made = classes[type(module)].from_float(module)  # type: ignore[attr-defined]
        made.train(module.training)
        return made  # type: ignore[no-any-return]
    if type(module) in _WITHOUT and (name in spec or type(module) in spec):
        raise NotImplementedError(
            f"{type(module).__name__} has no dynamically quantized counterpart: name others in qconfig_spec, such as "
            "{opweave.nn.Linear}"
        )
    for own, child in list(module.named_children()):
        below = f"{name}.{own}" if name else own
        setattr(module, own, _converted(child, below, spec, classes, config if name in spec else inherited))
    return module

"""Attributes that torch's modules have in their pickled state and those here compute: torch asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..nn import functional
from ..nn.modules.attention import MultiheadAttention
from ..nn.modules.conv import _ConvNd
from ..nn.modules.distance import PairwiseDistance
from ..nn.modules.module import Module
from ..nn.modules.rnn import RNNBase
from ..nn.modules.transformer import TransformerEncoderLayer
from ..nn.modules.upsampling import Upsample

__all__ = ["state_for_torch"]


def _of_convolution(module: Any) -> Iterator[tuple[str, Any]]:
    yield "transposed", module.transposed
    yield "output_padding", (0,) * module._ow_dims
    yield "_reversed_padding_repeated_twice", module._ow_margins()


def _of_recurrent(module: Any) -> Iterator[tuple[str, Any]]:
    names = [name for layer in module._all_weights for name in layer]
    yield "_flat_weights_names", names
    yield "_flat_weights", [getattr(module, name) for name in names]


def _of_attention(module: Any) -> Iterator[tuple[str, Any]]:
    yield "bias_k", None
    yield "bias_v", None


def _of_distance(module: Any) -> Iterator[tuple[str, Any]]:
    yield "norm", module.p


def _of_transformer(module: Any) -> Iterator[tuple[str, Any]]:
    quick = (functional.relu, functional.gelu)
    yield "activation_relu_or_gelu", 1 + quick.index(module.activation) if module.activation in quick else 0


def _of_upsampling(module: Any) -> Iterator[tuple[str, Any]]:
    yield "name", type(module).__name__


_MORE: tuple[tuple[type, Callable[[Any], Iterator[tuple[str, Any]]]], ...] = (
    (_ConvNd, _of_convolution),
    (RNNBase, _of_recurrent),
    (MultiheadAttention, _of_attention),
    (PairwiseDistance, _of_distance),
    (TransformerEncoderLayer, _of_transformer),
    (Upsample, _of_upsampling),
)


def state_for_torch(obj: Any, state: Any) -> Any:
    """The state of a module with what torch's has besides; that of another object as it is."""
    if not (isinstance(obj, Module) and type(state) is dict):
        return state
    parts = state.get("_parameters", {}), state.get("_buffers", {}), state.get("_modules", {})
    more = {name: value for kind, of in _MORE if isinstance(obj, kind) for name, value in of(obj)}
    lacking = {name: more[name] for name in more if name not in state and not any(name in part for part in parts)}
    return {**state, **lacking} if lacking else state

"""Tables of vectors."""

from __future__ import annotations

from typing import Any, ClassVar

from ..._operators import empty
from ..._tensor.tensor import Tensor
from .. import functional, init
from ..parameter import Parameter
from .module import Module

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """Base class of both: the table, its options and their printed form."""

    _ow_defaults: ClassVar[dict[str, Any]] = {}

    def _ow_begin(
        self, num_embeddings: int, embedding_dim: int, options: dict[str, Any], weight: Any, freeze: bool, place: Any
    ) -> None:
        Module.__init__(self)
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        padding = options["padding_idx"]
        if padding is not None:
            if not -num_embeddings <= padding < num_embeddings:
                raise AssertionError("Padding_idx must be within num_embeddings")
            options["padding_idx"] = padding % num_embeddings
        for name, value in options.items():
            setattr(self, name, value)
        if weight is None:
            self.weight = Parameter(empty((num_embeddings, embedding_dim), **place), requires_grad=not freeze)
            self.reset_parameters()
        else:
            if list(weight.shape) != [num_embeddings, embedding_dim]:
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(weight, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Draw the table anew: normally distributed, but for the row of zeros `padding_idx`."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.data[self.padding_idx])

    def extra_repr(self) -> str:
        given = ((name, getattr(self, name)) for name in self._ow_defaults if name != "include_last_offset")
        changed = (f"{name}={value!r}" for name, value in given if value != self._ow_defaults[name])
        return ", ".join([str(self.num_embeddings), str(self.embedding_dim), *changed])


class Embedding(_Table):
    """Embedding table: the vectors that indices select.

    Args:
        num_embeddings (int): rows of the table.
        embedding_dim (int): the size of a vector.
        padding_idx (int): a row that begins with zeros, and has no gradient.
        max_norm, norm_type (float): rows that are used are scaled down to that norm, in place.
        scale_grad_by_freq (bool): whether the gradient of a row is the mean of those of its copies.
        sparse (bool): whether the gradient of the table is a sparse tensor of the rows that are used.
        device, dtype: those of the table.

    Raises:
        AssertionError: `padding_idx` is no row.

    Example:
        >>> opweave.nn.Embedding(10, 3)(opweave.tensor([[1, 2], [4, 9]])).shape
        opweave.Size([2, 2, 3])
    """

    _ow_defaults: ClassVar = {
        "padding_idx": None, "max_norm": None, "norm_type": 2.0, "scale_grad_by_freq": False, "sparse": False
    }  # fmt: skip

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        options = {
            "padding_idx": padding_idx,
            "max_norm": max_norm,
            "norm_type": norm_type,
            "scale_grad_by_freq": scale_grad_by_freq,
            "sparse": sparse,
        }
        self._ow_begin(num_embeddings, embedding_dim, options, _weight, _freeze, {"device": device, "dtype": dtype})

    def forward(self, input: Tensor) -> Tensor:
        """Return a tensor of shape (*, embedding_dim) for indices (*)."""
        options = {name: getattr(self, name) for name in self._ow_defaults}
        return functional.embedding(input, self.weight, **options)

    @classmethod
    def from_pretrained(
        cls, embeddings: Any, freeze: bool = True, padding_idx: int | None = None, **kwargs: Any
    ) -> Any:
        """Return a module with a given table, which does not learn if `freeze`.

        Raises:
            AssertionError: the table has not two dimensions.
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        return cls(rows, columns, padding_idx=padding_idx, _weight=embeddings, _freeze=freeze, **kwargs)


class EmbeddingBag(_Table):
    """Embedding bags: the sums, means or maxima of the vectors that bags of indices select in a table.

    Args:
        num_embeddings (int): rows of the table.
        embedding_dim (int): the size of a vector.
        max_norm, norm_type (float): rows that are used are scaled down to that norm, in place.
        scale_grad_by_freq (bool): whether the gradient of a row is the mean of those of its copies.
        mode (str): `sum`, `mean` or `max`.
        sparse (bool): whether the gradient of the table is a sparse tensor of the rows that are used.
        include_last_offset (bool): whether offsets end with the end of the last bag.
        padding_idx (int): a row that does not count.
        device, dtype: those of the table.

    Example:
        >>> opweave.nn.EmbeddingBag(10, 3, mode="mean")(opweave.tensor([[1, 2], [4, 9]])).shape
        opweave.Size([2, 3])
    """

    _ow_defaults: ClassVar = {
        "max_norm": None, "norm_type": 2.0, "scale_grad_by_freq": False, "mode": "", "sparse": False,
        "include_last_offset": False, "padding_idx": None,
    }  # fmt: skip

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Any = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        options = {
            "max_norm": max_norm,
            "norm_type": norm_type,
            "scale_grad_by_freq": scale_grad_by_freq,
            "mode": mode,
            "sparse": sparse,
            "include_last_offset": include_last_offset,
            "padding_idx": padding_idx,
        }
        self._ow_begin(num_embeddings, embedding_dim, options, _weight, False, {"device": device, "dtype": dtype})

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        """Return a tensor of shape (B, embedding_dim) for indices (B, N), or (N) with `offsets` (B)."""
        options = {name: getattr(self, name) for name in self._ow_defaults}
        return functional.embedding_bag(input, self.weight, offsets, per_sample_weights=per_sample_weights, **options)

    @classmethod
    def from_pretrained(cls, embeddings: Any, freeze: bool = True, **kwargs: Any) -> Any:
        """Return a module with a given table, which does not learn if `freeze`.

        Raises:
            AssertionError: the table has not two dimensions.
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        made = cls(rows, columns, _weight=embeddings, **kwargs)
        made.weight.requires_grad = not freeze
        return made

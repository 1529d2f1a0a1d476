"""Methods of Tensor about names of dimensions."""

# mypy: disable-error-code="no-any-return"
# (in a mixin `self` is an instance of the class that it is mixed into, which mypy calls Any)

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from ..._dispatch import binding
from ..._dispatch.dispatcher import register
from .names import Names, has_names, names_of, read, rename_to

_PACKAGE_NAMES = ["align_tensors"]

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..._tensor.tensor import Tensor as TensorType


# What is needed where dimensions have names is imported then: few programs give them any.


def _handle(*call: Any) -> Any:
    from .handler import handle

    return handle(*call)


def _flatten(input: Any, start_dim: Any, end_dim: Any) -> Any:
    """`flatten(['H', 'W'], 'features')`"""
    if not isinstance(end_dim, str) or not isinstance(start_dim, (tuple, list)):
        return NotImplemented
    from .shapes import flatten_list

    return flatten_list(input, start_dim, end_dim)


def _flatten_by_name(*args: Any, **named: Any) -> Any:
    """`flatten(1, 2, 'features')`, and all of it by keyword."""
    from .shapes import flatten_by_name

    return flatten_by_name(*args, **named)


def _diagonal(*args: Any, **named: Any) -> Any:
    """`diagonal(outdim='D', dim1='rows', dim2='columns')`"""
    if "outdim" not in named:
        return NotImplemented
    from .shapes import diagonal

    return diagonal(*args, **named)


def _unflatten(input: Any, dim: Any, sizes: Any) -> Any:
    """`unflatten('features', (('H', 2), ('W', 3)))`"""
    from .shapes import is_by_name, unflatten

    return unflatten(input, dim, sizes) if has_names(input) or is_by_name(sizes) else NotImplemented


register("named", _handle)
binding.name_reader = read
binding.overloads["flatten"] = _flatten
binding.overloads["unflatten"] = _unflatten
binding.numpy_forms["diagonal"] = _diagonal
binding.numpy_forms["flatten"] = _flatten_by_name


class NamesMethods:
    """Mixed into Tensor."""

    __slots__ = ()

    @property
    def names(self: Any) -> Names:
        """The name of each dimension, or None. Assigning a sequence of names, or None, changes them."""
        return names_of(self)

    @names.setter
    def names(self: Any, names: Sequence[str | None] | None) -> None:
        rename_to(self, read("names", names))

    def has_names(self: Any) -> bool:
        """Return whether a dimension has a name."""
        return has_names(self)

    def rename(self: Any, *names: str | EllipsisType | None, **rename_map: str | None) -> TensorType:
        """Return a view of the same elements with other names: one for each dimension, where `...` stands for those
        that keep theirs, None alone for no names at all; or by keyword those that change, `rename(N="batch")`.

        Raises RuntimeError for too few or too many names, duplicates, what is no identifier, and unknown names.
        """
        from . import alignment

        return alignment.named_view(self, alignment.renamed(self, "rename", names, rename_map))

    def rename_(self, *names: str | EllipsisType | None, **rename_map: str | None) -> Self:
        """Give the tensor other names, as `rename` does, and return it."""
        from . import alignment

        return rename_to(self, alignment.renamed(self, "rename_", names, rename_map))

    def refine_names(self: Any, *names: str | EllipsisType | None) -> TensorType:
        """Return a view with names for dimensions that have none; `...` stands for those that stay as they are.

        Raises RuntimeError where a dimension has another name already, or the number of names is not that of
        dimensions.
        """
        from . import alignment

        return alignment.refined(self, names)

    def align_to(self: Any, *names: str | EllipsisType | None) -> TensorType:
        """Return a view with the dimensions in the order of the names; those that the tensor does not have are new, of
        size one. `...` stands for all dimensions that are not mentioned, in their order.

        Raises RuntimeError where the tensor has a dimension that is not mentioned, or one without a name.
        """
        from . import alignment

        return alignment.aligned(self, names)

    def align_as(self: Any, other: TensorType) -> TensorType:
        """Return a view with the dimensions in the order of those of `other`, as `align_to` does."""
        from . import alignment

        return alignment.aligned(self, names_of(other))


def align_tensors(*tensors: Any) -> list[TensorType]:
    """Return views of all tensors with the dimensions of the one that has the most. Those that a tensor does not have
    are new, of size one; those that it has must be in the same order.

    Raises RuntimeError where they are not, or where a dimension without a name would be at another position from the
    right.
    """
    from . import alignment

    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    return alignment.aligned_together(given)

"""Masks of attention: functions of the indices of scores, and lists of blocks kept wholly or in part."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from ... import _operators as ops
from ..._base.dtypes import EXPORTS
from ..._base.shapes import expands_to
from ..._tensor.construct import tensor
from ..._tensor.tensor import Tensor

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["DEFAULT_BLOCK_SIZE", "BlockMask", "and_masks", "create_block_mask", "create_mask", "noop_mask", "or_masks"]

MaskMod: TypeAlias = Callable[[Any, Any, Any, Any], Any]
DEFAULT_BLOCK_SIZE = 128


def indices(batch: int, heads: int, queries: int, keys: int, device: Any = None) -> tuple[Any, Any, Any, Any]:
    """The indices of batch, head, query and key, each in the dimension of its own."""
    shapes = ((-1, 1, 1, 1), (-1, 1, 1), (-1, 1), (-1,))
    counts = (batch, heads, queries, keys)
    return tuple(  # type: ignore[return-value]
        ops.arange(count, dtype=EXPORTS["int32"], device=device).view(shape)
        for count, shape in zip(counts, shapes, strict=True)
    )


def noop_mask(batch: Any, head: Any, token_q: Any, token_kv: Any) -> Any:
    """Return that a score is kept."""
    return batch.new_ones((), dtype=EXPORTS["bool"])


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """Return a function that keeps what one of some functions keeps. Raises RuntimeError if one cannot be called."""
    return _joined(mask_mods, ops.logical_or, False)


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """Return a function that keeps what all of some functions keep. Raises RuntimeError if one cannot be called."""
    return _joined(mask_mods, ops.logical_and, True)


def _joined(mask_mods: tuple[MaskMod, ...], join: Callable[[Any, Any], Any], first: bool) -> MaskMod:
    if not all(callable(each) for each in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def mask_mod(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        result = b.new_full((), first, dtype=EXPORTS["bool"])
        for each in mask_mods:
            result = join(result, each(b, h, q_idx, kv_idx))
        return result

    return mask_mod


def create_mask(
    mod_fn: MaskMod,
    B: int | None,  # noqa: N803
    H: int | None,  # noqa: N803
    Q_LEN: int,  # noqa: N803
    KV_LEN: int,  # noqa: N803
    device: Any = None,
) -> Tensor:
    """Return which scores a function keeps.

    Args:
        mod_fn: of the indices of batch, head, query and key, which broadcast together; returns a tensor of bool. It
            indexes tensors by all indices at once: `padding[batch, key]`, not `padding[batch][key]`.
        B, H: how many batches and heads; None: one for all.
        Q_LEN, KV_LEN: how many queries and keys.
        device: of the result.

    Returns:
        Tensor (B, H, Q_LEN, KV_LEN) of bool.

    Raises:
        ValueError: the function gives something else for all scores at once than for one of them.
    """
    sizes = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    kept = mod_fn(*indices(*sizes, device))
    if not isinstance(kept, Tensor):
        kept = tensor(kept, device=device)
    kept = kept.bool()
    last = tuple(size - 1 for size in sizes)
    if not expands_to(kept.shape, sizes) or (
        0 not in sizes
        and bool(kept.expand(sizes)[last]) != bool(mod_fn(*(tensor(each, dtype=EXPORTS["int32"]) for each in last)))
    ):
        raise ValueError(
            "mask_mod gives something else for all scores at once than for one of them. Index tensors by all indices "
            "at once, such as padding[batch, key_index]"
        )
    return kept.expand(sizes)


def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,  # noqa: N803
    H: int | None,  # noqa: N803
    Q_LEN: int,  # noqa: N803
    KV_LEN: int,  # noqa: N803
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = DEFAULT_BLOCK_SIZE,  # noqa: N803
    _compile: bool = False,
    separate_full_blocks: bool = True,
    **options: Any,
) -> BlockMask:
    """Return a mask for `flex_attention`, of blocks of queries and keys.

    Args:
        mask_mod, B, H, Q_LEN, KV_LEN, device: as in `create_mask`.
        BLOCK_SIZE: how many queries and keys make a block; one number for both.
        separate_full_blocks: whether blocks of which nothing is left out are listed apart.

    Further options are those of torch's kernels, without effect.

    Raises:
        AssertionError: `mask_mod` cannot be called.
        ValueError: as in `create_mask`.
    """
    if not callable(mask_mod):
        raise AssertionError(f"create_block_mask requires a callable mask_mod, but got {type(mask_mod)}")
    block = _both(BLOCK_SIZE)
    kept = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    padded = ops.constant_pad_nd(kept, [0, -KV_LEN % block[1], 0, -Q_LEN % block[0]])
    rows, columns = padded.shape[2] // block[0], padded.shape[3] // block[1]
    counts = padded.view(*padded.shape[:2], rows, block[0], columns, block[1]).sum((3, 5))
    full = counts == block[0] * block[1]
    partial = (counts > 0) & ~full if separate_full_blocks else counts > 0
    whole: tuple[Any, Any] = _listed(full) if separate_full_blocks else (None, None)
    return BlockMask.from_kv_blocks(*_listed(partial), *whole, block, mask_mod, (Q_LEN, KV_LEN))


def _both(size: int | tuple[int, int]) -> tuple[int, int]:
    """Return the numbers of queries and keys of a block."""
    return (size, size) if isinstance(size, int) else size


def _listed(chosen: Any) -> tuple[Any, Any]:
    """Return the number of chosen blocks in each row, and their columns, followed by those of the others."""
    order = ops.argsort(chosen.to(EXPORTS["int32"]), dim=-1, descending=True, stable=True)
    return chosen.sum(-1).to(EXPORTS["int32"]), order.to(EXPORTS["int32"])


def _dense(counts: Any, columns: Any) -> Any:
    """The blocks that are listed, as a table of int32."""
    places = ops.arange(columns.shape[-1], device=columns.device)
    listed = (places < counts.unsqueeze(-1)).to(EXPORTS["int32"])
    return ops.zeros_like(listed).scatter(-1, columns.long(), listed)


class BlockMask:
    """A mask of attention: for each block of queries the blocks of keys that are kept, and a function for those of
    which it leaves out a part.

    `kv_num_blocks` (batch, heads, rows) says how many blocks of a row are kept in part, `kv_indices` (batch, heads,
    rows, columns) which; `full_kv_num_blocks` and `full_kv_indices` are those that are kept wholly. `q_num_blocks` and
    its like say the same by columns. `from_kv_blocks` makes one.
    """

    _LISTS = (
        "kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices", "q_num_blocks", "q_indices",
        "full_q_num_blocks", "full_q_indices",
    )  # fmt: skip

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Any,
        kv_indices: Any,
        full_kv_num_blocks: Any = None,
        full_kv_indices: Any = None,
        q_num_blocks: Any = None,
        q_indices: Any = None,
        full_q_num_blocks: Any = None,
        full_q_indices: Any = None,
        BLOCK_SIZE: tuple[int, int] = (DEFAULT_BLOCK_SIZE, DEFAULT_BLOCK_SIZE),  # noqa: N803
        mask_mod: MaskMod = noop_mask,
        **options: Any,
    ) -> None:
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError("full_kv_num_blocks and full_kv_indices must be both provided or omitted")
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = tuple(seq_lengths), tuple(BLOCK_SIZE), mask_mod
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Any,
        kv_indices: Any,
        full_kv_num_blocks: Any = None,
        full_kv_indices: Any = None,
        BLOCK_SIZE: int | tuple[int, int] = DEFAULT_BLOCK_SIZE,  # noqa: N803
        mask_mod: MaskMod | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
        **options: Any,
    ) -> Self:
        """Return the mask of lists by rows; those by columns are made of them unless `compute_q_blocks` is False.

        Raises:
            RuntimeError: the lists have less than two dimensions.
            AssertionError: one of the lists of full blocks is missing.
        """
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        block = _both(BLOCK_SIZE)
        if seq_lengths is None:
            rows, columns = kv_indices.shape[-2:]
            seq_lengths = (rows * block[0], columns * block[1])
        by_columns = whole = (None, None)
        if compute_q_blocks:
            by_columns = _listed(_dense(kv_num_blocks, kv_indices).transpose(-2, -1).bool())
            if full_kv_indices is not None:
                whole = _listed(_dense(full_kv_num_blocks, full_kv_indices).transpose(-2, -1).bool())
        return cls(
            seq_lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, *by_columns, *whole, block,
            mask_mod or noop_mask,
        )  # fmt: skip

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """Return what it is made of; the two sizes of blocks and lengths as four numbers, unless `flatten` is False."""
        lists = [getattr(self, name) for name in self._LISTS]
        if flatten:
            return (*self.seq_lengths, *lists, *self.BLOCK_SIZE, self.mask_mod)
        return (self.seq_lengths, *lists, self.BLOCK_SIZE, self.mask_mod)

    @property
    def shape(self) -> tuple[int, ...]:
        """The batches, the heads, the queries and the keys."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def to_dense(self) -> Any:
        """Return which blocks are not left out, as int32 (batch, heads, rows, columns)."""
        partial = _dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_indices is None:
            return partial
        return partial | _dense(self.full_kv_num_blocks, self.full_kv_indices)

    def kept(self, batch: int, heads: int, queries: int, keys: int, device: Any = None) -> Any:
        """Return which scores are kept, as bool that broadcasts to (batch, heads, queries, keys)."""

        def scores(blocks: Any) -> Any:
            by_rows = blocks.bool().repeat_interleave(self.BLOCK_SIZE[0], -2)
            return by_rows.repeat_interleave(self.BLOCK_SIZE[1], -1)[..., :queries, :keys]

        partial = scores(_dense(self.kv_num_blocks, self.kv_indices))
        kept = partial & create_mask(self.mask_mod, batch, heads, queries, keys, device)
        if self.full_kv_indices is None:
            return kept
        return kept | scores(_dense(self.full_kv_num_blocks, self.full_kv_indices))

    def numel(self) -> int:
        """Return how many scores there are."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """Return how many scores are in blocks that are left out, in percent."""
        blocks = int(self.to_dense().sum().item())
        return 100 * (1 - blocks * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel())

    def to(self, device: Any) -> BlockMask:
        """Return the mask with its lists on a device."""
        result = copy.copy(self)
        for name in self._LISTS:
            given = getattr(self, name)
            setattr(result, name, given if given is None else given.to(device))
        return result

    def __repr__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%)"

"""The class of distributed tensors, and its functions that have gradients: `from_local`, `to_local`, `redistribute`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from ..._base.tensor_class import Tensor
from ..._base.types import Size
from ..._dispatch.subclass import disabled
from ...autograd import Function
from ..device_mesh import DeviceMesh, current_mesh
from ._parts import full, is_distributed, made, moved, part_of
from ._spec import Part, extents
from .placement_types import Partial, Placement, Replicate, Shard, normalized

__all__ = ["DTensor", "distribute_tensor"]


class DTensor(Tensor):  # type: ignore[misc]
    """A tensor whose elements lie on the processes of a mesh.

    It has the sizes, strides and dtype of the whole, and computes as a tensor of one process does: operators take the
    parts of the processes, and elements are sent where they are needed. Made by `distribute_tensor`, `from_local` and
    the functions of this module that make tensors.
    """

    __module__ = "opweave.distributed.tensor"
    __torch_function__ = staticmethod(disabled)

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Raise RuntimeError: see `from_local` and `distribute_tensor`."""
        if args and is_distributed(args[0]):
            return Tensor.__new__(cls, *args, **kwargs)
        raise RuntimeError("DTensor is not made by its class: use DTensor.from_local() or distribute_tensor()")

    # ---- what it consists of ----

    @property
    def _local_tensor(self) -> Any:
        return part_of(self).local

    @property
    def device_mesh(self) -> DeviceMesh:
        """The mesh of processes."""
        return part_of(self).mesh

    @property
    def placements(self) -> tuple[Placement, ...]:
        """The placements, by dimension of the mesh."""
        return part_of(self).placements

    @staticmethod
    def from_local(
        local_tensor: Any,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        run_check: bool = False,
        shape: Sequence[int] | None = None,
        stride: Sequence[int] | None = None,
        grad_placements: Sequence[Placement] | None = None,
    ) -> DTensor:
        """Return the distributed tensor that has a tensor of each process as its part.

        Args:
            local_tensor (Tensor): the part of this process.
            device_mesh (DeviceMesh): the processes; None: the current mesh.
            placements (sequence of Placement): one for each dimension of the mesh; None: `Replicate`.
            run_check (bool): whether the parts of replicated dimensions are taken from the first process.
            shape (sequence of int): sizes of the whole; None: shards have equal sizes.
            stride (sequence of int): strides of the whole.
            grad_placements (sequence of Placement): those to which the gradient is brought before this tensor has its
                part; None: those of `placements`, and `Replicate` for a partial one.

        Raises:
            RuntimeError: the tensor is distributed already.
            ValueError: placements do not fit the mesh.
        """
        if is_distributed(local_tensor):
            raise RuntimeError(
                f"the local_tensor argument only accepts torch.Tensor but got {type(local_tensor)} value."
            )
        mesh = current_mesh() if device_mesh is None else device_mesh
        found = normalized(placements or [Replicate()] * mesh.ndim, mesh.ndim, local_tensor.ndim)
        back = found if grad_placements is None else normalized(grad_placements, mesh.ndim, local_tensor.ndim)
        result: DTensor = _FromLocal.apply(local_tensor, mesh, found, run_check, shape, stride, _whole(back))
        return result

    def to_local(self, *, grad_placements: Sequence[Placement] | None = None) -> Any:
        """Return the part of this process, which shares its memory.

        `grad_placements` are those that the gradients of the parts have; None: those of this tensor, and `Replicate`
        for a partial one.
        """
        part = part_of(self)
        if not self.requires_grad:
            return part.local.view_as(part.local)
        back = part.placements if grad_placements is None else normalized(grad_placements, part.mesh.ndim, self.ndim)
        return _ToLocal.apply(self, _whole(back) if grad_placements is None else back)

    def redistribute(
        self,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        async_op: bool = False,
        forward_dtype: Any = None,
        backward_dtype: Any = None,
    ) -> DTensor:
        """Return the tensor at other placements of its mesh.

        Args:
            device_mesh (DeviceMesh): that of this tensor; None: the same.
            placements (sequence of Placement): one for each dimension of the mesh.
            async_op (bool): without effect: the elements are there when the call returns.
            forward_dtype (dtype): that of the result; None: the tensor's own.
            backward_dtype (dtype): that in which gradients are sent; None: their own.

        Raises:
            RuntimeError: there are no placements, or one is partial.
            NotImplementedError: the mesh is another one.
        """
        part = part_of(self)
        if device_mesh is not None and device_mesh != part.mesh:
            raise NotImplementedError("Cross device mesh comm not supported yet!")
        if placements is None:
            raise RuntimeError("placements is needed for redistribute!")
        found = normalized(placements, part.mesh.ndim, self.ndim)
        for before, after in zip(part.placements, found, strict=True):
            if isinstance(after, Partial) and before != after:
                raise RuntimeError(
                    f"Can not redistribute from {before} to {after}, redistributing to Partial is for internal use "
                    "only!"
                )
        result: DTensor = self if forward_dtype is None else self.to(forward_dtype)
        return _Redistribute.apply(result, found, backward_dtype)  # type: ignore[no-any-return]

    def full_tensor(self, *, grad_placements: Sequence[Placement] | None = None) -> Any:
        """Return the whole tensor, in the memory of each process. `grad_placements` are as of `to_local`."""
        whole = self.redistribute(placements=[Replicate()] * part_of(self).mesh.ndim)
        return whole.to_local(grad_placements=grad_placements)

    # ---- what it is not ----

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        part = part_of(self)
        return f"DTensor(local_tensor={part.local}, device_mesh={part.mesh}, placements={part.placements})"

    def __format__(self, spec: str) -> str:
        return object.__format__(self, spec)

    def numpy(self, *, force: bool = False) -> Any:
        """Raise RuntimeError: `full_tensor().numpy()` has all elements, `to_local().numpy()` those of this process."""
        self._no_memory("numpy()")

    def data_ptr(self) -> int:
        """Raise RuntimeError: `to_local().data_ptr()` is the address of the elements of this process."""
        self._no_memory("data_ptr()")

    def untyped_storage(self) -> Any:
        """Raise RuntimeError: `to_local().untyped_storage()` has the elements of this process."""
        self._no_memory("untyped_storage()")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        self._no_memory("an array of NumPy")

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("Can't export a DTensor: use full_tensor() or to_local() first")

    def _no_memory(self, what: str) -> NoReturn:
        raise RuntimeError(
            f"{what}: the elements of a DTensor lie on several processes. Use full_tensor() or to_local()"
        )

    def tolist(self) -> Any:
        """Return all elements as nested lists, which every process of the mesh must ask for."""
        return full(self).tolist()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user support the deepcopy protocol at the moment."
            )
        part = part_of(self)
        copied = made(Part(part.local.clone(), *part[1:3]), self.shape, self.stride())
        copied.requires_grad_(self.requires_grad)
        vars(copied).update(vars(self))
        memo[id(self)] = copied
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        part = part_of(self)
        return _made_again, (part[:3], tuple(self.shape), self.stride(), self.requires_grad)


def _made_again(part: tuple[Any, ...], shape: tuple[int, ...], stride: tuple[int, ...], requires_grad: bool) -> Any:
    return made(Part(*part), shape, stride).requires_grad_(requires_grad)


def _whole(placements: Sequence[Placement]) -> tuple[Placement, ...]:
    """The placements of gradients: each process has the whole one of a term."""
    return tuple([Replicate() if isinstance(each, Partial) else each for each in placements])


# ---- functions with gradients --------------------------------------------------------------------------------


class _FromLocal(Function):
    @staticmethod
    def forward(
        ctx: Any,
        local: Any,
        mesh: DeviceMesh,
        placements: tuple[Placement, ...],
        check: bool,
        shape: Any,
        stride: Any,
        back: Any,
    ) -> Any:
        ctx.back = back
        if check:
            local = _from_first(local, mesh, placements)
        sizes = _whole_sizes(local.shape, mesh, placements) if shape is None else tuple(shape)
        strides = _whole_strides(local, sizes) if stride is None else tuple(stride)
        return made(Part(local.view_as(local), mesh, placements), sizes, strides)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        local = _Redistribute.apply(grad, ctx.back, None).to_local()
        return local, None, None, None, None, None, None


class _ToLocal(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, back: Any) -> Any:
        ctx.mesh, ctx.shape, ctx.stride, ctx.back = part_of(tensor).mesh, tensor.shape, tensor.stride(), back
        local = part_of(tensor).local
        return local.view_as(local)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        whole = DTensor.from_local(grad, ctx.mesh, ctx.back, shape=ctx.shape, stride=ctx.stride)
        return whole, None


class _Redistribute(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any, placements: Any, backward_dtype: Any) -> Any:
        part = part_of(tensor)
        ctx.placements, ctx.backward_dtype = _whole(part.placements), backward_dtype
        local = moved(tensor, placements)
        local = local.view_as(local) if local is part.local else local
        return made(Part(local, part.mesh, tuple(placements)), tensor.shape, tensor.stride())

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        sent = grad if ctx.backward_dtype is None else grad.to(ctx.backward_dtype)
        return _Redistribute.apply(sent, ctx.placements, None).to(grad.dtype), None, None


def _whole_sizes(shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement]) -> tuple[int, ...]:
    sizes = list(shape)
    for mesh_dim, placement in enumerate(placements):
        if isinstance(placement, Shard):
            sizes[placement.dim] *= mesh.size(mesh_dim)
    return tuple(sizes)


def _whole_strides(local: Any, sizes: Sequence[int]) -> tuple[int, ...]:
    """The strides of dense elements in the order that those of a part have."""
    strides, step = [0] * len(sizes), 1
    for dim in sorted(range(len(sizes)), key=lambda each: (local.stride(each), -each)):
        strides[dim] = step
        step *= max(sizes[dim], 1)
    return tuple(strides)


# ---- distribution of a tensor that each process has ----------------------------------------------------------


def distribute_tensor(
    tensor: Any,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> Any:
    """Return a tensor distributed over a mesh.

    Args:
        tensor (Tensor): the whole one, of the same sizes and dtype in each process.
        device_mesh (DeviceMesh): the processes; None: the current mesh.
        placements (sequence of Placement): one for each dimension of the mesh; None: `Replicate`.
        src_data_rank (int): the index in each line of the mesh of the process whose elements are taken; None: each
            process takes its part of its own, and nothing is sent.

    Raises:
        RuntimeError: a placement is partial.
        ValueError: placements do not fit the mesh, or a distributed tensor has other ones.
    """
    mesh = current_mesh() if device_mesh is None else device_mesh
    found = normalized(placements or [Replicate()] * mesh.ndim, mesh.ndim, tensor.ndim)
    if is_distributed(tensor):
        if tensor.device_mesh != mesh:
            raise ValueError(
                f"Cannot distribute a DTensor with device mesh {tensor.device_mesh} to a different device mesh {mesh}."
            )
        if tensor.placements != found:
            raise ValueError(
                f"Cannot distribute a DTensor with placements {tensor.placements} to a different placements {found}. "
                "do you want to call `redistribute` instead?"
            )
        return tensor
    for each in found:
        if isinstance(each, Partial):
            raise RuntimeError(
                f"Trying to distribute tensor with unsupported placements {each} on device mesh dimension "
                f"{found.index(each)}!"
            )
    if not tensor.is_leaf:
        raise RuntimeError("`distribute_tensor` should be used to distribute leaf tensors! but found non-leaf tensor!")
    local = tensor.detach() if src_data_rank is None else _from_first(tensor.detach(), mesh, found, src_data_rank)
    sizes, offsets = extents(tensor.shape, mesh, found)
    for dim, (size, start) in enumerate(zip(sizes, offsets, strict=True)):
        local = local.narrow(dim, start, size)
    part = Part(local.clone(), mesh, found)
    return made(part, tensor.shape, tensor.stride()).requires_grad_(tensor.requires_grad)


def _from_first(tensor: Any, mesh: DeviceMesh, placements: Sequence[Placement], source: int = 0) -> Any:
    """The elements of the process with an index in each line of the mesh."""
    from ... import distributed as dist

    result = tensor.contiguous().clone()
    for mesh_dim in range(mesh.ndim):
        if mesh.size(mesh_dim) > 1:
            dist.broadcast(result, group_src=source, group=mesh.get_group(mesh_dim))
    return result


def sizes_of(size: Sequence[Any]) -> Size:
    """Return the sizes that were given one by one or as one sequence."""
    given = size[0] if len(size) == 1 and isinstance(size[0], (list, tuple)) else size
    return Size(tuple(int(each) for each in given))

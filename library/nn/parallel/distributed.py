"""`DistributedDataParallel`: a module whose gradients are averaged over several processes."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ... import ones, tensor, zeros
from ..._autograd.grad_mode import is_grad_enabled
from ..._base.tensor_class import Tensor
from ...distributed.algorithms.join import Join, Joinable, JoinHook
from ...distributed.collectives import all_reduce
from ...distributed.process_group import default_group
from ...distributed.reduce_op import ReduceOp
from ...distributed.reducer import GradBucket, Reducer
from ...distributed.utils import (
    _broadcast_coalesced,
    _sync_module_states,
    _tensors_in,
    _verify_param_shape_across_processes,
)
from ...futures import Future
from ..modules.module import Module
from ..parameter import UninitializedParameter

__all__ = ["DistributedDataParallel"]

_SIZES = (1, 25)
"""The sizes, in MiB, of the first bucket, which is sent early, and of all others."""


class DistributedDataParallel(Module, Joinable):
    """A module that each of several processes calls with its own part of a batch. Gradients are the averages of all.

    Construction copies parameters and buffers of rank 0 to all ranks. Gradients are sent in buckets while the backward
    pass goes on, and are there when it ends.

    Args:
        module (Module): the module; it is the part `module` of this one.
        device_ids, output_device: None, as there is one device; `dim` is without effect.
        broadcast_buffers (bool): deprecated; `forward_sync_buffers` and whether construction copies buffers.
        init_sync (bool): whether construction checks that ranks have equal models, and copies those of rank 0.
        process_group (ProcessGroup): whose ranks take part; None: all.
        bucket_cap_mb (float): the size of buckets in MiB; None: 1 for the first and 25 for others.
        find_unused_parameters (bool): whether to look for parameters that outputs do not depend on, in each forward
            pass. Their gradients are left as they are where no rank uses them.
        gradient_as_bucket_view (bool): whether gradients are views of the buckets, which saves copies.
        static_graph (bool): all iterations use the same parameters as the first one, however often.
        device_mesh (DeviceMesh): of one dimension, in place of a group.
        skip_all_reduce_unused_params, batched_grad_copy: without effect.
        bucket_cap_mb_list (list of float): the sizes of buckets one by one; the last one holds for those that follow.
        forward_sync_buffers (bool): whether each forward pass begins with the buffers of rank 0; True by default.

    Raises:
        RuntimeError: no parameter requires a gradient, parameters are uninitialized, or ranks have different models.
        ValueError: devices are given, or there is no group of processes.
    """

    def __init__(
        self,
        module: Any,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
        bucket_cap_mb_list: list[float] | None = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: bool | None = None,
    ) -> None:
        super().__init__()
        Joinable.__init__(self)
        if (delay_all_reduce_named_params, param_to_hook_all_reduce, mixed_precision) != (None, None, None):
            raise RuntimeError(
                "delay_all_reduce_named_params, param_to_hook_all_reduce and mixed_precision are not there yet: use "
                "buckets as they are, and autocast"
            )
        if process_group is not None and device_mesh is not None:
            raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
        if device_mesh is not None:
            if device_mesh.ndim != 1:
                raise RuntimeError(f"Only 1D device mesh is supported, but got {device_mesh}.")
            process_group = device_mesh.get_group(mesh_dim=0)
        self.process_group = default_group() if process_group is None else process_group
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        parameters = [each for name, each in module.named_parameters() if name not in self.parameters_to_ignore]
        _check(parameters, device_ids, output_device)
        if broadcast_buffers is not None:
            warnings.warn(
                "`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. IMPORTANT: unlike "
                "`broadcast_buffers=False`, `forward_sync_buffers=False` still syncs buffers at init.",
                FutureWarning,
                stacklevel=2,
            )
        if check_reduction:
            warnings.warn(
                "The `check_reduction` argument in `DistributedDataParallel` module is deprecated. Please avoid using "
                "it.",
                FutureWarning,
                stacklevel=2,
            )
        copies_buffers = broadcast_buffers is not False or forward_sync_buffers is not None
        self.forward_sync_buffers = copies_buffers if forward_sync_buffers is None else forward_sync_buffers
        self._has_buffers = any(True for _ in module.buffers())  # as of now, so that passes need not look for them
        self.module, self.dim = module, dim
        self.device = parameters[0].device
        self.device_type = self.device.type
        self.device_ids = self.output_device = None
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self.static_graph = static_graph
        sizes = bucket_cap_mb_list or (_SIZES if bucket_cap_mb is None else [bucket_cap_mb])
        self._limits = [int(each * 2**20) for each in sizes]
        self._divides_by_all = True
        if init_sync:
            _verify_param_shape_across_processes(self.process_group, parameters)
            _sync_module_states(
                module,
                self.process_group,
                params_and_buffers_to_ignore=self.parameters_to_ignore,
                broadcast_buffers=copies_buffers,
            )
        self.reducer = self._make_reducer()

    def _make_reducer(self) -> Reducer:
        trained = [
            (name, each)
            for name, each in self.module.named_parameters()
            if each.requires_grad and name not in self.parameters_to_ignore
        ]
        return Reducer(
            [each for _, each in trained],
            [name for name, _ in trained],
            self.process_group,
            self._limits,
            self.gradient_as_bucket_view,
            self.find_unused_parameters,
            self.static_graph,
        )

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return what the module returns."""
        is_reduced = is_grad_enabled() and self.require_backward_grad_sync
        if is_reduced:
            self.reducer.check_finished()
        work = Join.notify_join_context(self)
        if work is not None and not self._divides_by_all:
            self.reducer.divide_by(lambda: work.wait() and work.result()[0].item())
        if self.require_forward_param_sync and self.forward_sync_buffers:
            self._sync_buffers(self._common_rank(True) if self._join_config.enable else 0)
        if self._join_config.enable:
            self._is_reduced_anywhere(self.require_backward_grad_sync)
        output = self.module(*inputs, **kwargs)
        self.require_forward_param_sync = is_reduced
        if is_reduced:
            self.reducer.prepare(list(_tensors_in(output)))
        else:
            self.reducer.ignore_next()
        return output

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A context in which gradients are added up on each rank. The first iteration after it averages the sums.

        The forward pass must be within the context as well.
        """
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def register_comm_hook(self, state: Any, hook: Callable[..., Any]) -> None:
        """Have gradients reduced by `hook(state, bucket)`, a GradBucket, which returns a future of the tensor that
        replaces the bucket's. What it returns is not divided.

        Raises:
            TypeError: the hook cannot be called.
            ValueError: its annotations name other types.
            RuntimeError: there is a hook already.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        signature = inspect.signature(hook)
        if signature.parameters["bucket"].annotation not in (inspect.Signature.empty, GradBucket, "GradBucket"):
            raise ValueError("Communication hook: bucket annotation should be dist.GradBucket.")
        returned = signature.return_annotation
        if returned not in (inspect.Signature.empty, Future[Tensor]) and not isinstance(returned, str):
            raise ValueError("Communication hook: return annotation should be opweave.futures.Future[opweave.Tensor].")
        self.reducer.register_hook(hook, state)

    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Join:
        """Return a context in which ranks may have different numbers of inputs. At its end all have the model of one
        of the ranks that came last.

        Args:
            divide_by_initial_world_size (bool): divide gradients by the number of ranks; False: by that of those that
                have inputs.
            enable (bool): False: the context does nothing.
            throw_on_early_termination (bool): raise RuntimeError on all ranks when one has no inputs left.
        """
        return Join(
            [self], enable, throw_on_early_termination, divide_by_initial_world_size=divide_by_initial_world_size
        )

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return the calls that a rank without inputs makes."""
        return _JoinHook(self, kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self) -> Any:
        """The device of the parameters."""
        return self.device

    @property
    def join_process_group(self) -> Any:
        """The group of the ranks that take part."""
        return self.process_group

    @property
    def broadcast_buffers(self) -> bool:
        """Whether each forward pass begins with the buffers of rank 0."""
        return self.forward_sync_buffers

    @broadcast_buffers.setter
    def broadcast_buffers(self, value: bool) -> None:
        self.forward_sync_buffers = value

    def _sync_buffers(self, source: int) -> None:
        if not self._has_buffers:
            return
        buffers = [each for name, each in self.module.named_buffers() if name not in self.parameters_to_ignore]
        if buffers:
            _broadcast_coalesced(self.process_group, buffers, source)

    def _common_rank(self, is_candidate: bool) -> int:
        """The largest rank that is a candidate."""
        found = tensor([self.process_group.rank() if is_candidate else -1])
        all_reduce(found, ReduceOp.MAX, self.process_group)
        return int(found.item())

    def _is_reduced_anywhere(self, is_reduced: bool) -> bool:
        """Whether this iteration is no gradient accumulation of the ranks that have inputs."""
        found = (ones if is_reduced else zeros)(1)
        all_reduce(found, group=self.process_group)
        return bool(found.item())

    def _set_static_graph(self) -> None:
        """Have all iterations use the same parameters as the first one."""
        self.static_graph = self.reducer.is_static = True

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module: Any, params_and_buffers_to_ignore: Any) -> None:
        """Leave parameters and buffers of these names, of a module that is still to be wrapped, to each rank."""
        module._ddp_params_and_buffers_to_ignore = params_and_buffers_to_ignore

    def __getstate__(self) -> dict[str, Any]:
        if self.process_group is not default_group():
            raise RuntimeError(
                "DDP Pickling/Unpickling are only supported when using DDP with the default process group. That is, "
                "when you have called init_process_group and have not passed process_group argument to DDP constructor"
            )
        state = copy.copy(self.__dict__)
        del state["process_group"], state["reducer"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.process_group = default_group()
        self.reducer = self._make_reducer()


class _JoinHook(JoinHook):
    def __init__(self, wrapped: DistributedDataParallel, divides_by_all: bool) -> None:
        wrapped._divides_by_all = divides_by_all
        if divides_by_all:
            wrapped.reducer.divide_by(wrapped.process_group.size)
        self._wrapped = wrapped

    def main_hook(self) -> None:
        wrapped = self._wrapped
        if wrapped.require_forward_param_sync and wrapped.forward_sync_buffers:
            wrapped._sync_buffers(wrapped._common_rank(False))
        wrapped.require_forward_param_sync = wrapped._is_reduced_anywhere(False)
        if wrapped.require_forward_param_sync:
            wrapped.reducer.reduce_nothing()

    def post_hook(self, is_last_joiner: bool) -> None:
        wrapped = self._wrapped
        _sync_module_states(
            wrapped.module,
            wrapped.process_group,
            src=wrapped._common_rank(is_last_joiner),
            params_and_buffers_to_ignore=wrapped.parameters_to_ignore,
            broadcast_buffers=wrapped.forward_sync_buffers,
        )


def _check(parameters: list[Any], device_ids: Any, output_device: Any) -> None:
    """Raise what torch raises where gradients of these parameters cannot be reduced."""
    if not any(each.requires_grad for each in parameters):
        raise RuntimeError(
            "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient."
        )
    if device_ids is not None and len(device_ids) > 1:
        raise ValueError("device_ids can only be None or contain a single element.")
    devices = {each.device for each in parameters}
    if device_ids or output_device:
        raise ValueError(
            "DistributedDataParallel device_ids and output_device arguments only work with "
            "single-device/multiple-device GPU modules or CPU modules, but got device_ids "
            f"{device_ids}, output_device {output_device}, and module parameters {devices}."
        )
    if any(isinstance(each, UninitializedParameter) for each in parameters):
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DistributedDataParallel`. Run a dummy forward "
            "pass to correctly initialize the modules"
        )

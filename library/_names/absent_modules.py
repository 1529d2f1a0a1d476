"""Modules of torch that have no meaning here: one table of their names and of what each says where it is used.

Programs import them beside what they use, or for a check of types. A name that begins with a capital letter is a class
without instances, one behind `@` a decorator of functions that raise, any other a function that raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .refusals import refused_class, refused_decorator, refused_function

__all__ = ["ABSENT", "refused_name"]

_ONE_PROCESS = "it is not there yet. Use the collectives of opweave.distributed"
_NOT_COMPILED = "Python functions and modules run as they are. Leave compilation out"
_EXPORTED = "programs are made otherwise than torch does. Use opweave.export.export"
_ONNX = "models are made otherwise than torch does. Use opweave.onnx.export"
_NO_FAKES = "there are no such tensors. Compute shapes with tensors on the device 'meta'"
_NOT_NESTED = "tensors are rectangular. Use a padded tensor with a mask, or a list of tensors"
_NOT_QUANTIZED = "models are not converted for quantization. Quantize tensors by opweave.quantize_per_tensor"
_DATA_DEPENDENT = "sizes that depend on elements are not known on the device 'meta'. Compute with elements"
_NO_RPC = "functions are not called in other processes. Use opweave.multiprocessing"
_NO_PACKAGES = "programs are not packed with their code. Save a state_dict() by opweave.save, and install the code"
_NO_SAMPLES = "gradients are not computed by sample. Call backward() for each sample, or use opweave.func.jacrev"
_NOT_MONITORED = "nothing counts what happens in a process. Use opweave.profiler"
_NO_TESTS = "what torch tests itself with is not part of opweave. Use opweave.testing"
_OWN_PIPES = "there are no such pipes. Derive a class from opweave.utils.data.IterDataPipe"

ABSENT: Mapping[str, tuple[str, str]] = {
    "_dynamo.exc": (_NOT_COMPILED, "TensorifyScalarRestartAnalysis TorchDynamoException Unsupported"),
    "_dynamo._trace_wrapped_higher_order_op": (_NOT_COMPILED, "TransformGetItemToIndex"),
    "_custom_ops": (_DATA_DEPENDENT, "get_ctx"),
    "_export": (_EXPORTED, ""),
    "_export.error": (_EXPORTED, "InternalError"),
    "_functorch": (_NO_SAMPLES, ""),
    "_higher_order_ops.utils": (_NOT_COMPILED, "autograd_not_implemented register_fake reenter_make_fx"),
    "_inductor": (_NOT_COMPILED, "aoti_compile_and_package aoti_load_package compile list_mode_options list_options"),
    "_inductor.codecache": (_NOT_COMPILED, "extract_tensor_metadata_for_cache_key"),
    "_inductor.cpu_vec_isa": (_NOT_COMPILED, "pick_vec_isa"),
    "_inductor.runtime": (_NOT_COMPILED, ""),
    "_inductor.runtime.cache_dir_utils": (_NOT_COMPILED, "cache_dir"),
    "_inductor.utils": (_NOT_COMPILED, ""),
    "_subclasses.functional_tensor": (_NO_FAKES, "FunctionalTensor mb_unwrap_functional_tensor"),
    "_subclasses.meta_utils": (_NO_FAKES, "MetaConverter"),
    "_torch_c._distributed_c10d": (_ONE_PROCESS, "Reducer"),
    "_torch_c._distributed_rpc": (_NO_RPC, "_is_current_rpc_agent_set"),
    "ao.pruning": (_NOT_QUANTIZED, "BaseSparsifier WeightNormSparsifier get_arg_info_from_tensor_fqn"),
    "ao.quantization.backend_config": (_NOT_QUANTIZED, "BackendConfig get_native_backend_config"),
    "ao.quantization.quantize_fx": (_NOT_QUANTIZED, "convert_fx prepare_fx prepare_qat_fx"),
    "distributed._composable": (_ONE_PROCESS, "checkpoint replicate"),
    "distributed._shard": (_ONE_PROCESS, ""),
    "distributed._shard.sharded_tensor": (_ONE_PROCESS, "ShardedTensor"),
    "distributed.algorithms._checkpoint": (_ONE_PROCESS, ""),
    "distributed.algorithms._checkpoint.checkpoint_wrapper": (
        _ONE_PROCESS,
        "CheckpointImpl CheckpointWrapper apply_activation_checkpointing checkpoint_wrapper offload_wrapper",
    ),
    "distributed.algorithms.ddp_comm_hooks.post_localSGD_hook": (_ONE_PROCESS, "PostLocalSGDState post_localSGD_hook"),
    "distributed.algorithms.ddp_comm_hooks.powerSGD_hook": (
        _ONE_PROCESS,
        "PowerSGDState batched_powerSGD_hook powerSGD_hook",
    ),
    "distributed.algorithms.model_averaging": (_ONE_PROCESS, ""),
    "distributed.algorithms.model_averaging.averagers": (_ONE_PROCESS, "ModelAverager PeriodicModelAverager"),
    "distributed.checkpoint._consolidate_hf_safetensors": (_ONE_PROCESS, "consolidate_safetensors_files"),
    "distributed.checkpoint.hf_storage": (_ONE_PROCESS, "HuggingFaceStorageReader HuggingFaceStorageWriter"),
    "distributed.checkpoint.optimizer": (_ONE_PROCESS, "load_sharded_optimizer_state_dict"),
    "distributed.elastic.agent": (_ONE_PROCESS, ""),
    "distributed.launcher": (_ONE_PROCESS, "LaunchConfig elastic_launch launch_agent"),
    "distributed.pipelining": (
        _ONE_PROCESS,
        "PipelineStage Schedule1F1B ScheduleGPipe SplitPoint pipe_split pipeline",
    ),
    "distributed.rpc": (
        _NO_RPC,
        (
            "BackendType ProcessGroupRpcBackendOptions PyRRef RRef RpcBackendOptions TensorPipeRpcBackendOptions "
            "WorkerInfo get_worker_info init_rpc remote rpc_async rpc_sync shutdown"
        ),
    ),
    "distributed.rpc.api": (_NO_RPC, "_all_gather @_require_initialized"),
    "fx.experimental": (_NOT_COMPILED, ""),
    "jit.frontend": (_NOT_COMPILED, "NotSupportedError UnsupportedNodeError"),
    "monitor": (
        _NOT_MONITORED,
        (
            "Aggregation Event EventHandlerHandle Stat TensorboardEventHandler data_value_t log_event "
            "register_event_handler unregister_event_handler"
        ),
    ),
    "nested": (
        _NOT_NESTED,
        "as_nested_tensor masked_select narrow nested_tensor nested_tensor_from_jagged to_padded_tensor",
    ),
    "nested._internal": (_NOT_NESTED, ""),
    "nested._internal.nested_tensor": (
        _NOT_NESTED,
        "NestedTensor _tensor_symint_registry nested_view_from_values_offsets",
    ),
    "nested._internal.ops": (_NOT_NESTED, "extract_kwargs"),
    "nn.utils._expanded_weights": (_NO_SAMPLES, "ExpandedWeight"),
    "nn.utils._per_sample_grad": (_NO_SAMPLES, "call_for_per_sample_grads"),
    "numa": (_ONE_PROCESS, ""),
    "numa.binding": (_ONE_PROCESS, "AffinityMode NumaOptions"),
    "onnx._internal": (_ONNX, ""),
    "onnx._internal.exporter": (_ONNX, "ONNXProgram"),
    "onnx.operators": (_ONNX, "reshape_from_tensor_shape shape_as_tensor"),
    "onnx.symbolic_opset9": (_ONNX, "masked_fill softmax"),
    "onnx.symbolic_opset11": (_ONNX, "add select squeeze unsqueeze"),
    "onnx.symbolic_opset12": (_ONNX, "dropout"),
    "package": (_NO_PACKAGES, "Importer PackageExporter PackageImporter"),
    "testing._internal": (_NO_TESTS, ""),
    "testing._internal.common_device_type": (_NO_TESTS, "dtypes instantiate_device_type_tests ops"),
    "testing._internal.common_dtype": (_NO_TESTS, "all_types floating_types integral_types"),
    "testing._internal.common_utils": (
        _NO_TESTS,
        "TestCase instantiate_parametrized_tests parametrize run_tests subtest",
    ),
    "utils.data.datapipes.map": (_OWN_PIPES, "Batcher Concater Mapper SequenceWrapper Shuffler Zipper"),
    "utils.mobile_optimizer": (_NOT_COMPILED, "MobileOptimizerType optimize_for_mobile"),
}
"""The modules without a counterpart: what their names say, and the names, by the module without the package."""


def refused_name(package: str, module: str, name: str) -> Any:
    """The class or the function that one of the modules of the table has under a name.

    Raises AttributeError if it has none.
    """
    reason, names = ABSENT[module]
    if f"@{name}" in names.split():
        return refused_decorator(f"{package}.{module}", name, reason)
    if name not in names.split():
        raise AttributeError(f"module '{package}.{module}' has no attribute {name!r}; {reason}", name=name)
    make = refused_class if name.lstrip("_")[:1].isupper() else refused_function
    return make(f"{package}.{module}", name, reason)

"""Advice in the AttributeErrors of names that torch has and this package has not: one table.

Names are without that of the package, `cuda.nvtx`, and stand for all that is within them as well. One that ends with
`*` is the beginning of names. The longest that fits is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from .._base.notes import explained
from .._tensor.absent_names import FROM_NUMPY, FROM_TORCH, TORCH_METHODS
from .numpy_functions import NUMPY_FUNCTIONS

__all__ = ["advice_on", "no_attribute"]

_ADVICE: Mapping[str, str] = {
    "there is no TorchScript; use opweave.compile, opweave.export or opweave.fx": """
        AliasDb AnyType Argument ArgumentSpec AwaitType Block BoolType BufferDict CallStack Capsule ClassType
        Code CompilationUnit CompleteArgumentSpec ComplexType ConcreteModuleType* DeepCopyMemoTable
        DeserializationStorageContext DeviceObjType DictType EnumType ErrorReport ExecutionPlan FileCheck
        FloatType FunctionSchema FutureType Gradient Graph GraphExecutorState IODescriptor InferredType IntType
        InterfaceType JITException ListType LiteScriptModule ModuleDict Node NoneType NumberType OperatorInfo
        OptionalType ParameterDict PyObjectType RRefType Script* SerializationStorageContext StaticModule
        StreamObjType StringType SymBoolType SymIntType TensorType TracingState TupleType UnionType Use Value
        import_ir_module* merge_type_from_type_comment parse_ir parse_schema parse_type_comment unify_type_list
        jit.CompilationUnit jit.enable_onednn_fusion jit.export_opnames jit.generate_bytecode jit.mobile
        jit.onednn_fusion_enabled jit.optimize_for_inference jit.quantized jit.set_fusion_strategy
        jit.strict_fusion jit.supported_ops jit.unsupported_tensor_ops export.custom_ops utils.jit
        utils.mobile_optimizer utils.bundled_inputs utils.model_dump testing.FileCheck""",
    "use concurrent.futures or opweave.multiprocessing": "fork wait prepare_multiprocessing_environment "
    "multiprocessing.pool multiprocessing.queue",
    "models are not converted for quantization; use opweave.quantize_per_tensor": """
        ao.* nn.intrinsic nn.qat nn.quantizable nn.quantized.* quantization.* quantized_* fbgemm_*
        choose_qparams_optimized fused_moving_avg_obs_fake_quant QUInt2x4Storage QUInt4x2Storage
        backends.quantized""",
    "it calls a library that is not used here; use opweave.nn.functional": """
        cudnn_* miopen_* mkldnn_* batch_norm_backward_* batch_norm_elemt batch_norm_gather_stats*
        batch_norm_stats native_norm utils.mkldnn""",
    "it is about a library that is not used here; leave it out": """
        backends.cusparselt backends.kleidiai backends.miopen backends.mha backends.nnpack
        backends.python_native backends.xeon backends.xnnpack backends.cuda.* backends.cudnn.* backends.mkl.*
        backends.mkldnn.* backends.openmp.* backends.opt_einsum.* is_vulkan_available has_lapack has_mkl
        has_openmp has_spectral profiler.itt""",
    "there are no such devices; use the CPU, or add a device by opweave.library.register_device": """
        cuda.* xpu.* mps.* mtia backends.mps.* get_device PRIVATE_OPS AcceleratorError accelerator.Graph
        accelerator.graphs accelerator.memory accelerator.get_device_capability
        accelerator.reset_accumulated_memory_stats cpu.StreamContext serialization.validate_cuda_device
        serialization.validate_hpu_device utils.backend_registration
        utils.generate_methods_for_privateuse1_backend utils.rename_privateuse1_backend""",
    "write opweave.get_autocast_dtype(device_type)": "get_autocast_gpu_dtype get_autocast_ipu_dtype "
    "get_autocast_xla_dtype",
    "write opweave.set_autocast_dtype(device_type, dtype)": "set_autocast_gpu_dtype set_autocast_ipu_dtype "
    "set_autocast_xla_dtype",
    "write opweave.is_autocast_enabled(device_type)": "is_autocast_ipu_enabled is_autocast_xla_enabled",
    "write opweave.set_autocast_enabled(device_type, enabled)": "set_autocast_ipu_enabled set_autocast_xla_enabled",
    "there are no such dtypes; use opweave.uint8": "bit bits1x8 bits2x4 bits4x2 bits8 bits16 float4_e2m1fn_x2",
    "tensors are rectangular; use a mask, or a list of tensors": "jagged",
    "write opweave.contiguous_format": "legacy_contiguous_format",
    "write x.indices().clone(), and so on": "ccol_indices_copy col_indices_copy crow_indices_copy indices_copy "
    "row_indices_copy values_copy",
    "write opweave.nn.functional.embedding(x, weight, max_norm=1.0)": "embedding_renorm_",
    "sizes are numbers of Python; use opweave.export.Dim where they may change": """
        sym_constrain_range* sym_fresh_size fx.experimental.* export.decomp_utils""",
    # Functions that are methods as well.
    **{TORCH_METHODS[name]: name for name in ("is_distributed", "resize_as_sparse_", "slice_inverse")},
    "write opweave.signal.windows": "windows signal.windows.windows",
    "write opweave.UntypedStorage": "StorageBase serialization.StorageType serialization.normalize_storage_type "
    "serialization.storage_to_tensor_type",
    "write opweave.utils.benchmark.Timer": """
        BenchmarkConfig BenchmarkExecutionStats ThroughputBenchmark utils.ThroughputBenchmark
        utils.throughput_benchmark utils.benchmark.Callgrind* utils.benchmark.CopyIfCallgrind
        utils.benchmark.Function* utils.benchmark.Fuzz* utils.benchmark.Language utils.benchmark.ParameterAlias
        utils.benchmark.examples utils.benchmark.op_fuzzers utils.benchmark.ordered_unique
        utils.benchmark.set_torch_threads utils.benchmark.utils""",
    "write opweave.profiler.profile": """
        autograd.profiler_legacy autograd.Profiler* autograd.kineto_available autograd.profiler.* monitor.*
        profiler.ExecutionTraceObserver profiler.python_tracer profiler_allow_cudagraph_cupti_*""",
    "write opweave.overrides": """
        DisableTorchFunction* autograd.handle_torch_function autograd.has_torch_function autograd.is_tensor_like
        nn.functional.handle_torch_function nn.functional.has_torch_function*
        overrides.enable_reentrant_dispatch overrides.get_ignored_functions overrides.get_testing_overrides
        overrides.redispatch_function""",
    "write opweave.library.register": """
        DispatchKey DispatchKeySet ExcludeDispatchKeyGuard library.fallthrough_kernel library.get_ctx
        library.get_kernel library.impl_abstract library.register_autocast library.register_torch_dispatch
        library.register_vmap library.triton_op library.wrap_triton""",
    "write opweave.autograd.Function": "autograd.NestedIOFunction",
    "write opweave.autograd.graph.saved_tensors_hooks": "autograd.SavedTensor",
    "write opweave.device": "autograd.DeviceType",
    "write opweave.func.functional_call, with parameters stacked by opweave.stack": "func.stack_module_state",
    "write opweave.nn.GroupNorm in place of batch norm": "func.replace_all_batch_norm_modules_",
    "write x.reshape and x.permute, or use the package einops": "func.rearrange",
    "write opweave.nn.grad": "nn.functional.grad",
    "write opweave.nn.functional.scaled_dot_product_attention": "nn.attention.experimental nn.attention.varlen",
    "write opweave.optim.Optimizer.load_state_dict": "optim.swap_in_optimizer_params_and_state",
    "write opweave.optim": "distributed.optim.functional_*",
    "functions are compiled without it; leave it out": """
        compiler.config compiler.get_default_backend compiler.keep_* compiler.load_*
        compiler.nested_compile_region compiler.save_cache_artifacts compiler.set_* compiler.skip_*
        compiler.substitute_in_graph compiler.wrap_numpy""",
    "programs are made otherwise than torch does; use opweave.export.export": """
        export.AdditionalInputs export.custom_obj export.dynamic_shapes export.experimental export.passes
        export.pt2_archive fx.config fx.operator_schemas fx.passes.* fx.tensor_type fx.traceback fx.annotate""",
    "models are made otherwise than torch does; use opweave.onnx.export": """
        onnx.ExportableModule onnx.InputObserver onnx.errors onnx.ops onnx.symbolic_opset* onnx.testing
        onnx.utils onnx.verification""",
    "there are no such tensors; write x.to_sparse_csr()": "sparse.SparseSemiStructured* sparse.semi_structured "
    "sparse.to_sparse_semi_structured",
    "write opweave.autograd.gradcheck": "sparse.as_sparse_gradcheck",
    "write opweave.linalg.solve": "sparse.solve",
    "write opweave.Tensor": "fft.Tensor special.Tensor",
    "all of it is computed again; use opweave.utils.checkpoint.checkpoint": """
        utils.checkpoint.CheckpointFunction utils.checkpoint.CheckpointPolicy utils.checkpoint.DefaultDeviceType
        utils.checkpoint.GraphExecGroup utils.checkpoint.SAC_IGNORED_OPS
        utils.checkpoint.SelectiveCheckpointContext utils.checkpoint.check_backward_validity
        utils.checkpoint.create_selective_checkpoint_contexts utils.checkpoint.detach_variable
        utils.checkpoint.set_checkpoint_debug_enabled""",
    "C++ is not compiled against torch; declare an operator, by opweave.weave_text": "utils.cpp_extension.*",
    "write opweave.distributed.all_gather_into_tensor": "distributed.all_gather_single",
    "write opweave.distributed.reduce_scatter_tensor": "distributed.reduce_scatter_single",
    "write opweave.distributed.checkpoint.FileSystemReader": "distributed.checkpoint.HuggingFace* "
    "distributed.checkpoint.QuantizedHuggingFace*",
    "write opweave.distributed.checkpoint.load": "distributed.checkpoint.load_sharded_optimizer_state_dict",
    "processes exchange tensors by MPI; use the collectives of opweave.distributed": """
        distributed.AllToAllOptions distributed.Allreduce* distributed.BackendConfig distributed.BarrierOptions
        distributed.BroadcastOptions distributed.BuiltinCommHookType distributed.GatherOptions
        distributed.GroupName distributed.ReduceOptions distributed.ReduceScatterOptions distributed.Reducer
        distributed.ScatterOptions distributed.autograd distributed.collective_utils distributed.elastic.*
        distributed.get_default_backend_for_device distributed.nn.* distributed.pipelining.*
        distributed.register_rendezvous_handler distributed.remote_device distributed.rpc.*
        distributed.shrink_group distributed.supports_complex distributed.optim.apply_optimizer_in_backward
        distributed.optim.as_functional_optim distributed.optim.named_optimizer distributed.optim.optimizer
        distributed.optim.post_localSGD_optimizer distributed.optim.utils
        distributed.optim.zero_redundancy_optimizer""",
    "write python -m opweave.distributed.run": "distributed.launch distributed.argparse_util",
    "write breakpoint()": "distributed.breakpoint",
    "it is an internal of torch; leave it out": """
        AVG AggregationType FatalError LockingLogger LoggerBase NoopLogger SUM USE_GLOBAL_DEPS
        USE_RTLD_GLOBAL_WITH_LIBTORCH classproperty compiled_with_cxx11_abi cpp get_file_path init_num_threads
        thread_safe_generator random.thread_safe_generator autograd.is_view_replay_enabled backends.m
        cpu.get_capabilities distributed.DebugLevel distributed.Logger distributed.c10d_logger
        distributed.config distributed.debug distributed.flight_recorder distributed.get_debug_level
        distributed.logging_handlers distributed.record_comm distributed.set_debug_level*
        distributed.checkpoint.logger distributed.checkpoint.logging_handlers
        distributed.checkpoint.planner_helpers distributed.checkpoint.quantized_hf_storage
        distributed.checkpoint.resharding distributed.checkpoint.staging distributed.checkpoint.utils
        distributed.checkpoint.state_dict.DictValueType distributed.checkpoint.state_dict.FQNS_T
        distributed.checkpoint.state_dict.ListDictValueType distributed.checkpoint.state_dict.OptimizerStateType
        distributed.checkpoint.state_dict.PrimitiveType distributed.checkpoint.state_dict.ValueType
        distributed.tensor.debug distributed.tensor.device_mesh distributed.tensor.parallel.* func.debug_unwrap
        nn.backends nn.cpp nn.factory_kwargs nn.functional.BroadcastingList* nn.functional.DType
        nn.functional.GRID_SAMPLE_* nn.functional.assert_int_or_pair nn.functional.boolean_dispatch
        nn.modules.linear_cross_entropy nn.parallel.comm return_types.* serialization.SourceChangeWarning
        serialization.check_module_version_greater_or_equal serialization.mkdtemp utils.backcompat
        utils.cmake_prefix_path utils.cpp_backtrace utils.debug_log utils.file_baton
        utils.data.backward_compatibility utils.get_cpp_backtrace utils.hipify utils.module_tracker
        utils.serialization utils.set_module utils.show_pickle utils.viz""",
}
"""The names by what to do without them."""


def no_attribute(module: str, name: str) -> AttributeError:
    """Return the error of a module without an attribute, with what to use in place of it where that is known."""
    text = f"module {module!r} has no attribute {name!r}"
    path = f"{module}.{name}".partition(".")[2]
    advice = None if name.startswith("__") else advice_on(path)
    if advice is None:
        return AttributeError(text, name=name)
    error = AttributeError(f"{text}; {advice}", name=name)
    return explained(error, FROM_NUMPY if path in NUMPY_FUNCTIONS else FROM_TORCH)


def advice_on(name: str) -> str | None:
    """Return what to do without a name of torch or NumPy, such as `cuda.nvtx`; None where nothing is known about it."""
    if name in NUMPY_FUNCTIONS:
        return f"write {NUMPY_FUNCTIONS[name]}"
    rows, beginnings = _rows()
    while name and name not in rows:
        found = next((each for each in beginnings if name.startswith(each)), None)
        name = name.rpartition(".")[0] if found is None else f"{found}*"
    return rows.get(name)


@cache
def _rows() -> tuple[Mapping[str, str], list[str]]:
    """The advice by name, and those beginnings of names that stand there, the longest first."""
    rows = {name: advice for advice, names in _ADVICE.items() for name in names.split()}
    return rows, sorted((name[:-1] for name in rows if name.endswith("*")), key=len, reverse=True)

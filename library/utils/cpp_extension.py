"""opweave.utils.cpp_extension: nothing is compiled against torch's C++. Names of compilers are None."""

from __future__ import annotations

from .._names.refusals import refused_class, refused_function

__all__ = [
    "CUDA_HOME", "CUDNN_HOME", "IS_HIP_EXTENSION", "ROCM_HOME", "SYCL_HOME", "BuildExtension", "CUDAExtension",
    "CppExtension", "include_paths", "library_paths", "load", "load_inline",
]  # fmt: skip

CUDA_HOME = CUDNN_HOME = ROCM_HOME = SYCL_HOME = None
"""The folders of compilers for other devices: None, as there are none."""
IS_HIP_EXTENSION = False

_INSTEAD = "libraries are not compiled against torch's C++. Declare operators in YAML and weave them (opweave.weave)"

BuildExtension = refused_class(__name__, "BuildExtension", _INSTEAD)
CUDAExtension = refused_function(__name__, "CUDAExtension", _INSTEAD)
CppExtension = refused_function(__name__, "CppExtension", _INSTEAD)
include_paths = refused_function(__name__, "include_paths", _INSTEAD)
library_paths = refused_function(__name__, "library_paths", _INSTEAD)
load = refused_function(__name__, "load", _INSTEAD)
load_inline = refused_function(__name__, "load_inline", _INSTEAD)

"""Python functions that the bodies of composites in ops.yaml call, one module for each topic."""

from __future__ import annotations

from .alignments import *  # noqa: F403
from .assertions import *  # noqa: F403
from .channels import *  # noqa: F403
from .class_losses import *  # noqa: F403
from .complex_views import *  # noqa: F403
from .convolution import *  # noqa: F403
from .covariance import *  # noqa: F403
from .drawing import *  # noqa: F403
from .drawn_windows import *  # noqa: F403
from .dtype_views import *  # noqa: F403
from .einsum.execute import *  # noqa: F403
from .fft.arguments import *  # noqa: F403
from .fft.kernels import *  # noqa: F403
from .fft.stft import *  # noqa: F403
from .fft.windows import *  # noqa: F403
from .histograms import *  # noqa: F403
from .joining import *  # noqa: F403
from .linalg.checks import *  # noqa: F403
from .linalg.factorizations import *  # noqa: F403
from .linalg.matrix_exp import *  # noqa: F403
from .linalg.multi_dot import *  # noqa: F403
from .linalg.norms import *  # noqa: F403
from .losses import *  # noqa: F403
from .memory_changes import *  # noqa: F403
from .memory_formats import *  # noqa: F403
from .node_outputs import *  # noqa: F403
from .normalization import *  # noqa: F403
from .numpy_bridge import *  # noqa: F403
from .ordered_rows import *  # noqa: F403
from .padding import *  # noqa: F403
from .places import *  # noqa: F403
from .quantization import *  # noqa: F403
from .random_arguments import *  # noqa: F403
from .rearranging import *  # noqa: F403
from .reductions import *  # noqa: F403
from .sampling import *  # noqa: F403
from .segments import *  # noqa: F403
from .sorting import *  # noqa: F403
from .splitting import *  # noqa: F403
from .stages import *  # noqa: F403
from .unique import *  # noqa: F403
from .unpooling import *  # noqa: F403
from .values import *  # noqa: F403
from .windows import *  # noqa: F403

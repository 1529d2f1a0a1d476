"""What users write. mypy --strict has nothing to say about it, and it runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import opweave
from opweave import Tensor, cpu
from opweave.backends import cudnn
from opweave.utils.benchmark import Compare, Measurement, Timer
from typing_extensions import assert_type

# ---- making tensors ----

x = opweave.tensor([[1.0, 2.0], [3.0, 4.0]])
counts = opweave.arange(0, 4, dtype=opweave.int64)
ones = opweave.ones(2, 2, dtype=opweave.float, device="cpu")
grid = opweave.full((2, 2), 0.5, dtype=opweave.float64)
empty = opweave.empty((2, 2), memory_format=opweave.contiguous_format)
assert_type(x, Tensor)
assert_type(opweave.zeros(2, 3), Tensor)
assert_type(opweave.as_tensor([1, 2], dtype=opweave.int), Tensor)
assert_type(opweave.scalar_tensor(1.0, device=opweave.device("cpu")), Tensor)

# ---- what they are ----

assert_type(x.dtype, opweave.dtype)
assert_type(x.shape, opweave.Size)
assert_type(x.shape[0], int)
assert_type(x.shape[:1], opweave.Size)
assert_type(x.size(), opweave.Size)
assert_type(x.size(0), int)
assert_type(x.stride(), tuple[int, ...])
assert_type(x.device, opweave.device)
assert_type(x.dtype.itemsize + x.ndim + x.numel() + len(x), int)
assert_type(opweave.float32 is x.dtype and opweave.bool is not opweave.half, bool)

# ---- functions, methods and operators ----

assert_type(opweave.add(x, ones, alpha=2), Tensor)
assert_type(opweave.sum(x, dim=(0, 1), keepdim=True, dtype=opweave.float64), Tensor)
assert_type(x.softmax(-1).mean(axis=0, keepdims=True), Tensor)
assert_type(opweave.where(x > 2, x, 0.0), Tensor)
assert_type(opweave.clamp(x, max=3), Tensor)
assert_type(-x + 2 * x - x / 2 + (1 - x) ** 2, Tensor)
assert_type((x @ ones).contiguous().view(4).reshape(2, -1).transpose(0, 1), Tensor)
assert_type((x == 1) | ~(x < ones) & (x != 2.0), Tensor)
assert_type((abs(x) >= 1).any() or (x > 0).all(), Tensor)
assert_type(x.expand(3, -1, -1).permute((2, 0, 1)).squeeze(), Tensor)
assert_type(x.T.contiguous().clone().detach(), Tensor)

# ---- writing to tensors ----

opweave.mul(x, x, out=empty)
assert_type(empty.add_(1).sqrt_(), Tensor)
empty += 1
empty *= x
assert_type(empty, Tensor)
empty.copy_(x)

# ---- indexing ----

assert_type(x[0], Tensor)
assert_type(x[..., None, 1:], Tensor)
x[0, 1] = 5
x[1:] = opweave.zeros(1, 2)
for row in x:
    assert_type(row, Tensor)

# ---- dtypes ----

assert_type(x.to(opweave.float64), Tensor)
assert_type(x.to("cpu", opweave.half, copy=True), Tensor)
assert_type(x.int().float().double().bool().bfloat16(), Tensor)
assert_type(opweave.promote_types(opweave.short, opweave.uint8), opweave.dtype)
assert_type(opweave.result_type(x, 1), opweave.dtype)

# ---- Python and NumPy ----

assert_type(x.numpy(), npt.NDArray[Any])
assert_type(opweave.from_numpy(np.ones(3)), Tensor)
assert_type(np.asarray(x), npt.NDArray[Any])
first, last = float(x[0, 0]), int(counts[-1])
total = x.sum().item() + first + last
assert_type(total, float)
assert_type(bool(x.any()), bool)
assert_type(opweave.is_tensor(x), bool)

array = np.array([[1, 2], [3, 4]], dtype=np.float32)
number: np.float32 = np.float32(2)
assert_type(x * array + array.astype(np.int64) - number, Tensor)
assert_type(x @ array, Tensor)
assert_type(x**array > np.bool_(True), Tensor)
x += array
x *= np.int64(2)
assert_type(x, Tensor)

# ---- gradients ----

weight = opweave.tensor([[0.5], [-1.0]], requires_grad=True)
bias = opweave.zeros(1, requires_grad=True)
loss = ((x @ weight + bias - ones[:, :1]) ** 2).mean()
loss.backward()
assert_type(loss, Tensor)
assert_type(weight.requires_grad, bool)
with opweave.no_grad():
    for parameter in (weight, bias):
        assert parameter.grad is not None
        parameter -= 0.1 * parameter.grad
        parameter.grad = None
assert_type(opweave.is_grad_enabled(), bool)

# ---- devices ----

device = opweave.device("cuda" if opweave.cuda.is_available() else "cpu")
assert_type(device, opweave.device)
assert_type(x.to(device), Tensor)
assert_type(opweave.cpu.device_count() + opweave.accelerator.device_count(), int)
assert_type(opweave.backends.cudnn.is_available(), bool)
opweave.cuda.manual_seed_all(0)
cudnn.deterministic = True
release: str | None = opweave.version.cuda

# ---- signals ----

line = opweave.arange(20.0)
window = opweave.hann_window(8)
assert_type(opweave.fft.irfft(opweave.fft.rfft(line, norm="ortho"), 20, dim=0), Tensor)
assert_type(opweave.fft.fftn(x, s=(4, -1), dim=(0, 1)), Tensor)
assert_type(opweave.signal.windows.hann(8, sym=False) * window, Tensor)
assert_type(line.stft(8, window=window, return_complex=True).istft(8, window=window), Tensor)
timing: Measurement = Timer("x + 1", globals={"x": x}, num_threads=2).timeit(10)
assert_type(timing.median, float)
Compare([timing]).print()

# ---- the rest ----

assert_type(cpu.memory_allocated() + opweave.cpu.max_memory_allocated(), int)
assert_type(opweave.broadcast_shapes((2, 1), 3), opweave.Size)
with opweave.printoptions(precision=2):
    assert_type(f"{x} {x!r}", str)
try:
    opweave.mm(x, counts)
except (opweave.OutOfMemoryError, opweave.LinAlgError, RuntimeError) as error:
    assert_type(str(error), str)
parts = opweave.complex(x, x)
parts.real = 1
parts.imag = parts.real

"""Splits signals into overlapping frames and adds them up again, for the composites `stft` and `istft`; messages are
torch's.
"""

from __future__ import annotations

from typing import Any

from ..._base.warn import warn
from ..assertions import assert_explained
from ..padding import padded

__all__ = ["inverse_frames", "inverse_signal", "overlapped", "short_time_frames"]


def _refusal(function: str, tensor: Any, message: str, **arguments: Any) -> RuntimeError:
    """Return an error whose text begins with the call: types and shapes of tensors, and bools as numbers."""
    shown: dict[str, Any] = {name: int(v) if isinstance(v, bool) else v for name, v in arguments.items()}
    window = shown.get("window")
    if window is not None:
        shown["window"] = f"{_kind(window)}{{{list(window.shape)}}}"
    call = ", ".join(f"{name}={value}" for name, value in shown.items())
    return RuntimeError(f"{function}({_kind(tensor)}{list(tensor.shape)}, {call}){message}")


def _kind(tensor: Any) -> str:
    return f"CPU{tensor.dtype.scalar_name}Type" if tensor.is_complex() else str(tensor.type())


def _warn_of_missing_window(rest: str) -> None:
    warn(
        f"A window was not provided. A rectangular window will be applied, {rest} To suppress this warning and use a "
        "rectangular window, explicitly set `window=opweave.ones(n_fft)`.",
    )


def _widened(window: Any, n_fft: int) -> Any:
    """Pad the window with zeros on both sides to the size of a frame."""
    missing = n_fft - window.size(0)
    return padded(window, [missing // 2, missing - missing // 2], "constant", 0) if missing else window


# ---- signal to frames ---------------------------------------------------------------------------------------


def short_time_frames(
    tensor: Any,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Any,
    center: bool,
    pad_mode: str,
    normalized: bool,
    onesided: bool | None,
    return_complex: bool | None,
    align_to_window: bool | None,
) -> tuple[Any, Any, bool]:
    """Return (frames [B, T, n_fft], window or None for ones, onesided)."""
    if center:
        if align_to_window is not None:
            raise RuntimeError("stft align_to_window should only be set when center = false")
        tensor = _centred(tensor, n_fft, pad_mode)
    if window is None:
        _warn_of_missing_window(
            "which is known to cause spectral leakage. Other windows such as opweave.hann_window or "
            "opweave.hamming_window are recommended to reduce spectral leakage."
        )
    is_complex = tensor.is_complex() or (window is not None and window.is_complex())
    if return_complex is None and not is_complex:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require that "
            "return_complex=True in a future PyTorch release."
        )
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    mistake = _mistake_of_signal(tensor, n_fft, hop, width, window, bool(align_to_window))
    if mistake is not None:
        raise _refusal(
            "stft", tensor, f" : expected {mistake}", n_fft=n_fft, hop_length=hop, win_length=width, window=window,
            normalized=normalized, onesided=onesided, return_complex=return_complex, align_to_window=align_to_window,
        )  # fmt: skip
    if is_complex and onesided:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    lines = tensor if tensor.ndim == 2 else tensor.unsqueeze(0)
    if align_to_window:
        missing = n_fft - width
        lines = padded(lines, [missing // 2, missing - missing // 2], "constant", 0)
    if window is None and width < n_fft:
        window = tensor.new_ones(width)
    window = None if window is None else _widened(window, n_fft)
    return lines.unfold(1, n_fft, hop), window, not is_complex if onesided is None else onesided


def _centred(tensor: Any, n_fft: int, pad_mode: str) -> Any:
    """Pad the signal by half a frame at both ends, so that its first element is in the middle of the first frame."""
    shape = (*(1,) * (3 - tensor.ndim), *tensor.shape)
    result = padded(tensor.reshape(shape), [n_fft // 2] * 2, pad_mode, None)
    return result.reshape(result.shape[result.ndim - tensor.ndim :])


def _mistake_of_signal(tensor: Any, n_fft: int, hop: int, width: int, window: Any, aligned: bool) -> str | None:
    """Return what was expected of the arguments and is not so, or None."""
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return "a tensor of floating point or complex values"
    if tensor.ndim not in (1, 2):
        return "a 1D or 2D tensor"
    length = tensor.size(-1)
    if not 0 < n_fft <= length:
        return f"0 < n_fft < {length}, but got n_fft={width if aligned else n_fft}"
    if hop <= 0:
        return f"hop_length > 0, but got hop_length={hop}"
    if not 0 < width <= n_fft:
        return f"0 < win_length <= n_fft, but got win_length={width}"
    if window is not None and (window.ndim != 1 or window.size(0) != width):
        size = list(window.shape)
        return f"a 1D window tensor of size equal to win_length={width}, but got window with size {size}"
    return None


# ---- frames to signal ---------------------------------------------------------------------------------------


def inverse_frames(
    tensor: Any,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Any,
    center: bool,
    normalized: bool,
    onesided: bool | None,
    length: int | None,
    return_complex: bool,
) -> tuple[Any, Any, int, Any]:
    """Return the spectra of a batch of frames, the window of their size, the hop, and a function that raises for
    windows that sum to zero.
    """
    if window is None:
        _warn_of_missing_window("Please provide the same window used by stft to make the inversion lossless.")
    if not tensor.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length

    def refusal(message: str) -> RuntimeError:
        return _refusal(
            "istft", tensor, message, n_fft=n_fft, hop_length=hop, win_length=width, window=window, center=center,
            normalized=normalized, onesided=onesided, length=length, return_complex=return_complex,
        )  # fmt: skip

    if tensor.ndim < 2:
        raise IndexError("Dimension out of range (expected to be in range of [-2, 1], but got -3)")
    half = tensor.size(-2) != n_fft if onesided is None else onesided
    mistake = _mistake_of_frames(tensor, n_fft, hop, width, window, half)
    if mistake is not None:
        raise refusal(f" : {mistake}")
    if return_complex and half:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if not return_complex and window is not None and window.is_complex():
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    if window is None:
        window = tensor.real.new_ones(width)
    spectra = (tensor if tensor.ndim == 3 else tensor.unsqueeze(0)).transpose(1, 2)
    if not half and not return_complex:
        spectra = spectra.narrow(2, 0, n_fft // 2 + 1)
    return spectra, _widened(window, n_fft), hop, refusal


def _mistake_of_frames(tensor: Any, n_fft: int, hop: int, width: int, window: Any, half: bool) -> str | None:
    if not tensor.numel():
        return "input tensor cannot be empty."
    if tensor.ndim > 3:
        return f"expected a tensor with 3 or 4 dimensions, but got {tensor.ndim + 1}"
    count = tensor.size(-2)
    for side, wanted, size in ((True, "n_fft / 2 + 1", n_fft // 2 + 1), (False, "n_fft", n_fft)):
        if half is side and count != size:
            return (
                f"expected the frequency dimension (3rd to the last) of the input tensor to match {wanted} when "
                f"onesided={side}, but got {count}"
            )
    if not 0 < hop <= width:
        return "expected 0 < hop_length <= win_length"
    if not 0 < width <= n_fft:
        return "expected 0 < win_length <= n_fft"
    if window is not None and (window.ndim != 1 or window.size(0) != width):
        return "Invalid window shape. window has to be 1D and length of `win_length`"
    return None


def overlapped(frames: Any, hop: int) -> Any:
    """Add up frames, each of which begins `hop` elements after the one before."""
    batch, count, size = frames.shape
    steps = -(-size // hop)
    total = frames.new_zeros((batch, count + steps - 1, hop))
    for step in range(steps):
        part = min(hop, size - step * hop)
        total.narrow(1, step, count).narrow(2, 0, part).add_(frames.narrow(2, step * hop, part))
    return total.reshape(batch, -1).narrow(1, 0, size + hop * (count - 1))


def inverse_signal(signal: Any, envelope: Any, n_fft: int, center: bool, length: int | None, refusal: Any) -> Any:
    """Divide the added frames by the sum of squares of their windows, and drop the padding."""
    start = n_fft // 2 if center else 0
    known = signal.size(1)
    end = start + length if length is not None else known - start
    count = max(min(end, known) - start, 0)
    weights = envelope.narrow(1, start, count)
    covered, found = ~(weights.abs().amin() < 1e-11), " window overlap add min: 1"
    assert_explained(covered, "RuntimeError", f"istft():{found}", lambda: refusal(f"{found}\n[ CPUBoolType{{}} ]"))
    result = signal.narrow(1, start, count) / weights
    if end > known:
        warn(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. "
            "Please check your center and hop_length settings.",
        )
        result = padded(result, [0, end - known], "constant", 0)
    return result

"""Pictures for the demo: finds, reads, generates and writes them, with Pillow where it is installed.

A picture is a NumPy array of bytes, height × width × 3 (red, green, blue) or height × width (gray).
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]

_SAMPLE = "grace_hopper.jpg"
_HOW = "pip install 'opweave[demo]'"


class PictureError(Exception):
    """A file could not be read as a picture. The text says why."""


def default() -> tuple[Picture, str]:
    """The photograph that comes with matplotlib, or a generated picture; and what to say about it."""
    modules = {"matplotlib": "matplotlib", "Pillow": "PIL"}
    missing = [name for name, module in modules.items() if not importlib.util.find_spec(module)]
    sample = None if missing else _sample()
    if sample is not None:
        return read(sample), f"{_SAMPLE}, the photograph of Grace Hopper that comes with matplotlib"
    reason = f"{' and '.join(missing)} not installed, {_HOW}" if missing else "this matplotlib has no photograph"
    return generated(512, 384), f"a generated one ({reason})"


def _sample() -> Path | None:
    spec = importlib.util.find_spec("matplotlib")
    if spec is not None and spec.origin is not None:
        path = Path(spec.origin).parent / "mpl-data" / "sample_data" / _SAMPLE
        if path.is_file():
            return path
    # Distributions of Linux keep the data elsewhere, which only matplotlib itself knows.
    try:
        path = Path(importlib.import_module("matplotlib.cbook").get_sample_data(_SAMPLE, asfileobj=False))
    except (ImportError, OSError, ValueError):
        return None
    return path if path.is_file() else None


def read(path: Path) -> Picture:
    """Any picture that Pillow reads, as red, green and blue. Raises PictureError."""
    pillow = _pillow()
    if pillow is None:
        raise PictureError(f"{path}: reading pictures needs Pillow: {_HOW}")
    try:
        with pillow.open(path) as image:
            upright = importlib.import_module("PIL.ImageOps").exif_transpose(image)
            pixels: Picture = np.array(upright.convert("RGB"))
    except pillow.DecompressionBombError as error:
        raise PictureError(f"{path}: {error}") from None
    except importlib.import_module("PIL").UnidentifiedImageError:
        raise PictureError(f"{path} is not a picture, or of a kind that Pillow does not read") from None
    except (OSError, SyntaxError, ValueError) as error:
        # Pillow's decoders raise all of these for damaged files.
        raise PictureError(f"{path}: cannot read the picture: {getattr(error, 'strerror', None) or error}") from None
    return pixels


def generated(height: int, width: int) -> Picture:
    """Three overlapping lights over a gradient: every value occurs, edges are soft and sharp."""
    y, x = np.mgrid[0 : 1 : height * 1j, 0 : 1 : width * 1j]
    channels = []
    for angle in (0.0, 2.1, 4.2):
        distance = np.hypot(x - 0.5 - 0.18 * np.cos(angle), y - 0.5 - 0.18 * np.sin(angle))
        channels.append(0.25 * y + 0.6 * np.exp(-((distance / 0.25) ** 2)) + 0.15 * (distance < 0.12))
    pixels: Picture = (np.stack(channels, -1) * 255).astype(np.uint8)
    return pixels


def write(folder: Path, name: str, pixels: Picture) -> Path:
    """Writes `name` as PNG with Pillow, as PPM or PGM without it; the file."""
    pillow = _pillow()
    if pillow is not None:
        path = folder / f"{name}.png"
        pillow.fromarray(pixels).save(path)
        return path
    gray = pixels.ndim == 2
    path = folder / f"{name}.{'pgm' if gray else 'ppm'}"
    header = f"{'P5' if gray else 'P6'} {pixels.shape[1]} {pixels.shape[0]} 255\n"
    path.write_bytes(header.encode() + pixels.tobytes())
    return path


def _pillow() -> Any:
    """The module PIL.Image; None where Pillow is not installed."""
    return importlib.import_module("PIL.Image") if importlib.util.find_spec("PIL") else None

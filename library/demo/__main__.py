"""`python -m opweave.demo [IMAGE]`: what opweave is, on a photograph.

Weaves the operators of examples/photo_ops.yaml, turns the picture to gray in two ways, applies the woven operators,
compares everything with NumPy, writes the pictures, and prints how long each library takes.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import opweave

from .._base import package_data
from .._weave.cli import print_source, progress_bar
from .._weave.weave import WeaveError, read, weave
from . import pictures as _pictures
from . import timing as _timing

if TYPE_CHECKING:
    from .pictures import Picture

WEIGHTS = (0.299, 0.587, 0.114)
"""The weights of red, green and blue in brightness: ITU-R BT.601."""

_TOLERANCE = 2e-6
"""Pixels are float32 numbers from 0 to 1; NumPy's references are computed in float64."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the demo; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m opweave.demo", description="opweave on a photograph.")
    parser.add_argument("image", nargs="?", type=Path, help="a picture (default: the photograph that matplotlib has)")
    parser.add_argument("--out", type=Path, default=Path("opweave-demo"), help="folder to write to (opweave-demo)")
    options = parser.parse_args(arguments)
    try:
        pixels, origin = _picture(options.image)
        options.out.mkdir(parents=True, exist_ok=True)
        print(f"picture   {origin}: {pixels.shape[1]} × {pixels.shape[0]} pixels")
        photo_ops = _weave(options.out)
        results = _apply(photo_ops, pixels)
        agree = [_compare(result) for result in results]
        images = {"original": pixels} | {each.file: _to_bytes(each.image) for each in results}
        files = [_pictures.write(options.out, file, image) for file, image in images.items()]
    except (_pictures.PictureError, WeaveError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error.filename or options.out}: {error.strerror or error}", file=sys.stderr)
        return 1
    print(f"wrote     {', '.join(file.name for file in files)} in {options.out}")
    _time(photo_ops, pixels)
    if not all(agree):
        print("error: a result differs from NumPy's", file=sys.stderr)
        return 1
    return 0


def _picture(path: Path | None) -> tuple[Picture, str]:
    return _pictures.default() if path is None else (_pictures.read(path), str(path))


def _weave(out: Path) -> ModuleType:
    """Weaves the example's operators and imports them."""
    yaml = package_data.path("examples", "photo_ops.yaml")
    print(f"operators {yaml}, which begins with")
    print_source(read(yaml, "photo_ops")[0].text.rstrip(), "yaml")
    with progress_bar() as progress:
        woven = weave(yaml, "photo_ops", out, force=True, progress=progress)
    print(f"woven     {', '.join(woven.operators)} in {woven.seconds:.2f} s, into {woven.folder}")
    sys.path.insert(0, str(out.resolve()))
    importlib.invalidate_caches()
    return importlib.import_module(woven.name)


# ---- what is computed --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Result:
    """A step of the demonstration: what was done to the picture, the outcome, and NumPy's; `file` names it on the
    disk."""

    file: str
    what: str
    image: Any
    reference: Any


def _apply(photo_ops: ModuleType, pixels: Picture) -> list[_Result]:
    """The woven operators are used as functions, as methods and in place, like any others."""
    # Any: its woven methods are in no stub of opweave.
    image: Any = opweave.from_numpy(pixels) / 255
    weights = opweave.tensor(WEIGHTS)
    light = opweave.arange(pixels.shape[1]).view(1, -1, 1) / max(pixels.shape[1] - 1, 1)

    exact = pixels / 255.0
    exact_light = np.arange(pixels.shape[1]).reshape(1, -1, 1) / max(pixels.shape[1] - 1, 1)
    return [
        _Result("gray", "(image * weights).sum(-1)", (image * weights).sum(-1), (exact * WEIGHTS).sum(-1)),
        _Result("gray", "image @ weights", image @ weights, exact @ np.array(WEIGHTS)),
        _Result("solarize", "image.solarize(0.6)", image.solarize(0.6), np.where(exact > 0.6, 1 - exact, exact)),
        _Result("gamma", "photo_ops.gamma(image, 0.45)", photo_ops.gamma(image, 0.45), exact**0.45),
        _Result(
            "soft_light",
            "image.clone().soft_light_(light)",
            image.clone().soft_light_(light),
            (1 - 2 * exact_light) * exact * exact + 2 * exact_light * exact,
        ),
    ]


def _compare(result: _Result) -> bool:
    """Print how far a result is from NumPy's. Returns True if it is near enough."""
    difference = float(np.abs(result.image.numpy() - result.reference).max(initial=0.0))
    agrees = difference <= _TOLERANCE
    verdict = "checked" if agrees else "WRONG"
    print(f"{verdict:<10}{result.file}, {result.what}: differs from NumPy by {difference:.1e} at most")
    return agrees


def _to_bytes(image: Any) -> Picture:
    """Pixels from 0 to 1 as bytes."""
    pixels: Picture = (image.clamp(0, 1) * 255 + 0.5).to(opweave.uint8).numpy()
    return pixels


# ---- how long it takes -------------------------------------------------------------------------------------


def _time(photo_ops: ModuleType, pixels: Picture) -> None:
    libraries = {"opweave": opweave, "NumPy": np}
    if importlib.util.find_spec("torch"):
        libraries["torch"] = importlib.import_module("torch")
        libraries["torch"].set_num_threads(opweave.get_num_threads())
    works = [_works(name, library, photo_ops, pixels) for name, library in libraries.items()]
    timings = [
        _timing.measure(work, {name: calls[work] for name, calls in zip(libraries, works, strict=True)})
        for work in works[0]
    ]
    threads = opweave.get_num_threads()
    plural = "s" if threads > 1 else ""
    _timing.print_table(timings, f"{threads} thread{plural}; × is opweave's time over the other's")


def _works(name: str, library: Any, photo_ops: ModuleType, pixels: Picture) -> dict[str, Callable[[], object]]:
    """The same works as each library's users would write them."""
    make = library.from_numpy if name != "NumPy" else np.asarray
    raw, weights = make(pixels), make(np.array(WEIGHTS, np.float32))
    image = make((pixels / 255.0).astype(np.float32))
    light = make(np.linspace(0, 1, pixels.shape[1], dtype=np.float32).reshape(1, -1, 1))
    few, others = make(np.ones(4, np.float32)), make(np.ones(4, np.float32))
    calls: dict[str, Callable[[], object]] = {
        "a + b (4 floats)": lambda: few + others,
        "bytes to floats": (lambda: raw / np.float32(255)) if name == "NumPy" else (lambda: raw / 255),
        "gray (broadcast)": lambda: (image * weights).sum(-1),
        "gray (product)": lambda: image @ weights,
    }
    if name == "opweave":
        calls["solarize"] = lambda: photo_ops.solarize(image, 0.6)
        calls["gamma"] = lambda: photo_ops.gamma(image, 0.45)
        calls["soft_light"] = lambda: photo_ops.soft_light(image, light)
    else:
        calls["solarize"] = lambda: library.where(image > 0.6, 1 - image, image)
        calls["gamma"] = lambda: image**0.45
        calls["soft_light"] = lambda: (1 - 2 * light) * image * image + 2 * light * image
    return calls


if __name__ == "__main__":
    sys.exit(main())

"""The demo and the examples, from start to end, and what the demo does without its extras."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from harness.paths import ROOT
from weaving import python

pytest.importorskip("opweave")

from opweave.demo import pictures as _pictures

PRODUCTS = {"original", "gray", "solarize", "gamma", "soft_light"}


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    image = pytest.importorskip("PIL.Image")
    path = tmp_path / "small picture.png"
    image.fromarray(_pictures.generated(40, 60)).save(path)
    return path


def without(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    """Has these modules look as if they were not installed."""
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name in modules else find_spec(name, *rest)
    )


def test_demo_on_a_picture(picture: Path, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    text = python("-m", "opweave.demo", str(picture), "--out", "made", cwd=tmp_path).stdout
    assert "60 × 40 pixels" in text
    assert "solarize, gamma, soft_light" in text
    assert text.count("checked   ") == 5
    assert "WRONG" not in text
    assert "NumPy" in text
    made = tmp_path / "made"
    assert {path.stem for path in made.glob("*.png")} == PRODUCTS
    pixels = np.array(image.open(picture)).astype(float)
    gray = np.array(image.open(made / "gray.png"))
    assert np.abs(gray - pixels @ [0.299, 0.587, 0.114]).max() <= 0.51
    assert (made / "photo_ops" / "kernels" / "gamma.c").is_file()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.png", None, "cannot read the picture: No such file or directory"),
        ("words.png", b"these are words", "is not a picture, or of a kind that Pillow does not read"),
        ("cut.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", "cannot read the picture"),
        ("folder", "folder", "cannot read the picture: Is a directory"),
    ],
)
def test_paths_that_are_no_pictures(tmp_path: Path, name: str, content: bytes | str | None, message: str) -> None:
    pytest.importorskip("PIL")
    if isinstance(content, bytes):
        (tmp_path / name).write_bytes(content)
    elif content:
        (tmp_path / name).mkdir()
    done = python("-m", "opweave.demo", name, cwd=tmp_path, status=1)
    assert done.stderr.startswith(f"error: {name}")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "opweave-demo").exists()


def test_a_result_that_differs_is_an_error() -> None:
    import opweave
    from opweave.demo import __main__ as demo

    result = demo._Result("gray", "a test", opweave.tensor([0.5, 0.25]), np.array([0.5, 0.25]))
    assert demo._compare(result)
    assert not demo._compare(demo._Result("gray", "a test", opweave.tensor([0.5, 0.2501]), result.reference))
    assert not demo._compare(demo._Result("gray", "a test", opweave.tensor([float("nan")]), np.array([0.5])))


def test_default_picture_is_the_photograph() -> None:
    pytest.importorskip("PIL")
    pytest.importorskip("matplotlib")
    pixels, origin = _pictures.default()
    assert "grace_hopper.jpg" in origin
    assert pixels.shape == (600, 512, 3)


def test_without_extras_the_picture_is_generated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without(monkeypatch, "matplotlib", "PIL")
    pixels, origin = _pictures.default()
    assert origin.startswith("a generated one (matplotlib and Pillow not installed, pip install 'opweave[demo]')")
    assert pixels.dtype == np.uint8
    assert pixels.shape == (512, 384, 3)
    assert pixels.min() < 20
    assert pixels.max() > 200
    path = _pictures.write(tmp_path, "colors", pixels)
    assert path.name == "colors.ppm"
    gray = _pictures.write(tmp_path, "gray", pixels[..., 0])
    assert gray.name == "gray.pgm"
    with pytest.raises(_pictures.PictureError, match="reading pictures needs Pillow"):
        _pictures.read(path)
    monkeypatch.undo()
    pytest.importorskip("PIL")
    assert np.array_equal(_pictures.read(path), pixels)
    assert np.array_equal(_pictures.read(gray)[..., 1], pixels[..., 0])


def test_first_steps(tmp_path: Path) -> None:
    text = python(str(ROOT / "examples" / "first_steps.py"), cwd=tmp_path).stdout
    assert "totals tensor([10.3000, 26.8000])" in text
    assert "NumPy's array after add_ [100 101 102 103]" in text

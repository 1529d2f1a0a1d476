"""Pictures of what the examples compute: a function for each file of examples/, which draws it on axes."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import opweave
import yaml
from matplotlib.colors import ListedColormap
from matplotlib.patches import Rectangle

from .drawing import BLUE, GREEN, GREY, ORANGE, drawn


class Picture(NamedTuple):
    """How an example is drawn: the function takes axes, and the operators of the file or, of a program, its path."""

    draw: Callable[[Any, Any], None]
    operators: tuple[str, ...]


PICTURES: dict[str, Picture] = {}
"""Pictures by the names of the files."""


def _of(file: str, *operators: str) -> Callable[[Callable[[Any, Any], None]], Callable[[Any, Any], None]]:
    """A decorator of the function that draws a file, by these operators of it."""

    def register(draw: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        PICTURES[file] = Picture(draw, operators)
        return draw

    return register


def draw(examples: Path, folder: Path) -> None:
    """Draw all examples of a folder into another one."""
    operators = woven(examples)
    for file, picture in PICTURES.items():
        path = examples / file
        with drawn(folder / f"{path.stem}.svg", 4.0, 2.6) as axes:
            picture.draw(axes, operators if picture.operators else path)


def woven(examples: Path) -> ModuleType:
    """The operators that are drawn, in one package, and without gradients, which no picture shows."""
    entries = []
    for file, picture in PICTURES.items():
        if picture.operators:
            for entry in yaml.safe_load((examples / file).read_text("utf-8")):
                name = str(entry.get("func") or entry["function"]).partition("(")[0]
                if name in picture.operators:
                    entries.append({**entry, "derivatives": "none"} if "func" in entry else entry)
    return opweave.weave_text(yaml.safe_dump(entries, sort_keys=False, width=1000))


# ---- programs --------------------------------------------------------------------------------------------------------


@_of("first_steps.py")
def _first_steps(axes: Any, path: Path) -> None:
    """The tensors of the program, one under the other."""
    with contextlib.redirect_stdout(io.StringIO()):
        made = runpy.run_path(str(path))
    height = 0.0
    for name in ("prices", "rebate", "totals"):
        tensor = made[name]
        rows = tensor.reshape(-1, tensor.shape[-1]).tolist()
        axes.text(-0.2, height + len(rows) / 2, name, ha="right", va="center")
        for row in rows:
            for column, number in enumerate(row):
                axes.add_patch(Rectangle((column, height), 1, 1, facecolor=BLUE, alpha=0.25, edgecolor=GREY))
                axes.text(column + 0.5, height + 0.5, f"{number:g}", ha="center", va="center")
            height += 1
        height += 0.5
    axes.set(xlim=(-1.5, 3.1), ylim=(height, -0.1), aspect="equal")
    axes.axis("off")


@_of("digits.py")
def _digits(axes: Any, path: Path) -> None:
    """Curves of what is read rightly."""
    curves = runpy.run_path(str(path), run_name="digits")["train"](opweave, epochs=10, seed=0)
    axes.plot(range(1, 11), curves.train_accuracy, color=BLUE, label="training")
    axes.plot(range(1, 11), curves.test_accuracy, color=ORANGE, label="test")
    axes.set(xlabel="epoch", ylabel="read correctly")
    axes.legend(frameon=False)


@_of("train_sharded.py")
def _train_sharded(axes: Any, path: Path) -> None:
    """Losses of two runs, the second one from the checkpoint of the first one."""
    with tempfile.TemporaryDirectory() as folder:
        for processes, epochs, colour in ((2, 3, BLUE), (1, 6, ORANGE)):
            command = [sys.executable, "-m", "opweave.distributed.run", "--nproc-per-node", str(processes), str(path)]
            ended = subprocess.run(
                [*command, f"{folder}/checkpoint", str(epochs)], capture_output=True, text=True, check=True
            )
            found = re.findall(r"epoch (\d+): loss ([\d.]+)", ended.stdout)
            places, losses = zip(*((int(epoch), float(loss)) for epoch, loss in found), strict=True)
            label = "1 process" if processes == 1 else f"{processes} processes"
            axes.plot(places, losses, "o-", color=colour, markersize=3, label=label)
    axes.set(xlabel="epoch", ylabel="loss")
    axes.legend(frameon=False)


# ---- declarations ----------------------------------------------------------------------------------------------------


def _photo(name: str) -> opweave.Tensor:
    """A photograph (3, H, W) that comes with scikit-learn, whose import takes long."""
    from sklearn.datasets import load_sample_image

    pixels = load_sample_image(name)[::2, ::2]
    return opweave.from_numpy(pixels.copy()).permute(2, 0, 1) / 255


def _picture(axes: Any, values: Any, colours: Any = None, **options: Any) -> None:
    """A tensor as an image without axes."""
    axes.imshow(values, cmap=colours, **options)
    axes.axis("off")


@_of("photo_ops.yaml", "solarize", "gamma", "soft_light")
def _photo_ops(axes: Any, ops: Any) -> None:
    """Strips of a photograph: as it is, solarized, with brighter shadows, lit by itself."""
    photo = _photo("flower.jpg")
    width = photo.shape[-1] // 4
    changed = (photo, ops.solarize(photo, 0.6), ops.gamma(photo, 0.45), ops.soft_light(photo, photo))
    strips = [each[..., place * width : (place + 1) * width] for place, each in enumerate(changed)]
    _picture(axes, opweave.cat(strips, -1).permute(1, 2, 0))


@_of("rows.yaml", "masked_softmax")
def _rows(axes: Any, ops: Any) -> None:
    """Attention to what is no later and no more than eight steps ago, each row at a temperature of its own."""
    opweave.manual_seed(0)
    steps = opweave.arange(24)
    back = steps.unsqueeze(1) - steps
    scores, temperature = opweave.randn(24, 24), opweave.linspace(0.2, 3, 24)
    _picture(
        axes, ops.masked_softmax(scores, (back >= 0) & (back < 8), temperature.unsqueeze(1)), "magma", aspect="auto"
    )


@_of("language.yaml", "drawdown")
def _language(axes: Any, ops: Any) -> None:
    """A price, and how far it is below the highest one so far."""
    opweave.manual_seed(3)
    price = (0.02 * opweave.randn(250) + 0.001).cumsum(0).exp()
    _, peak, _ = ops.drawdown(price)
    days = range(250)
    axes.plot(days, price, color=BLUE)
    axes.plot(days, peak, color=GREY, linewidth=0.8)
    axes.fill_between(days, price, peak, color=ORANGE, alpha=0.4, linewidth=0)
    axes.set(xlabel="day", ylabel="price")


@_of("recurrences.yaml", "edit_distance")
def _recurrences(axes: Any, ops: Any) -> None:
    """Edit distances of all beginnings of two words."""
    down, across = "weaving", "sewing"
    distances = ops.edit_distance(*(opweave.tensor([*word.encode()]) for word in (down, across)))
    axes.imshow(distances, cmap="viridis", vmax=2 * len(down))  # colours on which white can be read
    for (row, column), number in np.ndenumerate(distances.numpy()):
        axes.text(column, row, number, ha="center", va="center", color="white")
    axes.set_xticks(range(len(across) + 1), " " + across)
    axes.set_yticks(range(len(down) + 1), " " + down)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


@_of("fields.yaml", "flow", "shallow_water")
def _fields(axes: Any, ops: Any) -> None:
    """Waves of shallow water from two drops."""
    y, x = (opweave.arange(160.0) - 80).unsqueeze(1), opweave.arange(240.0) - 120
    drops = ((-60, -20, 1.0), (45, 25, 0.6))
    height = 1 + sum(0.5 * size * opweave.exp(-((x - at) ** 2 + (y - down) ** 2) / 40) for at, down, size in drops)
    along, across = opweave.zeros_like(height), opweave.zeros_like(height)
    for _ in range(1200):
        along, across, height = ops.shallow_water(along, across, height)
    _picture(axes, height, "Blues_r")


@_of("neighbours.yaml", "life")
def _neighbours(axes: Any, ops: Any) -> None:
    """A pentomino of five cells after 300 generations."""
    board = opweave.zeros(80, 120, dtype=opweave.uint8)
    for row, column in ((0, 1), (0, 2), (1, 0), (1, 1), (2, 1)):
        board[40 + row, 60 + column] = 1
    for _ in range(300):
        board = ops.life(board).to(board.dtype)
    _picture(axes, np.ma.masked_equal(board.numpy(), 0), ListedColormap([GREEN]))


@_of("vectors.yaml", "ray_meets_box")
def _vectors(axes: Any, ops: Any) -> None:
    """Boxes as rays from one point meet them, darker where they are further away."""
    y, x = opweave.linspace(0.8, -0.8, 200).unsqueeze(1), opweave.linspace(-1.2, 1.2, 300)
    direction = opweave.stack(opweave.broadcast_tensors(x, y, opweave.ones(())), -1)
    nearest = opweave.full((200, 300), float("inf"))
    for column in range(-2, 3):
        low = opweave.tensor([2.4 * column - 0.8, -3.0, 5.0 + column % 2 * 3])
        high = low + opweave.tensor([1.6, 2.0 + 0.7 * (column + 2), 2.0])
        near, far = ops.ray_meets_box(opweave.zeros(3), direction, low, high)
        nearest = opweave.where((near <= far) & (near > 0), opweave.minimum(nearest, near), nearest)
    _picture(axes, np.ma.masked_invalid(nearest.numpy()), "cividis_r")


@_of("cookbook.yaml", "edges")
def _cookbook(axes: Any, ops: Any) -> None:
    """The edges of a photograph."""
    _picture(axes, ops.edges(_photo("china.jpg").mean(0)), "magma", vmax=1.5)


@_of("ctc.yaml", "ctc_paths")
def _ctc(axes: Any, ops: Any) -> None:
    """Chances of being at a label or a blank between labels, step by step."""
    opweave.manual_seed(0)
    scores = opweave.randn(1, 60, 6).log_softmax(-1)
    targets = opweave.arange(1, 6).repeat(2).unsqueeze(0)
    length, labels = opweave.tensor([60]), opweave.tensor([10])
    _, paths = ops.ctc_paths(scores, targets, length, labels, states=21)
    _picture(axes, paths[0].t().softmax(0), "magma", aspect="auto")


@_of("order.yaml", "nucleus", "sparsemax")
def _order(axes: Any, ops: Any) -> None:
    """Probabilities of the same scores."""
    scores = opweave.tensor([2.6, 2.2, 1.9, 1.2, 0.8, 0.3, -0.2, -0.6])
    found = {"softmax": scores.softmax(0), "nucleus": ops.nucleus(scores, p=0.8), "sparsemax": ops.sparsemax(scores)}
    for place, ((name, values), colour) in enumerate(zip(found.items(), (GREY, BLUE, ORANGE), strict=True)):
        axes.bar(np.arange(8) + 0.27 * (place - 1), values, width=0.25, color=colour, label=name)
    axes.set(xticks=[], xlabel="elements by their size", ylabel="probability")
    axes.legend(frameon=False)


@_of("places.yaml", "hough")
def _places(axes: Any, ops: Any) -> None:
    """Votes of points for lines; those of one line agree in a bright spot."""
    opweave.manual_seed(0)
    x = opweave.cat([opweave.linspace(-50, 50, 30), 120 * opweave.rand(20) - 60])
    y = opweave.cat([0.4 * x[:30] + 15, 120 * opweave.rand(20) - 60])
    votes = ops.hough(y, x, opweave.ones_like(x), 240, 80)
    _picture(axes, votes.t().sqrt(), "inferno", aspect="auto")


@_of("random.yaml", "drifting")
def _random(axes: Any, ops: Any) -> None:
    """Random paths that are drawn back to a curve."""
    opweave.manual_seed(0)
    curve = 12 * opweave.sin(opweave.linspace(0, 9, 300))
    for path, colour in zip(
        ops.drifting(curve.expand(3, 300).contiguous(), noise=0.7), (BLUE, ORANGE, GREEN), strict=True
    ):
        axes.plot(path, color=colour, linewidth=0.9)
    axes.plot(curve, color=GREY, linestyle="--", linewidth=1)
    axes.set(xlabel="step")


@_of("rounds.yaml", "escapes")
def _rounds(axes: Any, ops: Any) -> None:
    """The Mandelbrot set."""
    left, top = opweave.tensor(-2.1), opweave.tensor(-1.0)
    _picture(axes, ops.escapes(left, top, 200, 300, step=0.01, limit=60).sqrt(), "twilight_shifted")

"""Draw docs/pipeline.svg, the picture of README.md: `python tools/draw_pipeline.py [FILE]`.

It shows how many files, functions and tests codegen makes of ops.yaml. The numbers are rounded down, so that the
picture stays true while operators are added. Its colours follow the reader's light or dark mode.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from codegen import emit, library  # noqa: E402 (found beside this folder)
from codegen.emit import backward  # noqa: E402
from codegen.model import variants  # noqa: E402
from codegen.model.operator import Operator  # noqa: E402

WIDTH, ROW, GAP, TOP = 960, 50, 12, 16
STYLE = """
    text { font: 13px system-ui, sans-serif; fill: #1f2328 }
    .title { font-weight: 600; font-size: 14px }
    .note { fill: #59636e; font-size: 12px }
    rect { fill: #f6f8fa; stroke: #818b98 }
    .source { fill: #ddf4ff; stroke: #0969da }
    path { fill: none; stroke: #818b98; stroke-width: 1.5 }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc }
      .note { fill: #9198a1 }
      rect { fill: #151b23; stroke: #656c76 }
      .source { fill: #121d2f; stroke: #4493f8 }
      path { stroke: #656c76 }
    }
"""
Box = tuple[str, Sequence[str]]
"""A title and the lines below it."""


def rounded(count: int) -> str:
    """Two leading digits and zeros, `390` for 394."""
    step = 10 ** max(1, len(str(count)) - 2)
    return f"{count // step * step:,}"


def boxes(operators: Sequence[Operator], files: Mapping[str, str]) -> tuple[Box, Box, list[Box], Box]:
    """Return the boxes of the picture, with the numbers of operators and files."""
    kernels = sum(path.startswith("kernels/") for path in files)
    names = {("Tensor", name) for operator in operators for name in variants.method_names(operator)}
    for operator in operators:
        names |= {
            ("", name) for name in (*variants.function_names(operator), *variants.inplace_function_names(operator))
        }
        names |= set(variants.submodule_names(operator))
    nodes = files["python/_derivatives.py"].count("\nclass ")
    stubs = sum(text.count("def ") for path, text in files.items() if path.endswith(".pyi"))
    return (
        ("ops.yaml", [f"{rounded(len(operators))} operators:", "schema, body, dtypes,", "derivative, reference"]),
        ("typed tree", ["parsed, typed and checked", "in every dtype; mistakes", "have a line and a column"]),
        [
            ("C kernels", [f"{rounded(kernels)} files, for 3 instruction sets"]),
            ("Python", [f"{rounded(len(names))} functions and methods with docstrings"]),
            ("autograd", [f"{rounded(nodes)} kinds of nodes, {rounded(len(backward.operators(operators)))} kernels"]),
            ("type stubs", [f"{rounded(stubs)} signatures for type checkers"]),
            ("tests", ["against NumPy, by dtype, layout, variant"]),
        ],
        ("package opweave", ["with the runtime:", "Tensor, dispatch, engine,", "allocator, threads"]),
    )


def draw(first: Box, second: Box, outputs: Sequence[Box], last: Box) -> Iterator[str]:
    """Yield the lines of the picture."""
    height = 2 * TOP + len(outputs) * (ROW + GAP) - GAP
    labels = ", ".join(title for title, _ in outputs)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
    yield f' aria-label="{first[0]} becomes a typed tree, which becomes {labels}, which become the {last[0]}">'
    yield f"  <style>{STYLE}  </style>"
    middle = height // 2
    yield from _box(first, 4, middle - 48, 160, 96, "source")
    yield from _box(second, 204, middle - 48, 180, 96)
    yield from _box(last, WIDTH - 184, middle - 48, 180, 96)
    yield _arrow(164, middle, 204, middle)
    for index, box in enumerate(outputs):
        top = TOP + index * (ROW + GAP)
        yield from _box(box, 434, top, 292, ROW)
        yield _arrow(384, middle, 434, top + ROW // 2)
        yield _arrow(726, top + ROW // 2, WIDTH - 184, middle)
    yield "</svg>"


def _box(box: Box, x: int, y: int, width: int, height: int, kind: str = "") -> Iterator[str]:
    title, lines = box
    style = f' class="{kind}"' if kind else ""
    yield f'  <rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6"{style}/>'
    yield f'  <text class="title" x="{x + 12}" y="{y + 21}">{escape(title)}</text>'
    for number, line in enumerate(lines):
        yield f'  <text class="note" x="{x + 12}" y="{y + 40 + 18 * number}">{escape(line)}</text>'


def _arrow(x: int, y: int, to_x: int, to_y: int) -> str:
    bend = (x + to_x) // 2
    return f'  <path d="M{x} {y} C{bend} {y} {bend} {to_y} {to_x} {to_y} m-5 -4 l5 4 l-5 4"/>'


def main() -> None:
    """Write the picture to docs/pipeline.svg, or to the path that is given."""
    operators = library.read(ROOT / "ops.yaml", "ops.yaml")
    drawn = draw(*boxes(operators, emit.outputs(operators, "ops.yaml")))
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pipeline.svg"
    target.write_text("\n".join(drawn) + "\n")


if __name__ == "__main__":
    main()

"""Times of building: `python benchmarks/build_times.py [--markdown]`, about two minutes.

Everything happens in a temporary folder, in a copy of the checkout's tracked files and a fresh virtual environment that
sees the packages of the running one (so nothing is downloaded, and downloads are not measured). Prints seconds beside
what they shall stay below; an import is compared with NumPy's, the start of the interpreter subtracted from both.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
INSTALL = ("-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--disable-pip-version-check")
# Something is added to both, so that no declared derivative becomes wrong; sub has every dtype and alpha.
EDITED = ("elementwise: self - alpha * other\n", "reference: self - alpha * other\n")
IMPORTS = 15  # of which the best counts
COMPILED = """
import time
import opweave
began = time.perf_counter()
function = opweave.compile(lambda x: 0.5 * x * (1 + opweave.tanh(0.7978845608 * (x + 0.044715 * x * x * x))) - 1)
function(opweave.ones(1000))
print(time.perf_counter() - began)
"""
"""The first call of a compiled function of ten operators, with what it imports."""


@dataclass(frozen=True)
class Figure:
    work: str
    value: float
    limit: float
    unit: str = "s"

    @property
    def cells(self) -> tuple[str, str, str]:
        return self.work, f"{self.value:.3g} {self.unit}", f"{self.limit:g} {self.unit}"


class Environment:
    """A fresh virtual environment. The build's tools are found on PATH, its Python packages through a .pth file."""

    def __init__(self, folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        self.folder = folder
        self.python = folder / "bin" / "python"
        # .pth files in folders named by a .pth file are not read: an editable opweave there stays out of the way.
        packages = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
        site = next(folder.glob("lib/python*/site-packages"))
        (site / "packages.pth").write_text("".join(f"{path}\n" for path in packages))
        foreign = ("PYTHON", "OPWEAVE")
        self.variables = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        path = [str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
        self.variables["PATH"] = os.pathsep.join(path)
        self.variables["XDG_CACHE_HOME"] = str(folder / "cache")  # nothing is compiled yet

    def seconds(self, *arguments: str | Path) -> float:
        """Return the time of a run of Python, outside the checkout so that only what is installed is imported."""
        began = time.perf_counter()
        self.output(*arguments)
        return time.perf_counter() - began

    def output(self, *arguments: str | Path) -> str:
        """Return what a run of Python prints."""
        command = [self.python, *arguments]
        done = subprocess.run(command, check=True, cwd=self.folder, env=self.variables, stdout=subprocess.PIPE)
        return done.stdout.decode()

    def cpu_seconds(self, *arguments: str | Path) -> float:
        """The same in seconds of processors, whatever else runs, of all processes that this one starts."""
        before = os.times()
        self.seconds(*arguments)
        after = os.times()
        return sum(after[2:4]) - sum(before[2:4])

    def seconds_of_imports(self, *modules: str) -> list[float]:
        """Return the import time of each module, in turns, without the interpreter's own start."""
        programs = ["pass", *(f"import {module}" for module in modules)]
        turns = [[self.seconds("-c", program) for program in programs] for _ in range(IMPORTS)]
        start, *best = (min(times) for times in zip(*turns, strict=True))
        return [seconds - start for seconds in best]


def copy_of_checkout(folder: Path) -> Path:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    return folder


def edit(declarations: Path, environment: Environment, addend: int) -> float:
    """Changes one operator; seconds until its new behaviour is imported."""
    text = (ROOT / "ops.yaml").read_text()
    for line in EDITED:
        if text.count(line) != 1:
            sys.exit(f"ops.yaml has no single line '{line.rstrip()}' to edit")
        text = text.replace(line, f"{line.rstrip()} + {addend}\n")
    declarations.write_text(text)
    return environment.cpu_seconds("-c", f"import opweave; assert opweave.ones(1).sub(1).item() == {addend}")


def measure(folder: Path) -> list[Figure]:
    environment = Environment(folder / "environment")
    checkout = copy_of_checkout(folder / "checkout")

    build = environment.seconds(*INSTALL, checkout)
    examples = checkout / "examples" / "photo_ops.yaml"
    single = folder / "one_operator.yaml"
    single.write_text("- func" + examples.read_text().split("- func")[1])
    weave = environment.cpu_seconds("-m", "opweave", "weave", single)
    first, *later = (float(environment.output("-c", COMPILED)) for _ in range(IMPORTS))
    opweave, numpy = environment.seconds_of_imports("opweave", "numpy")

    environment.seconds(*INSTALL, "-Csetup-args=-Dlevels=own", "--editable", checkout)
    environment.seconds("-c", "import opweave")
    edits = [edit(checkout / "ops.yaml", environment, addend) for addend in (1, 2)]
    return [
        Figure("full build, `pip install .`", build, 180),
        Figure("edit of one operator until `import opweave` returns, one level", max(edits), 5, "CPU s"),
        Figure("`opweave weave` of one operator outside the tree, nothing cached", weave, 2, "CPU s"),
        Figure("first call of a compiled function of ten operators, nothing cached", first, 1.5),
        Figure("first call of it in another process", 1e3 * min(later), 50, "ms"),
        Figure("`import opweave` against `import numpy`", opweave / numpy, 1.2, "×"),
    ]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder))
    titles = ("work", f"{os.cpu_count()} cores", "at most")
    if "--markdown" in sys.argv:
        for cells in (titles, ("---",) * len(titles), *(figure.cells for figure in figures)):
            print("| " + " | ".join(cells) + " |")
        return
    table = Table(*titles)
    for figure in figures:
        table.add_row(*figure.cells, style=None if figure.value <= figure.limit else "bold red")
    Console().print(table)


if __name__ == "__main__":
    main()

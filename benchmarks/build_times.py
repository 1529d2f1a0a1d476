"""How long a person waits: full build, edit of one operator until import, weaving one operator outside the tree.

`python benchmarks/build_times.py` works on a copy of the source tree in a temporary folder, with the packages of the
running environment (no isolation), on two cores.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEW_OPERATOR = """
- func: timed_example(Tensor self, Tensor other) -> Tensor
  doc: Scales the difference of `self` and `other` by the sine of `self`.
  elementwise: (self - other) * sin(self)
  dtypes: floating
  derivatives: auto
"""


def timed(what: str, limit: float, *command: str, cwd: Path, env: dict[str, str]) -> None:
    start = time.perf_counter()
    subprocess.run(command, cwd=cwd, env=env, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    print(f"{what:45} {seconds:7.1f} s   (to reach: {limit:g} s)", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        tree, site = Path(folder, "opweave"), Path(folder, "site")
        ignored = shutil.ignore_patterns(".git", "build", "__pycache__", ".mypy_cache", ".pytest_cache", "*.so")
        shutil.copytree(ROOT, tree, ignore=ignored)
        shutil.rmtree(tree / "generated")
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", str(site)], check=True)
        python = str(site / "bin" / "python")
        # The parent environment's packages, seen from the new one.
        paths = [path for path in sys.path if path.endswith("site-packages")]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PATH": f"{site / 'bin'}:{os.environ['PATH']}"}
        install = (python, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation")
        timed("full build (pip install -e .)", 180, *install, "-e", str(tree), cwd=tree, env=env)
        with (tree / "ops.yaml").open("a") as stream:
            stream.write(NEW_OPERATOR)
        use = "import opweave; print(opweave.timed_example(opweave.ones(3), opweave.zeros(3)))"
        timed("new operator in ops.yaml -> import", 5, python, "-c", use, cwd=Path(folder), env=env)
        Path(folder, "outside.yaml").write_text(NEW_OPERATOR.replace("timed_example", "outside_example"))
        weave = (python, "-m", "opweave", "weave", "outside.yaml", "--name", "outside", "--out", folder)
        timed("weaving one operator outside the tree", 10, *weave, cwd=Path(folder), env=env)


if __name__ == "__main__":
    main()

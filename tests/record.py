"""Records what torch answers the tests, where torch is installed: `python tests/record.py [--check] [FILE...]`.

The tests marked `oracle` run with torch at their side and are compared with it. Their answers are written to
tests/recordings/; with --check they must be those that lie there, and files are left out whose recording and sources
have not changed since it was written. FILEs are test files to record or to check alone.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
from operator import attrgetter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import recording

ROOT = Path(__file__).resolve().parent.parent
NO_TESTS = 5
"""pytest's status where there is none."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; say which recordings are stale")
    parser.add_argument("-n", default="auto", help="processes, as pytest takes them")
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()
    fresh = {module for module in recorded() if options.check and not options.files and recording.is_fresh(module)}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-q", "-m", "oracle and not slow", "-n", options.n]
        command += [f"--oracle={'check' if options.check else 'record'}", f"--oracle-parts={folder}", *options.files]
        command += [f"--ignore={recording.source_of(module)}" for module in sorted(fresh)]
        # One thread each: the tensors are small, and processes do not wait for each other's threads. Some of torch's
        # sample inputs come in the order of a set of texts.
        environment = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        status = subprocess.run(command, cwd=ROOT, check=False, env=environment).returncode
        status = 0 if status == NO_TESTS and fresh else status
        result = recording.merged(Path(folder))
    if not options.files:
        result[recording.NAMES] = recording.names(torch_place)
    if options.check:
        return status or says_stale(result, fresh, complete=not options.files)
    write(result, complete=not options.files and not status)
    return status


def torch_place(path: str) -> Any:
    torch = importlib.import_module("torch")
    for name in ("signal.windows", "func"):
        importlib.import_module(f"torch.{name}")
    return attrgetter(path)(torch) if path else torch


def recorded() -> set[str]:
    return {path.name.removesuffix(".json.gz") for path in recording.FOLDER.glob("*.json.gz")}


def write(result: dict[str, recording.Items], complete: bool) -> None:
    """Only modules whose tests passed."""
    recording.FOLDER.mkdir(exist_ok=True)
    for module in recorded() - result.keys() if complete else ():
        recording.path_of(module).unlink()
    for module, items in sorted(result.items()):
        path, content = recording.path_of(module), recording.pack(items, recording.source_of(module))
        path.write_bytes(content)
        print(f"{len(content):9,} bytes  {path.relative_to(ROOT)}")


def says_stale(results: dict[str, recording.Items], fresh: set[str], complete: bool) -> int:
    """The tests have compared their answers themselves; left are recordings of tests that are no longer there."""
    stale = [f"{module}: {name}" for module in results for name in recording.load(module)[1].keys() - results[module]]
    stale += recorded() - fresh - results.keys() if complete else ()
    for index, (_, (names,)) in results.get(recording.NAMES, {}).items():
        if recording.text_of(sorted(recording.names_of(index))) != names:
            stale.append(f"{recording.NAMES}: {index}")
    for each in sorted(stale):
        print(f"stale: {each}", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())

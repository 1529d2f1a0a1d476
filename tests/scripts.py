"""Runs scripts in processes that have imported opweave and NumPy already, which takes longer than most scripts do.

Each script has a process of its own: a fork of one that has done nothing but import these modules, with the environment
variables of the script. Run as a program, this module is that process.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NoReturn

OWN_LEVEL = """
from opweave._toolchain.isa_levels import own
with open("/proc/self/maps") as maps:
    loaded = {line.strip().removesuffix(".so").rpartition("-")[2] for line in maps if "/_kernels-" in line}
assert loaded == {own()}, loaded
"""
"""Lines of a script that has imported a woven package: its library is the one of the script's instruction-set level,
not of a lower one that another script had compiled."""

_SECONDS = 300
"""The time after which a script is ended."""


def script(code: str, *, cwd: Path, modules: tuple[str, ...] = ("numpy", "opweave"), **environment: str) -> str:
    """Runs code as `python -c` does, with `cwd` as the working folder, checks that it succeeds and returns what it
    printed. The modules are imported before."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    server = _server(modules, frozenset({**variables, **environment}.items()))
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("output", "errors")]
        server.stdin.write(json.dumps([code, *map(os.fspath, (cwd, *files))]) + "\n")
        server.stdin.flush()
        status = int(server.stdout.readline())
        output, errors = (file.read_text() for file in files)
    assert status == 0, f"exit status {status}\n{output}\n{errors}"
    return output


@cache
def _server(modules: tuple[str, ...], environment: frozenset[tuple[str, str]]) -> subprocess.Popen[str]:
    """The process of these modules and variables; it ends with this one, which closes its input."""
    command = [sys.executable, __file__, *modules]
    return subprocess.Popen(command, env=dict(environment), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _serve(modules: list[str]) -> None:
    for name in modules:
        importlib.import_module(name)
    gc.freeze()  # children copy no memory to look for garbage in it
    for line in sys.stdin:
        code, folder, *files = json.loads(line)
        child = os.fork()
        if child == 0:
            os.chdir(folder)
            _run(code, files)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _run(code: str, files: list[str]) -> NoReturn:
    """Ends the process, without the interpreter's tidying up: that takes longer than all before it."""
    signal.alarm(_SECONDS)
    for number, name in enumerate((os.devnull, *files)):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), number)
    main = sys.modules["__main__"] = ModuleType("__main__")
    sys.argv, sys.path[0] = ["-c"], ""
    status = 1
    try:
        exec(compile(code, "<string>", "exec"), vars(main))
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


if __name__ == "__main__":
    _serve(sys.argv[1:])

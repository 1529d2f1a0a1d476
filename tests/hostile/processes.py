"""Calls in processes of their own, failures that are reported and reduced; the command line."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .calls import run
from .specs import Spec, described, smaller, spec_of

HERE = Path(__file__).resolve().parent


def _worker(first: int, count: int, path: str, only: str) -> None:
    """Makes the calls of these seeds; what it did last stands in the file `path`, what failed on standard output."""
    with open(path, "r+b", buffering=0) as last:

        def note(spec: Spec) -> None:
            os.pwrite(last.fileno(), f"{spec['seed']:<20}".encode(), 0)

        seeded = ({"seed": seed, **spec_of(seed, only)} for seed in range(first, first + count))
        run(seeded, note, lambda spec, wrong: print(json.dumps([spec, wrong]), flush=True))


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    command = [sys.executable, str(HERE), *arguments]
    return subprocess.run(
        command, cwd=tempfile.gettempdir(), env=environment, capture_output=True, text=True, check=False
    )


def failures(first: int, count: int, only: str) -> Iterator[tuple[Spec, str]]:
    """The calls that fail among those of the seeds, and how; a call that ends its process does not end the search."""
    end = first + count
    while first < end:
        with tempfile.NamedTemporaryFile() as last:
            done = _python(str(end - first), str(first), "--only", only, "--worker", last.name)
            seed = int(last.read() or first)
        for line in done.stdout.splitlines():
            spec, wrong = json.loads(line)
            yield spec, wrong
        if done.returncode == 0:
            return
        yield {"seed": seed, **spec_of(seed, only)}, f"ended with {done.returncode}: {done.stderr[-1500:]}"
        first = seed + 1


def repeat(spec: Spec) -> str | None:
    """What is wrong after the call in a process of its own."""
    done = _python("--repeat", json.dumps(spec))
    if done.returncode:
        return f"ended with {done.returncode}: {done.stderr[-1500:]}"
    return done.stdout.strip() or None


def reduced(spec: Spec) -> Spec:
    """A call with fewer or plainer arguments that fails as well; the call itself where none does."""
    if not repeat(spec):
        return spec  # it needs the calls before it
    for each in smaller(spec):
        if repeat(each):
            return reduced(each)
    return spec


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python tests/hostile")
    parser.add_argument("count", type=int, nargs="?", default=0)
    parser.add_argument("first", type=int, nargs="?", default=0, help="the first seed")
    parser.add_argument("--only", default="", help="what the names of the callables have in them")
    parser.add_argument("--repeat", type=json.loads, metavar="SPEC", help="the one call that a report names")
    parser.add_argument("--worker", metavar="FILE", help="make the calls in this process; FILE hears of each seed")
    options = parser.parse_args(arguments)
    if options.worker:
        _worker(options.first, options.count, options.worker, options.only)
        return 0
    if options.repeat:
        run(iter([options.repeat]), lambda spec: None, lambda spec, wrong: print(wrong))
        return 0
    result = 0
    for spec, wrong in failures(options.first, options.count, options.only):
        result += 1
        smallest = reduced(spec)
        print(f"---- seed {spec['seed']}\n{wrong}\n{json.dumps(smallest)}\n{described(smallest)}", flush=True)
    print(f"{options.count} calls, {result} failed")
    return 1 if result else 0

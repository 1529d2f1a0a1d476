"""The C compiler of woven packages: which one, with which flags, and what its complaints mean.

Reads `codegen/build_config.json`, which the build of opweave left behind: woven kernels get the flags and the
instruction-set levels of opweave's own, hence the same results.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from .._base import package_data
from . import object_cache
from .precompiled_headers import PrecompiledHeaders, discard

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..codegen.errors import Diagnostic

CONFIG = ("codegen", "build_config.json")
_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "SOURCE_DATE_EPOCH")
"""Environment variables that change what a compiler produces."""
_FALLBACKS = ("cc", "gcc", "clang")
_COMPILER_CACHES = ("ccache", "sccache")
_COMPLAINT = re.compile(r"^(?P<file>.+?):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<message>.*?)(?: \[-W.*\])?$")
_WHERE = re.compile(r"In function '(\w+)'")
_QUOTED = re.compile(r"'(\w+)'")
_MOST_LINES = 30
ANOTHER_FOLDER = "name a folder with more room in the environment variable TMPDIR"
_HINTS = {
    r"fatal error: \w+\.h: No such file": (
        "the headers of the C library are missing (Debian, Ubuntu: apt install libc6-dev)"
    ),
    r"No space left on device|Disk quota exceeded": f"there is no room for temporary files; {ANOTHER_FOLDER}",
}
"""Advice for errors of a compiler that do not come from the declarations, by patterns of its output."""


class CompilerError(RuntimeError):
    """Error: there is no compiler, or it refused. The text says all."""


@dataclass(frozen=True)
class Toolchain:
    """A compiler and what it is told."""

    command: tuple[str, ...]
    arguments: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    """Instruction-set level → its flags; the first is the one that every processor has."""
    libraries: tuple[str, ...]


@dataclass(frozen=True)
class Job:
    """One C file to compile at one level."""

    source: Path
    level: str

    @property
    def output(self) -> Path:
        """The path of the object file."""
        return self.source.with_suffix(f".{self.level}.o")


@dataclass(frozen=True)
class _Failure:
    job: Job
    command: Sequence[str]
    text: str


def configured() -> Toolchain:
    """The settings that opweave itself was built with.

    Meson puts a compiler cache before the compiler where there is one. Weaving keeps objects by their content itself,
    and whether the compiler is still there could not be told from the cache's name.
    """
    settings = json.loads(package_data.path(*CONFIG).read_text("utf-8"))
    command = settings["compiler"]
    return Toolchain(
        tuple(command[1:] if Path(command[0]).name in _COMPILER_CACHES else command),
        tuple(settings["arguments"]),
        {level: tuple(arguments) for level, arguments in settings["levels"].items()},
        tuple(settings["libraries"]),
    )


def find() -> Toolchain:
    """The compiler named by CC, else opweave's own, else any. Raises CompilerError when there is none."""
    base = configured()
    named = shlex.split(os.environ.get("CC", ""))
    if named:
        if shutil.which(named[0]) is None:
            raise CompilerError(f"CC names the compiler '{named[0]}', which cannot be found")
        return _adapted(base, tuple(named))
    if shutil.which(base.command[0]):
        return base
    for name in _FALLBACKS:
        if shutil.which(name):
            return _adapted(base, (name,))
    names = ", ".join(dict.fromkeys((base.command[0], *_FALLBACKS)))
    raise CompilerError(
        f"no C compiler was found: looked for {names}, and CC is not set\n"
        "weaving compiles operators, so it needs one:\n"
        "  Debian, Ubuntu  apt install gcc libc6-dev\n"
        "  Fedora          dnf install gcc\n"
        "  Alpine          apk add gcc musl-dev\n"
        "  macOS           xcode-select --install\n"
        "  conda           conda install -c conda-forge c-compiler"
    )


# ---- another compiler than opweave's own -------------------------------------------------------------------


def _adapted(base: Toolchain, command: tuple[str, ...]) -> Toolchain:
    """The same flags, without those of optimisation that this compiler does not know."""
    if command == base.command:
        return base
    optional = [argument for argument in base.arguments if argument.startswith(("-f", "-W"))]
    arguments = base.arguments
    if not _accepts(command, arguments):
        refused = {argument for argument in optional if not _accepts(command, (argument,))}
        arguments = tuple(argument for argument in arguments if argument not in refused)
    for flags in base.levels.values():
        if not _accepts(command, (*arguments, *flags)):
            raise CompilerError(
                f"the compiler '{shlex.join(command)}' does not accept {shlex.join((*arguments, *flags))}\n"
                "opweave's kernels are compiled so: take GCC 12 or newer, or clang 14 or newer, in CC"
            )
    return replace(base, command=command, arguments=arguments)


def _accepts(command: Sequence[str], arguments: Sequence[str]) -> bool:
    probe = [*command, *arguments, "-Werror", "-x", "c", "-fsyntax-only", os.devnull]
    return not _run(probe)


# ---- compiling ---------------------------------------------------------------------------------------------


def build(
    toolchain: Toolchain,
    kernels: Sequence[Path],
    registry: Path,
    headers: Path,
    outputs: Mapping[str, Path],
    yaml: Path,
    progress: Callable[[int, int, str], None],
    anew: bool = False,
) -> None:
    """Compiles the kernels and the registry at some levels, and links those of each level into the shared object that
    `outputs` has for it.

    What was compiled before is taken from the user's cache, unless `anew`. `#line` directives give the declarations in
    `yaml` by its name. Raises CompilerError with everything that was refused.
    """
    cache = object_cache.users_own()
    common = identity(toolchain)
    precompiled = PrecompiledHeaders(object_cache.users_folder("headers"), common)
    jobs = [Job(source, level) for source in (*kernels, registry) for level in outputs]
    steps = len(jobs) + len(outputs)
    failures: list[_Failure] = []
    with ThreadPoolExecutor(cores()) as pool:
        started = {pool.submit(_object, toolchain, job, headers, cache, precompiled, common, anew): job for job in jobs}
        try:
            for done, future in enumerate(as_completed(started), 1):
                failure = future.result()
                if failure is not None:
                    failures.append(failure)
                job = started[future]
                progress(done, steps, f"{job.source.stem} {job.level}")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # those that run now are waited for below
            raise
    cache.remove_unused()
    precompiled.remove_unused()
    if failures:
        raise CompilerError(_explain(sorted(failures, key=lambda f: jobs.index(f.job)), yaml))
    for done, (level, output) in enumerate(outputs.items(), len(jobs) + 1):
        objects = [str(job.output) for job in jobs if job.level == level]
        _link(toolchain, objects, output)
        progress(done, steps, f"linked {level}")


def library(toolchain: Toolchain, text: str, level: str, common: Sequence[str | bytes]) -> bytes:
    """The shared object of a C text that is compiled and linked by one command; `common` is the compiler's `identity`.
    Raises CompilerError."""
    with tempfile.TemporaryDirectory(prefix="opweave-", ignore_cleanup_errors=True) as folder:
        headers, source, output = Path(folder, "include"), Path(folder, "recorded.c"), Path(folder, "recorded.so")
        write_headers(headers)
        source.write_text(text, "utf-8", newline="\n")
        precompiled = PrecompiledHeaders(object_cache.users_folder("headers"), common)
        compiler = [*toolchain.command, *arguments(toolchain, level)]
        command = [*compiler, "-I", str(headers), "-shared", "-o", str(output), str(source), *toolchain.libraries]
        refusal = _compile(compiler, command, precompiled, text)
        if refusal:
            raise CompilerError(_raw("the C compiler failed", command, refusal))
        return output.read_bytes()


def write_headers(folder: Path) -> None:
    """Writes the headers that kernels include to a folder."""
    for header, path in package_data.folder("codegen", "include").items():
        (folder / header).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / header)


def _link(toolchain: Toolchain, objects: Sequence[str], output: Path) -> None:
    command = [*toolchain.command, "-shared", "-o", str(output), *objects]
    # What is undefined should be said now and not when the package is imported.
    command += ["-Wl,-z,defs"] if sys.platform == "linux" else []
    command += toolchain.libraries
    refusal = _run(command)
    if refusal:
        raise CompilerError(_raw("linking failed", command, refusal))


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def identity(toolchain: Toolchain) -> tuple[str | bytes, ...]:
    """Return what all objects depend on: the programs that the command names, and the headers."""
    parts: list[str | bytes] = [_output([*toolchain.command, "--version"]).stdout]
    for program in filter(None, map(shutil.which, toolchain.command)):
        status = os.stat(program)
        parts += [os.path.realpath(program), f"{status.st_size} {status.st_mtime_ns}"]
    parts += [f"{name}={os.environ.get(name)}" for name in _VARIABLES]
    for header, path in package_data.folder("codegen", "include").items():
        parts += [header, path.read_bytes()]
    return tuple(parts)


def _object(
    toolchain: Toolchain,
    job: Job,
    headers: Path,
    cache: object_cache.ObjectCache,
    precompiled: PrecompiledHeaders,
    common: tuple[str | bytes, ...],
    anew: bool,
) -> _Failure | None:
    """Makes the object of a job, from the cache or with the compiler."""
    from ..codegen import generate

    options = arguments(toolchain, job.level)
    text = generate.without_source_lines(job.source.read_text("utf-8"))
    key = object_cache.key([*common, *toolchain.command, *options, job.source.name, text])
    cached = None if anew else cache.find(key)
    if cached is not None:
        job.output.write_bytes(cached)
        return None
    compiler = [*toolchain.command, *options]
    command = [*compiler, "-I", str(headers), "-c", str(job.source), "-o", str(job.output)]
    refusal = _compile(compiler, command, None if anew else precompiled, text)
    if refusal:
        return _Failure(job, command, refusal)
    cache.keep(key, job.output.read_bytes())
    return None


def _compile(compiler: Sequence[str], command: Sequence[str], headers: PrecompiledHeaders | None, text: str) -> str:
    """Runs a command that compiles a text, with what its headers are precompiled to where they are. Returns what the
    compiler said of a text that it refused."""
    header = None if headers is None else headers.find(compiler, text)
    if header is not None and not _run([*command, "-include", str(header)]):
        return ""
    refusal = _run(command)
    if header is not None and not refusal:
        discard(header)
    return refusal


_MISTAKES = ("-Werror=incompatible-pointer-types", "-Werror=int-conversion")
"""The flags that make errors of some warnings, for mistakes that are never meant in C bodies."""


def arguments(toolchain: Toolchain, level: str) -> list[str]:
    """The options of the compiler for kernels at a level."""
    definitions = (f"-DOW_LEVEL={level}", "-DOW_ONE_LEVEL", "-DOW_DESCRIPTOR")
    return [*toolchain.arguments, *_MISTAKES, *toolchain.levels[level], *definitions]


def _run(command: Sequence[str]) -> str:
    """Return the output of a command that failed; empty when it did not fail."""
    try:
        done = _output(command)
    except OSError as error:
        return f"{command[0]}: {error.strerror or error}"
    return done.stdout.strip() or f"exit status {done.returncode}" if done.returncode else ""


def _output(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    # A compiler that is ended leaves files of its own behind, so it has a folder for them.
    with tempfile.TemporaryDirectory(prefix="opweave-", ignore_cleanup_errors=True) as folder:
        environment = {**os.environ, "LC_ALL": "C", "TMPDIR": folder}  # messages are parsed
        return subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, check=False, errors="replace"
        )


# ---- complaints --------------------------------------------------------------------------------------------


def _explain(failures: Iterable[_Failure], yaml: Path) -> str:
    """The complaints about lines of the declarations, each once; without any, what the compiler said first."""
    from ..codegen.errors import render

    failures = list(failures)
    diagnostics: dict[tuple[int, str], Diagnostic] = {}
    for failure in failures:
        for diagnostic in _located(failure, yaml):
            diagnostics.setdefault((diagnostic.line, diagnostic.message), diagnostic)
    if diagnostics:
        return render(diagnostics.values())
    first = failures[0]
    return _raw(f"the C compiler failed on '{first.job.source.stem}'", first.command, first.text)


def _located(failure: _Failure, yaml: Path) -> Iterable[Diagnostic]:
    from ..codegen.errors import Diagnostic, split_lines
    from ..codegen.expr.kernel_text import declared

    lines = split_lines(yaml.read_text("utf-8-sig", "replace"))
    kernel = failure.job.source.stem
    for text in failure.text.splitlines():
        where = _WHERE.search(text)
        if where:
            kernel = where[1].removesuffix("_element")
        complaint = _COMPLAINT.match(text)
        if not complaint or complaint["file"] != yaml.name:
            continue
        line = int(complaint["line"])
        message = declared(complaint["message"])
        column, length = _place(lines[line - 1] if line <= len(lines) else "", message)
        help = f"the C compiler said so about the kernel '{kernel}' at level {failure.job.level}"
        yield Diagnostic(str(yaml), line, column, message, help, length)


def _place(line: str, message: str) -> tuple[int, int]:
    """Column and length of what a message speaks of: the name it quotes, or else the whole line. The compiler's own
    column is one of the generated line."""
    quoted = _QUOTED.search(message)
    match = re.search(rf"\b{quoted[1]}\b", line) if quoted else None
    match = match or re.search(r"\S.*\S|\S", line)
    return (match.start() + 1, len(match[0])) if match else (1, 1)


def _raw(what: str, command: Sequence[str], text: str) -> str:
    lines = text.splitlines()
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"... and {len(lines) - _MOST_LINES} more lines"]
    hints = [hint for complaint, hint in _HINTS.items() if re.search(complaint, text)]
    return "\n".join([f"{what}: {shlex.join(map(str, command))}", *(f"  {line}" for line in lines), *hints])

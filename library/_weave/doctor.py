"""The facts that an issue report needs, and what would keep some of opweave from working here: `opweave doctor`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

from .._base.threads import get_num_threads
from .._toolchain import isa_levels, object_cache, toolchain
from ..utils.collect_env import get_pretty_env_info

_OF_DEVELOPERS = frozenset({"dev", "ecosystem", "test"})
"""Extras of those who work on opweave itself."""


def report() -> str:
    """Return the facts of `opweave.utils.collect_env`, where compiled code comes from and is kept, which optional
    packages are there, and advice, a line for each."""
    sections = {
        "Compiled code": _compiled_code(),
        "Optional packages": _packages(),
        "Advice": list(_advice()) or ["none: everything is as it should be"],
    }
    return "\n\n".join(
        [get_pretty_env_info(), *("\n".join([f"{title}:", *lines]) for title, lines in sections.items())]
    )


def _compiled_code() -> Iterator[str]:
    yield f"instruction-set level of woven and compiled functions: {isa_levels.own()}"
    try:
        found = toolchain.find()
    except toolchain.CompilerError as error:
        yield f"compiler: {str(error).splitlines()[0]}"
    else:
        yield f"compiler: {' '.join(found.command)}"
    folder = object_cache.users_folder("objects")
    yield f"cache: {'none' if folder is None else f'{object_cache.size()} bytes in {folder.parent}'}"


def _packages() -> Iterator[str]:
    """Yield the extras that `pip install 'opweave[extra]'` knows, with the version of each package that is there."""
    extras: dict[str, list[str]] = {}
    for requirement in requires("opweave") or ():
        package, _, marker = requirement.partition(";")
        extra = re.search(r"extra *== *['\"]([\w-]+)", marker)
        if extra is not None and extra[1] not in _OF_DEVELOPERS:
            extras.setdefault(extra[1], []).append(_found(re.split(r"[^\w.-]", package.strip())[0]))
    for name, packages in extras.items():
        yield f"{name}: {', '.join(packages)}"


def _found(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} is absent"


def _advice() -> Iterator[str]:
    """Yield what is likely to be slow or not to work, and what to do."""
    try:
        toolchain.find()
    except toolchain.CompilerError as error:
        yield f"compile() runs functions as they are, and nothing can be woven: {error}"
    if object_cache.users_folder("objects") is None:
        yield (
            "compiled code is not kept between processes: set XDG_CACHE_HOME to a folder of yours that nobody else can "
            "write to"
        )
    cores = toolchain.cores()
    if get_num_threads() > cores:
        yield (
            f"{get_num_threads()} threads share {cores} processors, which is slower than one thread for each: set "
            f"OMP_NUM_THREADS={cores}"
        )

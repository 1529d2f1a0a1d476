"""The command line: `opweave new`, `weave`, `test`, `show`, `list`, `functions`, `stubs`, `docs`, `doctor`, `cache`,
`check`; also `python -m opweave`.

Writes results to standard output and everything about mistakes and progress to standard error. Exit status: 0 when
done, 1 when a file, an operator or the compiler is at fault, 2 when the command itself is.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

# Everything else is imported by the command that needs it: codegen takes a tenth of a second, rich another.

_LANGUAGES = ("yaml", "python", "loops", "c")
_HIGHLIGHTED = {"loops": "c"}


class _CommandError(Exception):
    """Ends the command with a message and status 1."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; the exit status."""
    options = _parser().parse_args(arguments)
    _search_working_folder_last()
    command: Callable[[argparse.Namespace], None] = options.command
    try:
        with _telling_mistakes():
            command(options)
        sys.stdout.flush()
    except _CommandError as failure:
        print(failure, file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader (head, less) has seen enough; the interpreter must not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    return 0


@contextmanager
def _telling_mistakes() -> Iterator[None]:
    """Mistakes in declarations, wherever they are read, end the command."""
    try:
        yield
    except Exception as error:
        from ..codegen.errors import CodegenError, render
        from .weave import WeaveError

        if not isinstance(error, (CodegenError, WeaveError)):
            raise
        text = render(error.diagnostics) if isinstance(error, CodegenError) else str(error)
        raise _CommandError("\n".join([text, *getattr(error, "__notes__", ())])) from None


def _search_working_folder_last() -> None:
    """Packages in the working folder can be named, but none of its files is imported in place of what opweave needs:
    declarations may lie beside a `yaml.py` of somebody else. `python -m` puts that folder first."""
    folder = os.getcwd()
    if sys.path and sys.path[0] in ("", folder):
        del sys.path[0]
    if folder not in sys.path:
        sys.path.append(folder)


def _parser() -> argparse.ArgumentParser:
    from .. import __version__

    parser = argparse.ArgumentParser(prog="opweave", description="Tensor operators, woven from their declarations.")
    parser.add_argument("--version", action="version", version=f"opweave {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    new = commands.add_parser("new", help="start a project of operators: declarations, tests, wheels")
    new.add_argument("name", help="of the project and its package")
    new.add_argument("--out", type=Path, default=Path("."), help="folder to write it to (default: this one)")
    new.set_defaults(command=_new)

    weave = commands.add_parser(
        "weave",
        help="make an importable package of the operators that a file declares",
        description="Make an importable package of the operators that a file declares. Its C bodies are compiled, and "
        "run when the package is used: weave only files that you trust.",
    )
    weave.add_argument("file", type=Path, help="the declarations, in the format of opweave's own ops.yaml")
    weave.add_argument("--name", help="of the package (default: the file's name)")
    weave.add_argument("--out", type=Path, default=Path("."), help="folder to write it to (default: this one)")
    weave.add_argument(
        "--all-levels", action="store_true", help="compile for every instruction-set level, not this one"
    )
    weave.add_argument("--force", action="store_true", help="weave even if nothing has changed; needed to change CC")
    weave.set_defaults(command=_weave)

    test = commands.add_parser(
        "test",
        help="weave a file and test what its entries promise: values, layouts, gradients",
        description="Weave a file and test what its entries promise: values, layouts, gradients. This runs what the "
        "file says, C bodies and composites: test only files that you trust.",
    )
    test.add_argument("file", type=Path)
    test.add_argument("--slow", action="store_true", help="all dtypes and pairs of layouts, not those of every day")
    test.add_argument("-k", metavar="EXPRESSION", help="the tests whose names match alone, as pytest selects them")
    test.set_defaults(command=_test)

    show = commands.add_parser("show", help="an operator's entry, the signatures derived from it, its loops, and its C")
    show.add_argument("operator", nargs="+", help="its name, an alias, or __add__; of a woven package: package.name")
    show.add_argument(
        "--only", choices=_LANGUAGES, help="that part alone: the entry, the signatures, the loops, or all C"
    )
    show.set_defaults(command=_show)

    listing = commands.add_parser("list", help="all operators with their families and schemas")
    listing.add_argument("package", nargs="*", help="woven packages whose operators are wanted as well")
    listing.set_defaults(command=_list)

    stubs = commands.add_parser("stubs", help="have type checkers see the methods that woven packages add to Tensor")
    stubs.add_argument("package", nargs="*", help="all of them; none: take them out again")
    stubs.set_defaults(command=_stubs)

    functions = commands.add_parser("functions", help="the functions of expressions: what they mean, their derivatives")
    functions.add_argument("name", nargs="*", help="those of these names alone")
    functions.add_argument("--markdown", action="store_true", help="the page of the documentation")
    functions.set_defaults(command=_functions)

    docs = commands.add_parser("docs", help="the docstring of a function, a class or a module, or a page of the guide")
    docs.add_argument(
        "name", nargs="*", help="softmax, nn.Linear, Tensor.add_, compile.md, compile.md#graph-breaks; none: all pages"
    )
    docs.set_defaults(command=_docs)

    doctor = commands.add_parser(
        "doctor", help="the processor, levels, libraries, caches and threads, and advice: what an issue report needs"
    )
    doctor.set_defaults(command=_doctor)

    cache = commands.add_parser("cache", help="where compiled code is kept between processes, and its removal")
    cache.add_argument("--clear", action="store_true", help="remove it; it is compiled again when it is needed")
    cache.set_defaults(command=_cache)

    check = commands.add_parser(
        "check",
        help="report every mistake in a file of declarations",
        description="Report every mistake in a file of declarations. Nothing that the file says is run.",
    )
    check.add_argument("file", type=Path)
    check.add_argument("--core", action="store_true", help="the file is a version of opweave's own ops.yaml")
    check.set_defaults(command=_check)
    return parser


def _cache(options: argparse.Namespace) -> None:
    from .._toolchain import object_cache

    folder = object_cache.users_folder("objects")
    if folder is None:
        raise _CommandError("nothing is kept: there is no folder in the user's cache that nobody else can write to")
    if options.clear:
        print(f"removed {object_cache.clear()} bytes from {folder.parent}")
    else:
        print(f"{object_cache.size()} bytes in {folder.parent}")


# ---- docs, doctor ------------------------------------------------------------------------------------------


def _docs(options: argparse.Namespace) -> None:
    from . import pages
    from .reference import documentation

    if not options.name:
        rows = pages.titles()
        _print_table(("page", "title"), rows, f"{len(rows)} pages")
        return
    try:
        texts = [documentation(name) for name in options.name]
    except KeyError as error:
        raise _CommandError(error.args[0]) from None
    print("\n\n\n".join(texts))


def _doctor(options: argparse.Namespace) -> None:
    from .doctor import report

    print(report())


# ---- new, weave, check ------------------------------------------------------------------------------------------


def _new(options: argparse.Namespace) -> None:
    from .new_project import create

    files = create(options.name, options.out)
    print("\n".join(f"wrote {options.out / file}" for file in files))
    print(f"  cd {options.out / options.name} && pip install -e '.[test]' && python -m pytest")


def _weave(options: argparse.Namespace) -> None:
    from ..codegen.errors import Diagnostics, render
    from .weave import weave

    hints = Diagnostics()
    with progress_bar() as progress:
        woven = weave(
            options.file,
            options.name,
            options.out,
            force=options.force,
            all_levels=options.all_levels,
            progress=progress,
            hints=hints,
        )
    if len(hints):
        print(render(hints))
    count = f"{len(woven.operators)} operator{'s' if len(woven.operators) != 1 else ''}"
    if woven.rebuilt:
        print(f"wove {woven.name}: {count} in {woven.seconds:.1f} s, in {woven.folder}")
    else:
        print(f"{woven.name} is up to date: {count}, in {woven.folder}")
    print(f"  import {woven.name}  # {', '.join(woven.operators)}")


def _test(options: argparse.Namespace) -> None:
    from .promises import run

    if run(options.file, () if options.k is None else ("-k", options.k), options.slow):
        raise _CommandError(f"{options.file}: tests failed")


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int, str], None]]:
    """A bar on standard error while something is woven; nothing where that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total, what: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(TextColumn("weaving"), *columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda done, total, what: bar.update(task, completed=done, total=total, description=what)


def _check(options: argparse.Namespace) -> None:
    from ..codegen import library
    from ..codegen.errors import Diagnostics, render
    from .weave import read

    hints = Diagnostics()
    if options.core or _is_installed_file(options.file):
        operators = library.read(options.file, str(options.file))
    else:
        operators = read(options.file, options.file.stem, hints)
    if len(hints):
        print(render(hints))
    count = sum(not each.derived for each in operators)
    print(f"{options.file}: {count} operator{'s' if count != 1 else ''}, no mistakes")


def _is_installed_file(file: Path) -> bool:
    from .._base import package_data

    return file.exists() and file.samefile(package_data.path("ops.yaml"))


# ---- show, list --------------------------------------------------------------------------------------------


def _show(options: argparse.Namespace) -> None:
    from .inspect_op import find, sections

    for package in {name.rpartition(".")[0] for name in options.operator} - {"", "opweave"}:
        _import(package)
    for name in options.operator:
        try:
            operators = find(name)
        except KeyError as error:
            raise _CommandError(error.args[0]) from None
        for each in operators:
            for section in sections(each):
                if options.only in (None, section.language):
                    _print_section(section.title, section.language, section.text, bare=options.only is not None)


def _print_section(title: str, language: str, text: str, bare: bool) -> None:
    if bare:
        print_source(text, language)
        return
    if sys.stdout.isatty():
        from rich.console import Console

        Console().rule(title, align="left")
    else:
        print(f"{'//' if language in ('c', 'loops') else '#'} ---- {title} ----")
    print_source(text, language)
    print()


def print_source(text: str, language: str) -> None:
    """Print source text, on a terminal in colors, elsewhere as it is."""
    if not sys.stdout.isatty():
        print(text)
        return
    from rich.console import Console
    from rich.syntax import Syntax

    Console().print(Syntax(text, _HIGHLIGHTED.get(language, language), background_color="default", word_wrap=True))


def _list(options: argparse.Namespace) -> None:
    from .inspect_op import listing

    for package in options.package:
        _import(package)
    rows = listing()
    _print_table(("operator", "family", "schema"), rows, f"{len(rows)} operators")


def _print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> None:
    if sys.stdout.isatty():
        from rich import box
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table

        table = Table(*headings, box=box.SIMPLE_HEAD, caption=caption)
        for row in rows:
            table.add_row(*map(escape, row))
        Console().print(table)
        return
    widths = [max(len(row[column]) for row in rows) for column in range(len(headings) - 1)]
    for *cells, last in rows:
        print("  ".join([*(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)), last]))


def _stubs(options: argparse.Namespace) -> None:
    from .method_stubs import write

    for package in options.package:
        _import(package)
    try:
        path = write(options.package)
    except OSError as error:
        raise _CommandError(f"cannot write the stub: {error}") from None
    print(f"type checkers see the methods of {', '.join(options.package) or 'no package'}: {path}")


def _functions(options: argparse.Namespace) -> None:
    from ..codegen.docs import functions
    from ..codegen.errors import suggest
    from .inspect_op import own_operators

    declared = own_operators()
    if options.markdown:
        print(functions.page(declared), end="")
        return
    rows = [row for _, rows in functions.groups(declared) for row in rows] + functions.list_rows()
    for name in options.name:
        if all(name not in row.names for row in rows):
            names = [each for row in rows for each in row.names]
            raise _CommandError(f"there is no function '{name}' in expressions; {suggest(name, names)}")
    chosen = [row for row in rows if not options.name or any(name in row.names for name in options.name)]
    headings = ("function", "meaning", "derivative", "types")
    _print_table(headings, [row.cells for row in chosen], f"{len(chosen)} functions")


def _import(package: str) -> None:
    from . import loaded_libraries

    try:
        importlib.import_module(package)
    except ImportError as error:
        raise _CommandError(f"cannot import the package '{package}': {error}") from None
    if package not in {each.package for each in loaded_libraries.loaded()}:
        raise _CommandError(f"'{package}' is not a package of woven operators")

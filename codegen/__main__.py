"""`python -m codegen`: regenerates everything under generated/ from ops.yaml; `--check` only says whether it is stale,
`--rules` prints what is known of each operator besides its body.

Prints the paths of all generated files, which the build compiles and installs. Exit status 1 with diagnostics on
standard error when ops.yaml has mistakes or, with --check, when a file is not what it should be.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import emit, generate, library
from .cache import NONE, Cache
from .docs import rules_table, sessions
from .emit import derivatives
from .errors import CodegenError, render
from .read import exports


def main(arguments: list[str] | None = None) -> int:
    """Run the command with these arguments, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m codegen", description="Generate opweave from ops.yaml.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a generated file is stale")
    parser.add_argument("--rules", action="store_true", help="write nothing; print what is known of each operator")
    parser.add_argument("--yaml", type=Path, default=Path("ops.yaml"), help="the declarations (default: ops.yaml)")
    parser.add_argument("--output", type=Path, default=Path("generated"), help="where to write (default: generated)")
    parser.add_argument("--cache", type=Path, help="a file that keeps what a run found out for the next one")
    options = parser.parse_args(arguments)
    cache = NONE if options.check else Cache(options.cache, options.output)
    try:
        operators = library.read(options.yaml, options.yaml.name, cache=cache)
    except CodegenError as error:
        lines = options.yaml.read_text("utf-8", "replace").split("\n") if options.yaml.is_file() else []
        print(render(error.diagnostics, {options.yaml.name: lines}), file=sys.stderr)
        return 1
    if options.rules:
        print(rules_table.text(operators, derivatives.linear(operators)), end="")
        return 0
    recorded = sessions.read(options.yaml.parent / "docs" / "examples.txt")
    exported = exports.read([options.yaml.parent / folder for folder in ("runtime", "library")])
    files = emit.outputs(operators, options.yaml.name, recorded, exported, cache)
    if options.check:
        stale = generate.stale(files, options.output)
        for path in stale:
            print(f"{options.output / path} is stale; run `python -m codegen`", file=sys.stderr)
        return 1 if stale else 0
    generate.write(files, options.output)
    cache.keep(operators, emit.kernel_files(operators))
    print("\n".join(f"{options.output.as_posix()}/{path}" for path in sorted(files)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`opweave new`: a project of operators with tests, a build of wheels and a workflow that makes them."""

from __future__ import annotations

from pathlib import Path

from .. import __version__
from .weave import WeaveError, check_name

_NAME, _VERSION = "my_ops", "opweave==0"
"""The words of the files in `templates/project/` that make way for the name of the project and this version."""


def create(name: str, out: Path) -> list[Path]:
    """Write the project `name` into the new folder `out / name`, and return its files, relative to `out`.

    Raises WeaveError if the name cannot be that of a package, if the folder exists and has files, or if it cannot be
    written.
    """
    from ..codegen.emit.text import template_folder

    project = out / name
    check_name(name, Path(f"{name}.yaml"), project, option="")
    source = template_folder() / "project"
    try:
        if project.exists() and (not project.is_dir() or any(project.iterdir())):
            raise WeaveError(f"{project} exists already: give another name, or another folder (--out)")
        written = []
        for path in sorted(path for path in source.rglob("*") if path.is_file() and path.suffix != ".pyc"):
            target = project / path.relative_to(source).as_posix().replace(_NAME, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text("utf-8").replace(_NAME, name).replace(_VERSION, f"opweave=={__version__}")
            target.write_text(text, "utf-8", newline="\n")
            written.append(target.relative_to(out))
    except OSError as error:
        raise WeaveError(f"cannot write {project}: {error.strerror or error}") from None
    return written

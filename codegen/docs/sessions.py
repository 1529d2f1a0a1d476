"""Recorded examples: docs/examples.txt has the name of an operator, and indented below it a Python session.

They are for operators whose result NumPy cannot tell when code is generated or whose derived example says little.
`python tools/record_examples.py` runs them and writes what they print; inputs are written by hand where it finds none,
or where others say more.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path


def read(path: Path) -> Mapping[str, str]:
    """Sessions by the names of operators; empty if the file does not exist."""
    sessions: dict[str, list[str]] = {}
    name = ""
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        if line.startswith(" "):
            sessions[name].append(line)
        elif line and not line.startswith("#"):
            name = line
            sessions[name] = []
    return {name: textwrap.dedent("\n".join(lines)) for name, lines in sessions.items()}


def text(sessions: Mapping[str, str], head: str) -> str:
    """Text of the file of sessions; `head` is the text above them."""
    return head + "".join(f"{name}\n{textwrap.indent(session, '    ')}\n" for name, session in sessions.items())

"""The launcher, `python -m opweave.distributed.run`, with the options of torchrun: it starts a script in several
processes, prints what they print with their rank before it, and ends all of them when one has failed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .arguments import get_args_parser, launch_of
from .processes import run_all

__all__ = ["get_args_parser", "main", "run"]


def run(args: Any) -> None:
    """Start the processes that parsed options ask for, and wait for them.

    Raises:
        SystemExit: one of them has failed; its code is that of the first that did.
    """
    status = run_all(launch_of(args))
    if status:
        raise SystemExit(status)


def main(args: Sequence[str] | None = None) -> None:
    """Start the processes that a command line asks for (None: that of this program), and wait for them."""
    run(get_args_parser().parse_args(sys.argv[1:] if args is None else list(args)))

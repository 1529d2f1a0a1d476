"""The options of the launcher, which are those of torchrun, and the processes that they describe."""

from __future__ import annotations

import argparse
import os
import socket
import sys
import uuid
from typing import Any, NamedTuple

__all__ = ["Launch", "get_args_parser", "launch_of"]

_PORT = 29500  # torchrun's


class Launch(NamedTuple):
    """The processes of this machine: what runs in each, their numbers, and how often all may begin again."""

    command: list[str]
    local_size: int
    first_rank: int
    size: int
    node: int
    nodes: int
    address: str
    port: int
    identity: str
    role: str
    restarts: int
    shown: frozenset[int] | None


class _Underscores(argparse.ArgumentParser):
    """A parser that takes `--nproc_per_node` for `--nproc-per-node`."""

    def _get_option_tuples(self, option_string: str) -> list[Any]:
        return super()._get_option_tuples(option_string.replace("_", "-"))

    def _parse_optional(self, arg_string: str) -> Any:
        name, equal, value = arg_string.partition("=")
        return super()._parse_optional(name.replace("_", "-") + equal + value if name.startswith("--") else arg_string)


def get_args_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = _Underscores(prog="python -m opweave.distributed.run", description="Start a script in several processes.")
    add = parser.add_argument
    add("--nnodes", default="1", metavar="N", help="machines; on each of them the launcher is started")
    add("--nproc-per-node", default="1", metavar="N", help="processes of this machine: a number, or auto, cpu or gpu")
    add("--node-rank", type=int, default=0, metavar="K", help="the number of this machine")
    add("--master-addr", metavar="HOST", help="the machine of rank 0")
    add("--master-port", type=int, metavar="PORT", help="a free port there; chosen where there is one machine")
    add("--rdzv-endpoint", default="", metavar="HOST:PORT", help="the same, as one")
    add("--rdzv-id", default="none", metavar="NAME", help="the value of TORCHELASTIC_RUN_ID")
    add("--standalone", action="store_true", help="one machine")
    add("--max-restarts", type=int, default=0, metavar="N", help="how often all begin again when one has failed")
    add("--role", default="default", metavar="NAME", help="the value of ROLE_NAME")
    add("--local-ranks-filter", default="", metavar="K,...", help="the processes of this machine whose output is shown")
    add("-m", "--module", action="store_true", help="the script is a module, as for python -m")
    add("--no-python", action="store_true", help="the script is a program")
    for name in ("rdzv-backend", "rdzv-conf", "monitor-interval", "start-method", "log-dir", "local-addr"):
        add(f"--{name}", help=argparse.SUPPRESS)
    for short, name in (("-r", "--redirects"), ("-t", "--tee")):
        add(short, name, help=argparse.SUPPRESS)
    add("training_script", metavar="script", help="what runs in each process")
    add("training_script_args", nargs=argparse.REMAINDER, metavar="args", help="its arguments")
    return parser


def _processes(text: str) -> int:
    """The number of processes that `--nproc-per-node` asks for."""
    if text in ("auto", "cpu"):
        return len(os.sched_getaffinity(0))
    if text == "gpu":
        raise SystemExit("--nproc-per-node gpu: processes compute on CPUs. Give a number, or cpu")
    if not text.isdigit() or not int(text):
        raise SystemExit(f"--nproc-per-node {text}: expected a positive number, auto or cpu")
    return int(text)


def _endpoint(args: argparse.Namespace, nodes: int) -> tuple[str, int]:
    """The address at which rank 0 will be found."""
    host, _, port = args.rdzv_endpoint.partition(":")
    host, number = args.master_addr or host or "127.0.0.1", args.master_port or int(port or 0)
    if not number and nodes > 1:
        number = _PORT
    if not number:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            number = listener.getsockname()[1]
    return host, number


def launch_of(args: argparse.Namespace) -> Launch:
    """The processes that options ask for.

    Raises:
        SystemExit: an option has a value that it cannot have.
    """
    nodes = 1 if args.standalone else int(args.nnodes.rpartition(":")[2])
    local_size = _processes(args.nproc_per_node)
    address, port = _endpoint(args, nodes)
    if args.no_python:
        command = [args.training_script]
    else:
        command = [sys.executable, "-u", *(["-m"] if args.module else []), args.training_script]
    shown = frozenset(map(int, args.local_ranks_filter.split(","))) if args.local_ranks_filter else None
    return Launch(
        command=[*command, *args.training_script_args],
        local_size=local_size,
        first_rank=args.node_rank * local_size,
        size=nodes * local_size,
        node=args.node_rank,
        nodes=nodes,
        address=address,
        port=port,
        identity=uuid.uuid4().hex if args.rdzv_id == "none" else args.rdzv_id,
        role=args.role,
        restarts=args.max_restarts,
        shown=shown,
    )

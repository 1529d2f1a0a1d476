"""opweave.utils.data.graph_settings: seeds and parts of all pipes that a pipe is made of."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

from ..._base.generator import Generator
from .datapipes.datapipe import IterDataPipe, MapDataPipe
from .datapipes.iter.combinatorics import drawn_seed
from .datapipes.iter.sharding import SHARDING_PRIORITIES
from .graph import traverse_dps

__all__ = ["apply_random_seed", "apply_sharding", "apply_shuffle_settings", "get_all_graph_pipes"]


def get_all_graph_pipes(graph: dict[int, tuple[Any, Any]]) -> list[Any]:
    """Return the pipes of a graph, each once."""
    found: dict[int, Any] = {}

    def add(part: dict[int, tuple[Any, Any]]) -> None:
        for key, (pipe, within) in part.items():
            if key not in found:
                found[key] = pipe
                add(within)

    add(graph)
    return list(found.values())


def _has(pipe: Any, *names: str) -> bool:
    return all(inspect.ismethod(getattr(pipe, name, None)) for name in names)


def apply_sharding(
    datapipe: Any, num_of_instances: int, instance_id: int, sharding_group: int = SHARDING_PRIORITIES.DEFAULT
) -> Any:
    """Make all pipes with `apply_sharding` read the part of one of so many processes. Returns the pipe.

    Raises:
        RuntimeError: one of them reads from another.
    """

    def apply(graph: dict[int, tuple[Any, Any]], applied: Any = None) -> None:
        for pipe, within in graph.values():
            if not _has(pipe, "apply_sharding"):
                apply(within, applied)
                continue
            if applied is not None:
                raise RuntimeError(
                    "Sharding twice on a single pipeline is likely unintended and will cause data loss. Sharding "
                    f"already applied to {applied} while trying to apply to {pipe}"
                )
            takes = len(inspect.signature(pipe.apply_sharding).parameters)
            pipe.apply_sharding(num_of_instances, instance_id, *[sharding_group][: takes - 2])
            apply(within, pipe)

    apply(traverse_dps(datapipe))
    return datapipe


def apply_shuffle_settings(datapipe: Any, shuffle: bool | None = None) -> Any:
    """Set whether the pipes that shuffle do so, and add one where there is none. Returns the pipe, or that one."""
    if shuffle is None:
        return datapipe
    shufflers = [each for each in get_all_graph_pipes(traverse_dps(datapipe)) if _has(each, "set_shuffle", "set_seed")]
    if not shufflers and shuffle:
        warnings.warn(
            "`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at the end. Be aware "
            "that the default buffer size might not be sufficient for your task.",
            stacklevel=2,
        )
        datapipe = datapipe.shuffle()
        shufflers = [datapipe]
    for each in shufflers:
        each.set_shuffle(shuffle)
    return datapipe


def apply_random_seed(datapipe: Any, rng: Any) -> Any:
    """Give all pipes that draw random numbers seeds from a generator. Returns the pipe."""
    for each in get_all_graph_pipes(traverse_dps(datapipe)):
        if _has(each, "set_seed"):
            each.set_seed(drawn_seed(rng))
    return datapipe


def prepare_pipes(dataset: Any, seed: int | None, workers: int = 1, worker: int = 0) -> None:
    """Begin a pass of one of so many workers, if the data set is a pipe."""
    if seed is not None:
        apply_random_seed(dataset, Generator().manual_seed(seed))
    if isinstance(dataset, (IterDataPipe, MapDataPipe)):
        apply_sharding(dataset, workers, worker)

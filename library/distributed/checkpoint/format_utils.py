"""Checkpoints as files of `save`, and back, in one process."""

from __future__ import annotations

import os

from ...serialization import load, save
from .default_planner import _EmptyStateDictLoadPlanner as _EmptyStateDictLoadPlanner
from .filesystem import FileSystemReader, FileSystemWriter
from .state_dict_loader import _load_state_dict
from .state_dict_saver import _save_state_dict

__all__ = ["dcp_to_torch_save", "torch_save_to_dcp"]


def dcp_to_torch_save(dcp_checkpoint_dir: str | os.PathLike[str], torch_save_path: str | os.PathLike[str]) -> None:
    """Write all of a checkpoint as one file of `save`.

    Args:
        dcp_checkpoint_dir (str or PathLike): the folder of the checkpoint.
        torch_save_path (str or PathLike): the file.

    Raises:
        CheckpointException: the checkpoint is missing or damaged.
    """
    state_dict: dict[str, object] = {}
    _load_state_dict(
        state_dict, FileSystemReader(dcp_checkpoint_dir), no_dist=True, planner=_EmptyStateDictLoadPlanner()
    )
    save(state_dict, torch_save_path)


def torch_save_to_dcp(torch_save_path: str | os.PathLike[str], dcp_checkpoint_dir: str | os.PathLike[str]) -> None:
    """Write what a file of `save` has as a checkpoint.

    Args:
        torch_save_path (str or PathLike): the file, which is loaded with `weights_only=True`.
        dcp_checkpoint_dir (str or PathLike): the folder.
    """
    _save_state_dict(load(torch_save_path), FileSystemWriter(dcp_checkpoint_dir), no_dist=True)

"""opweave.utils.tensorboard: files that TensorBoard shows, written by the package `tensorboard`.

Importing it without that package raises ImportError.
"""

from __future__ import annotations

import os
import socket
import time
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from .._names.refusals import refused_function

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["FileWriter", "SummaryWriter"]

try:
    _writers: Any = import_module("tensorboard.summary.writer.event_file_writer")
    _protos: Any = import_module("tensorboard.compat.proto.summary_pb2")
    _events: Any = import_module("tensorboard.compat.proto.event_pb2")
    _tensors: Any = import_module("tensorboard.compat.proto.tensor_pb2")
except ImportError as error:
    raise ImportError("opweave.utils.tensorboard needs the package tensorboard: pip install tensorboard") from error


class FileWriter:
    """Writes events into a file of a folder.

    Args:
        log_dir (str): the folder, which is made.
        max_queue (int): so many events wait before they are written.
        flush_secs (float): or so many seconds pass.
        filename_suffix (str): ends the name of the file.
    """

    def __init__(self, log_dir: str, max_queue: int = 10, flush_secs: float = 120, filename_suffix: str = "") -> None:
        self.event_writer = _writers.EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """Return the folder."""
        return str(self.event_writer.get_logdir())

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        """Write an event with a step and a time, the present unless it is given."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Write a summary as an event."""
        self.add_event(_events.Event(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Write what waits."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what waits, and close the file."""
        self.event_writer.close()


class SummaryWriter:
    """Writes numbers, texts and distributions over steps, which TensorBoard shows.

    Args:
        log_dir (str): the folder; None: one in `runs`, named by the time and the machine.
        comment (str): ends the name of that folder.
        purge_step (int): what was written from this step on, before a program broke off, is not shown.
        max_queue (int): so many events wait before they are written.
        flush_secs (float): or so many seconds pass.
        filename_suffix (str): ends the names of files.
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            log_dir = os.path.join("runs", time.strftime("%b%d_%H-%M-%S_") + socket.gethostname() + comment)
        self.log_dir = str(log_dir)
        self._options = max_queue, flush_secs, filename_suffix
        self._writers: dict[str, FileWriter] = {}
        if purge_step is not None:
            log = _events.SessionLog(status=_events.SessionLog.START)
            self._writer().add_event(_events.Event(session_log=log), purge_step)

    def _writer(self, part: str = "") -> FileWriter:
        """The writer of the folder, or of one in it."""
        if part not in self._writers:
            self._writers[part] = FileWriter(os.path.join(self.log_dir, part) if part else self.log_dir, *self._options)
        return self._writers[part]

    def get_logdir(self) -> str:
        """Return the folder."""
        return self.log_dir

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Write a number, or a tensor of one element, at a step."""
        value = _protos.Summary.Value(tag=tag, simple_value=float(scalar_value))
        self._writer().add_summary(_protos.Summary(value=[value]), global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: dict[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Write several numbers at a step, which are shown in one picture."""
        for name, number in tag_scalar_dict.items():
            value = _protos.Summary.Value(tag=main_tag, simple_value=float(number))
            part = f"{main_tag.replace('/', '_')}_{name}"
            self._writer(part).add_summary(_protos.Summary(value=[value]), global_step, walltime)

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Write a text at a step."""
        plugin = _protos.SummaryMetadata.PluginData(plugin_name="text", content=b"")
        tensor = _tensors.TensorProto(dtype="DT_STRING", string_val=[text_string.encode()])
        tensor.tensor_shape.dim.add().size = 1
        value = _protos.Summary.Value(
            tag=f"{tag}/text_summary", metadata=_protos.SummaryMetadata(plugin_data=plugin), tensor=tensor
        )
        self._writer().add_summary(_protos.Summary(value=[value]), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = 64,
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Write how the elements of a tensor are distributed, at a step.

        Args:
            tag (str): the name.
            values (Tensor): the elements.
            global_step (int): the step.
            bins (int | str): as `numpy.histogram` takes them; "tensorflow": 64.
            walltime (float): the time.
            max_bins (int): without effect.
        """
        elements = np.asarray(values.detach() if hasattr(values, "detach") else values, dtype="float64").ravel()
        counts, limits = np.histogram(elements, bins=64 if bins == "tensorflow" else bins)
        histogram = _protos.HistogramProto(
            min=elements.min(), max=elements.max(), num=elements.size, sum=elements.sum(),
            sum_squares=elements @ elements, bucket_limit=limits[1:].tolist(), bucket=counts.tolist(),
        )  # fmt: skip
        value = _protos.Summary.Value(tag=tag, histo=histogram)
        self._writer().add_summary(_protos.Summary(value=[value]), global_step, walltime)

    def flush(self) -> None:
        """Write what waits."""
        for each in self._writers.values():
            each.flush()

    def close(self) -> None:
        """Write what waits, and close the files."""
        for each in self._writers.values():
            each.close()
        self._writers.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


for _name in (
    "add_audio", "add_custom_scalars", "add_embedding", "add_figure", "add_graph", "add_hparams", "add_image",
    "add_image_with_boxes", "add_images", "add_mesh", "add_onnx_graph", "add_pr_curve", "add_tensor", "add_video",
):  # fmt: skip
    _refused = refused_function(
        __name__, f"SummaryWriter.{_name}", "numbers, texts and distributions are written. Write others by tensorboard"
    )
    setattr(SummaryWriter, _name, _refused)

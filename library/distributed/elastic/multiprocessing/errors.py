"""Errors of the processes that a launcher has started, written where another program looks for them."""

from __future__ import annotations

import functools
import json
import os
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...._names.refusals import refused_class

__all__ = ["ChildFailedError", "record"]

ChildFailedError = refused_class(
    __name__, "ChildFailedError", "the launcher says itself which process has failed, and raises nothing"
)


def record(fn: Callable[..., Any], error_handler: Any = None) -> Callable[..., Any]:
    """Return a function that writes the exception of `fn` to the file named by TORCHELASTIC_ERROR_FILE, as JSON, and
    raises it again.

    Args:
        fn (callable): the main function of a program.
        error_handler (object): its method `record_exception` is called with the exception, in place of writing.
    """

    @functools.wraps(fn)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        try:
            return fn(*args, **kwargs)
        except Exception as error:
            (_write if error_handler is None else error_handler.record_exception)(error)
            raise

    return recorded


def _write(error: Exception) -> None:
    path = os.environ.get("TORCHELASTIC_ERROR_FILE")
    if path:
        details = {"py_callstack": traceback.format_exc(), "timestamp": str(int(time.time()))}
        text = json.dumps({"message": {"message": f"{type(error).__name__}: {error}", "extraInfo": details}})
        Path(path).write_text(text)

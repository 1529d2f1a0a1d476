"""Pipes of files."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Iterator
from typing import Any

from ..datapipe import IterDataPipe
from ..decorators import functional_datapipe
from .utils import IterableWrapperIterDataPipe

__all__ = ["FileListerIterDataPipe", "FileOpenerIterDataPipe", "RoutedDecoderIterDataPipe", "StreamReaderIterDataPipe"]


class _Told(IterDataPipe[Any]):
    """A pipe whose length is an argument; -1: it has none."""

    length: int

    def __len__(self) -> int:
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length


@functional_datapipe("list_files")
class FileListerIterDataPipe(_Told):
    """The paths of files in folders, sorted unless `non_deterministic`, whose names match one of `masks`."""

    def __init__(
        self,
        root: Any = ".",
        masks: str | list[str] = "",
        *,
        recursive: bool = False,
        abspath: bool = False,
        non_deterministic: bool = False,
        length: int = -1,
    ) -> None:
        roots = [root] if isinstance(root, str) else root
        self.datapipe = roots if isinstance(roots, IterDataPipe) else IterableWrapperIterDataPipe(roots)
        self.masks = [masks] if isinstance(masks, str) and masks else list(masks)
        self.recursive, self.abspath = recursive, abspath
        self.non_deterministic, self.length = non_deterministic, length

    def __iter__(self) -> Iterator[str]:
        for root in self.datapipe:
            for path in self._paths(os.path.abspath(root) if self.abspath else root):
                name = os.path.basename(path)
                if not self.masks or any(fnmatch.fnmatch(name, mask) for mask in self.masks):
                    yield path

    def _paths(self, root: str) -> Iterator[str]:
        if os.path.isfile(root):
            yield root
            return

        def fail(error: OSError) -> None:
            raise error

        for folder, folders, files in os.walk(root, onerror=fail):
            if not self.non_deterministic:
                files.sort()
                folders.sort()
            for name in files:
                yield os.path.join(folder, name)
            if not self.recursive:
                break


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(_Told):
    """Pairs of a path and the opened file."""

    def __init__(self, datapipe: Iterable[str], mode: str = "r", encoding: str | None = None, length: int = -1) -> None:
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe, self.mode, self.encoding, self.length = datapipe, mode, encoding, length

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        mode = f"r{self.mode}" if self.mode in ("b", "t") else self.mode
        for path in self.datapipe:
            if not isinstance(path, str):
                raise TypeError(f"Expected string type for pathname, but got {type(path)}")
            yield path, open(path, mode, encoding=self.encoding)  # noqa: SIM115 (who reads it closes it)


@functional_datapipe("read_from_stream")
class StreamReaderIterDataPipe(IterDataPipe[Any]):
    """Pairs of a path and what is read from the file, `chunk` at a time, or all of it."""

    def __init__(self, datapipe: Any, chunk: int | None = None) -> None:
        self.datapipe, self.chunk = datapipe, chunk

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for path, stream in self.datapipe:
            with stream:
                while part := stream.read(self.chunk):
                    yield path, part


class RoutedDecoderIterDataPipe(IterDataPipe[Any]):
    """Raises NotImplementedError: there are no decoders of files."""

    def __init__(self, datapipe: Any, *handlers: Any, key_fn: Any = None) -> None:
        raise NotImplementedError("RoutedDecoder is not supported: decode files by a function, `pipe.map(decode)`")

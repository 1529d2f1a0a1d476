"""The build backend: that of meson-python, whose wheels are tagged for every Python that they are for.

The compiled module uses the limited API of Python 3.10. meson-python names the Python that builds a wheel in its tag,
so that a wheel built by 3.12 would not be installed by 3.10, which could use it.
"""

from __future__ import annotations

from mesonpy import (
    _tags,
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

if not callable(getattr(_tags, "get_interpreter_tag", None)):
    raise ImportError("this version of meson-python finds the tag of wheels in another way: tools/build_backend.py")
_tags.get_interpreter_tag = lambda: "cp310"

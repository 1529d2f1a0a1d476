"""Importing the package: once in a process, in the main interpreter, and beside forks."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest
from harness.processes import python, succeed


def run(code: str) -> None:
    succeed(python("-c", inspect.cleandoc(code), timeout=60))


def test_a_second_copy_is_refused() -> None:
    run("""
        import sys
        import opweave
        kept = opweave.ones(2)
        for name in [name for name in sys.modules if name.partition(".")[0] == "opweave"]:
            del sys.modules[name]
        for _ in range(2):
            try:
                import opweave as second
            except ImportError as error:
                assert "imported before in this process" in str(error), error
            else:
                raise AssertionError("imported twice")
        assert type(kept + 1) is type(kept) is opweave.Tensor
        assert kept[0].tolist() == 1.0 and kept.shape == (2,)
    """)


@pytest.mark.parametrize("imports", ["import einops, opweave", "import opweave, einops"])
def test_modules_beside_other_libraries(tmp_path: Path, imports: str) -> None:
    """The module for einops is there as soon as both libraries are, in whichever order."""
    (tmp_path / "einops").mkdir()
    (tmp_path / "einops" / "__init__.py").write_text("from . import _backends")
    (tmp_path / "einops" / "_backends.py").write_text("class TorchBackend: pass")
    run(f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        {imports}
        (backend,) = einops._backends.TorchBackend.__subclasses__()
        assert backend.framework_name == "opweave", backend
    """)


def test_a_library_that_is_not_as_it_was_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "einops").mkdir()
    (tmp_path / "einops" / "__init__.py").write_text("from . import _backends")
    (tmp_path / "einops" / "_backends.py").write_text("")
    run(f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import opweave
        import einops
        import importlib
        importlib.reload(opweave)
    """)


def test_a_reload_is_harmless() -> None:
    run("""
        import importlib
        import opweave
        kept = opweave.ones(2)
        assert importlib.reload(opweave) is opweave
        assert type(kept + opweave.ones(2)) is opweave.Tensor is type(kept)
    """)


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the module for subinterpreters has another name")
def test_subinterpreters_are_refused() -> None:
    run("""
        import _xxsubinterpreters as interpreters
        import opweave
        kept = opweave.arange(4.0)
        other = interpreters.create(isolated=False)
        code = '''
        try:
            import opweave
        except ImportError as error:
            assert "subinterpreter" in str(error) or "does not support" in str(error), error
        else:
            raise AssertionError("imported")
        '''
        import textwrap
        for _ in range(2):
            interpreters.run_string(other, textwrap.dedent(code))
        interpreters.destroy(other)
        assert (kept.view(2, 2) + kept[1]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
        assert type(kept.shape) is opweave.Size and type(kept[0]) is opweave.Tensor
    """)


@pytest.mark.skipif(not hasattr(sys, "getswitchinterval") or sys.platform != "linux", reason="forks")
@pytest.mark.parametrize(
    ("module", "call"),
    [
        ("opweave._derivatives", "ow.ones(4, requires_grad=True).sum().backward() is None"),
        ("opweave._tensor.printing", "repr(ow.ones(1)) == 'tensor([1.])'"),
    ],
)
def test_a_fork_waits_for_an_import(module: str, call: str) -> None:
    """While another thread imports what its first call of a kind needs, slowly, the process forks."""
    run(f"""
        import os, sys, threading, time
        from importlib.abc import MetaPathFinder
        import opweave as ow

        begun = threading.Event()

        class Slow(MetaPathFinder):
            def find_spec(self, name, path, target=None):
                if name == {module!r}:
                    begun.set()
                    time.sleep(0.3)
                return None

        sys.meta_path.insert(0, Slow())
        ow.fft  # the submodule is there
        thread = threading.Thread(target=lambda: {call})
        thread.start()
        begun.wait()
        child = os.fork()
        if not child:
            os._exit(not {call})
        thread.join()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                break
            time.sleep(0.01)
        else:
            os.kill(child, 9)
            raise AssertionError("the child hangs")
        assert status == 0, status
    """)


_LATER = (
    "ast", "ctypes", "dataclasses", "fractions", "importlib.metadata", "importlib.util", "inspect", "json", "logging",
    "numpy", "pathlib", "pickle", "pkgutil", "random", "shutil", "signal", "struct", "subprocess", "tempfile",
    "textwrap", "traceback",
)  # fmt: skip
"""What is imported when it is first used, as each would take a part of every import that can be measured."""


def test_what_an_import_does_not_wait_for() -> None:
    """Neither modules that the first tensor does not need, nor classes that are made from source text.

    Python's own modules that every import needs are imported before: functools makes such a class.
    """
    run(f"""
        import builtins, sys, typing
        asked = []
        plain = builtins.__import__

        def importing(name, globals=None, locals=None, fromlist=(), level=0):
            importer = (globals or {{}}).get("__name__", "")
            if importer.partition(".")[0] == "opweave" and not level:
                asked.append((name, importer))
            return plain(name, globals, locals, fromlist, level)

        def compiling(event, arguments):
            if event == "compile" and "<string>" in arguments[1:]:
                frame = sys._getframe(1)
                while frame is not None:
                    importer = frame.f_globals.get("__name__", "")
                    if importer.partition(".")[0] == "opweave":
                        asked.append(("source text", importer))
                        break
                    frame = frame.f_back

        builtins.__import__ = importing
        sys.addaudithook(compiling)
        import opweave
        (opweave.ones(2, 3) @ opweave.ones(3)).relu_().sum(0).item()
        assert ("math", "opweave") in asked, "imports are not seen"
        found = [each for each in asked if each[0] in {(*_LATER, "source text")!r}]
        assert not found, found
    """)


def test_names_of_functions_stay_functions() -> None:
    """When modules of the same names have been imported, as all are before a process of several threads forks."""
    run("""
        import opweave
        from opweave._base.lazy_imports import _import_all
        _import_all(opweave)
        assert callable(opweave.autograd.gradcheck) and callable(opweave.as_torch)
        from opweave.autograd.gradcheck import GradcheckError
        assert issubclass(GradcheckError, RuntimeError)
    """)


@pytest.mark.parametrize("package", ["distributions", "masked", "nn", "nn.modules", "nn.modules.module"])
def test_names_of_a_package_are_those_of_its_modules(package: str) -> None:
    """They are written out for type checkers, and none is left out."""
    module = importlib.import_module(f"opweave.{package}")
    text = Path(module.__file__ or "").read_text(encoding="utf-8")
    stars = re.findall(r"^from (\.\w+) import \*", text, re.MULTILINE)
    names = {name for star in stars for name in importlib.import_module(star, module.__package__).__all__}
    assert stars
    assert names <= set(module.__all__)

"""Weaving outside the tree: packages that import and compute, are rebuilt when they must be, and explain what fails."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from folders import shared_folder, written
from scripts import OWN_LEVEL, script
from weaving import DECLARATIONS, TINY, entries, python

pytest.importorskip("opweave")

from opweave._toolchain import toolchain
from opweave._weave.weave import WeaveError, Woven, weave


@pytest.fixture(scope="module")
def woven(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    """A package with an operator of every family, in a folder whose name is awkward."""
    folder = shared_folder(tmp_path_factory, "wov\"en it's")
    return weave(written(folder / "every_family.yaml", DECLARATIONS), out=folder)


@pytest.fixture(scope="module")
def elementwise(tmp_path_factory: pytest.TempPathFactory) -> Woven:
    folder = shared_folder(tmp_path_factory, "elementwise")
    return weave(written(folder / "every_family.yaml", entries(DECLARATIONS, "wipe")), out=folder, all_levels=True)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny_ops.yaml"
    path.write_text(TINY.format(name="half_more"))
    return path


def check(woven: Woven, code: str, **environment: str) -> None:
    """Runs assertions in a fresh process that has imported the package."""
    head = "import numpy as np, opweave as ow, every_family as ops\nfrom opweave import tensor\n"
    script(head + code, cwd=woven.folder.parent, **environment)


# ---- what a woven package can do ---------------------------------------------------------------------------


def test_result_describes_the_package(woven: Woven) -> None:
    assert woven.name == "every_family"
    assert woven.operators[:2] == ("wipe", "softsign")
    assert (woven.folder / "kernels" / "wipe.c").is_file()
    compile((woven.folder / "__init__.pyi").read_text(), "__init__.pyi", "exec")


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_elementwise_at_every_level(elementwise: Woven, level: str) -> None:
    if level != "x86-64" and len(toolchain.configured().levels) == 1:
        pytest.skip("this build has one level")
    check(
        elementwise,
        OWN_LEVEL
        + """
rng = np.random.default_rng(1)
for dtype in (np.float16, np.float32, np.float64):
    a, b = (rng.standard_normal((37, 53)).astype(dtype) for _ in range(2))
    got = ops.wipe(ow.from_numpy(a), ow.from_numpy(b), amount=0.25).numpy()
    assert got.dtype == dtype
    exact = a.astype(float) + 0.25 * (b.astype(float) - a)
    assert np.abs(got - exact).max() < 8 * np.finfo(dtype).eps
""",
        OPWEAVE_ISA=level,
    )


def test_every_form_of_an_elementwise_operator(woven: Woven) -> None:
    check(
        woven,
        """
a, b = tensor([1.0, 2.0, 4.0]), tensor([3.0, 2.0, 0.0])
want = [2.0, 2.0, 2.0]
assert ops.wipe(a, b).tolist() == want
assert ow.ops.every_family.wipe.Tensor(a, b).tolist() == want
assert str(ow.ops.every_family.wipe_.Tensor._schema).startswith("every_family::wipe_.Tensor(Tensor(a!) self, Tensor")
assert ops.blend(a, b).tolist() == want
assert a.wipe(b).tolist() == want
assert a.blend(b, amount=0).tolist() == [1.0, 2.0, 4.0]
assert a.wipe(0).tolist() == [0.5, 1.0, 2.0]
assert a.wipe(0.0).tolist() == [0.5, 1.0, 2.0]
out = ow.empty(3)
assert ops.wipe(a, b, out=out) is out and out.tolist() == want
assert ops.wipe(a, b, amount=1, out=out).tolist() == [3.0, 2.0, 0.0]
same = a.clone()
assert same.wipe_(b) is same and same.tolist() == want
assert ops.wipe(a.view(3, 1), b.view(1, 3)).shape == (3, 3)
assert ops.wipe(input=a, other=b).tolist() == want
assert ops.wipe.__doc__.startswith("Goes from `self` to `other`")
""",
    )


def test_parameters_without_defaults(woven: Woven) -> None:
    """Shortcuts for default parameters are not taken when some have none."""
    check(
        woven,
        """
a, b = tensor([1.0, 2.0]), tensor([10.0, 20.0])
assert ops.mixed(a, b, 2).tolist() == [21.0, 42.0]
assert a.mixed(b, 2, gain=-1).tolist() == [-21.0, -42.0]
assert a.clone().mixed_(b, 0.5).tolist() == [6.0, 12.0]
assert a.clone().mixed_(1, 3).tolist() == [4.0, 5.0]
assert a.clone().wipe_(b, amount=1).tolist() == [10.0, 20.0]
assert a.clone().wipe_(b).tolist() == [5.5, 11.0]
assert ops.raised(a, 2).tolist() == [3.0, 4.0] and a.clone().raised_(3).tolist() == [4.0, 5.0]
""",
    )


def test_gradients_of_three_operands_by_kernels_and_by_operators(woven: Woven) -> None:
    names = {path.stem for path in (woven.folder / "kernels").glob("discounted_backward_*.c")}
    assert names == {f"discounted_backward_{argument}" for argument in ("self", "rate", "time")}
    check(
        woven,
        """
x, r, t = (ow.linspace(a, a + 1, 5, dtype=ow.float64).requires_grad_() for a in (1, 0.25, 0.5))
def expected():
    with ow.no_grad():
        factor = np.log1p(0.5) * ow.exp(-r * t * t) / np.sqrt(2 * np.pi)
        return [2 * factor * x, -factor * x * x * t * t, -2 * factor * x * x * r * t]
for again in (False, True):  # by the kernels, then by operators
    got = ow.autograd.grad(ops.discounted(x, r, t).sum(), (x, r, t), create_graph=again)
    for have, want in zip(got, expected()):
        np.testing.assert_allclose(have.detach().numpy(), want.numpy(), rtol=1e-14)
# A number in the place of a tensor, which functions of derivatives want as one.
(y := ops.discounted(x, 0.5, 2)).sum().backward()
np.testing.assert_allclose(x.grad.numpy(), (2 * y / x).detach().numpy(), rtol=1e-14)
""",
    )


def test_integers_strides_and_extremes(woven: Woven) -> None:
    check(
        woven,
        """
assert ops.softsign(tensor([1, -3])).tolist() == [0.5, -0.75]
assert ops.softsign(tensor([True])).dtype is ow.float32
x = ow.arange(24.0).view(4, 6)
for view in (x, x.t(), x[::2], x[:, 1::3], x[1:1], x[2, 3], x[0].expand(5, 6)):
    array = view.numpy()
    assert np.array_equal(ops.softsign(view).numpy(), array / (1 + np.abs(array)))
nan, inf = float("nan"), float("inf")
assert ops.is_between(tensor([nan, inf, 1.0]), tensor(0.0), tensor(2.0)).tolist() == [False, False, True]
""",
    )


def test_other_families(woven: Woven) -> None:
    check(
        woven,
        """
x = tensor([[1.0, -2.0], [-3.0, 4.0]])
assert x.norm1().item() == 10 and ops.norm1(x, 0).tolist() == [4.0, 6.0]
assert ops.norm1(tensor([-1, 2])).dtype is ow.int64
assert ops.running_maximum(x, 0).tolist() == [[1.0, -2.0], [1.0, 4.0]]
view = ops.every_other(x, 1)
view.mul_(10)
assert x.tolist() == [[10.0, -2.0], [-30.0, 4.0]]
assert ops.ramp(2, 2, slope=3).tolist() == [[0, 3], [6, 9]]
assert ops.numbered(3).tolist() == [0, 1, 2] and ops.numbered([2]).dtype is ow.int16
assert ops.numbered(2, dtype=ow.float64).dtype is ops.numbered(2, out=ow.empty(2, dtype=ow.float64)).dtype is ow.float64
assert ops.centered(x, 1).tolist() == [[6.0, -6.0], [-17.0, 17.0]]
assert not hasattr(ow.Tensor, "ramp")
""",
    )


def test_names_of_arguments_meet_none_of_generated_code(woven: Woven) -> None:
    check(
        woven,
        """
a, b = tensor([1.0, 2.0], requires_grad=True), tensor([0.0, 1.0], requires_grad=True)
got = ops.tangled(a, b, tensor([10.0, 20.0]), complex=2)
assert np.allclose(got.tolist(), [23.0, 6 * np.e + 40])
got.sum().backward()
assert np.allclose(a.grad.tolist(), [3.0, 3 * np.e]) and np.allclose(b.grad.tolist(), [3.0, 6 * np.e])
a.grad = None
(by,) = ow.autograd.grad(ops.tangled(a, b, tensor([10.0, 20.0])).sum(), b, create_graph=True)
assert np.allclose(by.tolist(), [3.0, 6 * np.e])
import pytest
with pytest.raises(RuntimeError, match="index is -1"):
    ops.tangled(a, b, b, index=-1)
x = tensor([[1.0, 3.0, 5.0], [2.0, 2.0, 2.0]])
assert ops.tangled_rows(x, 1, lanes=3).tolist() == [-1.0, 1.0]
assert x.tangled_view(1, 0, 2).tolist() == x.tolist()
assert ops.tangled_loop(x, 3, code=1).tolist() == [28.0, 19.0]
assert ops.tangled_fill([3], n=2.0).tolist() == [2.0, 3.0, 4.0]
assert ops.tangled_fill([2], 2.0, 5, requires_grad=True).requires_grad
assert x[0].tangled_call(2, 0.5).tolist() == [2.5, 6.5, 10.5]
""",
    )


def test_errors_are_those_of_any_operator(woven: Woven) -> None:
    check(
        woven,
        """
import pytest
with pytest.raises(TypeError, match="argument 'other' .* must be Tensor, not str"):
    ops.wipe(tensor([1.0]), "no")
with pytest.raises(RuntimeError, match="size"):
    ops.wipe(ow.zeros(2), ow.zeros(3))
with pytest.raises(NotImplementedError):
    ops.wipe(tensor([1]), tensor([2]))
with pytest.raises(RuntimeError, match="every_other.. needs a dimension, but self is 0D"):
    ops.every_other(tensor(1.0), 0)
with pytest.raises(IndexError):
    ops.every_other(ow.zeros(2), 5)
""",
    )


def test_two_packages_in_one_process(woven: Woven, tmp_path: Path) -> None:
    """Indices of the second follow those of the first; a method that exists is never replaced."""
    out = woven.folder.parent
    for package, operator in (("second_ops", "half_more"), ("rival_ops", "softsign")):
        (tmp_path / f"{package}.yaml").write_text(TINY.format(name=operator))
        weave(tmp_path / f"{package}.yaml", out=out)
    check(
        woven,
        """
import second_ops
assert second_ops.half_more(tensor([2.0])).tolist() == [4.5]
assert ops.softsign(tensor([1.0])).tolist() == [0.5]
try:
    import rival_ops
except ImportError as error:
    assert str(error).startswith("rival_ops cannot add method 'softsign' to Tensor: every_family already has it")
else:
    raise AssertionError
assert tensor([1.0]).softsign().tolist() == [0.5]
""",
    )


# ---- when there is something to do -------------------------------------------------------------------------


def test_rebuilt_only_when_something_changed(tiny: Path, tmp_path: Path) -> None:
    first = weave(tiny, out=tmp_path)
    assert first.rebuilt
    shared_object = next(first.folder.glob("*.so"))
    before = shared_object.stat().st_mtime_ns
    assert not weave(tiny, out=tmp_path).rebuilt
    assert shared_object.stat().st_mtime_ns == before

    tiny.write_text(tiny.read_text().replace("0.5", "0.25"))
    assert weave(tiny, out=tmp_path).rebuilt
    assert not weave(tiny, out=tmp_path).rebuilt
    assert weave(tiny, out=tmp_path, force=True).rebuilt

    next(first.folder.glob("*.so")).unlink()
    for path in first.folder.glob("*.so"):
        path.unlink()
    assert weave(tiny, out=tmp_path).rebuilt


def test_up_to_date_package_needs_no_compiler(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weave(tiny, out=tmp_path)
    monkeypatch.setenv("PATH", "")
    assert not weave(tiny, out=tmp_path).rebuilt


def test_operators_that_are_gone_leave_nothing(tiny: Path, tmp_path: Path) -> None:
    folder = weave(tiny, out=tmp_path).folder
    tiny.write_text(TINY.format(name="half_less"))
    weave(tiny, out=tmp_path)
    assert sorted(path.name for path in folder.glob("kernels/*")) == ["half_less.c", "half_less_backward_self.c"]
    assert not list(folder.rglob("*.new"))


def test_interrupted_weaving_is_done_again(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tiny.read_text()
    weave(tiny, out=tmp_path)
    tiny.write_text(old.replace("0.5", "0.25"))

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("opweave._weave.weave.os.replace", _failing_after(2, os.replace))
        with pytest.raises(KeyboardInterrupt):
            weave(tiny, out=tmp_path)
    tiny.write_text(old)
    assert weave(tiny, out=tmp_path).rebuilt


def _failing_after(count: int, function):  # type: ignore[no-untyped-def]
    calls = []

    def call(*arguments):  # type: ignore[no-untyped-def]
        calls.append(arguments)
        if len(calls) > count:
            raise KeyboardInterrupt
        return function(*arguments)

    return call


def test_only_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Composites need no compiler."""
    path = tmp_path / "composed.yaml"
    path.write_text(DECLARATIONS[DECLARATIONS.index("- func: centered") :])
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    assert weave(path, out=tmp_path).rebuilt
    python("-c", "import composed, opweave; print(composed.centered(opweave.ones(3), 0))", cwd=tmp_path)


def test_processes_weaving_at_once(tiny: Path, tmp_path: Path) -> None:
    code = "from opweave._weave.weave import weave; print(weave('tiny_ops.yaml').rebuilt)"
    processes = [
        subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = sorted(process.communicate(timeout=120)[0].strip() for process in processes)
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert answers == ["False", "False", "True"]
    python("-c", "import tiny_ops, opweave; assert tiny_ops.half_more(opweave.ones(1)).item() == 1.5", cwd=tmp_path)


# ---- what is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my-ops", "'my-ops' cannot be the name of a Python package; give another: --name my_ops"),
        ("class", "'class' cannot be the name"),
        ("3d", "'3d' cannot be the name"),
        ("", "'' cannot be the name"),
        ("opweave", "there is a module 'opweave' already"),
        ("json", "there is a module 'json' already"),
        ("numpy", "there is a module 'numpy' already"),
        ("n" * 300, "the name of a package has up to 100 characters, this one 300"),
    ],
)
def test_names_that_cannot_be(tiny: Path, tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(WeaveError, match=message):
        weave(tiny, name, tmp_path)


def test_what_others_wrote_stays(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "tiny_ops").mkdir()
    precious = tmp_path / "tiny_ops" / "precious.txt"
    precious.write_text("mine")
    with pytest.raises(WeaveError, match="exists and was not woven by opweave"):
        weave(tiny, out=tmp_path, force=True)
    assert [path.name for path in precious.parent.iterdir()] == ["precious.txt"]
    (tmp_path / "beside.py").write_text("")
    with pytest.raises(WeaveError, match=r"beside\.py has the name"):
        weave(tiny, "beside", tmp_path)


def test_mistakes_are_located_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(
        TINY.format(name="half_more").replace("self * self", "self * slef")
        + TINY.format(name="add")
        + TINY.format(name="other").replace("auto\n", "auto\n  operator: neg\n")
    )
    with pytest.raises(WeaveError) as caught:
        weave(path, out=tmp_path)
    text = str(caught.value)
    assert f"{path}:3:23: error: unknown name 'slef'" in text
    assert "elementwise: self * slef + 0.5" in text
    assert f"{path}:6:9: error: function 'add' already exists in opweave" in text
    assert "'__neg__' already exists in opweave" in text
    assert not (tmp_path / "wrong").exists()


def test_awkward_texts(tmp_path: Path) -> None:
    """Neither the names of files nor what a doc says can end a comment or a string of the generated code."""
    folder = tmp_path / "a*"
    folder.mkdir()
    path = folder / 'q"uo\\te.yaml'
    doc = 'Back\\slashes \\d and """quotes"""."'.rstrip('"')
    path.write_text(TINY.format(name="half_more").replace("Adds one half to the square.", f"'{doc}'"))
    weave(path, "awkward", tmp_path)
    code = f"import awkward; assert awkward.half_more.__doc__.startswith({doc!r}); print(awkward.__doc__)"
    assert doc in python("-c", code, cwd=tmp_path).stdout
    compile((tmp_path / "awkward" / "__init__.pyi").read_text(), "__init__.pyi", "exec")
    with pytest.raises(WeaveError, match="unprintable characters"):
        weave(tmp_path / "two\nlines.yaml", "lines", tmp_path)


def test_mistakes_that_only_the_package_can_see(tmp_path: Path) -> None:
    """Formulas of reductions, scans and rows are compared with their bodies; called functions must exist."""
    path = tmp_path / "wrong.yaml"
    path.write_text(
        """\
- func: added(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor
  doc: Sum.
  reduce: {identity: 0, combine: acc + self}
  dtypes: floating
  derivatives: {self: 'unreduce(grad * 5, self.shape, dim, keepdim)'}
- func: running(Tensor self, int dim) -> Tensor
  doc: Running sum.
  scan: {identity: 0, combine: acc + self}
  dtypes: floating
  derivatives: {self: grad.cumsum(dim)}
- func: shared(Tensor self, int dim) -> Tensor
  doc: Softmax.
  rows: {let: {top: {max: self}, all: {sum: exp(self - top)}}, value: exp(self - top) / all}
  dtypes: floating
  derivatives: {self: 'result * (grad - (grad * result).sum(dim, True)) + 0.1'}
- func: rooted(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor
  doc: What is right.
  reduce: {identity: 0, combine: acc + self, map: sqrt(self), finalize: acc / count}
  dtypes: floating
  derivatives: {self: 'mean_backward(grad, self.shape, dim, keepdim) / (2 * sqrt(self))'}
- func: called(Tensor self) -> Tensor
  doc: Calls what nobody has.
  composite: return sqart(self) + self.meen()
"""
    )
    with pytest.raises(WeaveError) as caught:
        weave(path, out=tmp_path)
    results = [line.partition(": error: ")[::2] for line in str(caught.value).splitlines() if ": error: " in line]
    assert results == [
        (f"{path}:23:21", "unknown function 'sqart'"),
        (f"{path}:23:35", "a tensor has no attribute 'meen'"),
    ]
    path.write_text(path.read_text().replace("sqart", "sqrt").replace("meen", "exp"))
    with pytest.raises(WeaveError) as caught:
        weave(path, out=tmp_path)
    results = [line.partition(": error: ")[::2] for line in str(caught.value).splitlines() if ": error: " in line]
    assert [where for where, _ in results] == [f"{path}:{line}:23" for line in (5, 10, 15)]
    assert results[0][1].endswith("the formula gives 10.2046, differences of the body give 2.04092")


def test_no_room_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "composed.yaml"
    path.write_text(DECLARATIONS[DECLARATIONS.index("- func: centered") :])

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("opweave._weave.weave._write_python", full)
    with pytest.raises(WeaveError, match=r"^cannot write temporary files: No space left on device; .* TMPDIR$"):
        weave(path, out=tmp_path)


def test_a_compiler_without_room(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "compiler"
    compiler.write_text(
        "#!/bin/sh\necho 'fatal error: error writing to /somewhere/x.s: No space left on device'; exit 1\n"
    )
    compiler.chmod(0o755)
    monkeypatch.setattr("opweave._toolchain.toolchain._adapted", lambda base, command: replace(base, command=command))
    monkeypatch.setenv("CC", str(compiler))
    with pytest.raises(WeaveError, match=r"\nthere is no room for temporary files; .* TMPDIR$"):
        weave(tiny, out=tmp_path)


def test_links_in_the_folder_are_not_followed(tmp_path: Path) -> None:
    """What is written is new, whatever lies in the folder under the name of a temporary or a generated file."""
    path = tmp_path / "composed.yaml"
    path.write_text(DECLARATIONS[DECLARATIONS.index("- func: centered") :])
    folder = weave(path, out=tmp_path).folder
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for name in ("._operators.py.new", ".woven.json.new"):
        (folder / name).symlink_to(precious)
    (folder / "_operators.py").unlink()
    (folder / "_operators.py").symlink_to(precious)
    weave(path, out=tmp_path, force=True)
    assert precious.read_text() == "mine"
    assert not (folder / "_operators.py").is_symlink()


@pytest.mark.parametrize("text", ["", "[", "5", "[" * 100_000, '{"fingerprint": 1}', '{"files": 5, "operators": [1]}'])
def test_a_damaged_stamp_is_not_believed(tmp_path: Path, text: str) -> None:
    path = tmp_path / "composed.yaml"
    path.write_text(DECLARATIONS[DECLARATIONS.index("- func: centered") :])
    folder = weave(path, out=tmp_path).folder
    assert not weave(path, out=tmp_path).rebuilt
    (folder / "woven.json").write_text(text)
    assert weave(path, out=tmp_path).rebuilt
    assert not weave(path, out=tmp_path).rebuilt


def test_unknown_routine(tmp_path: Path) -> None:
    path = tmp_path / "routine.yaml"
    path.write_text(
        "- func: product(Tensor self, Tensor mat2) -> Tensor\n  doc: A product.\n  derivatives: none\n"
        "  routine:\n    extern: gemmm\n    signature: (n,k),(k,m)->(n,m)\n"
    )
    with pytest.raises(WeaveError, match=r"routine.yaml:5:13: error: unknown routine 'gemmm'"):
        weave(path, out=tmp_path)


def test_missing_file_and_folder_that_cannot_be(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(WeaveError, match=r"absent.yaml: cannot read the declarations: No such file"):
        weave(tmp_path / "absent.yaml")
    with pytest.raises(WeaveError, match="cannot write"):
        weave(tiny, out=tiny)


# ---- compilers ---------------------------------------------------------------------------------------------


def compiler(tmp_path: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "compiler"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("CC", f"'{path}'")


def test_no_compiler(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(WeaveError, match=r"(?s)no C compiler was found.*apt install gcc"):
        weave(tiny, out=tmp_path)
    monkeypatch.setenv("CC", "/nowhere/gcc")
    with pytest.raises(WeaveError, match="CC names the compiler '/nowhere/gcc', which cannot be found"):
        weave(tiny, out=tmp_path)
    assert not (tmp_path / "tiny_ops").exists()


def test_compiler_named_by_cc(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its arguments are kept, and it may lack flags of optimisation."""
    log = tmp_path / "log"
    refuse = 'case "$*" in *-fno-version-loops-for-strides*) echo "unknown flag" >&2; exit 1;; esac'
    compiler(tmp_path, f'{refuse}\necho "$*" >> "{log}"\nexec cc "$@"', monkeypatch)
    monkeypatch.setenv("CC", os.environ["CC"] + " -DTOLD")
    weave(tiny, out=tmp_path)
    assert "-DTOLD" in log.read_text()
    python("-c", "import tiny_ops, opweave; assert tiny_ops.half_more(opweave.ones(1)).item() == 1.5", cwd=tmp_path)


def test_compiler_without_the_levels(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler(tmp_path, 'case "$*" in *-march=*) exit 1;; esac\nexec cc "$@"', monkeypatch)
    with pytest.raises(WeaveError, match=r"does not accept .*-march="):
        weave(tiny, out=tmp_path)


def test_complaint_of_the_compiler_is_shown_at_the_declaration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """codegen lets nothing through that C would refuse, so a header takes away a function that C has."""
    path = tmp_path / "rounded.yaml"
    path.write_text(TINY.format(name="lowered").replace("self * self + 0.5", "floor(self) + 0.5"))
    header = tmp_path / "doctored.h"
    header.write_text("#include <math.h>\n#define floorf missing_function\n")
    # Complaints about the use of a macro, not about its definition.
    compiler(tmp_path, f'exec cc -include "{header}" -ftrack-macro-expansion=0 "$@"', monkeypatch)
    with pytest.raises(WeaveError) as caught:
        weave(path, out=tmp_path)
    lines = str(caught.value).splitlines()
    assert lines[0] == f"{path}:3:3: error: implicit declaration of function 'missing_function'"
    assert lines[1] == "    3 |   elementwise: floor(self) + 0.5"
    assert "kernel 'lowered_f32' at level " in lines[3]
    assert len(lines) == 4
    assert not (tmp_path / "rounded").exists()


def test_complaints_about_something_else(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler(tmp_path, 'case "$*" in *-fsyntax-only*) exit 0;; esac\necho out of order >&2; exit 3', monkeypatch)
    with pytest.raises(WeaveError, match=r"(?s)the C compiler failed on 'half_more': .*out of order"):
        weave(tiny, out=tmp_path)
    compiler(tmp_path, 'case "$*" in *-shared*) echo no linker >&2; exit 1;; esac\nexec cc "$@"', monkeypatch)
    with pytest.raises(WeaveError, match=r"(?s)linking failed: .*no linker"):
        weave(tiny, out=tmp_path)


# ---- packages that do not fit ------------------------------------------------------------------------------


def test_package_of_another_version_and_damaged_ones(tiny: Path, tmp_path: Path) -> None:
    folder = weave(tiny, out=tmp_path).folder
    module = folder / "_operators.py"
    text = module.read_text()
    module.write_text(text.replace('INTERFACE = "', 'INTERFACE = "0'))
    done = python("-c", "import tiny_ops", cwd=tmp_path, status=1)
    assert "tiny_ops was woven by another version of opweave; weave it again: opweave weave" in done.stderr
    module.write_text(text)
    next(folder.glob("*.so")).write_bytes(b"not a library")
    done = python("-c", "import tiny_ops", cwd=tmp_path, status=1)
    assert "ImportError: tiny_ops: cannot load operator library" in done.stderr

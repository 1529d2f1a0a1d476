"""Which names results have, for every kind of operator, and what does not match."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave
import pytest
from harness.catalog import described
from representations.named import named

Names = tuple[str | None, ...]
Call = Callable[..., Any]

F = opweave.nn.functional


def names(result: Any) -> Any:
    return [each.names for each in result] if isinstance(result, (tuple, list)) else result.names


def mask(text: str) -> opweave.Tensor:
    return named(text) > 2


# ---- several tensors ----------------------------------------------------------------------------------------

UNIFIED: list[tuple[str, str, Names]] = [
    ("N:2,C:3", "N:2,C:3", ("N", "C")),
    ("N:2,C:3", "C:3", ("N", "C")),
    ("C:3", "N:2,C:3", ("N", "C")),
    ("N:2,C:3", "None:2,C:3", ("N", "C")),
    ("N:3,None:3", "None:3,C:3", ("N", "C")),
    ("N:2,C:3", "2,3", ("N", "C")),
    ("N:2,C:3", "3", ("N", "C")),
    ("N:2,C:3", "4,2,3", (None, "N", "C")),
    ("N:2,C:3", "", ("N", "C")),
]


@pytest.mark.parametrize(("left", "right", "expected"), UNIFIED)
def test_elementwise(left: str, right: str, expected: Names) -> None:
    a, b = named(left), named(right)
    for call in (opweave.add, opweave.atan2, opweave.true_divide, opweave.lt, lambda x, y: x**y, opweave.fmod):
        assert call(a, b).names == expected
    assert opweave.where(a > 1, a, b).names == expected
    assert opweave.addcmul(a, b, b).names == expected
    assert opweave.add(a, b).tolist() == (a.rename(None) + b.rename(None)).tolist()


NOT_UNIFIED: list[tuple[str, str, str]] = [
    (
        "N:2,C:3",
        "W:3",
        (
            "Error when attempting to broadcast dims ['N', 'C'] and dims ['W']: dim 'C' and dim 'W' are at the same "
            "position from the right but do not match."
        ),
    ),
    ("N:2,C:2", "C:2,N:2", "dim 'C' and dim 'N' are at the same position from the right but do not match."),
    ("N:2,C:3,D:4", "C:3,W:4", "dims ['N', 'C', 'D'] and dims ['C', 'W']: dim 'D' and dim 'W'"),
    (
        "N:3,None:3",
        "N:3",
        (
            "Misaligned dims when attempting to broadcast dims ['N'] and dims ['N', None]: dim 'N' appears in a "
            "different position from the right across both lists."
        ),
    ),
    ("C:2,None:2", "None:2,C:2", "Misaligned dims"),
    ("N:2,C:2", "N:2,2,2", "Misaligned dims"),
]


@pytest.mark.parametrize(("left", "right", "message"), NOT_UNIFIED)
def test_elementwise_mismatch(left: str, right: str, message: str) -> None:
    a, b = named(left), named(right)
    with pytest.raises(RuntimeError) as caught:
        a + b
    assert message in str(caught.value)
    with pytest.raises(RuntimeError):
        a.add_(b)
    assert a.tolist() == named(left).tolist()


def test_in_place() -> None:
    x, y = opweave.ones(2, 3), named("N:2,C:3")
    x += y
    assert x.names == ("N", "C")
    assert x.relu_() is x
    assert x.copy_(opweave.zeros(2, 3)).names == ("N", "C")
    assert opweave.empty(2, 3).copy_(y).names == ("N", "C")
    assert x.uniform_().names == x.fill_(3).names == x.zero_().names == x.masked_fill_(mask("N:2,C:3"), 1).names
    partly = named("N:2,None:3")
    for call in (lambda: partly.add_(y), lambda: partly.masked_fill_(mask("N:2,C:3"), 3.0), lambda: partly.copy_(y)):
        with pytest.raises(RuntimeError) as caught:
            call()
        assert (
            "Name mismatch: specified out tensor with names ['N', None] are not the same as the computed output"
            in str(caught.value)
        )
    assert partly.tolist() == named("N:2,None:3").tolist()


def test_out() -> None:
    plain, full, partly, other = named("2,3"), named("N:2,C:3"), named("N:2,None:3"), opweave.empty(2, 3)
    assert opweave.abs(full, out=other) is other
    assert (other.names, other.tolist()) == (("N", "C"), full.tolist())
    assert opweave.abs(full, out=other).names == ("N", "C")
    assert opweave.abs(plain, out=opweave.empty(2, 3)).names == (None, None)
    assert opweave.sum(full, "C", out=opweave.empty(0)).names == ("N",)
    assert opweave.std(full, "C", out=opweave.empty(0)).names == ("N",)
    assert names(opweave.max(full, "C", out=(opweave.empty(0), opweave.empty(0, dtype=opweave.int64)))) == [("N",)] * 2
    assert opweave.cat([full, full], out=opweave.empty(0)).names == ("N", "C")
    for given, out in ((partly, full), (full, partly), (plain, full)):
        before = out.tolist()
        for function in (opweave.neg, opweave.tanh, opweave.frac):
            with pytest.raises(RuntimeError, match="Name mismatch: specified out tensor with names"):
                function(given, out=out)
        assert out.tolist() == before


# ---- along dimensions ---------------------------------------------------------------------------------------

REDUCTIONS: dict[str, Call] = {
    "sum": opweave.sum, "prod": opweave.prod, "mean": opweave.mean, "var": opweave.var, "std": opweave.std,
    "amax": opweave.amax, "logsumexp": opweave.logsumexp, "all": opweave.all, "any": opweave.any, "max": opweave.max,
    "min": opweave.min, "median": opweave.median, "nanmedian": opweave.nanmedian, "mode": opweave.mode,
    "argmax": opweave.argmax, "var_mean": opweave.var_mean, "std_mean": opweave.std_mean, "nansum": opweave.nansum,
    "count_nonzero": opweave.count_nonzero, "norm": lambda x, dim, **kw: x.norm(2, dim, **kw),
    "kthvalue": lambda x, dim, **kw: x.kthvalue(1, dim, **kw), "aminmax": lambda x, dim, **kw: x.aminmax(dim=dim, **kw),
    "quantities": lambda x, dim, **kw: opweave.linalg.vector_norm(x, 3, dim, **kw),
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str) -> None:
    x, call = named("N:2,C:3,L:5"), REDUCTIONS[name]
    results: list[tuple[dict[str, Any], Names]] = [
        ({"dim": "C"}, ("N", "L")),
        ({"dim": 1}, ("N", "L")),
        ({"dim": -1}, ("N", "C")),
    ]
    if name != "count_nonzero":
        results.append(({"dim": "C", "keepdim": True}, ("N", "C", "L")))
    for keywords, expected in results:
        result = call(x, keywords["dim"], **{"keepdim": True} if "keepdim" in keywords else {})
        found = names(result)
        assert found == ([expected] * len(found) if isinstance(found, list) else expected)
        dim = {"C": 1}.get(keywords["dim"], keywords["dim"])
        plain = call(x.rename(None), dim, **{"keepdim": True} if "keepdim" in keywords else {})
        for mine, other in zip(
            *(each if isinstance(each, tuple) else (each,) for each in (result, plain)), strict=True
        ):
            assert mine.tolist() == other.tolist()
    with pytest.raises(RuntimeError, match=r"Name 'H' not found in Tensor.'N', 'C', 'L'."):
        call(x, "H")


def test_reductions_of_several_dimensions() -> None:
    x = named("N:2,C:3,L:5")
    for call in (opweave.sum, opweave.mean, opweave.amax, opweave.logsumexp, opweave.std):
        assert call(x, ["C", "L"]).names == call(x, (1, 2)).names == ("N",)
        assert call(x, ("L", "N")).names == call(x, [0, -1]).names == ("C",)
        assert call(x, ["N", "L"], keepdim=True).names == ("N", "C", "L")
    for call in (opweave.sum, opweave.prod, opweave.max, opweave.median, opweave.std, opweave.norm):
        assert call(x).names == ()


KEPT: dict[str, Call] = {
    "cumsum": lambda x: x.cumsum("C"),
    "cumprod": lambda x: x.cumprod(dim="C"),
    "cummax": lambda x: x.cummax("C"),
    "logcumsumexp": lambda x: opweave.logcumsumexp(x, "C"),
    "softmax": lambda x: x.softmax("C"),
    "log_softmax": lambda x: x.log_softmax(dim="C"),
    "softmin": lambda x: F.softmin(x, "C"),
    "sort": lambda x: x.sort("C"),
    "argsort": lambda x: x.argsort("C"),
    "topk": lambda x: x.topk(2, "C"),
    "flip": lambda x: x.flip(["C"]),
    "roll": lambda x: x.roll(1, "C"),
    "index_fill": lambda x: x.index_fill("C", opweave.tensor([0]), 5.0),
    "clone": lambda x: x.clone(),
    "detach": lambda x: x.detach(),
    "detach_": lambda x: x.clone().detach_(),
    "contiguous": lambda x: x.contiguous(),
    "double": lambda x: x.double(),
    "to": lambda x: x.to(opweave.int8),
    "type": lambda x: x.type("opweave.DoubleTensor"),
    "cpu": lambda x: x.cpu(),
    "data": lambda x: x.data,
    "meta": lambda x: x.to("meta"),
    "zeros_like": opweave.zeros_like,
    "empty_like": opweave.empty_like,
    "ones_like": opweave.ones_like,
    "full_like": lambda x: opweave.full_like(x, 3),
    "rand_like": opweave.rand_like,
    "randn_like": opweave.randn_like,
    "randint_like": lambda x: opweave.randint_like(x, 3),
    "pad": lambda x: F.pad(x, (1, 1)),
    "bernoulli": lambda x: (x / 100).bernoulli(),
    "bernoulli_": lambda x: x.bernoulli_(0.5),
    "normal_": lambda x: x.normal_(),
    "random_": lambda x: x.random_(0, 3),
    "dropout": lambda x: F.dropout(x, 0.5),
    "polygamma": lambda x: opweave.polygamma(1, x),
    "relu": F.relu,
    "gelu": F.gelu,
    "threshold": lambda x: F.threshold(x, 0, 1),
    "real": lambda x: x.real,
    "conj": lambda x: (x + 0j).conj(),
    "imag": lambda x: (x + 1j).imag,
    "angle": opweave.angle,
    "max_pool1d": lambda x: F.max_pool1d(x, 2),
    "alias": lambda x: x[...],
    "requires_grad_": lambda x: x.requires_grad_(),
    "as_subclass": lambda x: x.as_subclass(type("Mine", (opweave.Tensor,), {})),
    "clamp": lambda x: x.clamp(0, 1),
    "resize_": lambda x: x.resize_((2, 3, 5)),
    "norm": lambda x: x / x.norm(dim="C", keepdim=True),
    "frexp": opweave.frexp,
    "poisson": opweave.poisson,
}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    found = names(KEPT[name](named("N:2,C:3,L:5")))
    assert found == ([("N", "C", "L")] * len(found) if isinstance(found, list) else ("N", "C", "L"))


def test_pooling() -> None:
    x = named("A:1,B:2,C:4,D:4")
    assert F.max_pool2d(x, 2).names == ("A", "B", "C", "D")
    assert names(F.max_pool2d(x, 2, return_indices=True)) == [("A", "B", "C", "D")] * 2
    assert F.max_pool3d(named("A:1,B:1,C:2,D:2,E:2"), 2).names == ("A", "B", "C", "D", "E")
    for function in (F.avg_pool2d, F.adaptive_avg_pool2d, F.adaptive_max_pool2d):
        assert function(x, 2).names == ("A", "B", "C", "D")
        assert function(x.select("A", 0), 2).names == ("B", "C", "D")
    assert F.avg_pool1d(named("B:2,C:4,D:4"), 2).names == ("B", "C", "D")


def test_convolutions() -> None:
    x, weight, bias = named("N:2,C:3,H:4,W:5"), named("out:6,C:3,h:2,w:2"), named("out:6")
    assert F.conv2d(x, weight).names == F.conv2d(x, weight, bias).names == ("N", "out", "H", "W")
    assert F.conv2d(x, weight.rename(None)).names == ("N", None, "H", "W")
    assert F.conv2d(x[0], weight).names == ("out", "H", "W")
    assert F.conv2d(x.rename(None), weight, bias).names == (None, "out", None, None)
    assert F.conv_transpose2d(named("N:2,out:6,H:4,W:5"), weight).names == ("N", "C", "H", "W")
    assert F.conv1d(named("N:2,C:3,L:4"), named("out:6,C:3,l:2")).names == ("N", "out", "L")
    with pytest.raises(RuntimeError, match="dim 'out' and dim 'other' are at the same position from the right"):
        F.conv2d(x, weight, named("other:6"))
    with pytest.raises(RuntimeError, match="Misaligned dims when batch matrix multiplying"):
        F.conv2d(x, weight.rename("N", "C", "h", "w"))
    with pytest.raises(RuntimeError, match="would produce output tensor with duplicate names"):
        F.conv2d(x, weight.rename("H", "C", "h", "w"))


@pytest.mark.parametrize(
    ("operator", "rule"),
    [
        ("add", "unify"),
        ("sum", "reduce"),
        ("cumsum", "keep"),
        ("softmax", "reduce"),
        ("normal_", "keep"),
        ("permute", "view"),
        ("mm", "(n,k),(k,m)->(n,m)"),
        ("mean_of_windows2d", "(...,Y,X)->(...,Y,X)"),
        ("mean_of_parts", "(...,Y,c)->(...,Y,c)"),
        ("windows2d", "(...,self_0,self_1)->(...,I,J,Y,X)"),
        ("convolve2d", "(...,g,self_1,Y,X),(g,o,weight_2,weight_3,weight_4),(g,o)->(...,g,o,Y,X)"),
        ("sample_nearest", "(n,c,self_2,self_3,self_4),(n,p),(n,p),(n,p)->(n,c,p)"),
        ("var", None),
        ("gather", None),
        ("lapack_gesv", None),
    ],
)
def test_derived_rules(operator: str, rule: str | None) -> None:
    assert next(each["names"] for each in described() if each["name"] == operator) == rule


# ---- views --------------------------------------------------------------------------------------------------

VIEWS: list[tuple[str, Call, Names]] = [
    ("N:2,C:3", lambda x: x.t(), ("C", "N")),
    ("N:2,C:3", lambda x: x.T, ("C", "N")),
    ("N:2,C:3,H:4", lambda x: x.mT, ("N", "H", "C")),
    ("N:2,C:3,H:5,W:7", lambda x: x.transpose("N", "C"), ("C", "N", "H", "W")),
    ("N:2,C:3,H:5,W:7", lambda x: x.transpose(1, -1), ("N", "W", "H", "C")),
    ("N:2,C:3,H:5", lambda x: x.permute(2, 0, 1), ("H", "N", "C")),
    ("N:2,C:3,H:5", lambda x: x.permute(["H", "N", "C"]), ("H", "N", "C")),
    ("N:2,C:3,H:5", lambda x: x.movedim(0, -1), ("C", "H", "N")),
    ("N:2,C:3,H:5", lambda x: x.swapaxes(0, 1), ("C", "N", "H")),
    ("N:2,C:2,H:2", lambda x: x.permute(2, 0, 1), ("H", "N", "C")),
    ("N:1,C:1,H:1", lambda x: x.permute(2, 0, 1), ("H", "N", "C")),
    ("N:0,C:3,H:0", lambda x: x.permute(2, 0, 1), ("H", "N", "C")),
    ("N:2,C:3,H:4,W:5", lambda x: x.select("C", 1), ("N", "H", "W")),
    ("N:2,C:3,H:4,W:5", lambda x: x.select(1, 1), ("N", "H", "W")),
    ("N:2,C:3", lambda x: x.narrow("C", 1, 2), ("N", "C")),
    ("N:3,C:1,H:1,W:1", lambda x: x.squeeze("C"), ("N", "H", "W")),
    ("N:3,C:1,H:1,W:1", lambda x: x.squeeze(), ("N",)),
    ("N:3,C:1,H:1,W:1", lambda x: x.squeeze(("C", "W")), ("N", "H")),
    ("N:3,C:1", lambda x: x.squeeze("N"), ("N", "C")),
    ("N:3,C:2", lambda x: x.unsqueeze(1), ("N", None, "C")),
    ("N:1,C:1", lambda x: x.unsqueeze(0), (None, "N", "C")),
    ("N:3,C:2", lambda x: x.unsqueeze("C"), ("N", None, "C")),
    ("D:1", lambda x: x.expand(3), ("D",)),
    ("H:3,W:2", lambda x: x.expand(10, 3, 3, 2), (None, None, "H", "W")),
    ("H:1,W:2", lambda x: x.expand(4, 3, -1), (None, "H", "W")),
    ("A:2,B:3,C:5,D:7", lambda x: x.diagonal(), ("C", "D", None)),
    ("A:2,B:3,C:5,D:7", lambda x: x.diagonal(1, 3), ("A", "C", None)),
    ("A:2,B:3,C:5,D:7", lambda x: x.diagonal(dim1="B", dim2="D"), ("A", "C", None)),
    ("N:2,C:3", lambda x: x.split(1, "C")[0], ("N", "C")),
    ("N:2,C:3", lambda x: x.split([1, 2], 1)[1], ("N", "C")),
    ("N:2,C:3", lambda x: x.chunk(2, "C")[1], ("N", "C")),
    ("N:2,C:3", lambda x: x.unbind("N")[1], ("C",)),
    ("N:2,C:3", lambda x: next(iter(x)), ("C",)),
    ("N:2,C:3", lambda x: x.as_strided((6,), (1,)), (None,)),
    ("N:2,C:3", lambda x: x[0], ("C",)),
    ("N:2,C:3", lambda x: x[:, 1], ("N",)),
    ("N:2,C:3", lambda x: x[..., 0], ("N",)),
    ("N:2,C:3", lambda x: x[:, None, ::2], ("N", None, "C")),
    ("N:2,C:3", lambda x: x[1:, :2], ("N", "C")),
    ("N:2,C:3", lambda x: x[None], (None, "N", "C")),
    ("N:2,C:30", lambda x: x[:, ::7], ("N", "C")),
    ("N:2,C:3", lambda x: x[0, 0], ()),
]


@pytest.mark.parametrize(("text", "call", "expected"), VIEWS)
def test_views(text: str, call: Call, expected: Names) -> None:
    x = named(text)
    result = call(x)
    assert result.names == expected
    assert result.data_ptr() == call(x)[...].data_ptr()
    assert opweave.equal(call(x.requires_grad_()), result)


def test_diagonals_with_a_name() -> None:
    x = named("A:2,B:3,C:5,D:7")
    assert x.diagonal(outdim="E", dim1="B", dim2="D").names == ("A", "C", "E")
    assert opweave.diagonal(x, 1, outdim="E", dim1=0, dim2=1).names == ("C", "D", "E")
    for bad, kind in (("A", RuntimeError), ("1", RuntimeError), (3, TypeError)):
        with pytest.raises(kind):
            x.diagonal(outdim=bad, dim1="B", dim2="D")
    with pytest.raises(TypeError, match="unexpected keyword argument 'outdim'"):
        x.unsqueeze(0, outdim="E")


def test_views_in_place() -> None:
    x = named("N:1,C:3")
    assert x.t_().names == ("C", "N")
    assert x.squeeze_("N").names == ("C",)
    assert x.unsqueeze_(0).names == (None, "C")
    assert x.transpose_(0, 1).names == ("C", None)


def test_assignment() -> None:
    x = named("N:2,C:3")
    x[0] = 7.0
    x[:, 1] = opweave.tensor([8.0, 9.0], names=("N",))
    x[1:, 2:] = opweave.tensor([[[5.0]]])
    assert (x.names, x.tolist()) == (("N", "C"), [[7.0, 8.0, 7.0], [4.0, 9.0, 5.0]])
    with pytest.raises(RuntimeError, match="do not match"):
        x[:, 1] = opweave.tensor([8.0, 9.0], names=("C",))


# ---- products -----------------------------------------------------------------------------------------------

PRODUCTS: list[tuple[Call, str, str, Names]] = [
    (opweave.mm, "N:3,C:2", "W:2,H:5", ("N", "H")),
    (opweave.mm, "3,2", "W:2,H:5", (None, "H")),
    (opweave.mm, "N:3,C:2", "2,5", ("N", None)),
    (opweave.mv, "N:3,C:2", "W:2", ("N",)),
    (opweave.mv, "3,2", "W:2", (None,)),
    (opweave.dot, "C:2", "W:2", ()),
    (opweave.bmm, "N:7,A:3,B:2", "N:7,A:2,B:5", ("N", "A", "B")),
    (opweave.bmm, "7,3,2", "N:7,A:2,B:5", ("N", None, "B")),
    (opweave.bmm, "N:7,A:3,B:2", "7,2,5", ("N", "A", None)),
    (opweave.matmul, "A:2", "B:2", ()),
    (opweave.matmul, "A:3,C:2", "B:2", ("A",)),
    (opweave.matmul, "A:5,C:3,D:2", "B:2", ("A", "C")),
    (opweave.matmul, "C:2", "A:2,B:3", ("B",)),
    (opweave.matmul, "C:2", "A:3,B:2,D:5", ("A", "D")),
    (opweave.matmul, "A:3,B:2", "A:2,B:3", ("A", "B")),
    (opweave.matmul, "C:5,A:3,B:2", "A:2,B:3", ("C", "A", "B")),
    (opweave.matmul, "C:5,A:3,B:2", "None:1,A:2,B:3", ("C", "A", "B")),
    (opweave.matmul, "C:5,A:3,B:2", "None:2,None:1,A:2,B:3", (None, "C", "A", "B")),
    (opweave.matmul, "A:1,B:2,C:3,D:4", "B:2,E:4,F:5", ("A", "B", "C", "F")),
    (lambda a, b: a @ b, "N:3,C:2", "W:2,H:5", ("N", "H")),
    (lambda a, b: opweave.addmm(named("N:3,H:5"), a, b), "N:3,C:2", "W:2,H:5", ("N", "H")),
    (lambda a, b: opweave.addmm(named("3,5"), a, b), "N:3,C:2", "W:2,H:5", ("N", "H")),
    (lambda a, b: opweave.addmm(named("N:3,None:5"), a, b), "3,2", "2,5", ("N", None)),
    (lambda a, b: named("N:3,H:5").addmm_(a, b), "N:3,C:2", "W:2,H:5", ("N", "H")),
    (lambda a, b: opweave.addmv(named("N:3"), a, b), "N:3,C:2", "H:2", ("N",)),
    (lambda a, b: opweave.baddbmm(named("7,3,5"), a, b), "N:7,A:3,B:2", "N:7,A:2,B:5", ("N", "A", "B")),
    (opweave.cdist, "M:3,N:1,first:2,features:7", "N:5,second:11,features:7", ("M", "N", "first", "second")),
    (F.linear, "N:2,C:3", "out:4,C:3", ("N", "out")),
    (F.linear, "N:2,T:5,C:3", "4,3", ("N", "T", None)),
]


@pytest.mark.parametrize(("call", "left", "right", "expected"), PRODUCTS)
def test_products(call: Call, left: str, right: str, expected: Names) -> None:
    a, b = named(left), named(right)
    result = call(a, b)
    assert result.names == expected
    assert result.rename(None).allclose(call(a.rename(None), b.rename(None)).rename(None))


BAD_PRODUCTS: list[tuple[Call, str, str, str]] = [
    (
        opweave.mm,
        "N:3,C:2",
        "W:2,N:5",
        (
            "Matrix multiplying Tensor['N', 'C'] with Tensor['W', 'N'] would produce output tensor with duplicate "
            "names ['N', 'N']. Please rename the input tensors with `Tensor.rename` to prevent this."
        ),
    ),
    (opweave.bmm, "N:7,A:3,B:2", "N:7,B:2,A:5", "with duplicate names ['N', 'A', 'A']"),
    (opweave.bmm, "N:3,A:3,B:3", "M:3,A:3,B:3", "dim 'N' and dim 'M' are at the same position"),
    (
        opweave.bmm,
        "N:3,A:3,B:3",
        "None:3,N:3,B:3",
        (
            "Misaligned dims when batch matrix multiplying Tensor['N', 'A', 'B'] and Tensor[None, 'N', 'B']: there is "
            "overlap between the feature dims of the second tensor (['N', 'B']) and the batch dims of the first tensor "
            "(['N']). Please ensure batch dims are not present in the feature dims."
        ),
    ),
    (opweave.matmul, "N:3,A:3,B:3", "N:3,C:3", "Misaligned dims when batch matrix multiplying"),
    (
        opweave.matmul,
        "N:3,C:3",
        "N:3,A:3,B:3",
        (
            "there is overlap between the feature dims of the first tensor (['N', 'C']) and the batch dims of the "
            "second tensor (['N']). Please ensure batch dims are not present in the feature dims."
        ),
    ),
    (opweave.matmul, "A:3,B:2", "B:2,A:5", "with duplicate names ['A', 'A']"),
    (opweave.matmul, "", "A:2", "both arguments to matmul need to be at least 1D, but they are 0D and 1D"),
    (opweave.matmul, "A:2", "", "both arguments to matmul need to be at least 1D, but they are 1D and 0D"),
    (lambda a, b: opweave.addmm(named("H:3,N:5"), a, b), "N:3,C:2", "W:2,H:5", "do not match"),
]


@pytest.mark.parametrize(("call", "left", "right", "message"), BAD_PRODUCTS)
def test_products_mismatch(call: Call, left: str, right: str, message: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        call(named(left), named(right))
    assert message in str(caught.value)


# ---- others -------------------------------------------------------------------------------------------------


def test_cat() -> None:
    x, y = named("N:2,C:3"), named("2,3")
    assert opweave.cat([x, y]).names == opweave.cat([y, x], 1).names == ("N", "C")
    assert opweave.cat([x, x], "C").shape == (2, 6)
    with pytest.raises(
        RuntimeError, match=r"Error when attempting to cat dims .'N', 'C'. and dims .'C', 'N'.: dim 'C'"
    ):
        opweave.cat([x, named("C:2,N:3")])
    with pytest.raises(RuntimeError, match="Tensors must have same number of dimensions: got 2 and 1"):
        opweave.cat([x, named("C:3")])
    with pytest.raises(RuntimeError, match="zero-dimensional tensor"):
        opweave.cat([x.sum(), x.sum()])


def test_masks() -> None:
    x = named("N:2,C:3")
    assert x.masked_fill(mask("N:2,C:3"), 1.0).names == x.masked_fill(mask("C:3"), 1.0).names == ("N", "C")
    assert (
        opweave.masked_select(x, mask("C:3")).names
        == opweave.masked_select(named("C:3"), mask("N:2,C:3")).names
        == (None,)
    )
    for call in (lambda: x.masked_fill(mask("D:3"), 1.0), lambda: opweave.masked_select(x, mask("D:3"))):
        with pytest.raises(RuntimeError, match="do not match"):
            call()


def test_equal() -> None:
    x = named("N:2,C:3")
    assert opweave.equal(x, x.clone())
    assert not opweave.equal(x, x.rename("M", "C"))
    assert not opweave.equal(x, x.rename(None))


def test_sizes() -> None:
    x = named("N:2,None:3,C:5")
    assert (x.size("N"), x.size("C"), x.stride("N"), x.stride("C"), x.size(1)) == (2, 5, 15, 1, 3)
    assert x.shape == (2, 3, 5)
    assert x.numel() == 30


def test_resize() -> None:
    x = named("N:2")
    assert x.resize_([2]).names == ("N",)
    with pytest.raises(RuntimeError) as caught:
        x.resize_([3])
    assert (
        "Cannot resize named tensor with resize_ or resize_as_ (tried to resize Tensor['N'] with size [2] to [3])."
        in str(caught.value)
    )


REFUSED: list[tuple[Call, str]] = [
    (opweave.pdist, "pdist"),
    (lambda x: x.reshape(6), "reshape"),
    (lambda x: x.view(3, 2), "view"),
    (lambda x: x.flatten(), "flatten.using_ints"),
    (lambda x: x[opweave.tensor([0])], "index.Tensor"),
    (lambda x: x[x > 1], "index.Tensor"),
    (lambda x: x.gather(0, opweave.tensor([[0, 0, 0]])), "gather"),
    (lambda x: x.index_select("C", opweave.tensor([0])), "index_select"),
    (lambda x: x.repeat(2, 1), "repeat"),
    (lambda x: opweave.stack([x, x]), "stack"),
    (opweave.nonzero, "nonzero"),
    (opweave.linalg.svd, "linalg_svd"),
    (opweave.fft.fft, "fft_fft"),
    (lambda x: x.tril_(), "tril_"),
    (lambda x: opweave.quantile(x, 0.5, dim="C"), "quantile"),
]


@pytest.mark.parametrize(("call", "operator"), REFUSED)
def test_refused(call: Call, operator: str) -> None:
    x = named("N:2,C:3")
    with pytest.raises(RuntimeError) as caught:
        call(x)
    assert type(caught.value) is RuntimeError
    assert str(caught.value) == (
        f"aten::{operator} is not yet supported with named tensors. Please drop names via `tensor = "
        "tensor.rename(None)`, call the op with an unnamed tensor, and set names on the result of the operation."
    )
    assert (x.names, x.tolist()) == (("N", "C"), named("N:2,C:3").tolist())


BAD_OPERANDS: list[tuple[Call, type[Exception], str]] = [
    (lambda x: opweave.equal(x, 3), TypeError, "equal(): argument 'other' (position 2) must be Tensor, not int"),
    (lambda x: opweave.mm(x, 3), TypeError, "mm(): argument 'mat2' (position 2) must be Tensor, not int"),
    (lambda x: opweave.index_fill([1], 0, x, 1.0), TypeError, "argument 'input' (position 1) must be Tensor, not list"),
    (lambda x: x.sum(dim=object()), TypeError, "argument 'dim' (position 2) must be tuple of ints, not object"),
    (lambda x: x.sum(dim=5), IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 5)"),
    (lambda x: x.softmax(1.5), TypeError, "argument 'dim'"),
    (lambda x: x.permute("N", 1), TypeError, "permute()"),
    (lambda x: x.select("N", 7), IndexError, "select(): index 7 out of range for tensor of size [2, 3] at dimension 0"),
    (lambda x: x.resize_(None), TypeError, "argument 'size'"),
    (lambda x: x + object(), TypeError, "unsupported operand"),
    (lambda x: opweave.cat([x, 3]), TypeError, "expected Tensor as element 1"),
    (lambda x: x.sum("C", out=3), TypeError, "argument 'out' must be Tensor, not int"),
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD_OPERANDS)
def test_bad_operands(call: Call, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        call(named("N:2,C:3"))
    assert message in str(caught.value)

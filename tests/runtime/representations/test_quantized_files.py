"""Quantized tensors in pickles and in files, those that torch wrote among them."""

from __future__ import annotations

import base64
import copy
import io
import pickle
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest
from opweave.serialization import rebuild

OF_TORCH = (
    "c-p0wO>7%Q6vxNw&u)tIL224R(?Th@&^Y_yuQY94S(O1T5{XeIs~2mto@AG9>^ys%s7OdiD5-ivAcO=51b4&{#HDcViQW)!sKfzr;=q9$WoBoy"
    "-5rxeaYkB=z1si(_ukCBx4UG-69{E8XlP8JDP;C6+u6kPZIhV!joWU$mPNNB<9+EpK)Gg&3IJjj=~6|$H6V`Lms>r&GH~2>3kdG?yFD4CT&|g>"
    "kM`+v<{E}L7s$&u-{_Fa+x)H!3C~Y~WHU}@YhwT@BSj#+Y#>82;yaKr;zn!-j`{Kp+-q?}%UoS`I@Cgbt@{0EY<zCWcVX<FWp!N_Tg2&h`tn=7"
    "Htyl}4aXuf9KYCrrwC*lFy5p~fi@ky1rs(6)sEW<J866D$z>x(+0qV7(H}H~r|l@>#66oiJwxDR1E!m7K`q<tbg<ipQ`~Jg*+{OZy<An8p_~MP"
    "XL*j4^BkRMj%RYABz?yq%h^2^++U1MO@^}}@{R6b#l->ooQKxnd5V?@yx^g?;k*&sh8KA{7YMx6fS2vC%bVTKTHwLAUWbd^;}zfIRpxPtd(08Y"
    "H(=gC1QdQpC7?Ax_m+FhX=5l1Es(ASh@yumK#3#DKBB@93v3r2@dIn5@4{scSR`<z0au$zdb>^TY+$(Nd&9t?t1m;fnPTVAvhg~G>-Ov*zhtB{"
    "uV47vd>|pjuBAOIV;ZSJW#m`8y>*kcHgT^{&sM!QClts5LuJ_S{`&0$mLt3N#?GMf6RclBEz@<@I_tPY>NWjvWIjp-7C?0i{-h}*Y2N@QQ8fr)"
    "<qpAJRz~&O;waqR;W~u4n8mPt_4m_kPg48FkVV%bU1?sa*DfC+0CYTi;=IiGwQue}9D%PMjsIAZGK{YOk^7OAL*fAX^(bAd*RC98`EPOGM^!%m"
    "RAsRwzxwdZg!cy6KbAr?7QJ3m4joI(cl-A-AB;c$%h?Ab@C&2xk5Q+%$4O_tzWuY!K$(5H<7hG92321kbrW>&>^=Nq?dHMtH;c3<4Zusek9!X7"
    "0PmXYz1DKt^;-UrfhbC`s4ggKrKoF)UR+Shm9knY>x!ysT1hP}=!!=FX)MZje*N}-j>eJmqKvU%gE+&Tb7ClR@jF6Pha2E@wCTmsUcFW{2{*Bs"
    "h{;D`lcCNj`h*+NWW;AGfrcBPC=d6MY()NP0tvlK)P}o2RC_WhXjM@guG*;f6H%*)+Hl21wdYcTRu{G5s)=g96tx9W8$S2r5$&lo601xUhmYfI"
    "MEr3`{QrfrWTaA;cFQV07bwSs`3H&56`x6U?E4k{BlG|Kjh#$!&6xK*fA&AG5upJ"
)
"""What torch 2.13 saves of tensors of three dtypes, a view, a dtype and a scheme."""


def tensors() -> dict[str, Any]:
    q = ow.quantize_per_tensor(ow.tensor([[-1.0, 0.25, 0.4], [1.0, 2.5, 0.0]]), 0.1, 10, ow.quint8)
    values, scales, zero_points = ow.tensor([[-1.0, 0.5], [1.0, 2.5]]), ow.tensor([0.5, 0.25]), ow.tensor([1, -2])
    return {
        "q": q,
        "view": q.t()[1:],
        "channels": ow.quantize_per_channel(values, scales, zero_points, 0, ow.qint8),
        "wide": ow.quantize_per_tensor(ow.tensor([1.0, -2.0]), 0.5, 7, ow.qint32),
    }


def check(found: dict[str, Any]) -> None:
    for name, tensor in tensors().items():
        assert ow.equal(found[name], tensor)
        assert (found[name].stride(), found[name].dtype) == (tensor.stride(), tensor.dtype)
    found["q"][0, 1] = 1.0
    assert found["view"][0, 0].item() == 1.0


@pytest.mark.parametrize("weights_only", [True, False])
def test_of_torch(weights_only: bool) -> None:
    file = io.BytesIO(zlib.decompress(base64.b85decode(OF_TORCH)))
    found = ow.load(file, weights_only=weights_only)
    assert (found.pop("dtype"), found.pop("scheme")) == (ow.quint8, ow.per_channel_affine)
    check(found)


def test_saved() -> None:
    file = io.BytesIO()
    parameter = ow.nn.Parameter(tensors()["q"], requires_grad=False)
    ow.save({**tensors(), "parameter": parameter}, file)
    names = zipfile.ZipFile(file).read("archive/data.pkl")
    for name in (b"torch._utils\n_rebuild_qtensor\n", b"torch\nQUInt8Storage\n", b"torch\nper_channel_affine\n"):
        assert name in names
    assert b"opweave" not in names
    file.seek(0)
    found = ow.load(file)
    assert isinstance(found["parameter"], ow.nn.Parameter)
    assert ow.equal(found["parameter"], parameter)
    check(found)


def test_attributes_are_saved_and_the_quantizer_once() -> None:
    q = tensors()["q"]
    q.unit = "m"
    file = io.BytesIO()
    ow.save(q, file)
    file.seek(0)
    found = ow.load(file)
    assert (found.unit, found.q_scale()) == ("m", 0.1)


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        lambda each: pickle.loads(pickle.dumps(each)),
        lambda each: each.clone(),
        lambda each: each.detach(),
        lambda each: each.data,
        lambda each: each.as_subclass(ow.Tensor),
    ],
    ids=["copy", "deepcopy", "pickle", "clone", "detach", "data", "as_subclass"],
)
def test_copies(copied: Callable[[Any], Any]) -> None:
    for tensor in tensors().values():
        found = copied(tensor)
        assert found is not tensor
        assert ow.equal(found, tensor)


def test_dtypes_and_schemes_are_pickled_by_name() -> None:
    for each in (ow.quint8, ow.qint32, ow.quint4x2, ow.per_tensor_symmetric):
        assert pickle.loads(pickle.dumps(each)) is each
        assert copy.deepcopy(each) is each


TWO = ow.tensor([0.5, 0.25])


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ((), "scales and zero points"),
        ((ow.per_tensor_affine, 0.0, 1), "got 0.0"),
        ((ow.per_tensor_affine, float("nan"), 1), "got nan"),
        ((ow.per_tensor_affine, 0.1, 300), "300 is above"),
        ((ow.per_tensor_affine, "0.1", 1), "a scale"),
        ((ow.per_tensor_affine, 0.1, 1.5), "a zero point"),
        ((ow.per_tensor_affine, 0.1), "damaged"),
        ((ow.per_tensor_symmetric, 0.1, 1), "per_tensor_symmetric"),
        ((ow.per_channel_affine, TWO, ow.tensor([1, 2]), 2), "Got: 2"),
        ((ow.per_channel_affine, TWO, ow.tensor([1, 300]), 0), "300 is above"),
        ((ow.per_channel_affine, TWO, ow.tensor([1]), 0), "must match"),
        ((ow.per_channel_affine, [0.5, 0.25], ow.tensor([1, 2]), 0), "a tensor"),
        ((ow.per_channel_affine, TWO, ow.tensor([1, 2]), "0"), "a dimension"),
    ],
)
def test_damaged(parameters: tuple[Any, ...], text: str) -> None:
    storage, plain = tensors()["q"].storage(), ow.ones(6, dtype=ow.uint8).storage()
    with pytest.raises(pickle.UnpicklingError, match=text):
        rebuild.FUNCTIONS["torch._utils._rebuild_qtensor"](storage, 0, (2, 3), (3, 1), parameters, False, None)
    with pytest.raises(pickle.UnpicklingError, match="quantized elements"):
        rebuild.FUNCTIONS["torch._utils._rebuild_qtensor"](plain, 0, (2, 3), (3, 1), parameters, False, None)

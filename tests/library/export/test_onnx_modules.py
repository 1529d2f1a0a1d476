"""Modules as ONNX models: networks of images and of texts, writes in place, sizes that change, files, errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import opweave
import pytest
from opweave import nn
from opweave.nn import functional

pytest.importorskip("onnx", reason="models are made by the package onnx")

import onnx
from onnx_models import assert_same, exported
from test_exported_programs import Block, Function, writes


class Text(nn.Module):
    """A transformer that predicts the next of some numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(11, 8), nn.Embedding(16, 8)
        self.projection, self.result = nn.Linear(8, 24), nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8)
        self.inner = nn.Sequential(nn.Linear(8, 32), nn.GELU("tanh"), nn.Linear(32, 8))
        self.head = nn.Linear(8, 11, bias=False)
        self.head.weight = self.words.weight

    def forward(self, ids: Any) -> Any:
        b, t = ids.shape
        x = self.words(ids) + self.places(opweave.arange(t))
        parts = self.projection(self.norm(x)).chunk(3, -1)
        query, key, value = (each.view(b, t, 2, 4).transpose(1, 2) for each in parts)
        scores = query @ key.transpose(-1, -2) / 2 + opweave.full((t, t), float("-inf")).triu(1)
        x = x + self.result((scores.softmax(-1) @ value).transpose(1, 2).reshape(b, t, 8))
        return self.head(x + self.inner(self.norm(x)))


def attention(q: Any, k: Any, mask: Any) -> Any:
    attend = functional.scaled_dot_product_attention
    return (
        attend(q, k, k, is_causal=True),
        attend(q, k, k, attn_mask=mask),
        attend(q, k, k, attn_mask=mask > 0, scale=2.0),
    )


IMAGE, SIGNAL = opweave.randn(2, 4, 9, 9), opweave.randn(2, 4, 9)
MODULES: dict[str, tuple[nn.Module, tuple[Any, ...]]] = {
    "block": (Block(), (opweave.randn(2, 3, 8, 8),)),
    "text": (Text(), (opweave.tensor([[1, 2, 3], [4, 5, 10]]),)),
    "transformer": (
        nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True), (opweave.randn(2, 3, 8),)
    ),
    "heads": (nn.MultiheadAttention(8, 2), (X := opweave.randn(3, 2, 8), X * 2, X + 1)),
    "attention": (
        Function(attention), (opweave.randn(2, 3, 4), opweave.randn(2, 3, 4), opweave.randn(3, 3))
    ),
    "convolutions": (
        nn.Sequential(
            nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2), nn.SiLU(), nn.ConvTranspose2d(6, 4, 3, stride=2),
            nn.Conv2d(4, 4, 3, padding="same", dilation=2), nn.Hardswish(), nn.AvgPool2d(3, 2, 1), nn.PReLU(4),
        ), (IMAGE,),
    ),
    "a signal": (
        nn.Sequential(nn.Conv1d(4, 6, 3), nn.BatchNorm1d(6), nn.MaxPool1d(2), nn.GLU(1), nn.Flatten()), (SIGNAL,)
    ),
    "norms": (
        nn.Sequential(nn.GroupNorm(2, 4), nn.InstanceNorm2d(4), nn.LayerNorm((9, 9)), nn.RMSNorm(9)), (IMAGE,)
    ),
    "sizes": (
        nn.Sequential(nn.Upsample(scale_factor=2), nn.ReflectionPad2d(1), nn.PixelUnshuffle(2), nn.PixelShuffle(2),
                      nn.Upsample((7, 5), mode="bilinear"), nn.ConstantPad2d((1, -1, 2, 0), 3.0)), (IMAGE,),
    ),
    "lstm": (nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True), (opweave.randn(2, 5, 3),)),
    "gru": (nn.GRU(3, 4), (opweave.randn(5, 2, 3),)),
    "writes": (Function(writes), (opweave.randn(2, 3),)),
    "dropout": (nn.Sequential(nn.Linear(3, 3), nn.Dropout(), nn.Softplus(), nn.LogSoftmax(-1)), (opweave.randn(2, 3),)),
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_models_do_what_modules_do(name: str) -> None:
    module, args = MODULES[name]
    exported(module.eval(), args)


def test_writes_reach_all_views() -> None:
    def function(x: Any) -> Any:
        y = x * 1
        row, flat, turned = y[1], y.view(-1), y.t()
        row += 1
        flat[2:4] = 7
        turned[0].mul_(2)
        y.relu_()
        opweave.add(y, 1, out=y)
        return y, row, flat, turned, x

    exported(Function(function), (opweave.randn(2, 3),))


def test_sizes_that_change() -> None:
    module = Text().eval()
    ids = opweave.tensor([[1, 2, 3], [4, 5, 10]])
    program = exported(
        module, (ids,), input_names=["ids"], output_names=["logits"],
        dynamic_axes={"ids": {0: "batch", 1: "length"}, "logits": {0: "batch"}},
    )  # fmt: skip
    graph = program.model_proto.graph
    for value, sizes in ((graph.input[0], ["batch", "length"]), (graph.output[0], ["batch", "length", 11])):
        dims = value.type.tensor_type.shape.dim
        assert [each.dim_param or each.dim_value for each in dims] == sizes
    for other in (opweave.tensor([[7]]), opweave.arange(10).view(2, 5)):
        assert_same(program(other), [module(other).detach()])
    image = opweave.randn(5, 3, 8, 8)
    block = Block().eval()
    rows = opweave.export.Dim("rows", min=1)
    program = exported(block, (image[:2],), dynamic_shapes=({0: rows},))
    assert_same(program(image), [block(image).detach()])


def test_writes_to_views_of_computed_sizes_are_refused() -> None:
    def function(x: Any) -> Any:
        y = x * 1
        y.view(x.shape[0] * 3).add_(1)
        return y

    rows = opweave.export.Dim("rows", min=1)
    with pytest.raises(opweave.onnx.OnnxExporterError, match="a view with computed sizes"):
        opweave.onnx.export(Function(function), (opweave.ones(2, 3),), dynamic_shapes=({0: rows},))


@pytest.mark.parametrize("opset", [20, 21, 22])
def test_files(tmp_path: Path, opset: int) -> None:
    module, x = nn.Linear(2, 3), opweave.randn(4, 2)
    path = tmp_path / "model.onnx"
    program = opweave.onnx.export(module, (x,), path, input_names=["x"], output_names=["y"], opset_version=opset)
    read = onnx.load(path)
    onnx.checker.check_model(read, full_check=True)
    assert read.opset_import[0].version == opset
    assert [each.name for each in read.graph.initializer] == ["weight", "bias"]
    assert [each.name for each in read.graph.input] == ["x"]
    assert [each.op_type for each in read.graph.node] == ["Gemm", "Identity"]
    assert read == program.model_proto
    assert "Gemm" in repr(program)


def test_programs_are_exported() -> None:
    module, x = nn.Sequential(nn.Linear(2, 3), nn.Tanh()), opweave.randn(4, 2)
    program = opweave.export.export(module, (x,))
    model = opweave.onnx.export(program)
    assert model.exported_program is program
    assert_same(model(x), [module(x).detach()])


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x: x.lgamma(), r"lgamma\(\) cannot be exported to ONNX: ONNX has no node for the function lgamma\(\)"),
        (lambda x: x + opweave.rand(3), r"rand\(\) cannot be exported to ONNX: it draws random numbers"),
        (lambda x: x.uniform_(), r"uniform_\(\) cannot be exported to ONNX: it draws random numbers"),
        (lambda x: opweave.fft.fft(x), r"fft_r2c\(\) cannot be exported to ONNX"),
        (lambda x: functional.dropout(x), "call eval"),
        (lambda x: x if x.sum() > 0 else -x, r"item\(\) reads elements"),
    ],
)
def test_errors_name_operator_and_line(function: Any, error: str) -> None:
    line = function.__code__.co_firstlineno
    with pytest.raises(opweave.onnx.OnnxExporterError, match=rf"{error}.*test_onnx_modules.py, line {line}\)"):
        opweave.onnx.export(Function(function), (opweave.ones(3),))
    assert not opweave.onnx.is_in_onnx_export()


def test_arguments_of_export() -> None:
    with pytest.raises(opweave.onnx.OnnxExporterError, match="the module gives no tensor"):
        opweave.onnx.export(Function(lambda x: 3), (opweave.ones(2),))
    with pytest.raises(ValueError, match="opset 20 or later, and not with 17"):
        opweave.onnx.export(nn.ReLU(), (opweave.ones(2),), opset_version=17)
    with pytest.warns(UserWarning, match="exported in training mode"):
        opweave.onnx.export(nn.Sequential(nn.ReLU()), (opweave.ones(2),))
    seen: list[bool] = []
    opweave.onnx.export(Function(lambda x: seen.append(opweave.onnx.is_in_onnx_export()) or x + 1), opweave.ones(2))
    assert seen == [True]

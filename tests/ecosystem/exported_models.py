"""Models of torchvision, timm and transformers as programs in files, as ONNX and compiled; prints differences as JSON.

python -m opweave.as_torch tests/ecosystem/exported_models.py
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import onnxruntime
import timm
import torch
import torchvision
import transformers

IMAGE = torch.linspace(-1, 1, 3 * 64 * 64).sin().view(1, 3, 64, 64)
WORDS = torch.arange(12).view(1, 12) * 7 % 100
LANGUAGE: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("BertModel", "BertConfig", {
        "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    }),
    ("GPT2LMHeadModel", "GPT2Config", {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "use_cache": False}),
    ("LlamaForCausalLM", "LlamaConfig", {
        "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "use_cache": False,
    }),
    ("T5EncoderModel", "T5Config", {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}),
)  # fmt: skip
"""Models of transformers, and their configurations: names of classes and what makes them small."""


def models() -> Iterator[tuple[str, Callable[[], Any], Any]]:
    """Yield names, what makes a model, and an input."""
    vision = torchvision.models
    yield "resnet18", vision.resnet18, IMAGE
    yield "mobilenet_v3_small", vision.mobilenet_v3_small, IMAGE
    yield "efficientnet_b0", vision.efficientnet_b0, IMAGE
    sizes: Mapping[str, Any] = {"num_layers": 2, "num_heads": 4, "hidden_dim": 64, "mlp_dim": 128}
    yield "VisionTransformer", lambda: vision.VisionTransformer(image_size=64, patch_size=16, **sizes), IMAGE
    yield "convnext_atto", lambda: timm.create_model("convnext_atto"), IMAGE
    for name, config, small in LANGUAGE:
        settings = getattr(transformers, config)(vocab_size=100, **small)
        yield name, lambda name=name, settings=settings: getattr(transformers, name)(settings), WORDS


def first(result: Any) -> Any:
    """The first tensor of what a model returns."""
    if isinstance(result, torch.Tensor):
        return result
    values = result.values() if hasattr(result, "values") else result
    return next(each for each in values if isinstance(each, torch.Tensor))


def differences(model: Any, given: Any, folder: Path) -> dict[str, float]:
    """Return the largest differences from the model's own result."""
    with torch.no_grad():
        wanted = first(model(given))

        def off(result: Any) -> float:
            return float((torch.as_tensor(result) - wanted).abs().max())

        program = torch.export.export(model, (given,))
        torch.export.save(program, folder / "model.pt2")
        program = torch.export.load(folder / "model.pt2")
        found = {"export": off(first(program.module()(given)))}
        compiled = torch.compile(model)
        found["compile"] = max(off(first(compiled(given))) for _ in range(2))
    torch.onnx.export(model, (given,), folder / "model.onnx")
    session = onnxruntime.InferenceSession(folder / "model.onnx")
    found["onnx"] = off(session.run(None, {session.get_inputs()[0].name: given.numpy()})[0])
    return found


def main() -> None:
    found = {}
    for name, make, given in models():
        torch.manual_seed(0)
        with tempfile.TemporaryDirectory() as folder:
            found[name] = differences(make().eval(), given, Path(folder))
    print(json.dumps(found))


if __name__ == "__main__":
    main()

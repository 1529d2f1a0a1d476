"""Networks that are traced."""

from __future__ import annotations

import os
import warnings
from typing import Any

import torch

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when the libraries are imported
LIBRARIES = ("timm", "transformers")


def _traced(model: Any, example: tuple[Any, ...], other: tuple[Any, ...]) -> Any:
    """The results of a trace for inputs of other sizes, with the gradient of a weight."""
    model.eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace = torch.jit.trace(model, example)
    result = trace(*other)
    first = result if isinstance(result, torch.Tensor) else result[0]
    first.sin().sum().backward()
    weights = [each for each in trace.parameters() if each.grad is not None]
    return first, weights[0].grad, len(trace.state_dict())


def pictures() -> Any:
    """timm: traces of five networks, for pictures of another number."""
    import timm

    answers = {}
    for name in ("resnet18", "convnext_atto", "efficientnet_lite0", "mobilevit_xxs", "vit_tiny_patch16_224"):
        sized = {"img_size": 64} if name.startswith("vit") else {}
        model = timm.create_model(name, num_classes=4, **sized)
        answers[name] = _traced(model, (torch.rand(1, 3, 64, 64),), (torch.rand(2, 3, 64, 64),))
    return answers


def texts() -> Any:
    """transformers: traces of Bert and of the encoder of T5, for texts of another length."""
    from transformers import BertConfig, BertModel, T5Config, T5EncoderModel

    bert = BertConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=99,
        return_dict=False,
    )  # fmt: skip
    t5 = T5Config(d_model=32, num_layers=2, num_heads=4, d_ff=64, d_kv=8, vocab_size=99, return_dict=False)
    words, others = torch.randint(0, 50, (2, 8)), torch.randint(0, 50, (3, 6))
    return (
        _traced(BertModel(bert), (words, torch.ones_like(words)), (others, torch.ones_like(others))),
        _traced(T5EncoderModel(t5), (words,), (others,)),
    )

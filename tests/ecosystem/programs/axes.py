"""Names of axes, and transformers that are written with them."""

from __future__ import annotations

from typing import Any

import torch

LIBRARIES = ("einops", "einx", "x_transformers")


def rearranged() -> Any:
    """einops: rearrange, reduce, repeat, pack and einsum, with gradients; its layers in a network."""
    import einops
    from einops.layers.torch import Rearrange, Reduce

    x = torch.randn(2, 3, 4, 6, requires_grad=True)
    packed, shapes = einops.pack([x, x[:, :1]], "b * h w")
    results = [
        einops.rearrange(x, "b c (h p) (w q) -> b (h w) (c p q)", p=2, q=3),
        einops.reduce(x, "b c h w -> b c", "max"),
        einops.repeat(x, "b c h w -> (r b) c h w", r=2),
        packed,
        *einops.unpack(packed, shapes, "b * h w"),
        einops.einsum(x, x, "b c h w, b c h v -> b c w v"),
    ]
    network = torch.nn.Sequential(
        Rearrange("b c h w -> b h w c"), torch.nn.Linear(3, 5), Reduce("b h w c -> b c", "mean")
    )
    (network(x).square().sum() + sum(each.sin().sum() for each in results)).backward()
    return results, network(x), x.grad, network[1].weight.grad


def named_axes() -> Any:
    """einx: operations by names of axes, vectorized, with gradients."""
    import einx

    x = torch.randn(2, 6, 4, requires_grad=True)
    weight = torch.randn(4, 3, requires_grad=True)
    results = [
        einx.rearrange("b (s t) c -> b s (t c)", x, t=2),
        einx.sum("b [s] c", x),
        einx.mean("b s [c]", x),
        einx.dot("b s [c], [c] d -> b s d", x, weight),
        einx.add("b s c, c -> b s c", x, weight[:, 0]),
        einx.softmax("b s [c]", x),
    ]
    sum(each.square().sum() for each in results).backward()
    return results, x.grad, weight.grad


def _trained(model: Any, loss_of: Any) -> Any:
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(3):
        loss = loss_of()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses, [each for _, each in sorted(model.named_parameters())][:8]


def decoder() -> Any:
    """x-transformers: a decoder with rotary positions and gated layers, three steps of training, and a text."""
    from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

    layers = Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, rotary_pos_emb=True, ff_glu=True, use_rmsnorm=True)
    model = AutoregressiveWrapper(TransformerWrapper(num_tokens=40, max_seq_len=24, attn_layers=layers))
    words = torch.randint(0, 40, (2, 12))
    return _trained(model, lambda: model(words)), model.generate(words[:, :3], 5, temperature=0.0)


def encoders() -> Any:
    """x-transformers: an encoder with relative positions, one of pictures, and a pair of encoder and decoder."""
    from x_transformers import Encoder, TransformerWrapper, ViTransformerWrapper, XTransformer

    layers = Encoder(dim=32, depth=2, heads=4, attn_dim_head=8, rel_pos_bias=True, attn_qk_norm=True)
    text = TransformerWrapper(num_tokens=40, max_seq_len=24, attn_layers=layers)
    words = torch.randint(0, 40, (2, 12))
    seen = ViTransformerWrapper(
        image_size=16, patch_size=4, num_classes=5, attn_layers=Encoder(dim=32, depth=1, heads=4, attn_dim_head=8)
    )
    pictures = torch.rand(2, 3, 16, 16)
    both = XTransformer(
        dim=32, enc_num_tokens=40, enc_depth=1, enc_heads=4, enc_max_seq_len=16, dec_num_tokens=40, dec_depth=1,
        dec_heads=4, dec_max_seq_len=16,
    )  # fmt: skip
    return (
        _trained(text, lambda: text(words, mask=words > 3).square().mean()),
        _trained(seen, lambda: torch.nn.functional.cross_entropy(seen(pictures), torch.tensor([1, 3]))),
        _trained(both, lambda: both(words, words.flip(1))),
    )

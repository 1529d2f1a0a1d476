"""Diffusion."""

from __future__ import annotations

from typing import Any

import torch

LIBRARIES = ("diffusers",)


def networks() -> Any:
    """diffusers: a UNet with attention to a text, a transformer and an autoencoder, with gradients."""
    from diffusers import AutoencoderKL, DiTTransformer2DModel, UNet2DConditionModel

    unet = UNet2DConditionModel(
        sample_size=8, in_channels=4, out_channels=4, layers_per_block=1, block_out_channels=(16, 32),
        norm_num_groups=4, down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=8, attention_head_dim=8,
    )  # fmt: skip
    noise = unet(torch.randn(2, 4, 8, 8), torch.tensor([3, 500]), torch.randn(2, 5, 8)).sample
    noise.square().mean().backward()
    transformer = DiTTransformer2DModel(
        num_attention_heads=2, attention_head_dim=8, in_channels=4, num_layers=1, sample_size=8, num_embeds_ada_norm=10
    )
    transformer.eval()
    moved = transformer(
        torch.randn(2, 4, 8, 8), timestep=torch.tensor([1, 2]), class_labels=torch.tensor([3, 4])
    ).sample
    coder = AutoencoderKL(
        block_out_channels=(8, 16),
        norm_num_groups=4,
        latent_channels=2,
        layers_per_block=1,
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
    )
    picture = torch.rand(1, 3, 16, 16)
    latent = coder.encode(picture).latent_dist.sample()
    return noise, [each.grad.norm() for each in unet.parameters()], moved, latent, coder.decode(latent).sample


def schedules() -> Any:
    """diffusers: the steps of its schedulers from noise to a sample, with a model that is a formula."""
    import diffusers

    names = (
        "DDIMScheduler", "DDPMScheduler", "DEISMultistepScheduler", "DPMSolverMultistepScheduler",
        "DPMSolverSinglestepScheduler", "EulerAncestralDiscreteScheduler", "EulerDiscreteScheduler",
        "FlowMatchEulerDiscreteScheduler", "HeunDiscreteScheduler", "KDPM2DiscreteScheduler", "LCMScheduler",
        "LMSDiscreteScheduler", "PNDMScheduler", "UniPCMultistepScheduler",
    )  # fmt: skip
    results = {}
    for name in names:
        scheduler = getattr(diffusers, name)()
        scheduler.set_timesteps(6)
        generator = torch.Generator().manual_seed(3)
        sample = torch.randn(1, 2, 4, 4, generator=generator)
        for step in scheduler.timesteps:
            given = scheduler.scale_model_input(sample, step) if hasattr(scheduler, "scale_model_input") else sample
            takes = {"generator": generator} if "generator" in scheduler.step.__code__.co_varnames else {}
            sample = scheduler.step(torch.tanh(given) * 0.5, step, sample, **takes).prev_sample
        results[name] = sample
    return results


def pipeline() -> Any:
    """diffusers: a pipeline from noise to pictures, which is saved and loaded."""
    import tempfile

    from diffusers import DDIMScheduler, DDPMPipeline, UNet2DModel

    unet = UNet2DModel(
        sample_size=8, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(8, 16), norm_num_groups=4,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        attention_head_dim=4,
    )  # fmt: skip
    made = DDPMPipeline(unet, DDIMScheduler())
    made.set_progress_bar_config(disable=True)
    with tempfile.TemporaryDirectory() as folder:
        made.save_pretrained(folder)
        loaded = DDPMPipeline.from_pretrained(folder)
    loaded.set_progress_bar_config(disable=True)
    results = []
    for each in (made, loaded):
        results.append(each(batch_size=2, num_inference_steps=3, generator=torch.Generator().manual_seed(5),
                            output_type="np").images)  # fmt: skip
    return results

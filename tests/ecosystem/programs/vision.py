"""Networks that see."""

from __future__ import annotations

from typing import Any

import torch

LIBRARIES = ("timm", "torchvision")
LACKS = ("torchvision: the operators that it has compiled: nms, roi_align, deform_conv2d, decoders of files.",)
ARCHITECTURES = (
    "resnet18", "convnext_atto", "efficientnet_lite0", "mobilenetv3_small_050", "regnetx_002", "densenet121",
    "vit_tiny_patch16_224", "deit_tiny_patch16_224", "mixer_s32_224", "swin_tiny_patch4_window7_224", "hardcorenas_a",
    "edgenext_xx_small", "poolformer_s12", "ghostnet_050", "repvgg_a0", "mobilevit_xxs", "coat_lite_tiny",
    "pvt_v2_b0", "lcnet_035", "res2net50_14w_8s",
)  # fmt: skip
SIZED = (
    "vit_tiny_patch16_224", "deit_tiny_patch16_224", "mixer_s32_224", "swin_tiny_patch4_window7_224",
    "coat_lite_tiny",
)  # fmt: skip
"""Those that have to be told the size of pictures."""


def _trained(model: Any, pictures: Any) -> Any:
    """Scores before and after a step, the loss and the size of all gradients."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    model.train(False)
    before = model(pictures)
    loss = torch.nn.functional.cross_entropy(before, torch.arange(len(pictures)))
    loss.backward()
    size = torch.stack([each.grad.norm() for each in model.parameters() if each.grad is not None]).norm()
    optimizer.step()
    with torch.no_grad():
        return before, loss, size, model(pictures)


def architectures() -> Any:
    """timm: 20 architectures, scores, gradients and a step of training."""
    import timm

    answers = {}
    for name in ARCHITECTURES:
        torch.manual_seed(0)
        model = timm.create_model(name, num_classes=4, **({"img_size": 32} if name in SIZED else {}))
        answers[name] = _trained(model, torch.randn(2, 3, 32, 32))
    return answers


def features() -> Any:
    """timm: maps of features, optimizers, averaged weights and their saved state."""
    import timm
    from timm.optim import create_optimizer_v2
    from timm.utils import ModelEmaV3

    answers: list[Any] = []
    for kind in ("adamw", "lamb", "lookahead_sgd", "madgrad"):
        model = timm.create_model("lcnet_035", features_only=True).eval()
        average = ModelEmaV3(model, decay=0.5)
        optimizer = create_optimizer_v2(model, opt=kind, lr=1e-3, weight_decay=0.01)
        maps = model(torch.randn(2, 3, 32, 32))
        sum(each.square().mean() for each in maps).backward()
        optimizer.step()
        average.update(model)
        answers.append(maps)
        other = timm.create_model("lcnet_035", features_only=True).eval()
        other.load_state_dict(average.module.state_dict())
        answers.append(other(torch.ones(1, 3, 32, 32)))
    return answers


def networks() -> Any:
    """torchvision: networks for classification and segmentation, scores, gradients and a step of training."""
    from torchvision import models

    answers = {}
    for name in ("squeezenet1_1", "shufflenet_v2_x0_5", "mnasnet0_5", "mobilenet_v3_small", "resnet18"):
        torch.manual_seed(0)
        answers[name] = _trained(models.get_model(name, weights=None, num_classes=4), torch.randn(2, 3, 32, 32))
    torch.manual_seed(0)
    model = models.segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=3).eval()
    with torch.no_grad():
        answers["lraspp"] = model(torch.randn(1, 3, 32, 32))["out"]
    return answers


def transforms() -> Any:
    """torchvision: transforms of tensors, of both kinds, with random ones."""
    from torchvision import transforms as first
    from torchvision.transforms import v2

    picture = torch.randint(0, 256, (3, 24, 20), dtype=torch.uint8)
    answers: list[Any] = []
    for kinds in (first, v2):
        chain = kinds.Compose([
            kinds.ConvertImageDtype(torch.float32), kinds.RandomResizedCrop(16, antialias=True),
            kinds.RandomHorizontalFlip(), kinds.ColorJitter(0.2, 0.2, 0.2, 0.1), kinds.RandomRotation(20),
            kinds.GaussianBlur(3), kinds.Normalize([0.5] * 3, [0.2] * 3), kinds.RandomErasing(p=1.0),
        ])  # fmt: skip
        answers.append(chain(picture))
        answers += [kinds.functional.adjust_sharpness(picture, 2.0), kinds.functional.equalize(picture)]
        answers += [kinds.RandomAffine(10, (0.1, 0.1))(picture), kinds.RandomPerspective(p=1.0)(picture)]
    return answers


def boxes() -> Any:
    """torchvision: boxes, focal loss, stochastic depth and layers that are written in Python."""
    from torchvision import ops, tv_tensors
    from torchvision.transforms import v2

    first = torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 3.0, 5.0]])
    found = tv_tensors.BoundingBoxes(first, format="XYXY", canvas_size=(8, 8))
    flipped = v2.functional.horizontal_flip(found)
    scores = torch.randn(2, 3, requires_grad=True)
    loss = ops.sigmoid_focal_loss(scores, torch.ones(2, 3), reduction="mean")
    loss.backward()
    return (
        ops.box_iou(first, first), ops.generalized_box_iou(first, first), ops.box_convert(first, "xyxy", "cxcywh"),
        flipped, type(flipped).__name__, loss, scores.grad, ops.stochastic_depth(torch.ones(6, 2), 0.5, "row"),
        ops.MLP(3, [4, 2])(torch.ones(1, 3)), ops.SqueezeExcitation(4, 2)(torch.ones(1, 4, 2, 2)),
    )  # fmt: skip

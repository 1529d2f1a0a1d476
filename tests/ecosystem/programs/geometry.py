"""Pictures and their geometry."""

from __future__ import annotations

from typing import Any

import torch

LIBRARIES = ("kornia",)


def filters() -> Any:
    """kornia: filters, edges, gradients of pictures and of what made them."""
    import kornia

    pictures = torch.rand(2, 3, 16, 16, requires_grad=True)
    results = [
        kornia.filters.gaussian_blur2d(pictures, (5, 5), (1.5, 1.5)),
        kornia.filters.sobel(pictures),
        kornia.filters.laplacian(pictures, 3),
        kornia.filters.median_blur(pictures, (3, 3)),
        kornia.filters.unsharp_mask(pictures, (3, 3), (1.0, 1.0)),
        kornia.filters.spatial_gradient(pictures),
        kornia.filters.canny(pictures)[0],
    ]
    sum(each.square().mean() for each in results).backward()
    return results, pictures.grad


def colors() -> Any:
    """kornia: spaces of colors, brightness, contrast and histograms."""
    import kornia

    picture = torch.rand(2, 3, 8, 8)
    names = ("rgb_to_hsv", "rgb_to_lab", "rgb_to_grayscale", "rgb_to_ycbcr", "rgb_to_luv", "rgb_to_xyz", "rgb_to_hls")
    results = [getattr(kornia.color, name)(picture) for name in names]
    results.append(kornia.color.lab_to_rgb(kornia.color.rgb_to_lab(picture)))
    results += [kornia.enhance.adjust_brightness(picture, 0.2), kornia.enhance.adjust_contrast(picture, 0.7)]
    results += [kornia.enhance.adjust_gamma(picture, 1.7), kornia.enhance.equalize(picture)]
    return results


def maps() -> Any:
    """kornia: rotations, perspective maps, homographies, and a map fitted by its gradient."""
    import kornia

    picture = torch.rand(1, 1, 16, 16)
    angle = torch.tensor([10.0], requires_grad=True)
    turned = kornia.geometry.transform.rotate(picture, angle)
    corners = torch.tensor([[[0.0, 0.0], [15.0, 0.0], [15.0, 15.0], [0.0, 15.0]]])
    matrix = kornia.geometry.transform.get_perspective_transform(corners, corners + torch.rand(1, 4, 2))
    warped = kornia.geometry.transform.warp_perspective(picture, matrix, (16, 16))
    (turned - warped).square().mean().backward()
    points = torch.rand(1, 8, 2)
    homography = kornia.geometry.homography.find_homography_dlt(points, points * 2 + 1)
    rotation = kornia.geometry.conversions.axis_angle_to_rotation_matrix(torch.rand(3, 3))
    quaternion = kornia.geometry.conversions.rotation_matrix_to_quaternion(rotation)
    return turned, warped, angle.grad, homography / homography[:, 2:, 2:], rotation, quaternion


def augmentations() -> Any:
    """kornia: random changes of pictures in a row, and losses between pictures."""
    import kornia

    changes = kornia.augmentation.AugmentationSequential(
        kornia.augmentation.RandomHorizontalFlip(p=0.5),
        kornia.augmentation.RandomAffine(20.0, p=1.0),
        kornia.augmentation.ColorJitter(0.2, 0.2, 0.1, 0.1, p=1.0),
        data_keys=["input", "mask"],
    )
    pictures = torch.rand(2, 3, 12, 12)
    changed, masks = changes(pictures, (pictures[:, :1] > 0.5).float())
    losses = [
        kornia.losses.ssim_loss(pictures, changed, 5),
        kornia.losses.total_variation(changed),
        kornia.losses.psnr_loss(pictures, changed, 1.0),
        kornia.losses.focal_loss(torch.rand(2, 3, 4, 4), torch.randint(3, (2, 4, 4)), alpha=0.5, reduction="mean"),
    ]
    return changed, masks, losses

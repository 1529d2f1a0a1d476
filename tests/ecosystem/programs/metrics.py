"""Metrics."""

from __future__ import annotations

from typing import Any

import torch

LIBRARIES = ("torchmetrics",)


def classification() -> Any:
    """torchmetrics: metrics of classification, of two classes, of several and of labels, over batches."""
    from torchmetrics import classification as of

    options: dict[str, dict[str, Any]] = {
        "Binary": {},
        "Multiclass": {"num_classes": 4},
        "Multilabel": {"num_labels": 4},
    }
    names = (
        "Accuracy", "AUROC", "AveragePrecision", "CalibrationError", "CohenKappa", "ConfusionMatrix", "ExactMatch",
        "F1Score", "HammingDistance", "HingeLoss", "JaccardIndex", "MatthewsCorrCoef", "Precision",
        "PrecisionRecallCurve", "ROC", "Recall", "Specificity", "StatScores", "CoverageError",
        "RankingAveragePrecision", "RankingLoss",
    )  # fmt: skip
    results: dict[str, Any] = {}
    for kind, arguments in options.items():
        given = {
            "Binary": [(torch.rand(20), torch.randint(0, 2, (20,))) for _ in range(2)],
            "Multiclass": [(torch.randn(20, 4).softmax(-1), torch.randint(0, 4, (20,))) for _ in range(2)],
            "Multilabel": [(torch.rand(20, 4), torch.randint(0, 2, (20, 4))) for _ in range(2)],
        }[kind]
        for name in names:
            if not hasattr(of, kind + name):
                continue
            metric = getattr(of, kind + name)(**arguments)
            for predictions, target in given:
                metric.update(predictions, target)
            results[kind + name] = metric.compute()
    return results


def regression() -> Any:
    """torchmetrics: metrics of numbers."""
    import torchmetrics as of

    names = (
        "ConcordanceCorrCoef", "CosineSimilarity", "ExplainedVariance", "KendallRankCorrCoef", "LogCoshError",
        "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredError", "MeanSquaredLogError",
        "PearsonCorrCoef", "R2Score", "RelativeSquaredError", "SpearmanCorrCoef",
        "SymmetricMeanAbsolutePercentageError",
        "TweedieDevianceScore", "WeightedMeanAbsolutePercentageError",
    )  # fmt: skip
    target = torch.rand(2, 30)
    predictions = target + 0.1 * torch.rand(2, 30)
    results = {}
    for name in names:
        metric = getattr(of, name)()
        for each in range(2):
            shape = (5, 6) if name == "CosineSimilarity" else (30,)
            metric.update(predictions[each].reshape(shape), target[each].reshape(shape))
        results[name] = metric.compute()
    return results


def images_sounds_texts() -> Any:
    """torchmetrics: metrics of images, sounds, texts, groups and rankings."""
    from torchmetrics import audio, clustering, functional, image, retrieval, text

    pictures = torch.rand(2, 3, 48, 48)
    others = (pictures + 0.1 * torch.randn_like(pictures)).clamp(0, 1)
    sounds = torch.randn(2, 400)
    results: dict[str, Any] = {
        "psnr": image.PeakSignalNoiseRatio(data_range=1.0)(others, pictures),
        "ssim": image.StructuralSimilarityIndexMeasure(data_range=1.0)(others, pictures),
        "uqi": image.UniversalImageQualityIndex()(others, pictures),
        "sam": image.SpectralAngleMapper()(others, pictures),
        "ergas": image.ErrorRelativeGlobalDimensionlessSynthesis()(others, pictures),
        "variation": image.TotalVariation()(pictures),
        "snr": audio.SignalNoiseRatio()(sounds + 0.1, sounds),
        "si_sdr": audio.ScaleInvariantSignalDistortionRatio()(sounds + 0.1, sounds),
        "bleu": text.BLEUScore()(["the cat is on the mat"], [["there is a cat on the mat"]]),
        "wer": text.WordErrorRate()(["this is the answer"], ["this is an answer"]),
        "cer": text.CharErrorRate()(["this is the answer"], ["this is an answer"]),
        "perplexity": text.Perplexity()(torch.randn(2, 8, 5), torch.randint(5, (2, 8))),
        "distances": functional.pairwise_euclidean_distance(torch.randn(4, 3), torch.randn(5, 3)),
    }
    labels, groups = torch.randint(3, (40,)), torch.randint(4, (40,))
    for name in ("MutualInfoScore", "RandScore", "NormalizedMutualInfoScore", "AdjustedRandScore", "VMeasureScore"):
        results[name] = getattr(clustering, name)()(groups, labels)
    query, relevant = torch.arange(40) // 10, torch.randint(2, (40,))
    for name in ("RetrievalMAP", "RetrievalMRR", "RetrievalNormalizedDCG", "RetrievalPrecision", "RetrievalHitRate"):
        results[name] = getattr(retrieval, name)()(torch.rand(40), relevant, indexes=query)
    return results


def collections() -> Any:
    """torchmetrics: a collection that shares states, a running mean, copies, states in files, resets."""
    import copy

    import torchmetrics as of

    several = of.MetricCollection([of.MeanSquaredError(), of.MeanAbsoluteError(), of.PearsonCorrCoef()], prefix="of_")
    tracked = of.MeanMetric()
    steps = []
    for _ in range(3):
        predictions, target = torch.randn(10), torch.randn(10)
        steps.append(several(predictions, target))
        tracked.update(predictions.abs(), weight=target.abs())
    other = copy.deepcopy(several)
    several.persistent(True)
    state = several.state_dict()
    several.reset()
    several.load_state_dict(state)
    return steps, other.compute(), tracked.compute(), sorted(state)

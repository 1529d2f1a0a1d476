"""The names of classes and functions in files: torch's, so that a file is the same whoever has written it.

Most differ in the package alone. Where a class stands in another module than torch's, `_MOVED` says where torch has it;
in the other direction a name that a module does not have is looked for in the packages around it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["module_of_torch", "resolve"]

_PACKAGE = __name__.partition(".")[0]

# Under the folder `nn/modules`: module of torch, classes.
_MOVED = {
    name: f"torch.nn.modules.{module}"
    for module, names in (
        ("activation", "MultiheadAttention"),
        ("channelshuffle", "ChannelShuffle"),
        ("container", "ParameterDict ParameterList"),
        ("flatten", "Flatten Unflatten"),
        ("loss", "LinearCrossEntropyLoss"),
        ("transformer", "TransformerDecoderLayer TransformerEncoderLayer"),
        ("fold", "Fold Unfold"),
        (
            "instancenorm",
            "InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d",
        ),
        (
            "padding",
            " ".join(
                f"{kind}Pad{dims}d"
                for kind in ("Circular", "Constant", "Reflection", "Replication", "Zero")
                for dims in (1, 2, 3)
            ),
        ),
        ("pixelshuffle", "PixelShuffle PixelUnshuffle"),
        ("pooling", "FractionalMaxPool2d FractionalMaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d"),
        ("rnn", "GRUCell LSTMCell RNNCell RNNCellBase"),
    )
    for name in names.split()
} | {"DataParallel": "torch.nn.parallel.data_parallel"}

# Packages whose classes are named as theirs, in whichever module they stand.
_AS_PUBLIC = ("distributions", "optim.lr_scheduler")
_ELSEWHERE = {
    ("optim.adam", "AdamW"): "torch.optim.adamw",
    ("optim.adafactor", "Adafactor"): "torch.optim",
    ("optim.muon", "Muon"): "torch.optim",
    ("nn.utils.old_norms", "SpectralNorm"): "torch.nn.utils.spectral_norm",
    ("nn.utils.old_norms", "WeightNorm"): "torch.nn.utils.weight_norm",
    ("nn.utils._pruning", "BasePruningMethod"): "torch.nn.utils.prune",
    ("nn.utils._pruning", "PruningContainer"): "torch.nn.utils.prune",
    ("utils.data.sampler", "DistributedSampler"): "torch.utils.data.distributed",
    ("utils.data.datapipes.datapipe", "functional_datapipe"): "torch.utils.data.datapipes._decorator",
}
_BELOW = {(theirs, name): below for (below, name), theirs in _ELSEWHERE.items()}


def module_of_torch(module: str, name: str) -> str:
    """Return the module in which torch has what is `name` in a module of this package."""
    below = module[len(_PACKAGE) + 1 :]
    if below == "_operators":
        functional = import_module(f"{_PACKAGE}.nn.functional")
        return "torch.nn.functional" if hasattr(functional, name) else "torch"
    if below.startswith("nn.modules.") and name in _MOVED:
        return _MOVED[name]
    for public in _AS_PUBLIC:
        if below.startswith(public + "."):
            return f"torch.{public}"
    return _ELSEWHERE.get((below, name), f"torch.{below}" if below else "torch")


def is_own(module: str) -> bool:
    """True if it is a module of this package."""
    return module == _PACKAGE or module.startswith(_PACKAGE + ".")


def resolve(module: str, name: str) -> Any:
    """Return the object that torch has as `name` in its module, from this package. Raises AttributeError where there is
    none."""
    path = _BELOW.get((module, name), module.partition(".")[2])
    below = path.split(".") if path else []
    if name == "_VariableFunctionsClass":  # whose attributes are torch's functions
        return import_module(_PACKAGE)
    if below[:2] == ["_C", "_nn"]:
        below = ["nn", "functional"]
    while True:
        try:
            found: Any = import_module(".".join((_PACKAGE, *below)))
            for part in name.split("."):
                found = getattr(found, part)
            return found
        except (ImportError, AttributeError):
            if not below:
                raise AttributeError(f"{_PACKAGE} has nothing that is {module}.{name} in torch") from None
            below.pop()

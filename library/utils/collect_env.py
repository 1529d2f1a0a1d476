"""opweave.utils.collect_env: the package and the machine it runs on, as text for reports: `python -m
opweave.utils.collect_env`.

No other program is started for it.
"""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import distributions
from pathlib import Path
from typing import NamedTuple

from .. import version
from .._base.threads import get_num_interop_threads, get_num_threads
from ..backends.cpu import get_cpu_capability

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info", "main", "pretty_str"]

_PACKAGES = (
    *("opweave", "cffi", "scipy-openblas64", "numpy", "safetensors", "scipy", "torch", "jax", "einops"),
    *("pandas", "matplotlib", "pytest", "hypothesis", "mypy"),
)


class SystemEnv(NamedTuple):
    """The facts of the environment; the names are those of torch's fields, as far as it has them."""

    opweave_version: str
    is_debug_build: str
    is_cuda_available: str
    cuda_compiled_version: str
    os: str
    libc_version: str
    python_version: str
    python_platform: str
    cpu_capability: str
    num_threads: str
    settings: str
    """The variables of the environment that opweave and the libraries below it read."""
    cpu_info: str
    pip_packages: str


def get_env_info() -> SystemEnv:
    """Return what is known of the package, of Python and of the machine."""
    return SystemEnv(
        opweave_version=version.__version__,
        is_debug_build=str(version.debug),
        is_cuda_available="False",
        cuda_compiled_version=str(version.cuda),
        os=_system(),
        libc_version="-".join(platform.libc_ver()) or "N/A",
        python_version=f"{' '.join(sys.version.split())} ({sys.maxsize.bit_length() + 1}-bit runtime)",
        python_platform=platform.platform(),
        cpu_capability=get_cpu_capability(),
        num_threads=f"{get_num_threads()} (between operators: {get_num_interop_threads()})",
        settings=" ".join(
            f"{name}={value}"
            for name, value in sorted(os.environ.items())
            if name.startswith(("OPWEAVE_", "OMP_", "OPENBLAS_", "MKL_"))
        ),
        cpu_info=_processor(),
        pip_packages=_packages(),
    )


def _system() -> str:
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        name = f"{platform.system()} {platform.release()}"
    return f"{name} ({platform.machine()})"


def _processor() -> str:
    """The name of the processor and how many of it may be used, from what Linux says or else Python."""
    facts = {"Architecture": platform.machine(), "CPU(s)": str(os.cpu_count())}
    if hasattr(os, "sched_getaffinity"):
        facts["CPU(s) of this process"] = str(len(os.sched_getaffinity(0)))
    wanted = {"vendor_id": "Vendor ID", "model name": "Model name", "flags": "Flags", "Features": "Flags"}
    source = Path("/proc/cpuinfo")
    lines = source.read_text().splitlines() if source.is_file() else [f"model name: {platform.processor()}"]
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() in wanted:
            facts.setdefault(wanted[name.strip()], value.strip())
    return "\n".join(f"{name + ':':<41}{value}" for name, value in facts.items())


def _packages() -> str:
    found = {each.metadata["Name"].lower(): each.version for each in distributions() if each.metadata["Name"]}
    return "\n".join(f"{name}=={found[name]}" for name in _PACKAGES if name in found)


def pretty_str(envinfo: SystemEnv) -> str:
    """Return what `get_env_info` gives as text, a line for each fact."""
    packages = "\n".join(f"[pip3] {line}" for line in envinfo.pip_packages.splitlines()) or "No relevant packages"
    return f"""opweave version: {envinfo.opweave_version}
Is debug build: {envinfo.is_debug_build}
CUDA used to build opweave: {envinfo.cuda_compiled_version}

OS: {envinfo.os}
Libc version: {envinfo.libc_version}

Python version: {envinfo.python_version}
Python platform: {envinfo.python_platform}
Is CUDA available: {envinfo.is_cuda_available}
CPU capability: {envinfo.cpu_capability}
Threads: {envinfo.num_threads}
Settings: {envinfo.settings or "none"}

CPU:
{envinfo.cpu_info}

Versions of relevant libraries:
{packages}"""


def get_pretty_env_info() -> str:
    """Return the same as text."""
    return pretty_str(get_env_info())


def main() -> None:
    """Print it."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()

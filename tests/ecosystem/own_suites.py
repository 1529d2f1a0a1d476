"""The suites that libraries bring for tensors of torch, and what of them passes with opweave in its place.

What is expected to fail is named, with the reason. The counts are those of the versions that are named; later ones may
have more.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_SETTINGS = "needs settings of pytest that are in no package"
_ANGLES = "an angle in the last bit"
_ALSO_WITH_TORCH = "fails with torch as well"


@dataclass(frozen=True)
class Suite:
    version: str
    package: str
    """The module whose tests these are."""
    files: tuple[str, ...]
    """What is run: files and folders of the package, or of the tests in its source distribution."""
    passed: int
    """At least so many of them."""
    failed: dict[str, str] = field(default_factory=dict)
    """Reasons by the names of tests."""
    keyword: str = ""
    """Which tests are run."""
    of_source: bool = False
    """Are the tests in the source distribution alone?"""
    what: str = ""
    """What the page says of them, and"""
    whole: int = 0
    """how many pass: of all of them, where `files` are a part that takes less time."""
    environment: dict[str, str] = field(default_factory=dict)


NO_TESTS = ("torchdiffeq",)
"""Libraries with programs here that bring no tests, in no distribution."""

SUITES = {
    "scikit-learn": Suite(
        "1.9.1",
        "sklearn",
        (
            "utils/tests/test_array_api.py",
            "utils/tests/test_validation.py",
            "utils/tests/test_extmath.py",
            "preprocessing/tests/test_data.py",
            "metrics/tests/test_common.py",
            "metrics/tests/test_pairwise.py",
            "metrics/tests/test_classification.py",
            "linear_model/tests/test_ridge.py",
            "decomposition/tests/test_pca.py",
            "mixture/tests/test_gaussian_mixture.py",
            "model_selection/tests/test_split.py",
        ),
        700,
        keyword="torch",
        what="eleven files with array API tests",
        whole=706,
    ),
    "array-api-extra": Suite(
        "0.11.5",
        "array_api_extra",
        ("tests/main",),
        1090,
        {
            "TestAngle::test_complex[torch]": _ANGLES,
            "TestAngle::test_2d[torch]": _ANGLES,
            "TestDeprecatedFunctions::test_broadcast_shapes[torch]": _SETTINGS,
            "TestDeprecatedFunctions::test_expand_dims[torch]": _SETTINGS,
        },
        keyword="torch",
        whole=1093,
    ),
    "SciPy": Suite(
        "1.17.1",
        "scipy",
        (
            "_lib/tests/test_array_api.py",
            "cluster/tests/test_vq.py",
            "fft/tests/test_basic.py",
            "fft/tests/test_fftlog.py",
            "fft/tests/test_helper.py",
            "integrate/tests/test_cubature.py",
            "signal/tests/test_windows.py",
            "special/tests/test_logsumexp.py",
            "special/tests/test_support_alternative_backends.py",
            "stats/tests/test_entropy.py",
        ),
        3880,
        keyword="torch",
        what="ten files, `SCIPY_ARRAY_API=1`",
        whole=3884,
    ),
    "einops": Suite(
        "0.8.2",
        "einops",
        ("tests",),
        62,
        environment={"EINOPS_TEST_BACKENDS": "numpy,torch"},
    ),
    "entmax": Suite("1.3", "entmax", (".",), 127),
    "tensorly": Suite(
        "0.10.0",
        "tensorly",
        (
            "contrib",
            "decomposition/tests/test_constrained_parafac.py",
            "decomposition/tests/test_cp.py",
            "decomposition/tests/test_tucker.py",
            "metrics",
            "random",
            "solvers",
            "tenalg",
            "tests",
        ),
        643,
        what="`TENSORLY_BACKEND=pytorch`",
        whole=758,
        environment={"TENSORLY_BACKEND": "pytorch"},
    ),
    "linear_operator": Suite(
        "0.6.1",
        "linear_operator",
        (
            "functions",
            "operators/test_cat_linear_operator.py",
            "operators/test_chol_linear_operator.py",
            "operators/test_dense_linear_operator.py",
            "operators/test_interpolated_linear_operator.py",
            "operators/test_kronecker_product_linear_operator.py",
            "operators/test_sum_batch_linear_operator.py",
            "operators/test_triangular_linear_operator.py",
            "test_settings.py",
            "utils",
        ),
        1483,
        {
            "TestLinearCG::test_batch_cg_with_tridiag": _ALSO_WITH_TORCH,
            "TestLinearCG::test_cg_with_tridiag": _ALSO_WITH_TORCH,
        },
        of_source=True,
        whole=5042,
    ),
    "gpytorch": Suite(
        "1.15.2",
        "gpytorch",
        (
            "constraints",
            "distributions",
            "functions",
            "kernels",
            "likelihoods",
            "means",
            "metrics",
            "mlls",
            "models",
            "priors",
        ),
        858,
        of_source=True,
        whole=2295,
    ),
}

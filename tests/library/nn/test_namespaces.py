"""Modules below nn and distributions that have PyTorch's names, and what they say where there is one device."""

from __future__ import annotations

import importlib
import pickle

import opweave
import pytest
from opweave import nn
from opweave.nn import functional
from opweave.overrides import resolve_name


def test_other_implementations_of_attention() -> None:
    attention = importlib.import_module("opweave.nn.attention")
    assert attention.list_flash_attention_impls() == []
    assert attention.current_flash_attention_impl() is None
    assert attention.restore_flash_attention_impl() is None
    with pytest.raises(ValueError, match="Unknown flash attention impl 'FA4'"):
        attention.activate_flash_attention_impl("FA4")
    with pytest.raises(NotImplementedError, match="one implementation"):
        attention.register_flash_attention_impl("x", register_fn=print)


def test_one_device() -> None:
    """A module that is to be copied is called itself; what needs several devices or processes says what to use."""
    parallel = importlib.import_module("opweave.nn.parallel")
    layer, rows = nn.Linear(2, 3), opweave.ones(4, 2)
    assert opweave.equal(parallel.data_parallel(layer, rows), layer(rows))
    assert opweave.equal(parallel.DataParallel(layer)(rows), layer(rows))
    outputs = parallel.parallel_apply([layer, nn.Flatten(0)], [rows, (rows,)])
    assert [tuple(each.shape) for each in outputs] == [(4, 3), (8,)]
    with pytest.raises(AssertionError, match="modules 1 is not equal to that of inputs 2"):
        parallel.parallel_apply([layer], [rows, rows])
    for call in (parallel.replicate, parallel.scatter, parallel.gather):
        with pytest.raises(RuntimeError, match=r"one device, the CPU of one process: (use|call)"):
            call(layer, [0])
    with pytest.raises(ValueError, match="process group has not been initialized"):
        parallel.DistributedDataParallel(layer)


def test_functions_are_called_as_in_torch() -> None:
    """Operators of the package have the same names, which tell them apart from those of `nn.functional`."""
    assert pickle.loads(pickle.dumps(functional.softmax)) is functional.softmax
    assert resolve_name(functional.softmax) == "opweave.nn.functional.softmax"
    assert opweave.ops.aten.nn_softmax.default.name() == "aten::nn_softmax"
    with pytest.raises(TypeError, match=r"^softmax\(\) missing 1 required"):
        functional.softmax()


def test_numbers_of_eight_bits() -> None:
    kinds = functional.ScalingType.TensorWise
    with pytest.raises(NotImplementedError, match="use `mm`"):
        functional.scaled_mm(opweave.ones(2, 2), opweave.ones(2, 2), opweave.ones(1), kinds, opweave.ones(1), kinds)
    with pytest.raises(NotImplementedError, match="use `grouped_mm`"):
        functional.scaled_grouped_mm()


def test_rows_behind_the_last_group_are_zero() -> None:
    ends = opweave.tensor([1, 3], dtype=opweave.int32)
    result = functional.grouped_mm(opweave.ones(4, 2), opweave.ones(2, 2, 3), offs=ends)
    assert result.tolist() == [[2.0] * 3] * 3 + [[0.0] * 3]
    with pytest.raises(RuntimeError, match=r"offs must not fall, nor exceed 4, but got \[3, 1\]"):
        functional.grouped_mm(opweave.ones(4, 2), opweave.ones(2, 2, 3), offs=ends.flip(0))


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("normal", ["Normal"]),
        ("studentT", ["StudentT"]),
        ("half_normal", ["HalfNormal"]),
        ("one_hot_categorical", ["OneHotCategorical", "OneHotCategoricalStraightThrough"]),
        ("lowrank_multivariate_normal", ["LowRankMultivariateNormal"]),
        ("exp_family", ["ExponentialFamily"]),
        ("lkj_cholesky", ["LKJCholesky"]),
        ("mixture_same_family", ["MixtureSameFamily"]),
    ],
)
def test_modules_of_distributions(module: str, names: list[str]) -> None:
    found = importlib.import_module(f"opweave.distributions.{module}")
    assert found.__all__ == names
    assert all(getattr(found, name) is getattr(opweave.distributions, name) for name in names)


def test_container() -> None:
    with pytest.warns(FutureWarning, match="Container"):
        made = nn.Container(first=nn.Linear(2, 3))
    assert list(made.state_dict()) == ["first.weight", "first.bias"]


def test_helpers_of_modules() -> None:
    """What libraries of layers import from PyTorch's modules."""
    utils = importlib.import_module("opweave.nn.modules.utils")
    types = importlib.import_module("opweave.nn.common_types")
    assert utils._pair(3) == (3, 3)
    assert utils._triple([1, 2, 3]) == (1, 2, 3)
    assert utils._reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)
    assert types._size_2_t == int | tuple[int, int]
    state = nn.DataParallel(nn.Sequential(nn.Linear(2, 3))).state_dict()
    utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert sorted(state) == ["0.bias", "0.weight"]
    assert nn.Sequential(nn.Linear(2, 3)).load_state_dict(state)
    assert sorted(state._metadata) == ["", "0"]

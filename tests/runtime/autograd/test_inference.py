"""Tensors made in inference mode: what they may be used for afterwards, by torch's messages."""

from __future__ import annotations

import threading

import opweave as ow
import pytest

WRITES = {
    "in place": lambda x: x.mul_(2),
    "filled": lambda x: x.fill_(1),
    "copied to": lambda x: x.copy_(ow.zeros(3)),
    "assigned": lambda x: x.__setitem__(0, 1.0),
    "put": lambda x: x.__setitem__(ow.tensor([0]), 1.0),
    "out": lambda x: ow.add(ow.ones(3), 1, out=x),
    "through a view": lambda x: x[1:].add_(1),
    "random": lambda x: x.uniform_(),
    "from another dtype": lambda x: x.add_(ow.ones(3, dtype=ow.int64)),
}


@pytest.fixture
def marked() -> ow.Tensor:
    with ow.inference_mode():
        return ow.ones(3) + 1


def test_what_is_made_within_is_marked(marked: ow.Tensor) -> None:
    assert marked.is_inference()
    assert ow.is_inference(marked)
    assert marked[1:].is_inference()
    assert marked.detach().is_inference()
    assert not marked.requires_grad
    assert not marked.clone().is_inference()
    assert not (marked + 1).is_inference()


def test_views_of_other_tensors_are_not_marked() -> None:
    x = ow.ones(3)
    with ow.inference_mode():
        view = x[1:]
        x.add_(1)
    assert not view.is_inference()
    assert not x.is_inference()
    assert view.tolist() == [2, 2]
    x.mul_(2)
    assert x._version == 2


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_writing_is_for_the_mode(marked: ow.Tensor, write: object) -> None:
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode is not allowed"):
        write(marked)
    assert marked.tolist() == [2, 2, 2]
    with ow.inference_mode():
        write(marked)


def test_saving_for_backward(marked: ow.Tensor) -> None:
    x = ow.ones(3, requires_grad=True)
    (x + marked).sum().backward()  # needs no value of it
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * marked
    (x * marked.clone()).sum().backward()
    assert x.grad.tolist() == [3, 3, 3]


def test_gradients_are_asked_for_within_only(marked: ow.Tensor) -> None:
    message = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed"
    with pytest.raises(RuntimeError, match=message):
        marked.requires_grad_()
    with ow.inference_mode():
        assert marked.requires_grad_().requires_grad


def test_no_version_is_counted(marked: ow.Tensor) -> None:
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        _ = marked._version


def test_the_mode_is_the_thread_s_and_nests() -> None:
    seen = []
    with ow.inference_mode():
        look = lambda: seen.append((ow.is_inference_mode_enabled(), ow.ones(1).is_inference()))  # noqa: E731
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        with ow.inference_mode(False):
            assert not ow.ones(1).is_inference()
            assert ow.is_grad_enabled()
        with ow.no_grad():
            assert ow.ones(1).is_inference()
    assert seen == [(False, False)]
    assert not ow.is_inference_mode_enabled()
    assert not ow.ones(1).is_inference()


def test_as_a_decorator() -> None:
    @ow.inference_mode()
    def predict(x: ow.Tensor) -> ow.Tensor:
        return x * 2

    result = predict(ow.ones(2, requires_grad=True))
    assert result.is_inference()
    assert not result.requires_grad


def test_views_of_inference_tensors_require_no_gradient() -> None:
    with ow.inference_mode():
        x = ow.ones(2, requires_grad=True)
        within = x[:]
    views = [within, x[:], x.view(2), x.unbind()[0], x.split(1)[0], x.expand(3, 2), x.unsqueeze(0), within[:]]
    assert not any(view.requires_grad for view in views)
    assert (x * 1).requires_grad

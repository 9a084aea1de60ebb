"""Encoders with linear layers in whole numbers of 8 bits."""

import numpy as np
import pytest
import torch
from torch import nn

from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.pretrained.compute import ComputeError, choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.pretrained.int8 import Int8Linear

FIRST = ["a dog runs", "the man plays with a ball", "the child sits", "a cat sits on the mat"]
SECOND = ["the dog runs", "a woman plays", "a bird sings in the tree", "the dog is on the grass"]


@pytest.mark.parametrize("bias", [True, False])
def test_a_layer_of_whole_numbers_is_computed_exactly(bias: bool) -> None:
    layer = nn.Linear(3, 2, bias=bias)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[127.0, -3.0, 8.0], [254.0, 2.0, -4.0]]))

    tokens = torch.tensor([[[127.0, 1.0, -5.0]], [[0.0, 12.7, 0.1]]])

    assert torch.allclose(Int8Linear(layer)(tokens), layer(tokens), rtol=1e-6, atol=1e-5)


def test_rounding_errs_by_at_most_half_a_step_of_each_factor() -> None:
    torch.manual_seed(3)
    layer, tokens = nn.Linear(64, 16), torch.randn(5, 64)

    errors = (Int8Linear(layer)(tokens) - layer(tokens)).abs()

    weights, inputs = layer.weight.detach(), tokens
    step_of_weights = weights.abs().amax(1) / 127 / 2
    step_of_inputs = inputs.abs().amax(1, keepdim=True) / 127 / 2
    bound = inputs.abs().sum(1, keepdim=True) * step_of_weights + step_of_inputs * weights.abs().sum(1)
    assert (errors <= bound + 64 * step_of_inputs * step_of_weights + 1e-5).all()


def test_a_token_of_zeros_gives_the_bias() -> None:
    layer = nn.Linear(4, 3)

    assert torch.equal(Int8Linear(layer)(torch.zeros(1, 4)), layer.bias[None])


def test_an_encoder_in_int8_gives_nearly_the_same_cosines(encoder_folder) -> None:
    cosines = {}
    for precision in ("float32", "int8"):
        compute = choose_compute("cpu", precision)
        encoder = load_encoder(encoder_folder, compute)
        cosines[precision] = pair_cosines(encoder, FIRST, SECOND, compute).values
        kinds = {type(module) for module in encoder.modules()}
        assert (Int8Linear in kinds, nn.Linear in kinds) == (precision == "int8", precision != "int8")

    assert not np.array_equal(cosines["int8"], cosines["float32"])
    assert np.allclose(cosines["int8"], cosines["float32"], atol=0.03)


def test_int8_is_refused_on_another_device_than_a_processor(monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)

    with pytest.raises(ComputeError, match="int8 is for processors; choose the device cpu"):
        choose_compute("cuda", "int8")

import pytest
import torch
from torch import nn

import d2l_local as d2l


def count_parameters(net):
    return sum(parameter.numel() for parameter in net.parameters())


def test_resnet18_has_11175818_parameters():
    assert count_parameters(d2l.resnet18(10)) == 11_175_818
    assert count_parameters(d2l.resnet18(10, 1)) == 11_175_818


@pytest.mark.parametrize('shape', [(2, 1, 28, 28), (1, 1, 32, 32), (2, 1, 96, 96)])
def test_resnet18_maps_images_of_any_size_to_one_logit_a_class(shape):
    net = d2l.resnet18(10, width=4).eval()
    assert net(torch.zeros(shape)).shape == (shape[0], 10)


def test_resnet18_takes_colour_images_and_other_numbers_of_classes():
    assert d2l.resnet18(7, in_channels=3, width=4).eval()(torch.zeros(2, 3, 28, 28)).shape == (2, 7)


def test_resnet18_keeps_the_resolution_in_its_first_layers_and_halves_it_three_times():
    X, shapes = torch.zeros(1, 1, 28, 28), []
    for layer in d2l.resnet18(10, width=4).eval():
        X = layer(X)
        shapes.append(tuple(X.shape[1:]))
    assert shapes == [(4, 28, 28), (4, 28, 28), (8, 14, 14), (16, 7, 7), (32, 4, 4), (10,)]


def test_resnet18_has_no_max_pooling_and_eight_blocks():
    modules = list(d2l.resnet18(10, width=4).modules())
    assert not any(isinstance(module, nn.MaxPool2d) for module in modules)
    assert sum(isinstance(module, d2l.Residual) for module in modules) == 8


def test_two_networks_share_no_parameters_or_buffers():
    a, b = d2l.resnet18(10, width=4), d2l.resnet18(10, width=4)
    assert not {t.data_ptr() for t in a.state_dict().values()} & {t.data_ptr() for t in b.state_dict().values()}


def test_a_residual_block_keeps_the_shape():
    assert d2l.Residual(3, 3)(torch.rand(4, 3, 6, 6)).shape == (4, 3, 6, 6)


@pytest.mark.parametrize('size, halved', [(6, 3), (7, 4)])
def test_a_residual_block_with_a_1x1_convolution_changes_channels_and_resolution(size, halved):
    block = d2l.Residual(3, 6, use_1x1conv=True, strides=2)
    assert block(torch.rand(4, 3, size, size)).shape == (4, 6, halved, halved)
    assert block.conv3.kernel_size == (1, 1)


def test_a_residual_block_adds_its_input():
    block = d2l.Residual(3, 3).eval()
    nn.init.zeros_(block.bn2.weight)
    X = torch.randn(4, 3, 6, 6)
    assert torch.equal(block(X), X.relu())

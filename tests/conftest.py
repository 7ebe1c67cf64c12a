import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))


@pytest.fixture(scope='session')
def root():
    return ROOT


@pytest.fixture
def gpus(monkeypatch):
    """Make torch report a number of CUDA GPUs; nothing can be computed on them."""
    import torch

    def pretend(count):
        monkeypatch.setattr(torch.cuda, 'device_count', lambda: count)
        monkeypatch.setattr(torch.cuda, 'is_available', lambda: count > 0)
        monkeypatch.setattr(torch.cuda, 'is_initialized', lambda: count > 0)
        monkeypatch.setattr(torch.cuda, 'memory_reserved', lambda device: 1 << 20)

    return pretend


@pytest.fixture
def full_data():
    """The full data set's module, where the files are on this machine; always in CI."""
    from d2l_local import fashion_mnist

    if fashion_mnist.folder_on_disk() is None and not os.environ.get('CI'):
        pytest.skip('the full Fashion-MNIST is not on this machine')
    return fashion_mnist

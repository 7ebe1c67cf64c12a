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

    return pretend


@pytest.fixture
def full_data():
    """The full data set's module, where the files are on this machine; always in CI."""
    from d2l_local import fashion_mnist

    roots = fashion_mnist._roots() + [fashion_mnist.DEBIAN_FOLDER]
    folders = [folder for root in roots for folder in (root, root / 'FashionMNIST' / 'raw')]
    is_here = any(all(fashion_mnist._find_file(folder, name) for name in fashion_mnist._names()) for folder in folders)
    if not is_here and not os.environ.get('CI'):
        pytest.skip('the full Fashion-MNIST is not on this machine')
    return fashion_mnist

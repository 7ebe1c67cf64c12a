"""A class-balanced sample of real Fashion-MNIST images that travels with the package.

`python -m d2l_local.sample` makes it again from the full data set; the same images come out. `LICENSE` beside
this file is that of the data set.
"""

from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

PATH = Path(__file__).parent / 'fashion_mnist.npz'
COUNTS = {'train': 4000, 't10k': 1000}
CLASSES = 10


@lru_cache(maxsize=2)
def load(split):
    """Return the sample's images and labels; the first n, for any n, have every class nearly equally often.

    Args:
        split: 'train' (4,000 images) or 't10k' (1,000 of the test images).

    Returns:
        A uint8 tensor of shape (n, 1, 28, 28) and an int64 tensor of shape (n,), labels 0 to 9.
    """
    with np.load(PATH) as arrays:
        images = torch.from_numpy(arrays[f'{split}_images'])
        labels = torch.from_numpy(arrays[f'{split}_labels'])
    return images.unsqueeze(1), labels.long()


def choose_indices(labels, count, seed=0):
    """Choose `count` indices at random, so that the classes 0, 1, ..., 9 take turns.

    Args:
        labels: an integer tensor of shape (n,).
        count: how many to choose, a multiple of 10.
        seed: of the random choice.

    Returns:
        An int64 array of shape (count,).
    """
    rng = np.random.default_rng(seed)
    per_class = [
        rng.choice(np.flatnonzero(labels.numpy() == c), count // CLASSES, replace=False) for c in range(CLASSES)
    ]
    return np.stack(per_class, axis=1).reshape(-1)

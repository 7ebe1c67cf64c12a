"""Minibatches of Fashion-MNIST, made from tensors in memory."""

import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

from . import fashion_mnist, sample
from .scale import choose_scale


class ImageDataset(Dataset):
    """Grey images kept in memory as bytes, turned into floats a whole batch at a time.

    `images` is a uint8 tensor of shape (n, 1, h, w), `labels` an int64 tensor of shape (n,). An item is an
    image with values in [0, 1] and its label, as with torchvision's `ToTensor`; `resize`, if given, is the new
    height and width in pixels (one number or a pair), reached by antialiased bilinear interpolation.
    """

    def __init__(self, images, labels, resize=None):
        self.images, self.labels, self.resize = images, labels, resize

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        X, y = self.gather([index])
        return X[0], y[0]

    def gather(self, indices):
        """Return a batch: float32 images of shape (len(indices), 1, h, w) and their labels."""
        indices = torch.as_tensor(indices)
        X = self.images.index_select(0, indices).div(255)
        if self.resize is not None:
            size = (self.resize, self.resize) if isinstance(self.resize, int) else tuple(self.resize)
            X = F.interpolate(X, size, mode='bilinear', antialias=True)
        return X, self.labels[indices]


class BatchLoader(DataLoader):
    """A `DataLoader` over an `ImageDataset` that gathers each batch in one step, in this process."""

    def __iter__(self):
        return map(self.dataset.gather, self.batch_sampler)


def batches(dataset, batch_size, shuffle=False, sampler=None):
    """Return a `DataLoader` that makes the batches of an `ImageDataset` fast.

    Args:
        dataset: an `ImageDataset`.
        batch_size: examples in a batch; the last batch of an epoch may be smaller.
        shuffle: new random order in each epoch.
        sampler: a sampler such as `DistributedSampler`, instead of `shuffle`.

    Raises:
        ValueError: if `batch_size` is not a whole number of at least 1.
    """
    _check_batch_size(batch_size)
    return BatchLoader(dataset, batch_size, shuffle=shuffle, sampler=sampler)


def _check_batch_size(batch_size):
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f'batch size {batch_size!r}: the batch size is a whole number of at least 1.')


def load_data_fashion_mnist(batch_size, resize=None, scale=None):
    """Return the training and the test batches of Fashion-MNIST.

    Args:
        batch_size: examples in a batch.
        resize: new height and width of the images in pixels; without it they have 28 x 28.
        scale: a `Scale`; without it `choose_scale()` chooses one and prints which.

    Returns:
        Two `DataLoader`, training (reshuffled in each epoch) and test, whose batches are a float32 tensor of
        shape (batch_size, 1, h, w) with values in [0, 1] and an int64 tensor of shape (batch_size,). The last
        batch of an epoch may be smaller.

    Raises:
        ValueError: if `batch_size` is not a whole number of at least 1.
        d2l_local.fashion_mnist.DataError: at full scale, if the data are missing or damaged.
    """
    _check_batch_size(batch_size)  # before a download, not after it
    scale = choose_scale() if scale is None else scale
    fits = scale.train_images <= sample.COUNTS['train'] and scale.test_images <= sample.COUNTS['t10k']
    source = sample if fits else fashion_mnist
    train, test = (
        ImageDataset(images[:count], labels[:count], resize)
        for (images, labels), count in (
            (source.load('train'), scale.train_images),
            (source.load('t10k'), scale.test_images),
        )
    )
    return batches(train, batch_size, shuffle=True), batches(test, batch_size)

"""Accuracy of a classifier."""

import torch
from torch import distributed as dist
from torch.utils.data.distributed import DistributedSampler

from .measure import Accumulator


def accuracy(y_hat, y):
    """Return how many predictions are right: a count, not a fraction.

    Args:
        y_hat: scores of shape (n, classes), or predicted classes of shape (n,).
        y: labels of shape (n,).

    Raises:
        ValueError: if there is not one prediction for each label.
    """
    if y_hat.ndim > 1 and y_hat.shape[1] > 1:
        y_hat = y_hat.argmax(dim=1)
    if y_hat.shape != y.shape:
        raise ValueError(f'predictions of shape {tuple(y_hat.shape)} for labels of shape {tuple(y.shape)}.')
    return float((y_hat.to(y.dtype) == y).sum())


def evaluate_accuracy_gpu(net, data_iter, device=None):
    """Return the fraction of a data set that `net` classifies correctly.

    The net is evaluated in evaluation mode and left in the mode it came in. Where `data_iter` draws from a
    `DistributedSampler`, every process must make this call: each one evaluates its share, the examples that the
    sampler repeats to make the shares equal are left out, and all processes return the same fraction.

    Args:
        net: a `torch.nn.Module`, or a function of `X`.
        data_iter: an iterable of batches `X, y`; `X` a tensor, or a list of tensors.
        device: where the inputs go; by default where the first parameter of `net` is.

    Returns:
        A number from 0 to 1.

    Raises:
        ValueError: if there is nothing to evaluate.
    """
    is_module = isinstance(net, torch.nn.Module)
    if device is None and is_module:
        device = next((parameter.device for parameter in net.parameters()), None)
    modes = [(module, module.training) for module in net.modules()] if is_module else []
    if is_module:
        net.eval()
    sampler = getattr(data_iter, 'sampler', None)
    is_shared = isinstance(sampler, DistributedSampler)
    left = _own_examples(sampler) if is_shared else None
    metric = Accumulator(2)  # right predictions, predictions
    try:
        with torch.no_grad():
            for X, y in data_iter:
                is_list = isinstance(X, (list, tuple))
                if is_shared:
                    X, y = [x[:left] for x in X] if is_list else X[:left], y[:left]
                    left -= len(y)
                    if len(y) == 0:
                        continue
                X = [x.to(device) for x in X] if is_list else X.to(device)
                metric.add(accuracy(net(X), y.to(device)), y.numel())
    finally:
        for module, training in modes:
            module.training = training
    if is_shared:
        totals = torch.tensor(metric.data, dtype=torch.float64, device=device)
        dist.all_reduce(totals)
        metric.data = totals.tolist()
    if metric[1] == 0:
        raise ValueError('no examples to evaluate: the data iterator is empty.')
    return metric[0] / metric[1]


def _own_examples(sampler):
    """How many of the first examples this process draws are its own, not repeats that even out the shares.

    `DistributedSampler` appends the repeats to the list of all indices and deals it out in turns, so that the
    repeats come last in each share.
    """
    return len(range(sampler.rank, len(sampler.dataset), sampler.num_replicas))

"""What data parallelism needs beside the framework."""


def split_batch(X, y, devices):
    """Split a minibatch over devices: one shard for each, sizes differing by at most 1, nothing dropped.

    Args:
        X: examples, a tensor of shape (n, ...).
        y: labels, a tensor of shape (n,).
        devices: a list of k devices, k <= n; a device may stand in it more than once.

    Returns:
        Two lists of k tensors, the shards of `X` and of `y`, each on its device.

    Raises:
        ValueError: if there are no devices, more devices than examples, or labels and examples differ in number.
    """
    n, k = X.shape[0], len(devices)
    if y.shape[0] != n:
        raise ValueError(f'{n} examples but {y.shape[0]} labels: give one for each.')
    if not 1 <= k <= n:
        raise ValueError(f'a batch of {n} for {k} replicas: use 1 to {n} replicas, so that each one gets an example.')
    X_shards = [shard.to(d) for shard, d in zip(X.tensor_split(k), devices)]
    y_shards = [shard.to(d) for shard, d in zip(y.tensor_split(k), devices)]
    return X_shards, y_shards

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
    if X.shape[0] != y.shape[0]:
        raise ValueError(f'{X.shape[0]} examples but {y.shape[0]} labels: give one label for each example.')
    if not 1 <= len(devices) <= X.shape[0]:
        raise ValueError(
            f'a batch of {X.shape[0]} for {len(devices)} replicas: every replica needs at least one example, '
            'so use 1 or more replicas and a batch size that is not smaller.'
        )
    X_shards = [shard.to(device) for shard, device in zip(X.tensor_split(len(devices)), devices)]
    y_shards = [shard.to(device) for shard, device in zip(y.tensor_split(len(devices)), devices)]
    return X_shards, y_shards

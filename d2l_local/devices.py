"""Which devices there are, and which ones the replicas of a model get."""

import torch


def num_gpus():
    """The number of CUDA GPUs this process can use; 0 on a machine without one."""
    return torch.cuda.device_count()


def try_gpu(i=0):
    """Return the device `cuda:i` if it exists, otherwise the CPU.

    Args:
        i: the GPU's number, from 0.

    Raises:
        ValueError: if `i` is negative.
    """
    if i < 0:
        raise ValueError(f'GPU number {i}: GPUs are numbered from 0, so pass 0 or more.')
    return torch.device('cuda', i) if i < num_gpus() else torch.device('cpu')


def try_all_gpus():
    """Return a list of every GPU, or `[cpu]` where there is none: the list is never empty."""
    return [try_gpu(i) for i in range(max(1, num_gpus()))]


def replica_devices(n):
    """Return `n` devices for `n` replicas of a model; real devices are shared where there are too few.

    With `n` or more GPUs these are the first `n`. Otherwise the replicas take turns on what there is, and
    one printed line says so. Replicas that share a device compute the same numbers as replicas that do not,
    only no faster.

    Args:
        n: how many replicas the computation wants, 1 or more.

    Returns:
        A list of `n` `torch.device`.

    Raises:
        ValueError: if `n` is not a whole number of at least 1.
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError(f'{n!r} replicas: the number of replicas is a whole number of at least 1.')
    available = try_all_gpus()
    if n > len(available):
        names = ', '.join(str(device) for device in available)
        print(f'{n} replicas share {names}: right results, no speed-up')
    return [available[i % len(available)] for i in range(n)]


def synchronize():
    """Wait until the GPUs that this process computes on have finished the work queued on them.

    CUDA kernels run asynchronously: a call returns before its result exists, so a clock that is read
    without waiting measures only how long it took to queue the work. GPUs on which this process holds no memory
    are left alone: waiting for one would take some hundred MB on it, which belong to another process under
    `torchrun`. Without a GPU in use there is nothing to wait for.
    """
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        for i in range(num_gpus()):
            if torch.cuda.memory_reserved(i) > 0:
                torch.cuda.synchronize(i)

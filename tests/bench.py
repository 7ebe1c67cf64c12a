"""Measure the helper module against its goals, as ratios of times taken in one run: `make bench`."""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader
from torchvision.datasets import FashionMNIST
from torchvision.transforms import ToTensor

from d2l_local import fashion_mnist
from d2l_local import torch as d2l

BATCH_SIZE = 256
REPETITIONS = 3


def seconds(action):
    """Median time of a few calls, in seconds, after one call that warms up."""
    action()
    laps = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        action()
        laps.append(time.perf_counter() - start)
    return statistics.median(laps)


def one_epoch(batches):
    for _ in batches:
        pass


def conventional_loader(folder):
    """The loader that most tutorials use: one PIL image and one transform per example, four worker processes."""
    raw = Path(folder) / 'FashionMNIST' / 'raw'
    raw.mkdir(parents=True)
    for split in fashion_mnist.COUNTS:
        images, labels = fashion_mnist.load(split)
        for kind, array in (('images-idx3', images.squeeze(1)), ('labels-idx1', labels.to(torch.uint8))):
            header = bytes([0, 0, 8, array.ndim]) + b''.join(n.to_bytes(4, 'big') for n in array.shape)
            (raw / f'{split}-{kind}-ubyte').write_bytes(header + array.numpy().tobytes())
    dataset = FashionMNIST(folder, train=True, transform=ToTensor())
    return DataLoader(dataset, BATCH_SIZE, shuffle=True, num_workers=4)


def import_seconds(statement):
    """Median time of an import in a fresh interpreter, in seconds."""
    code = f'import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)'
    command = [sys.executable, '-c', code]
    return statistics.median(
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(REPETITIONS)
    )


def report(name, value, goal, met):
    print(f'{name:<58} {value:>8}   goal {goal:<12} {"met" if met else "MISSED"}', flush=True)


def main():
    train_iter, _ = d2l.load_data_fashion_mnist(BATCH_SIZE, scale=d2l.SCALES['full'])
    epoch = torch.cat([X for X, _ in train_iter])
    copied = torch.empty_like(epoch)
    ours = seconds(lambda: one_epoch(train_iter))
    floor = seconds(lambda: copied.copy_(epoch))
    with tempfile.TemporaryDirectory() as folder:
        loader = conventional_loader(folder)
        conventional = seconds(lambda: one_epoch(loader))
    print(f'input of one epoch: {ours:.3f} s; conventional loader {conventional:.2f} s; copy {floor:.3f} s')
    report('conventional loader / ours', f'{conventional / ours:.0f}x', '>= 25x', conventional >= 25 * ours)
    report('ours / copying the same bytes once', f'{ours / floor:.1f}x', '<= 5x', ours <= 5 * floor)
    bare = import_seconds('import torch, torchvision')
    with_module = import_seconds('import torch, torchvision, d2l_local')
    extra = with_module - bare
    report(f'import d2l_local after torch and torchvision ({bare:.1f} s)', f'{extra:+.2f} s', '<= +0.5 s', extra <= 0.5)


if __name__ == '__main__':
    main()

"""Measure the helper module against its goals, as ratios of times taken in one run: `make bench`."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision.datasets import FashionMNIST
from torchvision.transforms import ToTensor

from d2l_local import fashion_mnist, sample
from d2l_local import torch as d2l
from d2l_local.recipe import Recipe
from d2l_local.training import Run

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


def plain_loop(net, train_iter):
    """An epoch as the section on the concise implementation writes it; returns seconds."""
    device = d2l.try_gpu()
    net = net.to(device)
    trainer, loss = torch.optim.SGD(net.parameters(), lr=0.1), nn.CrossEntropyLoss()
    net.train()
    timer = d2l.Timer()
    for X, y in train_iter:
        trainer.zero_grad()
        X, y = X.to(device), y.to(device)
        loss(net(X), y).backward()
        trainer.step()
    return timer.stop()


def loops(width, steps):
    """Images per second of the plain loop and of a recorded run, measured in turns on the same net and batches."""
    epochs = REPETITIONS + 1  # one warms up
    recipe = Recipe(width=width, images=steps * BATCH_SIZE, batch_size=BATCH_SIZE, epochs=epochs)
    images, labels = sample.load('train')
    few = images[:10], labels[:10]  # to evaluate on: it is not what is measured
    run = Run(recipe, (images, labels, *few), d2l.try_gpu())
    scale = d2l.Scale('bench', recipe.images, test_images=10, width=width, epochs=1)
    train_iter, _ = d2l.load_data_fashion_mnist(BATCH_SIZE, scale=scale)
    plain = []
    for _ in range(recipe.epochs):
        plain.append(plain_loop(recipe.network(), train_iter))
        one_epoch(run.train_epoch())
    recorded = [epoch['seconds'] for epoch in run.epochs]
    return [recipe.images / min(laps) for laps in (plain, recorded)]  # other programs only ever slow a lap down


def recorded_seconds(processes):
    """Seconds of an epoch of a recorded run with two replicas and one thread a process: the fastest of its epochs."""
    launcher = ['-m', 'torch.distributed.run', '--standalone', '--local_addr=127.0.0.1', '--nproc_per_node=2']
    options = ['--replicas=2', '--threads=1', '--width=8', '--images=4000', '--batch-size=512', '--epochs=3']
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, *launcher * (processes == 2), '-m', 'd2l_local.record', *options]
        environment = {**os.environ, 'OMP_NUM_THREADS': '1', 'CUDA_VISIBLE_DEVICES': ''}
        subprocess.run([*command, f'--results={folder}'], check=True, capture_output=True, env=environment)
        (path,) = Path(folder).glob('*.json')
        result = json.loads(path.read_text())
    assert result['processes'] == processes
    return min(epoch['seconds'] for epoch in result['epochs'])


def scaling():
    """Seconds of an epoch: by one process, by two, and by each of two separate runs at the same time (the slower)."""
    one, two = recorded_seconds(1), recorded_seconds(2)
    with ThreadPoolExecutor() as pool:
        return one, two, max(pool.map(recorded_seconds, (1, 1)))


def report(name, value, goal, met):
    print(f'{name:<58} {value:>8}   goal {goal:<12} {"met" if met else "MISSED"}', flush=True)


def main():
    input_goals()
    import_goals()
    training_goals()


def input_goals():
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


def import_goals():
    bare = import_seconds('import torch, torchvision')
    with_module = import_seconds('import torch, torchvision, d2l_local')
    extra = with_module - bare
    report(f'import d2l_local after torch and torchvision ({bare:.1f} s)', f'{extra:+.2f} s', '<= +0.5 s', extra <= 0.5)


def training_goals():
    for width, steps in ((8, 10), (16, 6), (64, 2)):
        plain, recorded = loops(width, steps)
        name = f'images/s of a recorded run / plain loop ({plain:.0f}), width {width}'
        report(name, f'{recorded / plain:.2f}x', '>= 1x', recorded >= plain)
    one, two, apart = (min(laps) for laps in zip(*(scaling() for _ in range(REPETITIONS))))
    speed_up = one / two
    print(f'two separate runs at once, which send each other nothing: {2 * one / apart:.2f}x')
    report('speed-up of a recorded run, 1 to 2 processes', f'{speed_up:.2f}x', '>= 1.9x', speed_up >= 1.9)


if __name__ == '__main__':
    main()

"""Code in the style of *Dive into Deep Learning* runs with only its import line changed."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import torch
from torch import nn

num_epochs, batch_size, lr = 2, 64, 0.1
train_iter, test_iter = d2l.load_data_fashion_mnist(batch_size, resize=32)
devices = d2l.try_all_gpus()
assert d2l.num_gpus() == 0 and devices == [d2l.try_gpu()]
assert sum(p.numel() for p in d2l.resnet18(10, in_channels=3).parameters()) > 11e6
block = d2l.Residual(1, 4, use_1x1conv=True, strides=4)
net = nn.Sequential(block, nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Linear(4, 10))
net.to(devices[0])
trainer = torch.optim.SGD(net.parameters(), lr=lr)
loss = nn.CrossEntropyLoss()
animator = d2l.Animator(xlabel='epoch', xlim=[1, num_epochs], legend=['train loss', 'train acc', 'test acc'])
timer, num_batches = d2l.Timer(), len(train_iter)
for epoch in range(num_epochs):
    metric = d2l.Accumulator(3)
    net.train()
    for i, (X, y) in enumerate(train_iter):
        timer.start()
        (X,), (y,) = d2l.split_batch(X, y, devices)
        trainer.zero_grad()
        y_hat = net(X)
        l = loss(y_hat, y)
        l.backward()
        trainer.step()
        with torch.no_grad():
            metric.add(l * X.shape[0], d2l.accuracy(y_hat, y), X.shape[0])
        timer.stop()
        animator.add(epoch + (i + 1) / num_batches, (metric[0] / metric[2], metric[1] / metric[2], None))
    test_acc = d2l.evaluate_accuracy_gpu(net, test_iter)
    animator.add(epoch + 1, (None, None, test_acc))
d2l.use_svg_display()
d2l.set_figsize((4.5, 2.5))
x = torch.arange(-2.0, 2.0, 0.5)
d2l.plot(x, [x**2, 2 * x], 'x', 'f(x)', legend=['f(x)', 'tangent'])
d2l.set_axes(d2l.plt.gca(), 'x', 'y', None, None, 'linear', 'linear', [])
print(f'{metric[2] * num_epochs / timer.sum():.1f} examples/sec on {str(devices[0])}, laps {len(timer.cumsum())}')
"""


@pytest.mark.parametrize('line', ['from d2l_local import torch as d2l', 'import d2l_local as d2l'])
def test_a_program_for_d2l_runs(line, tmp_path):
    environment = {**os.environ, 'D2L_LOCAL_SCALE': 'smoke', 'CUDA_VISIBLE_DEVICES': '', 'MPLBACKEND': 'agg'}
    done = subprocess.run(
        [sys.executable, '-W', 'error::UserWarning', '-c', line + PROGRAM],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert 'examples/sec on cpu, laps 8' in done.stdout

"""Everything that decides the result of a recorded run, in one value."""

import math
from dataclasses import dataclass, replace

import torch
from torch import nn

from .networks import resnet18

SCHEDULES = ('constant', 'cosine')
INITIALIZATIONS = ('normal', 'kaiming')


@dataclass(frozen=True)
class Recipe:
    """A run of the module's ResNet-18 on Fashion-MNIST.

    In each of `epochs` epochs, the first `images` training images are seen once, in minibatches of `batch_size`
    that are split over `replicas`. `lr` is the learning rate before the schedule: 'constant', or 'cosine', which
    lowers it to 0 over the whole run. During the first `warmup_epochs` epochs it rises linearly. `init` draws weights
    from a 'normal' distribution with standard deviation 0.01, or by 'kaiming'. `width` is that of `resnet18`.
    A `reused` net has been trained before, as the recipe `earlier` says, and only the weights of its convolutions and
    of its last layer are drawn afresh.

    Raises:
        ValueError: if a value is not allowed; the message names it.
    """

    replicas: int = 1
    width: int = 64
    images: int = 60000
    batch_size: int = 256
    lr: float = 0.1
    schedule: str = 'constant'
    warmup_epochs: int = 0
    init: str = 'normal'
    epochs: int = 10
    seed: int = 0
    reused: bool = False

    def __post_init__(self):
        for name in ('replicas', 'width', 'images', 'batch_size', 'epochs'):
            if getattr(self, name) < 1:
                raise ValueError(f'{name} {getattr(self, name)}: give a whole number of at least 1.')
        for name, allowed in (('schedule', SCHEDULES), ('init', INITIALIZATIONS)):
            if getattr(self, name) not in allowed:
                raise ValueError(f'unknown {name} {getattr(self, name)!r}: choose one of {", ".join(allowed)}.')
        if not self.lr > 0:
            raise ValueError(f'learning rate {self.lr}: give a number above 0.')
        if not 0 <= self.warmup_epochs <= self.epochs:
            raise ValueError(f'{self.warmup_epochs} warm-up epochs: give 0 to {self.epochs}, the number of epochs.')
        smallest = self.images % self.batch_size or self.batch_size
        if min(smallest, self.images) < self.replicas:
            raise ValueError(
                f'the smallest batch has {min(smallest, self.images)} images for {self.replicas} replicas: '
                'use fewer replicas, or another batch size or number of images.'
            )

    @property
    def earlier(self):
        """How a reused net was trained before: with one replica, its share of the batch, and its share of the rate."""
        share = {'batch_size': self.batch_size // self.replicas, 'lr': self.lr / self.replicas}
        return replace(self, replicas=1, reused=False, **share)

    @property
    def steps_per_epoch(self):
        """Optimizer steps in an epoch; the last batch may be smaller."""
        return math.ceil(self.images / self.batch_size)

    def learning_rate(self, step):
        """The learning rate of a step; steps are counted from 0 over the whole run."""
        warmup = self.warmup_epochs * self.steps_per_epoch
        factor = min(1.0, (step + 1) / warmup) if warmup else 1.0
        if self.schedule == 'cosine':
            factor *= 0.5 * (1 + math.cos(math.pi * step / (self.epochs * self.steps_per_epoch)))
        return self.lr * factor

    def order(self, epoch):
        """The order of the images in an epoch, an int64 tensor: a function of seed and epoch alone.

        So a run that is resumed sees the images as if it had never stopped.
        """
        generator = torch.Generator().manual_seed(1_000_003 * self.seed + epoch)
        return torch.randperm(self.images, generator=generator)

    def network(self):
        """The network before its first step."""
        torch.manual_seed(self.seed)
        net = resnet18(10, width=self.width)
        for module in net.modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                if self.init == 'normal':
                    nn.init.normal_(module.weight, std=0.01)
                else:
                    nn.init.kaiming_normal_(module.weight, nonlinearity='relu')
        return net

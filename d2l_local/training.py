"""The training loop of recorded runs: fast, resumable, alone or with one process for each replica."""

import copy
import inspect
import os

import torch
from torch import distributed as dist
from torch import nn
from torch.nn import functional as F

from .data import ImageDataset
from .measure import Timer
from .recipe import Recipe

EVALUATION_BATCH = 500
REESTIMATION_BATCHES = 10


class Run:
    """A run of a `Recipe` in this process, or in this process's share under `torchrun`.

    Alone, the process computes the shards of all replicas in turn. Under `torchrun` there is one process for each
    replica, and `DistributedDataParallel` adds up their gradients. Both take the same steps: each shard has batch
    normalization statistics of its own, and the running statistics are those of the first replica, as with
    `nn.DataParallel`.

    Args:
        recipe: a `Recipe`.
        data: four tensors: training images (uint8, shape (n, 1, 28, 28)) and labels, test images and labels.
        device: where to train.
        amp: compute in bfloat16 where that is safe (on a GPU, about twice as fast).
        compile: let `torch.compile` fuse operations (slow start, then faster on a GPU).

    Raises:
        ValueError: under `torchrun`, if the number of processes is not the number of replicas.
    """

    def __init__(self, recipe, data, device, amp=False, compile=False):
        self.recipe, self.device, self.amp = recipe, device, amp
        self.rank, self.processes = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
        if self.processes not in (1, recipe.replicas):
            raise ValueError(
                f'{self.processes} processes for {recipe.replicas} replicas: start one, or one for each replica.'
            )
        # The images stay on the device as bytes: 47 MB for all of Fashion-MNIST, and no copying while training.
        images, labels, test_images, test_labels = (tensor.to(device) for tensor in data)
        self.train_set, self.test_set = ImageDataset(images, labels), ImageDataset(test_images, test_labels)
        self.layout = _layout(recipe.width, device)
        self.net = recipe.network().to(device, memory_format=self.layout)
        self.optimizer = torch.optim.SGD(self.net.parameters(), recipe.lr)
        # Fused operations read and write memory less often. Compiling them delays the first step.
        self.model = torch.compile(self.net) if compile else self.net
        if self.processes > 1:
            # Gradients are made where they are sent from, without a copy. Running statistics are not used in training,
            # so they need not be sent before each step: `_share_statistics` sends them once, before evaluation.
            DDP = nn.parallel.DistributedDataParallel
            self.model = DDP(self.model, gradient_as_bucket_view=True, **{_buffers_option(DDP): False})
        self.epochs = []

    @torch.no_grad()
    def reuse(self, net):
        """Take over a trained net of the same width, all but the weights of convolutions and linear layers."""
        kept = net.state_dict()
        for name, module in self.net.named_modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                kept[f'{name}.weight'] = module.weight
        self.net.load_state_dict(kept)

    def train_epoch(self):
        """Train for an epoch, evaluate, and append a record to `epochs`: a dict of numbers."""
        epoch, timer = len(self.epochs), Timer()
        self.net.train()
        total = torch.zeros((), device=self.device)
        for i, batch in enumerate(self.recipe.order(epoch).to(self.device).split(self.recipe.batch_size)):
            for group in self.optimizer.param_groups:
                group['lr'] = self.recipe.learning_rate(epoch * self.recipe.steps_per_epoch + i)
            total += self._step(batch)
            yield i + 1
        if self.processes > 1:
            dist.all_reduce(total)
        seconds = timer.stop()
        self._share_statistics()
        self.epochs.append(
            {
                'epoch': epoch + 1,
                'train_loss': total.item() / self.recipe.images,
                'test_accuracy': self._accuracy(self.net),
                'test_accuracy_reestimated': self._accuracy(self._with_fresh_statistics()),
                'seconds': seconds,
            }
        )

    def _step(self, batch):
        """One optimizer step on the images with these indices; returns this process's sum of losses."""
        self.optimizer.zero_grad(set_to_none=True)
        shards = batch.tensor_split(self.recipe.replicas)
        mine = shards if self.processes == 1 else [shards[self.rank]]
        total = torch.zeros((), device=self.device)
        for i, shard in enumerate(mine):
            if len(mine) > 1:
                _keep_running_statistics(self.net, keep=i > 0)
            X, y = self._batch(self.train_set, shard)
            # In bfloat16, convolutions and matrix products run on a GPU's tensor cores; weights stay in float32.
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.amp):
                scores = self.model(X)
            loss = F.cross_entropy(scores.float(), y, reduction='sum')
            # DistributedDataParallel averages over the processes, so the division is by each one's share.
            (loss * self.processes / len(batch)).backward()
            total += loss.detach()
        self.optimizer.step()
        return total

    def _batch(self, dataset, indices):
        X, y = dataset.gather(indices)
        return X.contiguous(memory_format=self.layout), y

    def _share_statistics(self):
        """Give all processes the running statistics of the first one."""
        if self.processes > 1:
            for buffer in self.net.buffers():
                dist.broadcast(buffer, src=0)

    @torch.no_grad()
    def _accuracy(self, net):
        """The fraction of the test images that `net` classifies correctly; each process evaluates its share."""
        net.eval()
        right = torch.zeros((), device=self.device)
        batches = torch.arange(len(self.test_set), device=self.device).split(EVALUATION_BATCH)
        for indices in batches[self.rank :: self.processes]:
            X, y = self._batch(self.test_set, indices)
            right += (net(X).argmax(dim=1) == y).sum()
        if self.processes > 1:
            dist.all_reduce(right)
        return right.item() / len(self.test_set)

    @torch.no_grad()
    def _with_fresh_statistics(self):
        """A copy of the net whose batch normalization statistics are averages over some training batches.

        The weights are those of the net; only the running statistics are replaced.
        """
        net = copy.deepcopy(self.net).train()
        for module in net.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.reset_running_stats()
                module.momentum = None  # a plain average over all batches seen
        batches = torch.arange(self.recipe.images, device=self.device).split(EVALUATION_BATCH)
        for indices in batches[:REESTIMATION_BATCHES]:
            net(self._batch(self.train_set, indices)[0])
        return net

    def state(self):
        """What a checkpoint holds: everything to go on from here, for `torch.load(..., weights_only=True)`."""
        return {
            'recipe': vars(self.recipe),
            'epochs': self.epochs,
            'net': self.net.state_dict(),
            'optimizer': self.optimizer.state_dict(),
        }

    def load_state(self, state):
        """Go on from a checkpoint.

        Raises:
            ValueError: if it belongs to another recipe.
        """
        if Recipe(**state['recipe']) != self.recipe:
            raise ValueError(
                f'the checkpoint belongs to another run: {state["recipe"]}. Resume without it, or remove it.'
            )
        self.epochs = state['epochs']
        self.net.load_state_dict(state['net'])
        self.optimizer.load_state_dict(state['optimizer'])


def _layout(width, device):
    """How images and weights of a net of this width lie in memory; `make bench` measures what it brings.

    Convolutions are faster when the channels of a pixel lie side by side. Two exceptions on a CPU: several threads
    share fewer than 16 channels badly, and with fewer than 8, PyTorch 2.14 crashes in the backward pass.
    """
    least = 16 if device.type == 'cpu' and torch.get_num_threads() > 1 else 8
    return torch.channels_last if width >= least else torch.contiguous_format


def _buffers_option(wrapper):
    """The name of the option of `DistributedDataParallel` to send buffers in each step; newer PyTorch renamed it."""
    known = inspect.signature(wrapper).parameters
    return 'forward_sync_buffers' if 'forward_sync_buffers' in known else 'broadcast_buffers'


def save(state, path):
    """Write a checkpoint so that an interruption leaves either the old file or the new one."""
    temporary = path.with_suffix('.part')
    torch.save(state, temporary)
    os.replace(temporary, path)


def _keep_running_statistics(net, keep):
    """Let a forward pass in training mode leave the running statistics as they are, or not."""
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = 0.0 if keep else 0.1

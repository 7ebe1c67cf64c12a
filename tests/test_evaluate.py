import multiprocessing
import os
from itertools import product

import pytest
import torch
from torch import distributed as dist
from torch import multiprocessing as mp
from torch import nn
from torch.utils.data.distributed import DistributedSampler

import d2l_local as d2l
from d2l_local import sample


def linear_net():
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10, bias=False))
    nn.init.normal_(net[1].weight, generator=torch.Generator().manual_seed(0))
    return net


def dataset(n):
    images, labels = sample.load('t10k')
    return d2l.ImageDataset(images[:n], labels[:n])


def by_hand(n):
    images, labels = sample.load('t10k')
    with torch.no_grad():
        return (linear_net()(images[:n] / 255).argmax(dim=1) == labels[:n]).double().mean().item()


def test_accuracy_counts_right_predictions_from_scores_or_classes():
    y = torch.tensor([0, 1, 2])
    assert d2l.accuracy(torch.tensor([[3.0, 1, 1], [0, 9, 0], [5, 0, 0]]), y) == 2
    assert d2l.accuracy(torch.tensor([0, 1, 1]), y) == d2l.accuracy(torch.tensor([0.0, 1, 1]), y) == 2


def test_accuracy_refuses_predictions_that_do_not_match_the_labels():
    with pytest.raises(ValueError, match=r'\(3, 1\).*\(3,\)'):
        d2l.accuracy(torch.zeros(3, 1), torch.zeros(3))


@pytest.mark.parametrize('batch_size', [1, 7, 64, 256])
def test_the_accuracy_does_not_depend_on_the_batch_size(batch_size):
    assert d2l.evaluate_accuracy_gpu(linear_net(), d2l.batches(dataset(103), batch_size)) == by_hand(103)


def modes(net):
    return [module.training for module in net.modules()]


@pytest.mark.parametrize('outer, inner', [(True, True), (True, False), (False, True), (False, False)])
def test_the_net_is_evaluated_in_evaluation_mode_and_left_in_the_modes_it_came_in(outer, inner):
    net = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(784), nn.Dropout(0.5), nn.Linear(784, 10))
    net.train(outer)
    net[1].train(inner)
    before, seen = modes(net), []
    net[3].register_forward_hook(lambda *_: seen.append(any(modes(net)) or torch.is_grad_enabled()))
    statistics = net[1].running_mean.clone()
    d2l.evaluate_accuracy_gpu(net, d2l.batches(dataset(20), 8))
    assert modes(net) == before
    assert seen == [False] * 3
    assert torch.equal(net[1].running_mean, statistics)


def test_the_modes_and_gradients_are_restored_after_an_error():
    def fail(*_):
        raise RuntimeError('broken layer')

    net = linear_net().train()
    net[0].eval()
    net[1].register_forward_hook(fail)
    with pytest.raises(RuntimeError, match='broken layer'):
        d2l.evaluate_accuracy_gpu(net, d2l.batches(dataset(20), 8))
    assert modes(net) == [True, False, True] and torch.is_grad_enabled()


def test_inputs_may_be_lists_of_tensors():
    def add(X):
        assert isinstance(X, list)
        return X[0] + X[1]

    scores = torch.eye(3)
    assert d2l.evaluate_accuracy_gpu(add, [([scores, scores], torch.tensor([0, 1, 0]))]) == 2 / 3


def test_inputs_and_labels_go_to_the_device_that_is_given():
    def device_of(X):
        assert X.device.type == 'meta'
        raise StopIteration

    with pytest.raises(StopIteration):
        d2l.evaluate_accuracy_gpu(device_of, d2l.batches(dataset(20), 8), device='meta')


def test_a_net_without_parameters_and_a_plain_function_can_be_evaluated():
    batches = [(torch.eye(4), torch.tensor([0, 1, 2, 0]))]
    assert d2l.evaluate_accuracy_gpu(nn.Identity(), batches) == 0.75
    assert d2l.evaluate_accuracy_gpu(lambda X: X, batches) == 0.75


def test_nothing_to_evaluate_is_refused_and_the_mode_restored():
    net = linear_net().train()
    with pytest.raises(ValueError, match='no examples to evaluate'):
        d2l.evaluate_accuracy_gpu(net, [])
    assert net.training


class Counting(nn.Module):
    """Count the examples seen; like hand-written networks, it cannot reshape an empty batch."""

    def __init__(self):
        super().__init__()
        self.net, self.seen = linear_net(), 0

    def forward(self, X):
        self.seen += len(X)
        return self.net(X.reshape(X.shape[0], -1))


SIZES = [103, 1000, 1]


class Lists(d2l.ImageDataset):
    """Inputs that are lists of two tensors; the first two of n labels are right."""

    def __init__(self, n):
        super().__init__(torch.eye(n), torch.arange(n).where(torch.arange(n) < 2, torch.tensor(0)))

    def gather(self, indices):
        return [self.images[indices], self.images[indices]], self.labels[indices]


def in_process(rank, folder):
    """Evaluate in groups of 3, 2 and 1 processes; write what each process found."""
    os.environ['GLOO_SOCKET_IFNAME'] = 'lo'
    torch.set_num_threads(1)
    found = []
    for world in (3, 2, 1):
        if rank < world:
            dist.init_process_group('gloo', init_method=f'file://{folder}/group{world}', rank=rank, world_size=world)
            for n, shuffle, batch_size in product(SIZES, (False, True), (17, 64)):
                net, examples = Counting(), dataset(n)
                batches = d2l.batches(
                    examples, batch_size, sampler=DistributedSampler(examples, shuffle=shuffle, seed=3)
                )
                found.append((world, n, d2l.evaluate_accuracy_gpu(net, batches), net.seen))
            lists = d2l.batches(Lists(5), 2, sampler=DistributedSampler(Lists(5), shuffle=False))
            found.append((world, 'lists', d2l.evaluate_accuracy_gpu(lambda X: X[0] + X[1], lists), 0))
            dist.destroy_process_group()
    torch.save(found, f'{folder}/found{rank}')


@pytest.fixture(scope='module')
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp('gloo')
    multiprocessing.set_forkserver_preload(['torch'])
    context = mp.start_processes(in_process, (str(folder),), nprocs=3, join=False, start_method='forkserver')
    for _ in range(180):
        if context.join(timeout=1):
            break
    else:
        for process in context.processes:
            process.kill()
        pytest.fail('the processes did not end within three minutes')
    return [line for rank in range(3) for line in torch.load(folder / f'found{rank}')]


@pytest.mark.parametrize('world', [1, 2, 3])
@pytest.mark.parametrize('n', SIZES)
def test_every_process_returns_the_accuracy_of_a_single_process_exactly(found, world, n):
    assert {accuracy for w, m, accuracy, _ in found if (w, m) == (world, n)} == {by_hand(n)}


@pytest.mark.parametrize('world', [1, 2, 3])
@pytest.mark.parametrize('n', SIZES)
def test_no_example_is_evaluated_twice_across_processes(found, world, n):
    runs_of_each_process = 4
    assert sum(seen for w, m, _, seen in found if (w, m) == (world, n)) == n * runs_of_each_process


@pytest.mark.parametrize('world', [1, 2, 3])
def test_inputs_that_are_lists_are_shared_between_processes_as_well(found, world):
    assert {accuracy for w, m, accuracy, _ in found if (w, m) == (world, 'lists')} == {2 / 5}

import pickle
from itertools import chain

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from torchvision import transforms
from torchvision.transforms import functional as TF

import d2l_local as d2l
from d2l_local import data, sample

SMOKE = d2l.SCALES['smoke']


def numbered(n):
    """A data set whose labels number its images."""
    images = torch.randint(0, 256, (n, 1, 28, 28), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    return d2l.ImageDataset(images, torch.arange(n))


def labels_of(batches):
    return torch.cat([y for _, y in batches]).tolist()


def order(seed, epochs=1):
    torch.manual_seed(seed)
    batches = d2l.batches(numbered(50), 8, shuffle=True)
    return [labels_of(batches) for _ in range(epochs)]


def to_tensor(images, resize=None):
    """What d2l does: one PIL image and one transform after the other."""
    steps = ([transforms.Resize(resize)] if resize else []) + [transforms.ToTensor()]
    return torch.stack([transforms.Compose(steps)(Image.fromarray(image[0].numpy())) for image in images])


def test_batches_have_the_shapes_types_and_range_of_the_original():
    train, test = d2l.load_data_fashion_mnist(64, scale=SMOKE)
    for batches in (train, test):
        X, y = next(iter(batches))
        assert (X.shape, X.dtype, y.shape, y.dtype) == ((64, 1, 28, 28), torch.float32, (64,), torch.int64)
        assert X.min() == 0 and X.max() == 1 and set(y.tolist()) == set(range(10))


def test_images_equal_those_of_torchvisions_to_tensor_exactly():
    images, labels = sample.load('t10k')
    dataset = d2l.ImageDataset(images[:256], labels[:256])
    X, y = next(iter(d2l.batches(dataset, 256)))
    expected = to_tensor(images[:256])
    assert torch.equal(X, expected) and torch.equal(y, labels[:256])
    assert torch.equal(dataset[3][0], expected[3]) and dataset[3][1] == labels[3]


@pytest.mark.parametrize('size', [14, 64, 96])
def test_resized_images_equal_those_of_torchvisions_antialiased_resize(size):
    images = sample.load('t10k')[0][:64]
    X, _ = next(iter(d2l.batches(d2l.ImageDataset(images, torch.arange(64), resize=size), 64)))
    assert X.shape == (64, 1, size, size)
    assert torch.allclose(X, TF.resize(images / 255, [size, size], antialias=True), atol=1e-6)
    assert (X - to_tensor(images, size)).abs().max() <= 1.01 / 255


def test_images_can_be_resized_to_a_rectangle():
    train, _ = d2l.load_data_fashion_mnist(10, resize=(32, 40), scale=SMOKE)
    assert next(iter(train))[0].shape == (10, 1, 32, 40)


def test_training_images_are_reshuffled_in_each_epoch_and_test_images_never():
    train, test = d2l.load_data_fashion_mnist(64, scale=SMOKE)
    assert labels_of(train) != labels_of(train)
    assert labels_of(test) == labels_of(test) == sample.load('t10k')[1][:100].tolist()


def test_the_same_seed_gives_the_same_orders():
    first, second = order(0, epochs=2)
    assert first != second and sorted(first) == sorted(second) == list(range(50))
    assert order(0, epochs=2) == [first, second]
    assert order(1) != [first]


@pytest.mark.parametrize('shuffle', [False, True])
def test_the_last_smaller_batch_is_kept(shuffle):
    batches = d2l.batches(numbered(50), 16, shuffle=shuffle)
    assert [len(X) for X, _ in batches] == [16, 16, 16, 2]
    assert sorted(labels_of(batches)) == list(range(50))


@pytest.mark.parametrize('ranks', [2, 3])
def test_a_distributed_sampler_deals_every_image_out_in_a_new_order_each_epoch(ranks):
    dataset = numbered(50)
    samplers = [DistributedSampler(dataset, ranks, rank, shuffle=True) for rank in range(ranks)]
    shares = [d2l.batches(dataset, 8, sampler=sampler) for sampler in samplers]
    epochs = []
    for epoch in range(2):
        for sampler in samplers:
            sampler.set_epoch(epoch)
        epochs.append([labels_of(share) for share in shares])
    for epoch in epochs:
        assert set(chain(*epoch)) == set(range(50))
        assert {len(share) for share in epoch} == {-(-50 // ranks)}
    assert epochs[0] != epochs[1]


def test_loading_needs_no_worker_processes():
    assert [batches.num_workers for batches in d2l.load_data_fashion_mnist(64, scale=SMOKE)] == [0, 0]


def test_a_batch_is_made_in_one_step_without_pil(monkeypatch):
    calls = []
    gather = data.ImageDataset.gather
    monkeypatch.setattr(data.ImageDataset, 'gather', lambda self, i: calls.append(len(i)) or gather(self, i))
    monkeypatch.setattr(Image, 'fromarray', lambda *args, **kwargs: pytest.fail('used PIL'))
    train, _ = d2l.load_data_fashion_mnist(64, resize=32, scale=SMOKE)
    labels_of(train)
    assert calls == [64, 64, 64, 8]


@pytest.mark.parametrize('workers', [0, 2])
def test_an_ordinary_data_loader_gives_the_same_batches(workers):
    batches = d2l.batches(numbered(20), 8)
    ordinary = DataLoader(pickle.loads(pickle.dumps(batches.dataset)), 8, num_workers=workers)
    for (X, y), (X_ordinary, y_ordinary) in zip(batches, ordinary):
        assert torch.equal(X, X_ordinary) and torch.equal(y, y_ordinary)


def test_a_batch_size_is_checked_before_the_data_are_looked_for(monkeypatch):
    monkeypatch.setattr(data.fashion_mnist, 'load', lambda split: pytest.fail('looked for data'))
    with pytest.raises(ValueError, match='batch size 0'):
        d2l.load_data_fashion_mnist(0, scale=d2l.SCALES['full'])


@pytest.mark.parametrize('batch_size', [0, -1, True, 2.5, '64', None])
def test_a_batch_size_that_is_not_a_whole_number_of_at_least_1_is_refused(batch_size):
    with pytest.raises(ValueError, match='whole number of at least 1') as raised:
        d2l.load_data_fashion_mnist(batch_size, scale=SMOKE)
    assert repr(batch_size) in str(raised.value)


@pytest.mark.parametrize('name, sizes', [('smoke', (200, 100)), ('rehearsal', (4000, 1000))])
def test_small_scales_have_every_class_equally_often(monkeypatch, capsys, name, sizes):
    monkeypatch.setenv('D2L_LOCAL_SCALE', name)
    for batches, size in zip(d2l.load_data_fashion_mnist(256), sizes):
        assert np.bincount(labels_of(batches)).tolist() == [size // 10] * 10
    assert f'scale: {name}' in capsys.readouterr().out


@pytest.mark.parametrize('counts', [(60000, 10000), (4001, 1000), (4000, 1001)])
def test_scales_beyond_the_sample_use_the_full_data(monkeypatch, counts):
    monkeypatch.setattr(data.fashion_mnist, 'load', lambda split: (numbered(2).images, torch.tensor([7, 7])))
    for batches in d2l.load_data_fashion_mnist(64, scale=d2l.Scale('own', *counts, width=4, epochs=1)):
        assert labels_of(batches) == [7, 7]

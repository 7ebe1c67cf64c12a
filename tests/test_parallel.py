import pytest
import torch

import d2l_local as d2l


@pytest.mark.parametrize('n', [4, 5, 7, 64])
@pytest.mark.parametrize('k', [1, 2, 3, 4])
def test_a_batch_is_split_evenly_in_order_and_nothing_is_dropped(n, k):
    X, y = torch.rand(n, 2, 3), torch.arange(n)
    X_shards, y_shards = d2l.split_batch(X, y, [torch.device('cpu')] * k)
    sizes = [len(shard) for shard in X_shards]
    assert len(sizes) == k and max(sizes) - min(sizes) <= 1
    assert [len(shard) for shard in y_shards] == sizes
    assert torch.equal(torch.cat(X_shards), X) and torch.equal(torch.cat(y_shards), y)


def test_each_shard_is_on_its_device():
    devices = [torch.device('cpu'), torch.device('meta'), torch.device('cpu')]
    X_shards, y_shards = d2l.split_batch(torch.rand(7, 2), torch.arange(7), devices)
    assert [shard.device for shard in X_shards] == devices == [shard.device for shard in y_shards]


@pytest.mark.parametrize('n, k', [(3, 4), (0, 1), (4, 0)])
def test_a_batch_smaller_than_the_number_of_replicas_is_refused(n, k):
    with pytest.raises(ValueError, match=f'a batch of {n} for {k} replicas.*use 1 to {n} replicas'):
        d2l.split_batch(torch.rand(n, 2), torch.arange(n), ['cpu'] * k)


def test_examples_and_labels_must_be_equally_many():
    with pytest.raises(ValueError, match='4 examples but 3 labels'):
        d2l.split_batch(torch.rand(4, 2), torch.arange(3), ['cpu'])

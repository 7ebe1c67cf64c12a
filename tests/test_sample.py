import runpy

import numpy as np
import pytest
import torch

from d2l_local import sample


def arrays(path=sample.PATH):
    with np.load(path) as content:
        return {name: content[name] for name in content.files}


@pytest.mark.parametrize('split, n', [('train', 4000), ('t10k', 1000)])
def test_the_sample_holds_bytes_and_labels_of_every_class_equally_often(split, n):
    images, labels = sample.load(split)
    assert (images.shape, images.dtype) == ((n, 1, 28, 28), torch.uint8)
    assert (labels.shape, labels.dtype) == ((n,), torch.int64)
    assert labels.bincount().tolist() == [n // 10] * 10


@pytest.mark.parametrize('n', [10, 25, 200, 999])
def test_any_beginning_of_the_sample_is_balanced(n):
    counts = sample.load('train')[1][:n].bincount(minlength=10)
    assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize('split', ['train', 't10k'])
def test_the_sample_equals_the_full_sets_images_at_the_recorded_indices(full_data, split):
    images, labels = full_data.load(split)
    indices = arrays()[f'{split}_indices']
    assert len(set(indices.tolist())) == sample.COUNTS[split]
    assert torch.equal(sample.load(split)[0], images[indices])
    assert torch.equal(sample.load(split)[1], labels[indices])


def test_making_the_sample_again_gives_the_same_arrays(full_data, tmp_path, monkeypatch):
    old = arrays()
    monkeypatch.setattr(sample, 'PATH', tmp_path / 'again.npz')
    runpy.run_module('d2l_local.sample', run_name='__main__')
    new = arrays(sample.PATH)
    assert old.keys() == new.keys()
    assert all(np.array_equal(old[name], new[name]) for name in old)


def test_the_sample_is_small_and_has_its_licence_beside_it():
    assert sample.PATH.stat().st_size < 3_000_000
    licence = (sample.PATH.parent / 'LICENSE').read_text()
    assert 'MIT License' in licence and 'Zalando' in licence

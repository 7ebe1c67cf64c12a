"""Results that others have published, to compare our own with.

`d2l_multi_gpu.csv` holds every distinct pair of results that the committed outputs of the public notebook
repositories d2l-ai/d2l-pytorch-colab, d2l-ai/d2l-zh-pytorch-colab and d2l-ai/d2l-pytorch-colab-classic have shown for
the two multi-GPU sections of *Dive into Deep Learning*: numbers only, each with the date of the commit that first
carried it and its repository. Every run trains for 10 epochs on the 60,000 images of Fashion-MNIST.
"""

import csv
from pathlib import Path
from typing import NamedTuple

SECTIONS = ('multiple-gpus', 'multiple-gpus-concise')


class PublishedRun(NamedTuple):
    """One pair of runs: test accuracy (0 to 1) and seconds per epoch, on 1 GPU and on 2 GPUs."""

    date: str
    repository: str
    accuracy_1_gpu: float
    seconds_1_gpu: float
    accuracy_2_gpus: float
    seconds_2_gpus: float


def published_runs(section):
    """Return the 50 published pairs of runs of a section, oldest first.

    Args:
        section: 'multiple-gpus' (LeNet, batch 256, learning rate 0.2 on both) or 'multiple-gpus-concise'
            (ResNet-18; batch 256 and learning rate 0.1 on 1 GPU, batch 512 and learning rate 0.2 on 2).

    Returns:
        A list of `PublishedRun`.

    Raises:
        ValueError: if there is no such section.
    """
    if section not in SECTIONS:
        raise ValueError(f'no published runs of {section!r}: choose one of {", ".join(SECTIONS)}.')
    path = Path(__file__).parent / 'd2l_multi_gpu.csv'
    with path.open(encoding='utf-8', newline='') as file:
        return [
            PublishedRun(
                row['first_published'],
                row['repository'],
                float(row['test_acc_1gpu']),
                float(row['sec_per_epoch_1gpu']),
                float(row['test_acc_2gpu']),
                float(row['sec_per_epoch_2gpu']),
            )
            for row in csv.DictReader(file)
            if row['section'] == section
        ]

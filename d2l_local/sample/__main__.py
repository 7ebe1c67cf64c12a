"""Make the sample from the full data set: `python -m d2l_local.sample`."""

import numpy as np

from d2l_local import fashion_mnist, sample

arrays = {}
for split, count in sample.COUNTS.items():
    images, labels = fashion_mnist.load(split)
    indices = sample.choose_indices(labels, count)
    arrays[f'{split}_indices'] = indices.astype(np.int32)
    arrays[f'{split}_images'] = images[indices, 0].numpy()
    arrays[f'{split}_labels'] = labels[indices].numpy().astype(np.uint8)
np.savez_compressed(sample.PATH, **arrays)
print(f'{sample.PATH}: {sample.PATH.stat().st_size:,} bytes')

"""How large a run is: the published size on a GPU, a rehearsal elsewhere."""

import os
from dataclasses import dataclass

import torch

VARIABLE = 'D2L_LOCAL_SCALE'


@dataclass(frozen=True)
class Scale:
    """The size of a run.

    `train_images` and `test_images` are counts, `width` is the number of channels of the first ResNet stage
    (64 in the published network), and `epochs` is how often a run sees every training image. Minibatches are
    divided by `batch_divisor`: on few images, full-sized ones would leave too few updates to learn anything.
    """

    name: str
    train_images: int
    test_images: int
    width: int
    epochs: int
    batch_divisor: int = 1

    def batch(self, size):
        """Return the batch size of this scale that stands for `size` at full scale; at least 1."""
        return max(1, size // self.batch_divisor)


SCALES = {
    scale.name: scale
    for scale in (
        Scale('full', train_images=60000, test_images=10000, width=64, epochs=10),
        Scale('rehearsal', train_images=4000, test_images=1000, width=4, epochs=10, batch_divisor=4),
        Scale('smoke', train_images=200, test_images=100, width=4, epochs=2, batch_divisor=4),
    )
}


def choose_scale(name=None):
    """Choose the scale of the runs that follow, print it, and return it.

    Args:
        name: 'full', 'rehearsal' or 'smoke'. Without it the environment variable D2L_LOCAL_SCALE decides,
            and without that the machine: 'full' where there is a CUDA GPU, 'rehearsal' elsewhere.

    Returns:
        A `Scale`.

    Raises:
        ValueError: if the scale asked for is not one of the three.
    """
    if name is not None:
        reason = 'asked for'
    elif os.environ.get(VARIABLE):
        name, reason = os.environ[VARIABLE], f'from {VARIABLE}'
    elif torch.cuda.is_available():
        name, reason = 'full', 'there is a CUDA GPU'
    else:
        name, reason = 'rehearsal', 'no CUDA GPU'
    if name not in SCALES:
        allowed = ', '.join(SCALES)
        raise ValueError(f'unknown scale {name!r} ({reason}): choose one of {allowed}.')
    scale = SCALES[name]
    print(
        f'scale: {scale.name} ({reason})\n'
        f'{scale.train_images:,} training and {scale.test_images:,} test images, '
        f'{scale.epochs} epochs, batch size / {scale.batch_divisor}, ResNet width {scale.width}'
    )
    return scale

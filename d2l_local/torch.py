"""Every name of the module, for code that says `from d2l_local import torch as d2l`."""

from .data import ImageDataset, batches, load_data_fashion_mnist
from .devices import num_gpus, replica_devices, synchronize, try_all_gpus, try_gpu
from .evaluate import accuracy, evaluate_accuracy_gpu
from .launcher import LaunchError, launch
from .measure import Accumulator, Timer
from .networks import Residual, resnet18
from .parallel import split_batch
from .published import published_runs
from .recorded import recorded_runs
from .scale import SCALES, Scale, choose_scale

# matplotlib takes a second to import and many scripts never plot, so these names load it when first used.
_PLOTTING = ('Animator', 'plot', 'plot_ranges', 'plt', 'set_axes', 'set_figsize', 'use_svg_display')

__all__ = [
    'Accumulator',
    'ImageDataset',
    'LaunchError',
    'Residual',
    'SCALES',
    'Scale',
    'Timer',
    'accuracy',
    'batches',
    'choose_scale',
    'evaluate_accuracy_gpu',
    'launch',
    'load_data_fashion_mnist',
    'num_gpus',
    'published_runs',
    'recorded_runs',
    'replica_devices',
    'resnet18',
    'split_batch',
    'synchronize',
    'try_all_gpus',
    'try_gpu',
    *_PLOTTING,
]


def __getattr__(name):
    if name in _PLOTTING:
        from . import plotting

        return getattr(plotting, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__():
    return __all__

"""The runs that `python -m d2l_local.record` has recorded and that come with the course."""

import json
from pathlib import Path
from typing import NamedTuple

from .recipe import Recipe

_PACKAGE = Path(__file__).parent
# Beside the modules where the package is installed; beside the package in the repository.
FOLDERS = (_PACKAGE / 'results', _PACKAGE.parent / 'results')


class RecordedRun(NamedTuple):
    """A recorded run.

    `recipe` decides the result; `epochs` holds a dict for each epoch: 'train_loss' (mean over the epoch),
    'test_accuracy' and 'test_accuracy_reestimated' (0 to 1; the second with batch normalization statistics averaged
    afresh), 'seconds' (training only). `command` repeats the run. The other fields say where and when it ran.
    """

    recipe: Recipe
    epochs: list
    command: str
    processes: int
    hardware: dict
    precision: str
    versions: dict
    date: str

    def curve(self, name='test_accuracy'):
        """The number of that name after each epoch."""
        return [epoch[name] for epoch in self.epochs]


def recorded_runs(folder=None, **settings):
    """Return recorded runs, in order of their recipes, which differ only in the seed if `settings` are given.

    Args:
        folder: where the JSON files are; by default the results that come with the course.
        settings: what the recipe of the runs has other than the defaults of `Recipe`, for example `width=8,
            batch_size=512`. The seed may be anything, unless it is given. Without settings, every run is returned.

    Returns:
        A list of `RecordedRun`.

    Raises:
        ValueError: if no run is recorded with these settings, or `Recipe` refuses them.
    """
    folders = FOLDERS if folder is None else (Path(folder),)
    paths = next((paths for paths in (sorted(folder.glob('*.json')) for folder in folders) if paths), [])
    runs = sorted((_read(path) for path in paths), key=lambda run: tuple(vars(run.recipe).values()))
    if settings:
        wanted = vars(Recipe(**settings))
        if 'seed' not in settings:
            del wanted['seed']
        runs = [run for run in runs if wanted.items() <= vars(run.recipe).items()]
    if not runs:
        raise ValueError(
            f'no run is recorded with {settings or "any settings"}: record it with `python -m d2l_local.record`.'
        )
    return runs


def _read(path):
    run = json.loads(path.read_text(encoding='utf-8'))
    return RecordedRun(recipe=Recipe(**run.pop('recipe')), **run)

"""Recorded runs: found by their settings, wherever the package is."""

import json
import shlex

import pytest

from d2l_local import record, recorded
from d2l_local import torch as d2l
from d2l_local.recipe import Recipe

EPOCH = {'epoch': 1, 'train_loss': 0.5, 'test_accuracy': 0.8, 'test_accuracy_reestimated': 0.9, 'seconds': 2.0}


@pytest.fixture
def folder(tmp_path):
    for recipe in (Recipe(), Recipe(seed=1), Recipe(seed=10), Recipe(lr=0.2, seed=1), Recipe(lr=0.2, width=8)):
        content = {
            'command': 'python -m d2l_local.record',
            'recipe': vars(recipe),
            'epochs': [EPOCH, {**EPOCH, 'epoch': 2, 'test_accuracy': 0.7}],
            'processes': 1,
            'hardware': {'device': 'x', 'threads': 1},
            'precision': 'float32',
            'versions': {'torch': '2'},
            'date': '2026-01-01',
        }
        (tmp_path / f'{record.name(recipe)}.json').write_text(json.dumps(content))
    return tmp_path


def test_runs_are_found_by_what_differs_from_the_default_recipe(folder):
    assert [run.recipe for run in d2l.recorded_runs(folder, lr=0.2)] == [Recipe(lr=0.2, seed=1)]
    assert [run.recipe for run in d2l.recorded_runs(folder, lr=0.2, width=8)] == [Recipe(lr=0.2, width=8)]
    assert [run.recipe.seed for run in d2l.recorded_runs(folder, lr=0.1)] == [0, 1, 10]
    assert [run.recipe.seed for run in d2l.recorded_runs(folder, seed=1)] == [1]


def test_without_settings_every_run_is_there(folder):
    assert len(d2l.recorded_runs(folder)) == 5


def test_a_curve_has_one_number_for_each_epoch(folder):
    (run,) = d2l.recorded_runs(folder, lr=0.2)
    assert (run.curve(), run.curve('train_loss')) == ([0.8, 0.7], [0.5, 0.5])


def test_settings_that_nobody_recorded_are_an_error(folder, tmp_path):
    with pytest.raises(ValueError, match=r"no run is recorded with {'lr': 0.3}: record it with"):
        d2l.recorded_runs(folder, lr=0.3)
    with pytest.raises(ValueError, match='unknown schedule'):
        d2l.recorded_runs(folder, schedule='step')
    with pytest.raises(ValueError, match='no run is recorded with any settings'):
        d2l.recorded_runs(tmp_path / 'empty')


def test_results_of_the_installed_package_come_before_those_of_a_folder_around_it(folder, monkeypatch):
    outside = folder / 'outside'
    outside.mkdir()
    monkeypatch.setattr(recorded, 'FOLDERS', (folder / 'missing', folder, outside))
    assert len(d2l.recorded_runs()) == 5


RUNS = [pytest.param(run, id=record.name(run.recipe)) for run in d2l.recorded_runs()]


@pytest.mark.parametrize('run', RUNS)
def test_a_committed_run_is_whole_and_says_how_to_repeat_it(root, run):
    assert (root / 'results' / f'{record.name(run.recipe)}.json').is_file()
    assert run.curve('epoch') == list(range(1, run.recipe.epochs + 1))
    for epoch in run.epochs:
        assert 0 <= epoch['test_accuracy'] <= 1 and 0 <= epoch['test_accuracy_reestimated'] <= 1
        assert epoch['train_loss'] > 0 and epoch['seconds'] > 0
    words = shlex.split(run.command)
    options = record.parse(words[words.index('d2l_local.record') + 1 :])
    given = {name: value for name, value in vars(options).items() if name in vars(run.recipe)}
    assert Recipe(**{**given, 'replicas': given['replicas'] or run.processes}) == run.recipe
    assert run.versions['torch'] and run.date and run.hardware['device']

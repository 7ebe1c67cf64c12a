import shutil
import statistics
import subprocess
import sys
import zipfile

import pytest

import d2l_local
import d2l_local.torch


def python(code, folder):
    run = subprocess.run(
        [sys.executable, '-c', code],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


@pytest.fixture(scope='module')
def wheel(root, tmp_path_factory):
    """Build a wheel without a network, from a copy that has no older build beside it."""
    source, out = tmp_path_factory.mktemp('source'), tmp_path_factory.mktemp('wheel')
    for name in ('pyproject.toml', 'requirements.txt'):
        shutil.copy(root / name, source)
    for folder in ('d2l_local', 'results'):
        shutil.copytree(root / folder, source / folder, ignore=shutil.ignore_patterns('__pycache__'))
    command = [
        sys.executable,
        '-m',
        'pip',
        'wheel',
        '--no-deps',
        '--no-build-isolation',
        '--no-index',
        '-w',
        out,
        source,
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    return next(out.glob('d2l_local-*.whl'))


@pytest.mark.parametrize('module', [d2l_local, d2l_local.torch])
def test_both_ways_of_importing_give_every_name(module):
    for name in d2l_local.torch.__all__:
        assert getattr(module, name) is getattr(d2l_local.torch, name)
    assert set(dir(module)) >= set(d2l_local.torch.__all__)


def test_the_names_of_d2l_are_there():
    names = """try_gpu try_all_gpus num_gpus Timer Accumulator Animator accuracy evaluate_accuracy_gpu
    load_data_fashion_mnist split_batch Residual resnet18 plt set_axes use_svg_display set_figsize plot"""
    assert set(names.split()) <= set(d2l_local.torch.__all__)


@pytest.mark.parametrize('module', [d2l_local, d2l_local.torch])
def test_an_unknown_name_is_an_attribute_error(module):
    with pytest.raises(AttributeError, match='no_such_name'):
        module.no_such_name  # noqa: B018


def test_the_wheel_holds_every_file_of_the_package(root, wheel):
    files = {path for path in (root / 'd2l_local').rglob('*') if path.is_file() and '__pycache__' not in path.parts}
    with zipfile.ZipFile(wheel) as content:
        packed = set(content.namelist())
    assert {path.relative_to(root).as_posix() for path in files} <= packed
    assert {f'd2l_local/results/{path.name}' for path in (root / 'results').glob('*.json')} <= packed
    assert {'d2l_local/sample/fashion_mnist.npz', 'd2l_local/sample/LICENSE'} <= packed
    assert all(name.split('/')[0].startswith('d2l_local') for name in packed)


@pytest.fixture(scope='module')
def imports(wheel, tmp_path_factory):
    """Import the wheel's `d2l_local` in fresh processes, beside torch and then beside torchvision."""
    folder = tmp_path_factory.mktemp('installed')
    with zipfile.ZipFile(wheel) as content:
        content.extractall(folder)
    return python(IMPORTS, folder)


IMPORTS = """
import os, sys, time
import torch

if os.fork() == 0:
    import d2l_local as d2l
    from d2l_local import torch
    train, test = d2l.load_data_fashion_mnist(64, scale=d2l.SCALES['rehearsal'])
    loaded = [name for name in ('matplotlib', 'torchvision', 'PIL', 'IPython') if name in sys.modules]
    d2l.plt
    paths = os.path.dirname(d2l.__file__) == os.path.join(os.getcwd(), 'd2l_local')
    print([paths, len(train.dataset), len(test.dataset), loaded, 'matplotlib' in sys.modules], flush=True)
    os._exit(0)
os.wait()

import torchvision
for _ in range(3):
    if os.fork() == 0:
        start = time.perf_counter()
        import d2l_local
        print(time.perf_counter() - start, flush=True)
        os._exit(0)
    os.wait()
"""


def test_the_wheel_works_and_loads_neither_matplotlib_nor_torchvision_until_they_are_used(imports):
    assert imports[0] == '[True, 4000, 1000, [], True]'


def test_importing_costs_at_most_half_a_second_more_than_torch_and_torchvision(imports):
    seconds = [float(line) for line in imports[1:]]
    assert len(seconds) == 3 and statistics.median(seconds) <= 0.5

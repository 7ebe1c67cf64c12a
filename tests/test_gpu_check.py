"""`make gpu-check` on a CPU, where torch, torchvision and numpy are there and the other libraries are not."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys

import gpu_check
import psutil
import pytest
import torch

from d2l_local import fashion_mnist

BLOCKED = ('matplotlib', 'tqdm', 'psutil', 'IPython', 'filelock', 'nbformat')


@pytest.fixture
def run(tmp_path):
    """Run the script of a project where some libraries cannot be imported and no GPU is to be seen."""
    (tmp_path / 'sitecustomize.py').write_text(f'import sys\nsys.modules.update(dict.fromkeys({BLOCKED}))\n')
    environment = {name: value for name, value in os.environ.items() if not name.startswith('D2L_LOCAL')}
    environment.update(PYTHONPATH=str(tmp_path), CUDA_VISIBLE_DEVICES='')

    def run(project, *arguments):
        command = [sys.executable, project / 'tests' / 'gpu_check.py', *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
        summary = re.findall(r'^ *[\d.]+ s  (passed|failed|out of time|not started) +(\S+)', done.stdout, re.MULTILINE)
        done.outcomes = {name: outcome for outcome, name in summary}
        return done

    return run


def write_notebook(folder, name, *codes):
    cells = [{'cell_type': 'markdown', 'id': 'title', 'source': ['# Title']}]
    for i, code in enumerate(codes):
        cells.append({'cell_type': 'code', 'id': f'cell-{i}', 'source': code.strip('\n').splitlines(keepends=True)})
    (folder / f'{name}.ipynb').write_text(json.dumps({'cells': cells}))


def test_real_notebooks_and_a_recorded_run_at_smoke_scale(root, run, tmp_path):
    (tmp_path / 'results').mkdir()
    older = tmp_path / 'results' / 'older.json'
    older.write_text('not of this run')
    os.utime(older, (0, 0))
    done = run(
        root, 'setup', 'multiple-gpus-concise', 'recorded-runs', '--scale=smoke', f'--results={tmp_path / "results"}'
    )
    assert done.returncode == 0, done.stdout + done.stderr
    notebooks = ('setup', 'multiple-gpus-concise', 'recorded-runs')
    assert done.outcomes == {**dict.fromkeys(notebooks, 'passed'), 'record': 'passed'}
    assert 'scale: smoke (from D2L_LOCAL_SCALE)' in done.stdout
    assert all(
        f'{name} is missing: done without' in done.stdout for name in ('IPython', 'matplotlib', 'psutil', 'tqdm')
    )
    (path,) = (tmp_path / 'results').glob('resnet18*.json')
    assert re.search(rf'{re.escape(path.name)}: \d+\.\d+ s per epoch on .* CPU, test acc 0\.\d+', done.stdout)


def test_every_notebook_runs_failures_are_shown_and_nothing_outlives_the_time_budget(root, run, tmp_path):
    project = tmp_path / 'project'
    chapters = project / 'chapters' / 'en'
    chapters.mkdir(parents=True)
    (project / 'tests').mkdir()
    shutil.copy(root / 'tests' / 'gpu_check.py', project / 'tests')
    shutil.copytree(root / 'd2l_local', project / 'd2l_local', ignore=shutil.ignore_patterns('__pycache__'))
    write_notebook(
        chapters,
        'fails',
        'def divide(a, b):\n    return a / b  # the line to be shown',
        'divide(1, 0)',
        'print("after the failure")',
    )
    write_notebook(
        chapters,
        'hangs',
        f'%%writefile hang.py\nimport time\nprint("hanging", flush=True)\ntime.sleep(600)  # {tmp_path}',
        'from d2l_local import torch as d2l\nd2l.launch("hang.py", 1, "--mark-of-the-test")',
    )
    write_notebook(
        chapters,
        'draws',
        """
import inspect
from d2l_local import torch as d2l

def square(x):
    return x * x

assert 'x * x' in inspect.getsource(square)
d2l.plot([1, 2], [[1, 2], [2, 1]], legend=['a', 'b'])
animator = d2l.Animator('epoch')
animator.add(1, (2, 3))
_, ((a, b), (c, d)) = d2l.plt.subplots(2, 2)
_, axes = d2l.plt.subplots(1, 3)
for axis in axes.flat:
    axis.imshow(1)
_, axis = d2l.plt.subplots()
axis.plot(1, 2)
print('drawn', len(axes))
""",
    )
    done = run(project, '--scale=smoke', '--seconds=35')
    assert done.returncode == 1
    assert done.outcomes == {
        'draws': 'passed',
        'fails': 'failed',
        'hangs': 'out of time',
        'record': 'not started',
    }
    assert 'drawn 3' in done.stdout and 'hanging' in done.stdout and 'after the failure' not in done.stdout
    assert 'return a / b  # the line to be shown' in done.stderr and 'ZeroDivisionError' in done.stderr
    assert 'OVER THE TIME BUDGET' in done.stdout
    assert '3 of 4 parts did not pass: fails, hangs, record --width=8' in done.stderr
    marked = [p for p in psutil.process_iter(['cmdline']) if '--mark-of-the-test' in (p.info['cmdline'] or [])]
    assert marked == [], 'the processes that the notebook launched are left'


def test_without_a_gpu_or_the_data_there_is_one_clear_error_at_once(gpus, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gpu_check, 'run_parts', lambda *_: pytest.fail('started'))
    gpus(0)
    with pytest.raises(SystemExit, match='no CUDA GPU. With --scale smoke'):
        gpu_check.main(['--scale=full'])
    gpus(1)
    monkeypatch.setattr(torch.cuda, 'get_device_name', lambda i: 'a GPU')
    monkeypatch.setattr(fashion_mnist, 'folder_on_disk', lambda: None)
    with pytest.raises(SystemExit, match='no Fashion-MNIST. Run `make gpu-check-carry`'):
        gpu_check.main(['--scale=full'])
    with pytest.raises(SystemExit, match='no notebook setpu; there are bibliography'):
        gpu_check.main(['--scale=smoke', 'setpu'])


def test_full_scale_runs_every_notebook_and_records_the_two_runs_into_results(gpus, monkeypatch, tmp_path, root):
    gpus(2)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.cuda, 'get_device_name', lambda i: 'a GPU')
    monkeypatch.setattr(fashion_mnist, 'folder_on_disk', lambda: tmp_path / 'data')
    calls = []
    monkeypatch.setattr(gpu_check, 'run_parts', lambda *arguments: calls.append(arguments) or {})
    with pytest.raises(SystemExit) as ended:
        gpu_check.main(['--scale=full'])
    assert ended.value.code == 0
    ((parts, _, environment, budget),) = calls
    pages = [path.stem for path in sorted((root / 'chapters' / 'en').glob('*.ipynb'))]
    assert [name for name in parts if not name.startswith('record ')] == pages
    runs = [arguments for arguments in parts.values() if arguments[0] == '--record']
    assert [run[1:5] for run in runs] == [
        ['--width=64', '--epochs=10', '--batch-size=256', '--lr=0.1'],
        ['--width=64', '--epochs=10', '--batch-size=512', '--lr=0.2'],
    ]
    assert {run[-1] for run in runs} == {f'--results={root / "results"}'}
    assert environment['D2L_LOCAL_DATA'] == str(tmp_path / 'data') and environment['D2L_LOCAL_SCALE'] == 'full'
    assert budget == 480


def test_what_has_to_be_carried_is_gathered_compressed(tmp_path, monkeypatch, capsys):
    source, target = tmp_path / 'source', tmp_path / 'data'
    source.mkdir()
    names = fashion_mnist._names()
    for name in names[:3]:
        (source / f'{name}.gz').write_bytes(gzip.compress(name.encode()))
    (source / names[3]).write_bytes(names[3].encode())
    monkeypatch.setenv('D2L_LOCAL_DATA', str(source))
    gpu_check.carry(target)
    assert sorted(path.name for path in target.iterdir()) == sorted(f'{name}.gz' for name in names)
    for name in names:
        assert gzip.decompress((target / f'{name}.gz').read_bytes()) == name.encode()
    assert 'make gpu-check PYTHON=python3' in capsys.readouterr().out

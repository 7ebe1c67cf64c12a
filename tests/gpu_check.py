"""Run every notebook and record two runs on a machine with GPUs: `make gpu-check`.

Needs torch, torchvision and numpy, and no network. What else the notebooks use has a stand-in here; the full
Fashion-MNIST is carried along in `data/` (`make gpu-check-carry` puts it there).
"""

import argparse
import gzip
import importlib.machinery
import json
import linecache
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
import types
from pathlib import Path
from unittest.mock import MagicMock

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

TIME_BUDGET = 480  # seconds for everything
GRACE = 20  # seconds in which a part that was interrupted can end its processes

# The runs to record at each scale: options of `python -m d2l_local.record`.
RUNS = {
    'full': [
        ['--width=64', '--epochs=10', '--batch-size=256', '--lr=0.1'],
        ['--width=64', '--epochs=10', '--batch-size=512', '--lr=0.2'],
    ],
    'smoke': [['--width=8', '--epochs=2', '--images=200', '--batch-size=50', '--threads=1']],
}
RUNS['rehearsal'] = RUNS['smoke']


def main(arguments=None):
    options = parse(arguments)
    if options.carry:
        carry(ROOT / 'data')
    elif options.notebook or options.record:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # also where this was started in the background
        stand_in_for_missing_modules()
        run_notebook(options.notebook) if options.notebook else record(options.record)
    else:
        check(options)


def parse(arguments):
    parser = argparse.ArgumentParser(prog='gpu_check.py', description=__doc__.splitlines()[0])
    parser.add_argument('pages', nargs='*', help='notebooks to run, by name without folder; all by default')
    parser.add_argument(
        '--scale',
        choices=list(RUNS),
        default=os.environ.get('D2L_LOCAL_SCALE') or 'full',
        help='of the runs; smoke checks this script on a CPU; default: D2L_LOCAL_SCALE, or full',
    )
    parser.add_argument('--results', type=Path, help='where runs are recorded; default: results/, if the scale is full')
    parser.add_argument('--seconds', type=float, default=TIME_BUDGET, help=f'for everything; default: {TIME_BUDGET}')
    parser.add_argument('--carry', action='store_true', help='only gather in data/ what has to be carried along')
    parser.add_argument('--notebook', type=Path, help=argparse.SUPPRESS)  # one part, in a process of its own
    parser.add_argument('--record', nargs=argparse.REMAINDER, help=argparse.SUPPRESS)  # likewise
    return parser.parse_args(arguments)


def check(options):
    """Run all parts one after the other, each in a process of its own, and say how long each one took."""
    import torch
    import torchvision

    from d2l_local import fashion_mnist

    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    print(f'torch {torch.__version__}, torchvision {torchvision.__version__}, GPUs: {", ".join(gpus) or "none"}')
    environment = {**os.environ, 'D2L_LOCAL_SCALE': options.scale, 'MPLBACKEND': 'agg', 'PYTHONUNBUFFERED': '1'}
    environment['PYTHONPATH'] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get('PYTHONPATH')]))
    if options.scale == 'full':
        if not gpus:
            sys.exit('gpu-check: there is no CUDA GPU. With --scale smoke, a CPU checks everything but the speed.')
        os.chdir(ROOT)  # where data/ is
        data = fashion_mnist.folder_on_disk()
        if data is None:
            sys.exit('gpu-check: no Fashion-MNIST. Run `make gpu-check-carry` where it is, and bring data/ along.')
        environment['D2L_LOCAL_DATA'] = str(data)
    notebooks = {path.stem: path for path in sorted((ROOT / 'chapters' / 'en').glob('*.ipynb'))}
    unknown = set(options.pages) - set(notebooks)
    if unknown:
        sys.exit(f'gpu-check: no notebook {", ".join(sorted(unknown))}; there are {", ".join(notebooks)}.')
    with tempfile.TemporaryDirectory() as folder:
        results = options.results or (ROOT / 'results' if options.scale == 'full' else Path(folder) / 'results')
        parts = {page: ['--notebook', str(notebooks[page])] for page in options.pages or notebooks}
        for run in RUNS[options.scale]:
            parts[' '.join(['record', *run])] = ['--record', *run, f'--results={results.resolve()}']
        started = time.time()
        outcomes = run_parts(parts, folder, environment, options.seconds)
        print_recorded(path for path in sorted(results.glob('*.json')) if path.stat().st_mtime >= started)
    failed = [name for name, outcome in outcomes.items() if outcome != 'passed']
    sys.exit(f'gpu-check: {len(failed)} of {len(parts)} parts did not pass: {", ".join(failed)}' if failed else 0)


def run_parts(parts, folder, environment, budget):
    """Run parts of this script in `folder`, in `budget` seconds; print a summary; return what became of each part."""
    started = time.monotonic()
    outcomes, seconds = {}, {}
    for name, arguments in parts.items():
        print(f'\n=== {name}', flush=True)
        part_started = time.monotonic()
        command = [sys.executable, str(Path(__file__).resolve()), *arguments]
        outcomes[name] = run_part(command, folder, environment, budget - (part_started - started))
        seconds[name] = time.monotonic() - part_started
    total = time.monotonic() - started
    print(f'\n=== {total:.0f} s of {budget:.0f} s' + (': OVER THE TIME BUDGET' if total > budget else ''))
    for name, outcome in outcomes.items():
        print(f'{seconds[name]:6.1f} s  {outcome:12} {name}')
    return outcomes


def run_part(command, folder, environment, seconds_left):
    """Run a command to its end; returns 'passed', 'failed', 'out of time' or 'not started'."""
    if seconds_left <= 0:
        return 'not started'
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL)
    try:
        return 'failed' if process.wait(seconds_left) else 'passed'
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # as the stop button of a notebook does, so that `launch` ends its processes
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            pass
        return 'out of time'
    finally:
        process.kill()
        process.wait()


def print_recorded(paths):
    for path in paths:
        run = json.loads(path.read_text(encoding='utf-8'))
        last = run['epochs'][-1]
        seconds = statistics.median(epoch['seconds'] for epoch in run['epochs'])
        print(
            f'{path.name}: {seconds:.2f} s per epoch on {run["hardware"]["device"]}, '
            f'test acc {last["test_accuracy"]:.3f} ({last["test_accuracy_reestimated"]:.3f} re-estimated)'
        )


def record(arguments):
    from d2l_local import record

    record.main(arguments)


def run_notebook(path):
    """Execute the code cells of a notebook from top to bottom, as the code of `__main__`."""
    main_module = sys.modules['__main__'] = types.ModuleType('__main__')
    for cell in json.loads(path.read_text(encoding='utf-8'))['cells']:
        code = ''.join(cell['source'])
        if cell['cell_type'] != 'code':
            continue
        if code.startswith('%%writefile '):
            first_line, _, text = code.partition('\n')
            Path(first_line.split()[1]).write_text(text, encoding='utf-8')
            continue
        print(f'--- {cell["id"]}', flush=True)
        name = f'{path.stem}, cell {cell["id"]}'
        linecache.cache[name] = len(code), None, code.splitlines(keepends=True), name  # for tracebacks and inspect
        try:
            exec(compile(code, name, 'exec'), vars(main_module))
        except Exception:
            traceback.print_exc()  # with the lines of the cell, which Python's own report of an error does not look up
            sys.exit(1)


def stand_in_for_missing_modules():
    """Let imports of libraries that are missing here succeed, with the little that the course uses of them."""
    stand_ins = {
        'IPython': ipython_stand_in,
        'matplotlib': matplotlib_stand_in,
        'psutil': psutil_stand_in,
        'tqdm': tqdm_stand_in,
    }
    for name, make in stand_ins.items():
        try:
            importlib.import_module(name)
        except ImportError:
            print(f'{name} is missing: done without')
            sys.modules.update(make())


def module(name, **content):
    made = types.ModuleType(name)
    made.__spec__ = importlib.machinery.ModuleSpec(name, loader=None)  # torch looks whether there is one
    vars(made).update(content)
    return made


def matplotlib_stand_in():
    """Drawing calls that draw nothing."""
    import numpy as np

    def subplots(nrows=1, ncols=1, **_):
        axes = np.empty((nrows, ncols), dtype=object)
        for index in np.ndindex(axes.shape):
            axes[index] = MagicMock()
        return MagicMock(), axes.squeeze() if axes.size > 1 else axes[0, 0]

    pyplot = MagicMock(subplots=subplots)
    return {'matplotlib': module('matplotlib', pyplot=pyplot), 'matplotlib.pyplot': pyplot}


def ipython_stand_in():
    """Nobody to show a table to."""
    display = module('IPython.display', Markdown=str)
    return {'IPython': module('IPython', display=display, get_ipython=lambda: None), 'IPython.display': display}


def tqdm_stand_in():
    """A loop without a progress bar."""
    return {'tqdm': module('tqdm', tqdm=lambda iterable, *_, **__: iterable)}


def psutil_stand_in():
    """The processes of a Linux machine, as `launch` looks for its own."""

    def process_iter(_):
        for folder in Path('/proc').glob('[0-9]*'):
            try:
                pairs = [pair.partition('=') for pair in (folder / 'environ').read_text(errors='replace').split('\0')]
                parent = int((folder / 'stat').read_text().rpartition(')')[2].split()[1])
            except OSError:
                continue  # it has just ended, or belongs to somebody else
            info = {'environ': {name: value for name, _, value in pairs}, 'ppid': parent}
            yield types.SimpleNamespace(pid=int(folder.name), info=info)

    return {'psutil': module('psutil', process_iter=process_iter)}


def carry(target):
    """Gather the full Fashion-MNIST in `target`, compressed, from wherever it is found or can be downloaded."""
    from d2l_local import fashion_mnist

    source = fashion_mnist.find_folder()
    target.mkdir(exist_ok=True)
    for name in fashion_mnist._names():
        path, copy = fashion_mnist._find_file(source, name), target / f'{name}.gz'
        if copy.exists():
            continue
        if path.suffix == '.gz':
            shutil.copyfile(path, copy)
        else:
            copy.write_bytes(gzip.compress(path.read_bytes()))
    size = sum(path.stat().st_size for path in target.glob('*.gz')) / 1e6
    print(f'{target} holds Fashion-MNIST ({size:.0f} MB). Carry the repository with it to the machine with the GPU,')
    print('and run there: make gpu-check PYTHON=python3')


if __name__ == '__main__':
    main()

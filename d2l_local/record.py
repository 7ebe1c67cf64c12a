"""Record a run: `python -m d2l_local.record --width 8 --batch-size 512 --lr 0.2`.

Trains the module's ResNet-18 on Fashion-MNIST and writes one JSON file into `results/`: configuration, what each epoch
brought, hardware, versions, date. Under `torchrun --nproc_per_node=N` there is one process for each of N replicas.
"""

import argparse
import dataclasses
import datetime
import json
import os
import platform
import shlex
import sys
import time
from pathlib import Path

import torch
from torch import distributed as dist
from tqdm import tqdm

from . import fashion_mnist, sample
from .recipe import INITIALIZATIONS, SCHEDULES, Recipe
from .training import Run, save

GRACE = 5  # seconds in which process 0 can report an error for all
CHOICES = {'schedule': SCHEDULES, 'init': INITIALIZATIONS}


def main(arguments=None):
    options = parse(arguments)
    is_launched = 'RANK' in os.environ
    try:
        try:
            run = prepare(options, is_launched)
        except (ValueError, OSError, fashion_mnist.DataError) as error:
            stop(error)
        if run.recipe.reused and not run.epochs:
            earlier = start(run.recipe.earlier, options, run.device)
            train(earlier, options)
            run.reuse(earlier.net)
        train(run, options)
    finally:
        if is_launched and dist.is_initialized():
            dist.destroy_process_group()


def prepare(options, is_launched):
    """Return the `Run` that the options ask for, as far as its checkpoint has come.

    Raises:
        ValueError, OSError, d2l_local.fashion_mnist.DataError: if options, checkpoint, folder or data do not allow it.
    """
    if options.threads is not None:
        if options.threads < 1:
            raise ValueError(f'threads {options.threads}: give a whole number of at least 1.')
        torch.set_num_threads(options.threads)
    processes = int(os.environ.get('WORLD_SIZE', 1))
    fields = {field.name: getattr(options, field.name) for field in dataclasses.fields(Recipe)}
    if fields['replicas'] is None:
        fields['replicas'] = processes
    recipe = Recipe(**fields)
    options.results.mkdir(parents=True, exist_ok=True)
    device = choose_device(processes)
    if is_launched:
        dist.init_process_group('nccl' if device.type == 'cuda' else 'gloo')
    if recipe.reused and processes > 1:
        raise ValueError(f'{processes} processes for a reused net: start one, without torchrun.')
    return start(recipe, options, device)


def start(recipe, options, device):
    """Return the `Run` of a recipe, as far as its checkpoint has come."""
    run = Run(recipe, load_data(recipe), device, amp=options.amp, compile=options.compile)
    if options.resume and checkpoint_path(recipe, options).is_file():
        resume(run, checkpoint_path(recipe, options))
    return run


def stop(error):
    """End this process with one line. Process 0 speaks for all: `torchrun` ends the others while they wait."""
    if int(os.environ.get('RANK', 0)) > 0:
        time.sleep(GRACE)
    sys.exit(f'record: {error}')


def parse(arguments):
    """The options of the command line; those of a `Recipe` have its names and defaults."""
    parser = argparse.ArgumentParser(prog='python -m d2l_local.record', description=__doc__.splitlines()[0])
    for field in dataclasses.fields(Recipe):
        flag = f'--{field.name.replace("_", "-")}'
        if field.type is bool:
            parser.add_argument(flag, action='store_true', help='default: not')
            continue
        parser.add_argument(
            flag,
            type=field.type,
            default=None if field.name == 'replicas' else field.default,
            choices=CHOICES.get(field.name),
            help=f'default: {"the number of processes" if field.name == "replicas" else field.default}',
        )
    parser.add_argument('--threads', type=int, help='CPU threads of a process; with 1, a CPU repeats a run bit for bit')
    parser.add_argument('--amp', action='store_true', help='compute in bfloat16 where that is safe')
    parser.add_argument('--compile', action='store_true', help='let torch.compile fuse operations')
    parser.add_argument(
        '--resume', action='store_true', help='go on from the checkpoint of the same run, if there is one'
    )
    parser.add_argument('--results', type=Path, default=Path('results'), help='folder of the JSON file and checkpoint')
    return parser.parse_args(arguments)


def choose_device(processes):
    """A GPU of its own for each process where there are enough; otherwise the CPU."""
    if torch.cuda.device_count() >= processes:
        return torch.device('cuda', int(os.environ.get('LOCAL_RANK', 0)))
    return torch.device('cpu')


def load_data(recipe):
    """Training and test images with their labels: the sample that comes with the module where it suffices for `images`.

    Evaluation uses the 10,000 test images, or the 1,000 of the sample.
    """
    source = sample if recipe.images <= sample.COUNTS['train'] else fashion_mnist
    return *source.load('train'), *source.load('t10k')


def resume(run, checkpoint):
    """Go on from a checkpoint.

    Raises:
        ValueError: if it belongs to another run or is damaged.
    """
    try:
        run.load_state(torch.load(checkpoint, map_location=run.device, weights_only=True))
    except ValueError:
        raise
    except Exception as error:  # torch.load raises many kinds
        reason = str(error).partition('\n')[0]
        raise ValueError(f'{checkpoint} is damaged ({reason}). Resume without it, or remove it.') from error


def train(run, options):
    """Train epoch by epoch, with a checkpoint after each and the result in a JSON file at the end."""
    recipe, is_first = run.recipe, run.rank == 0
    checkpoint = checkpoint_path(recipe, options)
    while len(run.epochs) < recipe.epochs:
        label = f'epoch {len(run.epochs) + 1}/{recipe.epochs}'
        for _ in tqdm(
            run.train_epoch(),
            label,
            recipe.steps_per_epoch,
            unit='step',
            leave=False,
            disable=None if is_first else True,
        ):
            pass
        if is_first:
            save(run.state(), checkpoint)
            last = run.epochs[-1]
            print(
                f'{label}: train loss {last["train_loss"]:.3f}, test acc {last["test_accuracy"]:.3f} '
                f'({last["test_accuracy_reestimated"]:.3f} with statistics re-estimated), {last["seconds"]:.1f} s',
                flush=True,
            )
    if is_first:
        path = options.results / f'{name(recipe)}.json'
        path.write_text(json.dumps(result(run, options), indent=1) + '\n', encoding='utf-8')
        checkpoint.unlink()
        print(path)


def checkpoint_path(recipe, options):
    return options.results / f'{name(recipe)}.checkpoint'


def name(recipe):
    """A file name that tells runs apart: every value that differs from the default."""
    return '_'.join(['resnet18', *('-'.join(words) for words in settings(recipe))])


def settings(recipe):
    """The values of a recipe that differ from the default, as pairs of words; one word for a switch."""
    for field in dataclasses.fields(Recipe):
        value, key = getattr(recipe, field.name), field.name.replace('_', '-')
        if value != field.default:
            yield [key] if value is True else [key, str(value)]


def result(run, options):
    """The content of the JSON file."""
    recipe = run.recipe
    return {
        'command': command(run, options),
        'recipe': vars(recipe),
        'epochs': run.epochs,
        'processes': run.processes,
        'hardware': {
            'device': torch.cuda.get_device_name(run.device)
            if run.device.type == 'cuda'
            else platform.machine() + ' CPU',
            'threads': torch.get_num_threads(),
        },
        'precision': 'bfloat16 (autocast)' if run.amp else 'float32',
        'versions': {'python': platform.python_version(), 'torch': torch.__version__},
        'date': datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
    }


def command(run, options):
    """The command that repeats a run."""
    words = ['python', '-m', 'd2l_local.record']
    if run.processes > 1:
        words = ['torchrun', '--standalone', '--local_addr=127.0.0.1', f'--nproc_per_node={run.processes}', *words[1:]]
    for key, *value in settings(run.recipe):
        words += [f'--{key}', *value]
    words += ['--threads', str(options.threads)] if options.threads else []
    words += ['--amp'] * options.amp + ['--compile'] * options.compile
    return shlex.join(words)


if __name__ == '__main__':
    main()

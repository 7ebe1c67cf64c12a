"""The scripts of the section on distributed data parallelism, in real processes, and the traps that it lists."""

import ast
import contextlib
import subprocess
import sys

import pytest
import torch
from torch import distributed as dist
from torch import nn
from torch.utils.data.distributed import DistributedSampler

import d2l_local.torch as d2l
from book import languages, notebooks

PAGE = languages.source().folder / 'distributed-data-parallel.ipynb'
ROUNDING = 1e-5  # relative to the length of a step


def cells():
    return {cell.id: cell.source for cell in notebooks.read(PAGE).cells if cell.cell_type == 'code'}


def scripts():
    """The text of each script that the page writes, by its file name."""
    written = {}
    for source in cells().values():
        if source.startswith('%%writefile '):
            first, _, rest = source.partition('\n')
            written[first.split()[1]] = rest.rstrip('\n') + '\n'
    return written


@pytest.fixture(scope='module')
def launch(tmp_path_factory):
    """Write the scripts of the page, and one more, into an empty folder, and launch that one there."""

    def start(name, text, processes, *arguments, results=None):
        folder = tmp_path_factory.mktemp('scripts')
        for path, content in {**scripts(), name: text}.items():
            (folder / path).write_text(content, encoding='utf-8')
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            patch.delenv('OMP_NUM_THREADS', raising=False)
            patch.setenv('CUDA_VISIBLE_DEVICES', '')
            return folder, d2l.launch(name, processes, *arguments, results=results, time_limit=120)

    return start


@pytest.mark.parametrize('name', list(scripts()))
def test_a_script_is_formatted_like_the_cells_of_the_page(name):
    for command in (['check', '--quiet'], ['format', '--check', '--quiet']):
        line = [sys.executable, '-m', 'ruff', *command, '--stdin-filename', str(PAGE.parent / name), '-']
        done = subprocess.run(line, input=scripts()[name], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_script_runs_only_when_it_is_started():
    for name, text in scripts().items():
        calls = [node for node in ast.parse(text).body if isinstance(node, ast.Expr)]
        assert name == 'hello.py' or calls == [], name


# --- equality -------------------------------------------------------------------------------------------------------

EQUALITY = """
import json

from equality import difference
from sync_batch_norm import SyncBatchNorm2d
from torch import distributed as dist
from torch import nn

from d2l_local import torch as d2l

dist.init_process_group('gloo')
k = dist.get_world_size()
_, test_iter = d2l.load_data_fashion_mnist(64, scale=d2l.SCALES['rehearsal'])
images, labels = next(iter(test_iter))
report = {}
for n in (48, 50, 7):  # 48 divides evenly by 1, 2 and 3; 50 and 7 are last batches that do not
    X, y = images[:n], labels[:n]
    sizes = [len(shard) for shard in y.tensor_split(k)]
    report[n] = {
        'plain': difference(X, y, sizes),
        'weighted': difference(X, y, sizes, weighted=True),
        'per process': difference(X, y, sizes, nn.BatchNorm2d, weighted=True),
        'synchronized': difference(X, y, sizes, SyncBatchNorm2d, weighted=True),
        'summed': difference(X, y, sizes, reduction='sum'),
    }
X, y = images, labels
uneven, even = [64 - 8 * (k - 1)] + [8] * (k - 1), [len(shard) for shard in y.tensor_split(k)]
report['uneven'] = {
    'plain': difference(X, y, uneven),
    'weighted': difference(X, y, uneven, weighted=True),
    'synchronized': difference(X, y, uneven, SyncBatchNorm2d, weighted=True),
}
report['parts'] = difference(images[:48], labels[:48], [48 // k] * k, parts=2)
if dist.get_rank() == 0:
    with open('report.json', 'w') as file:
        json.dump(report, file)
dist.destroy_process_group()
"""


@pytest.mark.parametrize('k', [1, 2, 3])
def test_a_step_of_k_processes_is_the_step_of_one(k, launch):
    _, report = launch('compare.py', EQUALITY, k, results='report.json')
    for n in ('48', '50', '7'):
        assert report[n]['weighted'] < ROUNDING and report[n]['synchronized'] < ROUNDING, n
        is_even = int(n) % k == 0
        assert (report[n]['plain'] < ROUNDING) == is_even, n
        assert (report[n]['per process'] > 0.01) == (k > 1), n
        assert report[n]['summed'] == pytest.approx(1 - 1 / k, abs=1e-5), n  # 1 / k of the step that was meant
    assert report['uneven']['weighted'] < ROUNDING and report['uneven']['synchronized'] < ROUNDING
    assert (report['uneven']['plain'] > 0.1) == (k > 1)
    assert report['parts'] < ROUNDING


# --- the training script --------------------------------------------------------------------------------------------


WATCH = """
import torch
import train_ddp
from torch import distributed as dist

from d2l_local import torch as d2l

evaluate = d2l.evaluate_accuracy_gpu


def watch(net, data_iter):
    mine = torch.cat([buffer.float().flatten() for buffer in net.buffers()])
    first = mine.clone()
    dist.broadcast(first, src=0)
    if not torch.equal(mine, first):
        raise RuntimeError('process 0 has other buffers')
    return evaluate(net, data_iter)


d2l.evaluate_accuracy_gpu = watch
train_ddp.train(d2l.SCALES['smoke'], epochs=2)
"""


def test_the_training_script_saves_the_net_whose_accuracy_it_reports(launch, capfd):
    folder, results = launch('watch.py', WATCH, 3, results='train_ddp.json')
    lines = capfd.readouterr().out.splitlines()
    assert [line.split(':')[0] for line in lines] == ['epoch 1', 'epoch 2']  # of one process, not of three
    scale = d2l.SCALES['smoke']
    net = d2l.resnet18(10, width=scale.width)
    state = torch.load(folder / 'train_ddp.pt', weights_only=True)
    net.load_state_dict(state)
    assert results['key'] == f'module.{list(state)[0]}'
    _, test_iter = d2l.load_data_fashion_mnist(100, scale=scale)
    assert results['acc'] == pytest.approx(
        d2l.evaluate_accuracy_gpu(net, test_iter)
    )  # 100 images are not 3 equal shares


# --- traps ----------------------------------------------------------------------------------------------------------

TRAPS = """
import datetime
import json

import torch
from torch import distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data.distributed import DistributedSampler

from d2l_local import torch as d2l

dist.init_process_group('gloo')
rank, k = dist.get_rank(), dist.get_world_size()
report = {}


def same(tensors):
    vector = torch.cat([tensor.detach().float().flatten() for tensor in tensors])
    everybody = [torch.empty_like(vector) for _ in range(k)]
    dist.all_gather(everybody, vector)
    return all(torch.equal(other, everybody[0]) for other in everybody)


def gradients(net):
    return [p.grad for p in net.parameters()]


def backward(net, forward=None):
    net.zero_grad()
    (forward or net)(X).square().mean().backward()


torch.manual_seed(rank)  # another seed in each process
X = torch.randn(8, 4)
plain = nn.Linear(4, 2)
report['start equal before wrapping'] = same(plain.parameters())
net = DistributedDataParallel(plain)
report['start equal after wrapping'] = same(plain.parameters())

backward(net)
report['wrapper averages'] = same(gradients(net))
backward(net, net.module)
report['module averages'] = same(gradients(net))
net = DistributedDataParallel(plain)

with net.no_sync():
    backward(net)
report['no_sync around both communicates'] = same(gradients(net))
net.zero_grad()
loss = net(X).square().mean()
with net.no_sync():
    loss.backward()
report['no_sync around backward communicates'] = same(gradients(net))

wide = DistributedDataParallel(nn.ModuleDict({'used': nn.Linear(4, 2), 'unused': nn.Linear(4, 2)}))
wide.module.forward = lambda X: wide.module['used'](X)
backward(wide)
try:
    backward(wide)
except RuntimeError as error:
    report['unused'] = str(error)
wide = DistributedDataParallel(wide.module, find_unused_parameters=True)
backward(wide)
backward(wide)

data = d2l.ImageDataset(torch.zeros(9, 1, 2, 2, dtype=torch.uint8), torch.arange(9))
shares = d2l.batches(data, 4, sampler=DistributedSampler(data, shuffle=False))
batches = list(shares)
count = torch.tensor(len(batches[0][1]))
dist.all_reduce(count)
report['examples in a step'] = count.item()
hits = len(range(rank, 9, k))  # of a net that is always right
report['own hits over all'] = hits / 9
right = [sum(len(y) for _, y in batches), hits]  # repeats included, and left out
totals = torch.tensor(right)
dist.all_reduce(totals)
report['counted with repeats'], report['counted without'] = totals.tolist()
always_right = iter([y for _, y in batches])
report['accuracy'] = d2l.evaluate_accuracy_gpu(lambda X: next(always_right)[: len(X)], shares, 'cpu')

norm = DistributedDataParallel(nn.BatchNorm1d(4))
backward(norm)
buffers = [buffer.float() for buffer in norm.module.buffers()]
report['buffers equal'] = same(buffers)
for buffer in norm.module.buffers():
    dist.broadcast(buffer, src=0)
report['buffers equal after broadcast'] = same(norm.module.buffers())
report['keys'] = [list(norm.state_dict())[0], list(norm.module.state_dict())[0]]

try:
    nn.SyncBatchNorm(3)(torch.randn(2, 3, 4, 4))
except ValueError as error:
    report['nn.SyncBatchNorm'] = str(error)

# The last one breaks its group: process 0 makes a call that the other does not make.
group = dist.new_group(backend='gloo', timeout=datetime.timedelta(seconds=3))
norm = DistributedDataParallel(nn.BatchNorm1d(4), process_group=group).eval()
if rank == 0:
    norm.module(X)
    report['alone without wrapper'] = 'works'
    try:
        for _ in range(3):
            norm(X)
        report['alone with wrapper'] = 'works'
    except RuntimeError:
        report['alone with wrapper'] = 'waits until the time-out'
dist.barrier()
if rank == 0:
    with open('report.json', 'w') as file:
        json.dump(report, file)
dist.destroy_process_group()
"""


@pytest.fixture(scope='module')
def traps(launch):
    return launch('traps.py', TRAPS, 2, results='report.json')[1]


def test_wrapping_makes_the_replicas_equal(traps):
    assert not traps['start equal before wrapping'] and traps['start equal after wrapping']


def test_trap_a_call_that_one_process_makes_alone(traps):
    assert traps['alone without wrapper'] == 'works'
    assert traps['alone with wrapper'] == 'waits until the time-out'


def test_trap_forward_pass_through_the_module(traps):
    assert traps['wrapper averages'] and not traps['module averages']


def test_trap_parameters_that_take_no_part(traps):
    assert 'finished reduction in the prior iteration' in traps['unused']
    assert 'find_unused_parameters=True' in traps['unused']


def test_trap_the_global_batch_size_in_each_process(traps):
    assert traps['examples in a step'] == 2 * 4


def test_trap_own_hits_divided_by_the_whole_data_set(traps):
    assert traps['own hits over all'] == pytest.approx(1 / 2, abs=0.1)
    assert traps['accuracy'] == 1


def test_trap_repeats_counted(traps):
    assert (traps['counted with repeats'], traps['counted without']) == (10, 9)


def test_trap_buffers_differ(traps):
    assert not traps['buffers equal'] and traps['buffers equal after broadcast']


def test_trap_saved_wrapper(traps):
    wrapped, inside = traps['keys']
    assert wrapped == f'module.{inside}'
    with pytest.raises(RuntimeError, match='Unexpected key.*module.weight'):
        nn.BatchNorm1d(4).load_state_dict({f'module.{k}': v for k, v in nn.BatchNorm1d(4).state_dict().items()})


def test_trap_no_sync_around_the_backward_pass_only(traps):
    assert traps['no_sync around backward communicates'] and not traps['no_sync around both communicates']


def test_trap_no_set_epoch():
    sampler = DistributedSampler(range(100), num_replicas=2, rank=0)
    first = list(sampler)
    assert list(sampler) == first
    sampler.set_epoch(1)
    assert list(sampler) != first


def test_trap_sync_batch_norm_on_a_cpu(traps):
    assert 'GPU' in traps['nn.SyncBatchNorm']


# --- what the text says about processes, and about buckets ----------------------------------------------------------


def test_a_function_of_a_cell_cannot_be_spawned():
    program = (
        'import multiprocessing\n'
        'def work(): pass\n'
        "process = multiprocessing.get_context('spawn').Process(target=work)\n"
        'process.start()\nprocess.join()\nprint(process.exitcode)'
    )
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ['1'] and "AttributeError: Can't get attribute 'work'" in done.stderr


@pytest.mark.skipif(sys.platform != 'linux', reason='about thread pools of Linux')
def test_a_fork_waits_for_threads_that_were_not_copied():
    program = """
import multiprocessing, torch
torch.set_num_threads(2)
def work(): torch.randn(600, 600) @ torch.randn(600, 600)
work()
process = multiprocessing.get_context('fork').Process(target=work)
process.start(); process.join(6); print(process.is_alive()); process.kill()
"""
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ['True'], done.stderr


def test_the_buckets_of_the_page_are_those_of_pytorch():
    names = {'d2l': d2l}
    with contextlib.redirect_stdout(None):
        exec(cells()['buckets'], names)
    parameters = [parameter for _, parameter in reversed(names['named'])]
    limits = [dist._DEFAULT_FIRST_BUCKET_BYTES, 25 * 2**20]
    indices, _ = dist._compute_bucket_assignment_by_size(parameters, limits)
    assert [len(bucket) for bucket in names['buckets']] == [len(bucket) for bucket in indices]

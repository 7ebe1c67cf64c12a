"""Recorded runs: resumable bit for bit, the same alone and in several processes, clear about bad options."""

import json
import os
import subprocess
import sys

import pytest
import torch

from d2l_local import ImageDataset, launch, record, sample, training
from d2l_local.recipe import Recipe
from d2l_local.training import Run

SMALL = {'width': 8, 'images': 90, 'batch_size': 40, 'epochs': 2}
OPTIONS = [f'--{key.replace("_", "-")}={value}' for key, value in SMALL.items()]


@pytest.fixture(autouse=True)
def one_thread():
    """Sums over several threads are not added in the same order every time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def few_test_images(monkeypatch):
    load = sample.load
    monkeypatch.setattr(sample, 'load', lambda split: tuple(part[:200] for part in load(split)))


def run_of(device='cpu', **changes):
    recipe = Recipe(**{**SMALL, **changes})
    return Run(recipe, record.load_data(recipe), torch.device(device))


def epoch(run):
    for _ in run.train_epoch():
        pass
    return run


def weights(run):
    return torch.cat([p.detach().flatten() for p in run.net.parameters()])


def without_seconds(epochs):
    return [{key: value for key, value in one.items() if key != 'seconds'} for one in epochs]


def test_a_run_writes_what_it_did(tmp_path, few_test_images, capsys):
    record.main([*OPTIONS, '--seed=3', f'--results={tmp_path}'])
    (path,) = tmp_path.iterdir()
    result = json.loads(path.read_text())
    assert path.name == 'resnet18_width-8_images-90_batch-size-40_epochs-2_seed-3.json'
    assert result['recipe'] == {**vars(Recipe()), **SMALL, 'seed': 3}
    assert [one['epoch'] for one in result['epochs']] == [1, 2]
    for one in result['epochs']:
        assert one['seconds'] > 0 and 0 <= one['test_accuracy'] <= 1 and one['train_loss'] > 0
    assert result['versions']['torch'] == torch.__version__
    assert str(path) in capsys.readouterr().out


def test_the_command_in_a_result_repeats_it(tmp_path, few_test_images):
    record.main([*OPTIONS, '--lr=0.3', '--schedule=cosine', f'--results={tmp_path}'])
    (path,) = tmp_path.iterdir()
    first = json.loads(path.read_text())
    path.unlink()
    words = first['command'].split()
    assert words[:3] == ['python', '-m', 'd2l_local.record']
    record.main([*words[3:], f'--results={tmp_path}'])
    again = json.loads(path.read_text())
    assert without_seconds(again['epochs']) == without_seconds(first['epochs'])


def test_the_number_of_threads_is_set_and_part_of_the_command(tmp_path, few_test_images, monkeypatch):
    commands = []
    monkeypatch.setattr(record, 'train', lambda run, options: commands.append(record.command(run, options)))
    record.main([*OPTIONS, f'--results={tmp_path}'])
    record.main([*OPTIONS, '--threads=2', f'--results={tmp_path}'])
    assert torch.get_num_threads() == 2
    assert '--threads' not in commands[0] and commands[1].endswith(' --threads 2')


def test_interrupted_and_resumed_equals_uninterrupted_bit_for_bit(tmp_path, few_test_images, monkeypatch):
    whole = epoch(epoch(run_of(schedule='cosine', warmup_epochs=1)))

    class Interrupted(Exception):
        pass

    def train_epoch(self):
        if len(self.epochs) == 1:
            raise Interrupted
        yield from train_whole_epoch(self)

    train_whole_epoch = Run.train_epoch
    options = [*OPTIONS, '--schedule=cosine', '--warmup-epochs=1', f'--results={tmp_path}']
    with monkeypatch.context() as patch, pytest.raises(Interrupted):
        patch.setattr(Run, 'train_epoch', train_epoch)
        record.main(options)
    assert [path.suffix for path in tmp_path.iterdir()] == ['.checkpoint']
    finished = []
    monkeypatch.setattr(record, 'result', lambda run, options: finished.append(run) or {})
    record.main([*options, '--resume'])
    assert torch.equal(weights(finished[0]), weights(whole))
    for name, tensor in whole.net.state_dict().items():
        assert torch.equal(finished[0].net.state_dict()[name], tensor), name
    assert without_seconds(finished[0].epochs) == without_seconds(whole.epochs)
    assert [path.suffix for path in tmp_path.iterdir()] == ['.json']


def test_a_reused_net_keeps_all_but_weights_of_the_earlier_run_which_is_recorded_as_well(
    tmp_path, few_test_images, monkeypatch
):
    runs = []
    train = record.train
    monkeypatch.setattr(record, 'train', lambda run, options: (runs.append((run, state_of(run))), train(run, options)))
    record.main([*OPTIONS, '--replicas=2', '--lr=0.2', '--reused', f'--results={tmp_path}'])
    (earlier, _), (reused, start) = runs
    assert earlier.recipe == Recipe(**{**SMALL, 'batch_size': 20, 'lr': 0.1})
    fresh = run_of(replicas=2, lr=0.2)
    for key, tensor in start.items():
        is_weight = key.endswith('weight') and tensor.ndim > 1
        kept_from = fresh if is_weight else earlier
        assert torch.equal(tensor, kept_from.net.state_dict()[key]), key
    assert not torch.equal(start['0.1.running_mean'], fresh.net.state_dict()['0.1.running_mean'])
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == 2 and names[0].endswith('lr-0.2_epochs-2_reused.json')
    assert json.loads((tmp_path / names[0]).read_text())['command'].endswith('--epochs 2 --reused')


def state_of(run):
    return {key: tensor.clone() for key, tensor in run.net.state_dict().items()}


def test_a_reused_net_needs_one_process(monkeypatch):
    monkeypatch.setenv('WORLD_SIZE', '2')
    with pytest.raises(ValueError, match='2 processes for a reused net: start one'):
        record.prepare(record.parse([*OPTIONS, '--reused']), is_launched=False)


def test_a_narrow_net_trains_as_well():
    assert epoch(run_of(width=2)).epochs[0]['train_loss'] > 0


def test_the_schedule_goes_on_from_epoch_to_epoch():
    run = epoch(epoch(run_of(schedule='cosine')))
    last_step = 2 * run.recipe.steps_per_epoch - 1
    assert run.optimizer.param_groups[0]['lr'] == run.recipe.learning_rate(last_step)


def test_a_checkpoint_of_another_run_is_refused():
    with pytest.raises(ValueError, match='belongs to another run'):
        run_of(seed=1).load_state(run_of(seed=2).state())


def test_a_checkpoint_of_another_run_ends_with_one_clear_line(tmp_path, few_test_images):
    path = tmp_path / 'resnet18_width-8_images-90_batch-size-40_epochs-2.checkpoint'
    training.save(run_of(seed=2).state(), path)
    with pytest.raises(SystemExit, match="^record: the checkpoint belongs to another run: .*'seed': 2"):
        record.main([*OPTIONS, '--resume', f'--results={tmp_path}'])
    assert path.exists()


def test_a_damaged_checkpoint_ends_with_one_clear_line(tmp_path, few_test_images):
    path = tmp_path / 'resnet18_width-8_images-90_batch-size-40_epochs-2.checkpoint'
    training.save(run_of().state(), path)
    whole = path.read_bytes()
    torch.save({'recipe': vars(run_of().recipe)}, tmp_path / 'incomplete')
    torch.save([1, 2], tmp_path / 'list')
    incomplete, other = (tmp_path / 'incomplete').read_bytes(), (tmp_path / 'list').read_bytes()
    for content in (b'', b'no checkpoint', whole[: len(whole) // 2], whole[:-100], incomplete, other):
        path.write_bytes(content)
        with pytest.raises(SystemExit) as stopped:
            record.main([*OPTIONS, '--resume', f'--results={tmp_path}'])
        message = str(stopped.value)
        assert message.startswith(f'record: {path} is damaged (') and 'Resume without it' in message
        assert len(message.splitlines()) == 1


def test_a_checkpoint_holds_nothing_that_could_run_code(tmp_path):
    training.save(epoch(run_of()).state(), tmp_path / 'x.checkpoint')
    assert torch.load(tmp_path / 'x.checkpoint', weights_only=True)['recipe'] == {**vars(Recipe()), **SMALL}
    assert [path.name for path in tmp_path.iterdir()] == ['x.checkpoint']


def test_one_process_for_each_replica_takes_the_steps_of_one_process(tmp_path, replicas=3):
    options = [*OPTIONS, f'--replicas={replicas}', '--epochs=1']
    results = []
    for launcher in (['-m'], ['-m', 'torch.distributed.run', '--local_addr=127.0.0.1', '--standalone',
                              f'--nproc_per_node={replicas}', '-m']):  # fmt: skip
        folder = tmp_path / str(len(results))
        done = subprocess.run(
            [sys.executable, *launcher, 'd2l_local.record', *options, f'--results={folder}'],
            check=True,
            timeout=120,
            capture_output=True,
            text=True,
            env={**os.environ, 'OMP_NUM_THREADS': '1', 'GLOO_SOCKET_IFNAME': 'lo'},
        )
        assert 'deprecated' not in done.stderr
        results.append(json.loads(next(folder.glob('*.json')).read_text()))
    alone, together = results
    assert (alone['processes'], together['processes']) == (1, replicas)
    assert together['epochs'][0]['train_loss'] == pytest.approx(alone['epochs'][0]['train_loss'], rel=1e-4)


SCRIPT = """
import json
import sys

import torch
from torch import distributed as dist

from d2l_local import record
from d2l_local.recipe import Recipe
from d2l_local.training import Run

dist.init_process_group('gloo')
recipe = Recipe(replicas=2, **json.loads(sys.argv[1]))
run = Run(recipe, record.load_data(recipe), torch.device('cpu'))
for _ in run.train_epoch():
    pass
facts = [None, None]
dist.all_gather_object(facts, {'variance': run.net[0][1].running_var.tolist(), **run.epochs[0]})
if run.rank == 0:
    with open('results.json', 'w') as file:
        json.dump(facts, file)
dist.destroy_process_group()
"""


def test_all_processes_evaluate_the_net_with_the_running_statistics_of_the_first_replica(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'script.py').write_text(SCRIPT)
    first, second = launch('script.py', 2, json.dumps(SMALL), results='results.json')
    assert without_seconds([first]) == without_seconds([second])
    alone = epoch(run_of(replicas=2))
    torch.testing.assert_close(torch.tensor(first['variance']), alone.net[0][1].running_var)


@pytest.mark.parametrize('processes', [2, 3, 7])
def test_the_shares_of_the_test_images_add_up_to_all_of_them(monkeypatch, processes):
    run = run_of()
    run.test_set = ImageDataset(run.test_set.images[:1000], run.test_set.labels[:1000])
    monkeypatch.setattr(training, 'EVALUATION_BATCH', 90)
    whole = run._accuracy(run.net)
    monkeypatch.setattr(training.dist, 'all_reduce', lambda tensor: None)
    run.processes, parts = processes, []
    for run.rank in range(processes):
        parts.append(run._accuracy(run.net))
    assert whole > 0 and sum(parts) == pytest.approx(whole)


@pytest.mark.parametrize('threads, width, is_faster', [(1, 8, True), (2, 8, False), (2, 16, True), (1, 4, False)])
def test_channels_lie_side_by_side_where_that_is_faster(threads, width, is_faster):
    torch.set_num_threads(threads)
    run = epoch(run_of(width=width, images=20, epochs=1))
    assert run.net[1][0].conv1.weight.is_contiguous(memory_format=torch.channels_last) == is_faster


def test_the_option_not_to_send_buffers_has_its_name_in_every_pytorch():
    def older(module, broadcast_buffers=True): ...
    def newer(module, broadcast_buffers=None, forward_sync_buffers=None): ...

    assert training._buffers_option(older) == 'broadcast_buffers'
    assert training._buffers_option(newer) == 'forward_sync_buffers'


def test_a_wrong_number_of_processes_ends_with_one_clear_line(tmp_path):
    """The other process waits, and torchrun ends it: it must not say the same again."""
    command = ['-m', 'torch.distributed.run', '--local_addr=127.0.0.1', '--standalone', '--nproc_per_node=2']
    done = subprocess.run(
        [sys.executable, *command, '-m', 'd2l_local.record', *OPTIONS, '--replicas=3', f'--results={tmp_path}'],
        timeout=120,
        capture_output=True,
        text=True,
        env={**os.environ, 'GLOO_SOCKET_IFNAME': 'lo'},
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith('record:')]
    assert lines == ['record: 2 processes for 3 replicas: start one, or one for each replica.']
    assert done.returncode != 0 and 'd2l_local/training.py' not in done.stderr


def test_replicas_have_batch_statistics_of_their_own_and_the_first_one_keeps_the_running_ones():
    run = run_of(replicas=2)
    batch = torch.arange(40)
    run.net.train()
    run._step(batch)
    alone = run_of(batch_size=20)
    alone.net.train()
    alone.model(alone._batch(alone.train_set, batch[:20])[0])
    assert torch.allclose(run.net[0][1].running_mean, alone.net[0][1].running_mean)


@pytest.mark.parametrize(
    'changes, message',
    [
        ({'epochs': 0}, 'epochs 0'),
        ({'replicas': 0}, 'replicas 0'),
        ({'replicas': 11}, 'smallest batch has 10 images for 11 replicas'),
        ({'schedule': 'step'}, "unknown schedule 'step'"),
        ({'lr': 0}, 'learning rate 0'),
        ({'warmup_epochs': 3}, '3 warm-up epochs'),
    ],
)
def test_a_recipe_that_makes_no_sense_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        Recipe(**{**SMALL, **changes})


def test_bad_options_end_with_one_clear_line(tmp_path, capsys):
    with pytest.raises(SystemExit, match='record: epochs 0'):
        record.main(['--epochs=0'])
    with pytest.raises(SystemExit, match='record: threads 0: give a whole number of at least 1'):
        record.main(['--threads=0'])
    (tmp_path / 'file').touch()
    with pytest.raises(SystemExit, match='record: .*file'):
        record.main([f'--results={tmp_path / "file"}'])
    with pytest.raises(SystemExit):
        record.main(['--schedule=steps'])
    assert "choose from 'constant', 'cosine'" in capsys.readouterr().err


def test_schedules():
    constant = Recipe(images=100, batch_size=10, epochs=4, lr=0.4, warmup_epochs=1)
    assert [constant.learning_rate(step) for step in (0, 4, 9, 39)] == pytest.approx([0.04, 0.2, 0.4, 0.4])
    cosine = Recipe(images=100, batch_size=10, epochs=4, lr=0.4, schedule='cosine')
    assert [cosine.learning_rate(step) for step in (0, 20, 40)] == pytest.approx([0.4, 0.2, 0])


def test_every_epoch_has_an_order_of_its_own_that_only_the_seed_decides():
    recipe = Recipe(images=50)
    assert sorted(recipe.order(0).tolist()) == list(range(50))
    assert recipe.order(0).tolist() == recipe.order(0).tolist() != recipe.order(1).tolist()
    assert Recipe(images=50, seed=1).order(0).tolist() != recipe.order(0).tolist()

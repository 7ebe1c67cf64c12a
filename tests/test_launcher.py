"""`launch` with real processes: what it shows, what it returns, what it says on failure, and that none is left."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

import d2l_local as d2l

# What the scripts of these tests begin with. They need no torch, which takes seconds to import.
PREAMBLE = """
import json, os, signal, subprocess, sys, time
from pathlib import Path

rank = int(os.environ['RANK'])


def leave_a_child():
    code = [sys.executable, '-c', 'import time; time.sleep(600)', os.getcwd()]
    subprocess.Popen(code, start_new_session=True)


def wait_for(name):
    while not Path(name).exists():
        time.sleep(0.05)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty current folder, far from d2l_local; fails a test that leaves a process there."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    left = processes_in(tmp_path)
    for process in left:
        process.kill()
    assert left == [], 'processes are left'


@pytest.fixture(scope='module', autouse=True)
def default_port_is_taken():
    """Somebody else uses the port that torchrun takes by default."""
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            other.bind(('', 29500))
            other.listen()
        except OSError:
            pass  # taken already
        yield


def processes_in(folder):
    """The living processes, this one excepted, that work in a folder or have it on their command line."""
    found = []
    for process in psutil.process_iter(['cwd', 'cmdline', 'status']):
        is_there = process.info['cwd'] == str(folder) or str(folder) in (process.info['cmdline'] or [])
        if is_there and process.pid != os.getpid() and process.info['status'] != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found


def write(path, code):
    path.parent.mkdir(exist_ok=True)
    path.write_text(PREAMBLE + code)
    return path


def in_background(action):
    thread = threading.Thread(target=action)
    thread.start()
    return thread


def when_there(*names):
    deadline = time.monotonic() + 60
    while not all(os.path.exists(name) for name in names) and time.monotonic() < deadline:
        time.sleep(0.05)


def test_output_in_rank_order_results_by_file_arguments_and_no_process_left(folder, capsys):
    write(
        folder / 'scripts' / 'work.py',
        """
import importlib.util

leave_a_child()
time.sleep(0.5 * (2 - rank))  # process 2 prints first
print('process', rank, sys.argv[1:])
print('no end of line', end=';' if rank < 2 else '.')
if rank == 0:
    facts = {
        'stale results': Path('results.json').exists(),
        'threads': os.environ['OMP_NUM_THREADS'],
        'd2l_local': importlib.util.find_spec('d2l_local') is not None,
        'cwd': os.getcwd(),
        'port': os.environ['MASTER_PORT'],
    }
    Path('results.json').write_text(json.dumps(facts))
""",
    )
    (folder / 'results.json').write_text('"stale"')
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        port = probe.getsockname()[1]
    before = dict(os.environ)
    facts = d2l.launch('scripts/work.py', 3, '--lr', 0.5, 'two words', results='results.json', port=port)
    assert facts == {
        'stale results': False,
        'threads': '1',
        'd2l_local': True,
        'cwd': str(folder),
        'port': str(port),
    }
    lines = [f"process {rank} ['--lr', '0.5', 'two words']\nno end of line" for rank in range(3)]
    assert capsys.readouterr().out == ';'.join(lines) + '.'
    assert dict(os.environ) == before


def test_the_process_that_failed_first_is_named_not_the_partners_it_took_down(folder):
    script = write(
        folder / 'fails.py',
        """
import atexit

if rank == 1:  # partners notice only when it ends, and end before it does
    atexit.register(time.sleep, 2)
    atexit.register(Path('connection closed').touch)
    raise ValueError('the cause')
if rank == 2:
    leave_a_child()
    time.sleep(600)  # torchrun has to end it
wait_for('connection closed')
raise RuntimeError('a consequence')
""",
    )
    with pytest.raises(d2l.LaunchError) as raised:
        d2l.launch(script.name, 3)
    message = str(raised.value)
    assert message.startswith('fails.py failed: process 1 of 3 failed.\nTraceback')
    assert 'File "fails.py", line' in message and message.endswith('ValueError: the cause')
    assert 'a consequence' not in message


def test_two_at_once_one_killed_and_one_without_results(folder):
    killed = write(
        folder / 'killed.py',
        """
if rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(600)
""",
    )
    silent = write(folder / 'silent.py', "print('done', rank)")
    (folder / 'stale.json').write_text('"stale"')
    with ThreadPoolExecutor() as pool:
        first = pool.submit(d2l.launch, killed, 2)
        second = pool.submit(d2l.launch, silent, 2, results='stale.json')
        assert 'killed.py failed: process 1 of 2 was killed by SIGKILL.' in str(first.exception())
        assert 'silent.py ended without writing stale.json' in str(second.exception())
    for future in (first, second):
        assert isinstance(future.exception(), d2l.LaunchError)


def test_a_time_limit_ends_everything_and_says_where_each_process_was(folder, capsys):
    script = write(
        folder / 'hangs.py',
        """
def wait_in_vain():
    wait_for('nothing')


signal.signal(signal.SIGTERM, signal.SIG_IGN)
leave_a_child()
print('started', rank)
if rank == 1:
    wait_in_vain()
if rank == 0:
    time.sleep(600)  # here
""",
    )
    line = script.read_text().splitlines().index('    time.sleep(600)  # here') + 1
    poll = script.read_text().splitlines().index('        time.sleep(0.05)') + 1
    started = time.monotonic()
    with pytest.raises(d2l.LaunchError) as raised:
        d2l.launch(script, 3, time_limit=15)
    assert 15 < time.monotonic() - started < 40
    assert str(raised.value).splitlines() == [
        f'{script} was ended after the time limit of 15 s.',
        f'process 0 was in line {line}, in <module>',
        f'process 1 was in line {poll}, in wait_for',
        'process 2 had ended, or was not in the script',
    ]
    assert capsys.readouterr().out == 'started 0\nstarted 1\nstarted 2\n'
    assert [path.name for path in folder.iterdir()] == ['hangs.py'], 'a core file is left'


WAITS = """
leave_a_child()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
Path(f'ready {rank}').touch()
time.sleep(600)
"""


def test_an_interruption_ends_everything(folder):
    def interrupt():
        when_there('ready 0', 'ready 1')
        os.kill(os.getpid(), signal.SIGINT)

    write(folder / 'waits.py', WAITS)
    # Tests that are started in the background of a shell ignore SIGINT; a kernel does not.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread = in_background(interrupt)
        with pytest.raises(KeyboardInterrupt):
            d2l.launch('waits.py', 2)
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)


def test_no_process_outlives_torchrun(folder):
    def kill_torchrun():
        when_there('ready 0', 'ready 1')
        for process in psutil.Process().children():
            if 'torch.distributed.run' in process.cmdline():
                process.kill()

    write(folder / 'waits.py', WAITS)
    thread = in_background(kill_torchrun)
    with pytest.raises(d2l.LaunchError, match='torchrun ended before its processes did'):
        d2l.launch('waits.py', 2)
    thread.join()


def test_processes_meet_where_the_name_of_the_host_leads_nowhere(folder, root):
    write(
        folder / 'meets.py',
        """
import torch
from torch import distributed as dist

dist.init_process_group('gloo')
total = torch.tensor(rank + 1)
dist.all_reduce(total)
if rank == 0:
    Path('results.json').write_text(json.dumps({'total': total.item(), 'host': os.uname().nodename}))
dist.destroy_process_group()
""",
    )
    if subprocess.run(['unshare', '--uts', 'hostname', 'nowhere.invalid'], capture_output=True).returncode != 0:
        pytest.skip('this user may not give a host another name')
    code = "import d2l_local as d2l; d2l.launch('meets.py', 2, results='results.json', time_limit=100)"
    command = 'hostname nowhere.invalid; exec "$0" -c "$1"'
    environment = {name: value for name, value in os.environ.items() if not name.startswith('GLOO')}
    environment['PYTHONPATH'] = str(root)
    subprocess.run(
        ['unshare', '--uts', 'sh', '-c', command, sys.executable, code], check=True, timeout=120, env=environment
    )
    assert json.loads((folder / 'results.json').read_text()) == {'total': 3, 'host': 'nowhere.invalid'}


@pytest.mark.parametrize(
    'script, processes, options, message',
    [
        ('missing.py', 2, {}, 'there is no script missing.py.*%%writefile'),
        ('.', 2, {}, 'there is no script'),
        ('there.py', 0, {}, '0 processes: .* whole number of at least 1'),
        ('there.py', -1, {}, '-1 processes'),
        ('there.py', 1.0, {}, '1.0 processes'),
        ('there.py', True, {}, 'True processes'),
        ('there.py', '2', {}, "'2' processes"),
        ('there.py', 1, {'time_limit': 0}, 'time limit 0: give a number of seconds above 0'),
        ('there.py', 1, {'port': 0}, 'port 0: ports are whole numbers from 1 to 65535'),
        ('there.py', 1, {'port': 70000}, 'port 70000: ports are'),
        ('there.py', 1, {'port': '29501'}, "port '29501': ports are"),
    ],
)
def test_a_wrong_argument_is_refused_before_anything_happens(folder, script, processes, options, message):
    write(folder / 'there.py', '')
    (folder / 'results.json').write_text('"kept"')
    with pytest.raises(ValueError, match=message):
        d2l.launch(script, processes, results='results.json', **options)
    assert (folder / 'results.json').read_text() == '"kept"'


def test_a_port_in_use_is_refused(folder):
    write(folder / 'there.py', '')
    with socket.socket() as other:
        other.bind(('127.0.0.1', 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ValueError, match=f'port {port} cannot be used .*in use.*choose another one'):
            d2l.launch('there.py', 2, port=port)


def test_results_that_are_no_json_are_an_error(folder):
    from d2l_local.launcher import _read_results

    (folder / 'results.json').write_text('{"loss": ')
    with pytest.raises(d2l.LaunchError, match='wrote into results.json is not JSON'):
        _read_results('work.py', folder.joinpath('results.json').relative_to(folder))

"""Start several processes from a notebook with `torchrun`, and end every one of them."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from .processes import GRACE, POLL, end, marked, send

LOOPBACK = '127.0.0.1'
MARK = 'D2L_LOCAL_LAUNCH'  # environment variable by which every process of a launch is known
PACKAGES = sysconfig.get_path('purelib')


class LaunchError(RuntimeError):
    """The processes failed or ran out of time; the message says which and where."""


def launch(script, processes, *arguments, results=None, time_limit=300, port=None):
    """Run a script in several processes on this machine, as `torchrun --standalone --nproc_per_node=...` does.

    What the processes print appears in order of their rank, that of process 0 while they run. What they write to
    stderr appears only if one fails. When the function returns or raises, also because the cell was interrupted, no
    process is left.

    Each process computes with one CPU thread unless `OMP_NUM_THREADS` says otherwise. All of them talk over the
    loopback address, so that it does not matter what the machine's host name is.

    Args:
        script: a Python file.
        processes: how many, 1 or more.
        arguments: what the script finds in `sys.argv[1:]`.
        results: a JSON file that the script writes. An old one is removed first.
        time_limit: seconds until the processes are ended.
        port: the port where process 0 answers the others; by default a free one.

    Returns:
        The content of `results`, or None without it.

    Raises:
        ValueError: for a script that does not exist, fewer than one process, no time, or a port in use.
        LaunchError: if a process fails (the message has its traceback), if time runs out (the message says in which
            line each process was), or if the script ends without having written `results`.
    """
    script = Path(script)
    if not script.is_file():
        raise ValueError(f'there is no script {script}: write it to a file first, for example with %%writefile.')
    if isinstance(processes, bool) or not isinstance(processes, int) or processes < 1:
        raise ValueError(f'{processes!r} processes: the number of processes is a whole number of at least 1.')
    if not time_limit > 0:
        raise ValueError(f'time limit {time_limit!r}: give a number of seconds above 0.')
    if port is not None:
        _check_is_free(port)
    if results is not None:
        Path(results).unlink(missing_ok=True)
    folder = Path(tempfile.mkdtemp(prefix='launch-'))
    try:
        _run(script, processes, arguments, time_limit, port, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return None if results is None else _read_results(script, Path(results))


def _check_is_free(port):
    if isinstance(port, bool) or not isinstance(port, int) or not 1 <= port <= 65535:
        raise ValueError(f'port {port!r}: ports are whole numbers from 1 to 65535.')
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise ValueError(
                f'port {port} cannot be used ({error.strerror}): choose another one, or none to get a free one.'
            ) from None


def _read_results(script, results):
    if not results.is_file():
        raise LaunchError(f'{script} ended without writing {results}.')
    try:
        return json.loads(results.read_text(encoding='utf-8'))
    except ValueError as error:
        raise LaunchError(f'what {script} wrote into {results} is not JSON: {error}.') from error


def _run(script, processes, arguments, time_limit, port, folder):
    """Run the processes to their end, with logs in an empty `folder`; raises LaunchError if they fail."""
    logs = _Logs(folder, script, processes)
    command = _command(script, processes, port, folder) + [str(argument) for argument in arguments]
    deadline = time.monotonic() + time_limit
    with open(logs.torchrun, 'w') as log:
        torchrun = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=_environment(mark=str(folder))
        )
    try:
        while torchrun.poll() is None and time.monotonic() < deadline:
            logs.show(0, whole_lines=True)
            time.sleep(POLL)
        in_time = torchrun.poll() is not None
        if not in_time:
            _ask_where_they_are(torchrun, mark=str(folder))
    finally:
        end(MARK, str(folder))
        torchrun.kill()  # does nothing, except where the environment of processes cannot be read
        torchrun.wait()
        for rank in range(processes):
            logs.show(rank)
    if not in_time:
        raise LaunchError(f'{script} was ended after the time limit of {time_limit} s.\n{logs.places()}')
    if torchrun.returncode != 0:
        raise LaunchError(f'{script} failed: {logs.failure()}')


def _command(script, processes, port, folder):
    meeting = [f'--master_addr={LOOPBACK}', f'--master_port={port}'] if port else ['--standalone']
    options = [f'--local_addr={LOOPBACK}', f'--nproc_per_node={processes}', f'--log_dir={folder}', '--redirects=3']
    return [sys.executable, '-m', 'torch.distributed.run', *meeting, *options, str(script)]


def _environment(mark):
    """The environment of the processes; what the caller's says already stays."""
    environment = {'OMP_NUM_THREADS': '1', **os.environ, MARK: mark}
    environment['PYTHONUNBUFFERED'] = '1'
    environment['PYTHONFAULTHANDLER'] = '1'  # on SIGABRT, write where the process is
    package = str(Path(__file__).resolve().parents[1])
    if package != PACKAGES:  # not installed, so make it importable; site-packages must not come before Python's own
        environment['PYTHONPATH'] = os.pathsep.join(filter(None, [package, os.environ.get('PYTHONPATH')]))
    if sys.platform == 'win32':
        environment.setdefault('USE_LIBUV', '0')  # PyTorch for Windows is built without libuv
    else:
        loopback = {'lo', 'lo0'}.intersection(name for _, name in socket.if_nameindex())  # Linux, macOS
        if loopback:
            environment.setdefault('GLOO_SOCKET_IFNAME', loopback.pop())
    return environment


def _ask_where_they_are(torchrun, mark):
    """Let the processes write their stack to stderr, which ends them."""
    if sys.platform == 'win32':
        return  # there is no signal for it
    for process in marked(MARK, mark):
        if process.info['ppid'] == torchrun.pid:
            _leave_no_core_file(process.pid)
            send(process.pid, signal.SIGABRT)
    deadline = time.monotonic() + GRACE
    while time.monotonic() < deadline and any(process.info['ppid'] == torchrun.pid for process in marked(MARK, mark)):
        time.sleep(POLL)


def _leave_no_core_file(pid):
    import resource

    if hasattr(resource, 'prlimit'):  # Linux; macOS writes none by default
        try:
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        except OSError:
            pass  # it has just ended, or the system does not allow it


class _Logs:
    """What `torchrun` and its processes write into a folder."""

    def __init__(self, folder, script, processes):
        self.folder, self.script, self.processes = folder, script, processes
        self.torchrun = folder / 'torchrun.log'
        self.shown = [0] * processes  # bytes of the output of each process

    def _file(self, rank, stream):
        """The file of a process's 'stdout' or 'stderr', or None before there is one."""
        return next(self.folder.glob(f'*/attempt_0/{rank}/{stream}.log'), None)

    def _read(self, rank, stream):
        path = self._file(rank, stream)
        return path.read_bytes() if path else b''

    def show(self, rank, whole_lines=False):
        """Print what a process has added to its output: everything, or only lines that are complete."""
        new = self._read(rank, 'stdout')[self.shown[rank] :]
        if whole_lines:
            new = new[: new.rfind(b'\n') + 1]
        self.shown[rank] += len(new)
        if new:
            print(new.decode(errors='replace'), end='', flush=True)

    def failure(self):
        """Which process failed first, how, and its traceback."""
        report = self.torchrun.read_text(errors='replace')
        entry = r'rank\s*: (\d+) \(local_rank: \d+\)\s*exitcode\s*: (-?\d+) \(pid: (\d+)\)'
        failures = {int(rank): (int(code), pid) for rank, code, pid in re.findall(entry, report)}
        if not failures:
            return f'torchrun ended before its processes did.\n{report}'
        # After a failure, the partners fail as well, or torchrun ends them. A process that torchrun ended without a
        # message is not to blame; of the others, the first is the one that wrote last the longest time ago.
        ended = set(re.findall(r'Sending process (\d+) closing signal', report))
        suspects = [rank for rank, (_, pid) in failures.items() if pid not in ended or self._has_stack(rank)]
        rank = min(suspects or failures, key=self._time_of_message)
        code, pid = failures[rank]
        if pid in ended:
            how = 'failed'  # its exit code tells how torchrun ended it
        else:
            how = f'was killed by {signal.Signals(-code).name}' if code < 0 else f'ended with exit code {code}'
        return f'process {rank} of {self.processes} {how}.\n{self._message(rank)}'.strip()

    def _message(self, rank):
        """What a process wrote to stderr, without the folders that depend on the machine."""
        text = self._read(rank, 'stderr').decode(errors='replace')
        return text.replace(str(self.script.resolve()), str(self.script)).replace(f'{PACKAGES}{os.sep}', '')

    def _has_stack(self, rank):
        message = self._read(rank, 'stderr')
        return b'Traceback (most recent call last)' in message or b'Fatal Python error' in message

    def _time_of_message(self, rank):
        path = self._file(rank, 'stderr')
        return path.stat().st_mtime_ns if path else 0

    def places(self):
        """In which line of the script each process was when it was asked."""
        frame = re.compile(rf'File "[^"]*{re.escape(self.script.name)}", line (\d+) in (\S+)')
        lines = []
        for rank in range(self.processes):
            match = frame.search(self._read(rank, 'stderr').decode(errors='replace'))
            place = f'was in line {match[1]}, in {match[2]}' if match else 'had ended, or was not in the script'
            lines.append(f'process {rank} {place}')
        return '\n'.join(lines)

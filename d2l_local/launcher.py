"""Start several processes from a notebook with `torchrun`, and end every one of them."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import psutil

LOOPBACK = '127.0.0.1'
POLL = 0.1  # seconds between two looks at the processes
GRACE = 5  # seconds that processes get to end by themselves
PACKAGES = sysconfig.get_path('purelib')


class LaunchError(RuntimeError):
    """The processes failed or ran out of time; the message says which and where."""


def launch(script, processes, *arguments, results=None, time_limit=300, port=None):
    """Run a script in several processes on this machine, as `torchrun --standalone --nproc_per_node=...` does.

    What the processes print appears in order of their rank, that of process 0 while they run. When the function
    returns or raises, also because the cell was interrupted, no process is left.

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
        ValueError: for a script that does not exist, fewer than one process, or a port in use.
        LaunchError: if a process fails (the message has its traceback), if time runs out (the message says in which
            line each process was), or if the script ends without having written `results`.
    """
    script = Path(script)
    if not script.is_file():
        raise ValueError(f'there is no script {script}: write it to a file first, for example with %%writefile.')
    if isinstance(processes, bool) or not isinstance(processes, int) or processes < 1:
        raise ValueError(f'{processes!r} processes: the number of processes is a whole number of at least 1.')
    if port is not None:
        _check_is_free(port)
    if results is not None:
        Path(results).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        logs = _Logs(Path(folder), script, processes)
        command = _command(script, processes, port, folder) + [str(argument) for argument in arguments]
        with open(logs.launcher, 'w') as log:
            launcher = subprocess.Popen(command, stdout=log, stderr=log, env=_environment())
        family = {psutil.Process(launcher.pid)}
        try:
            in_time = _wait(launcher, family, logs, time_limit)
            if not in_time:
                _ask_where_they_are(family)
        finally:
            _end(family)
            launcher.wait()
            logs.show_rest()
        if not in_time:
            raise LaunchError(f'{script} was ended after the time limit of {time_limit} s.\n{logs.places()}')
        if launcher.returncode != 0:
            raise LaunchError(f'{script} failed: {logs.failure()}')
    if results is None:
        return None
    if not Path(results).is_file():
        raise LaunchError(f'{script} ended without writing {results}.')
    return json.loads(Path(results).read_text(encoding='utf-8'))


def _check_is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            raise ValueError(f'port {port} is in use: choose another one, or none to get a free one.') from None


def _command(script, processes, port, folder):
    meeting = [f'--master_addr={LOOPBACK}', f'--master_port={port}'] if port else ['--standalone']
    options = [f'--local_addr={LOOPBACK}', f'--nproc_per_node={processes}', f'--log_dir={folder}', '--redirects=3']
    return [sys.executable, '-m', 'torch.distributed.run', *meeting, *options, str(script)]


def _environment():
    """The environment of the processes; what the caller's says already stays."""
    loopback = [
        name
        for name, addresses in psutil.net_if_addrs().items()
        if LOOPBACK in [address.address for address in addresses]
    ]
    package = str(Path(__file__).parent.parent)  # where d2l_local is, installed or not
    paths = [package, *filter(None, [os.environ.get('PYTHONPATH')])]
    return {
        'OMP_NUM_THREADS': '1',
        'GLOO_SOCKET_IFNAME': loopback[0] if loopback else '',
        'USE_LIBUV': '0' if sys.platform == 'win32' else '1',  # PyTorch for Windows is built without libuv
        **os.environ,
        'PYTHONPATH': os.pathsep.join(paths),
        'PYTHONUNBUFFERED': '1',
        'PYTHONFAULTHANDLER': '1',  # on SIGABRT, write where the process is
    }


def _wait(launcher, family, logs, time_limit):
    """Wait for the launcher to end; returns whether it did so in time. Collects its descendants in `family`."""
    deadline = time.monotonic() + time_limit
    while launcher.poll() is None:
        if time.monotonic() > deadline:
            return False
        try:
            family.update(psutil.Process(launcher.pid).children(recursive=True))
        except psutil.NoSuchProcess:
            pass  # it has just ended
        logs.show_first()
        time.sleep(POLL)
    return True


def _ask_where_they_are(family):
    if sys.platform == 'win32':
        return
    workers = [process for process in family if process.is_running() and 'torch.distributed.run' not in _words(process)]
    for process in workers:
        try:
            process.send_signal(signal.SIGABRT)
        except psutil.NoSuchProcess:
            pass
    psutil.wait_procs(workers, timeout=GRACE)


def _words(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _end(family):
    """End the launcher and all its descendants: first politely, so that they can clean up, then by force."""
    for stop in (psutil.Process.terminate, psutil.Process.kill):
        alive = [process for process in family if process.is_running()]
        for process in alive:
            try:
                stop(process)
            except psutil.NoSuchProcess:
                pass
        psutil.wait_procs(alive, timeout=GRACE)


class _Logs:
    """What the launcher and its processes have written into a folder."""

    def __init__(self, folder, script, processes):
        self.folder, self.script, self.processes = folder, script, processes
        self.launcher = folder / 'launcher.log'
        self.shown = 0  # bytes of the output of process 0

    def _read(self, rank, stream):
        """The bytes that a process has written to 'stdout' or 'stderr', in all attempts."""
        return b''.join(path.read_bytes() for path in self._files(rank, stream))

    def _files(self, rank, stream):
        return sorted(self.folder.glob(f'*/attempt_*/{rank}/{stream}.log'))

    def show_first(self):
        """Print the whole lines that process 0 has added."""
        new = self._read(0, 'stdout')[self.shown :]
        self._print(new[: new.rfind(b'\n') + 1])

    def show_rest(self):
        """Print what is left of the output of process 0, and that of the others."""
        self._print(self._read(0, 'stdout')[self.shown :])
        for rank in range(1, self.processes):
            self._print(self._read(rank, 'stdout'))

    def _print(self, text):
        self.shown += len(text)
        print(text.decode(errors='replace'), end='', flush=True)

    def failure(self):
        """Which process failed first, how, and its traceback."""
        report = self.launcher.read_text(errors='replace')
        codes = {
            int(rank): int(code)
            for rank, code in re.findall(r'rank\s*: (\d+) \(local_rank.*?exitcode\s*: (-?\d+)', report, re.DOTALL)
        }
        if not codes:
            return f'torchrun ended before its processes did.\n{report}'
        # A process that fails takes its partners down with it, and torchrun sends SIGTERM to the rest. The first to
        # fail is one that another signal killed, which leaves no message, or else the one that wrote its message first.
        killed = [rank for rank, code in codes.items() if code < 0 and code != -signal.SIGTERM]
        rank = killed[0] if killed else min(codes, key=self._time_of_message)
        code = codes[rank]
        how = f'was killed by {signal.Signals(-code).name}' if code < 0 else f'ended with exit code {code}'
        return f'process {rank} of {self.processes} {how}.\n{self._message(rank)}'

    def _message(self, rank):
        """What a process wrote to stderr, without the folders that depend on the machine."""
        text = self._read(rank, 'stderr').decode(errors='replace')
        return text.replace(str(self.script.resolve()), str(self.script)).replace(f'{PACKAGES}{os.sep}', '')

    def _time_of_message(self, rank):
        return max((path.stat().st_mtime_ns for path in self._files(rank, 'stderr')), default=0)

    def places(self):
        """In which line of the script each process was when it was asked."""
        frame = re.compile(rf'File "[^"]*{re.escape(self.script.name)}", line (\d+) in (\S+)')
        lines = []
        for rank in range(self.processes):
            match = frame.search(self._read(rank, 'stderr').decode(errors='replace'))
            place = f'was in line {match[1]}, in {match[2]}' if match else 'had ended, or was not in the script'
            lines.append(f'process {rank} {place}')
        return '\n'.join(lines)

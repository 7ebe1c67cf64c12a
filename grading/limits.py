"""Programs that run strangers' code: they end in time, get a limited memory, and leave no process behind."""

import os
import subprocess
import sys
import uuid

from d2l_local.processes import end

MARK = 'GRADING_RUN'  # environment variable by which every process of a run is known
# A test cell that prints anything to stderr gets no points from nbgrader; a warning is no mistake.
QUIET = {'PYTHONWARNINGS': 'ignore', 'TORCH_CPP_LOG_LEVEL': 'ERROR'}
# nbgrader calls programs that are installed beside it.
PATH = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get('PATH', '')])


class Failure(RuntimeError):
    """A program failed or ran out of time; the message says so, and `output` has what it printed."""

    def __init__(self, message, output=''):
        super().__init__(message)
        self.output = output


def run(command, folder, seconds=None, megabytes=None):
    """Run `command` in `folder`; gives what it printed.

    `seconds` limits its time, `megabytes` the memory that each of its processes may claim (on Linux only). No process
    that it has started, directly or not, outlives it.

    Raises:
        Failure: if it fails or runs out of time.
    """
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **QUIET, MARK: mark, 'PATH': PATH, 'PYTHONIOENCODING': 'utf-8'},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding='utf-8',
        errors='replace',
        preexec_fn=_limited(megabytes) if megabytes and sys.platform == 'linux' else None,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Failure(f'it took longer than {seconds:g} seconds') from None
    finally:
        end(MARK, mark)
        process.kill()  # does nothing, except where the environment of processes cannot be read
        process.wait()
    if process.returncode:
        raise Failure('it ended with an error', output)
    return output


def _limited(megabytes):
    import resource

    size = int(megabytes * 2**20)
    return lambda: resource.setrlimit(resource.RLIMIT_DATA, (size, size))

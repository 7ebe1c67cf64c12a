"""Find and end all processes of a family: one that was started with a mark in its environment, and what it started."""

import os
import signal
import time

POLL = 0.1  # seconds between two looks at the processes
GRACE = 5  # seconds that processes get to end by themselves


def marked(variable, mark):
    """All living processes with the environment variable `variable` set to `mark`, also those whose parent is gone."""
    import psutil  # here, so that the module can be imported without it

    return [
        process
        for process in psutil.process_iter(['environ', 'ppid'])
        if (process.info['environ'] or {}).get(variable) == mark
    ]


def end(variable, mark):
    """End all processes with this mark: first politely, so that they can clean up, then by force."""
    for number in (signal.SIGTERM, getattr(signal, 'SIGKILL', signal.SIGTERM)):
        deadline = time.monotonic() + GRACE
        for process in marked(variable, mark):
            send(process.pid, number)
        while marked(variable, mark) and time.monotonic() < deadline:
            time.sleep(POLL)


def send(pid, number):
    """Send a signal to a process, which may just have ended."""
    try:
        os.kill(pid, number)
    except OSError:
        pass

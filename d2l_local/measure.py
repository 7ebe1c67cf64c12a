"""Measuring time and sums."""

import time

from .devices import synchronize


class Timer:
    """Record running times in seconds, waiting for the GPUs before each reading of the clock."""

    def __init__(self):
        """Start the first lap."""
        self.times = []
        self.start()

    def start(self):
        """Start a lap."""
        synchronize()
        self._started = time.perf_counter()

    def stop(self):
        """End the lap, record its length and return it, in seconds."""
        synchronize()
        self.times.append(time.perf_counter() - self._started)
        return self.times[-1]

    def avg(self):
        """Return the mean length of a lap, in seconds.

        Raises:
            ValueError: if no lap has ended yet.
        """
        if not self.times:
            raise ValueError('no lap has ended yet: call stop() before avg().')
        return sum(self.times) / len(self.times)

    def sum(self):
        """Return the total length of all laps, in seconds; 0 before the first one has ended."""
        return sum(self.times)

    def cumsum(self):
        """Return the list of totals after each lap, in seconds."""
        return [sum(self.times[: i + 1]) for i in range(len(self.times))]


class Accumulator:
    """Running sums of `n` quantities."""

    def __init__(self, n):
        """Start `n` sums at 0."""
        self.data = [0.0] * n

    def add(self, *args):
        """Add one number (or one-element tensor) to each sum.

        Raises:
            ValueError: if the count of arguments is not the count of sums.
        """
        if len(args) != len(self.data):
            raise ValueError(f'{len(args)} values for {len(self.data)} sums: pass one value for each.')
        self.data = [total + float(value) for total, value in zip(self.data, args)]

    def reset(self):
        """Set every sum back to 0."""
        self.data = [0.0] * len(self.data)

    def __getitem__(self, index):
        return self.data[index]

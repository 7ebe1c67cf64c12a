import pytest
import torch

import d2l_local as d2l
from d2l_local import measure


@pytest.fixture
def clock(monkeypatch):
    """Record the order of waits and readings; each reading is one second after the last."""
    events = []

    def read():
        events.append('read')
        return float(events.count('read'))

    monkeypatch.setattr(measure, 'synchronize', lambda: events.append('wait'))
    monkeypatch.setattr(measure.time, 'perf_counter', read)
    return events


def test_the_timer_waits_for_the_device_before_each_reading_of_the_clock(clock):
    timer = d2l.Timer()
    timer.stop()
    timer.start()
    timer.stop()
    assert clock == ['wait', 'read'] * 4


def test_the_timer_reports_its_laps(clock):
    timer = d2l.Timer()
    assert timer.stop() == 1
    assert timer.stop() == 2
    assert (timer.times, timer.avg(), timer.sum(), timer.cumsum()) == ([1, 2], 1.5, 3, [1, 3])


def test_the_average_of_no_laps_is_refused_and_their_sum_is_0():
    timer = d2l.Timer()
    with pytest.raises(ValueError, match='no lap has ended'):
        timer.avg()
    assert (timer.sum(), timer.cumsum()) == (0, [])


def test_the_timer_measures_seconds():
    timer = d2l.Timer()
    measure.time.sleep(0.02)
    assert 0.02 <= timer.stop() < 5


def test_the_accumulator_adds_numbers_and_tensors_and_starts_again():
    metric = d2l.Accumulator(2)
    metric.add(1, torch.tensor(2.5))
    metric.add(3.0, 4)
    assert (metric[0], metric[1]) == (4, 6.5)
    metric.reset()
    assert metric.data == [0, 0]


@pytest.mark.parametrize('values', [(), (1,), (1, 2, 3)])
def test_the_accumulator_refuses_a_wrong_count_and_keeps_its_sums(values):
    metric = d2l.Accumulator(2)
    metric.add(1, 2)
    with pytest.raises(ValueError, match=f'{len(values)} values for 2 sums'):
        metric.add(*values)
    assert metric.data == [1, 2]

import pytest
import torch

import d2l_local as d2l

CPU = torch.device('cpu')


def cuda(*numbers):
    return [torch.device('cuda', i) for i in numbers]


@pytest.mark.parametrize('count', [0, 1, 2, 4])
def test_num_gpus_is_what_torch_counts(gpus, count):
    gpus(count)
    assert d2l.num_gpus() == count


@pytest.mark.parametrize('count', [0, 1, 2, 4])
def test_try_gpu_gives_the_gpu_if_it_exists_and_the_cpu_otherwise(gpus, count):
    gpus(count)
    assert [d2l.try_gpu(i) for i in range(5)] == cuda(*range(count)) + [CPU] * (5 - count)
    assert d2l.try_gpu() == d2l.try_gpu(0)


def test_try_gpu_refuses_a_negative_number(gpus):
    gpus(2)
    with pytest.raises(ValueError, match='-1.*numbered from 0'):
        d2l.try_gpu(-1)


@pytest.mark.parametrize('count, expected', [(0, [CPU]), (1, cuda(0)), (2, cuda(0, 1)), (4, cuda(0, 1, 2, 3))])
def test_try_all_gpus_is_never_empty(gpus, count, expected):
    gpus(count)
    assert d2l.try_all_gpus() == expected


@pytest.mark.parametrize(
    'count, n, expected, line',
    [
        (0, 1, [CPU], ''),
        (0, 3, [CPU] * 3, '3 replicas share cpu: right results, no speed-up\n'),
        (1, 1, cuda(0), ''),
        (1, 2, cuda(0, 0), '2 replicas share cuda:0: right results, no speed-up\n'),
        (2, 1, cuda(0), ''),
        (2, 2, cuda(0, 1), ''),
        (2, 3, cuda(0, 1, 0), '3 replicas share cuda:0, cuda:1: right results, no speed-up\n'),
        (4, 2, cuda(0, 1), ''),
        (4, 4, cuda(0, 1, 2, 3), ''),
        (4, 6, cuda(0, 1, 2, 3, 0, 1), '6 replicas share cuda:0, cuda:1, cuda:2, cuda:3: right results, no speed-up\n'),
    ],
)
def test_replicas_share_devices_only_where_there_are_too_few_and_one_line_says_so(
    gpus, capsys, count, n, expected, line
):
    gpus(count)
    assert d2l.replica_devices(n) == expected
    assert capsys.readouterr().out == line


@pytest.mark.parametrize('n', [0, -1, True, 1.5, '2', None])
def test_replica_devices_refuses_what_is_not_a_whole_number_of_at_least_1(n):
    with pytest.raises(ValueError, match='whole number of at least 1') as raised:
        d2l.replica_devices(n)
    assert repr(n) in str(raised.value)


@pytest.mark.parametrize('count', [1, 2, 4])
def test_synchronize_waits_for_every_gpu_in_use(gpus, monkeypatch, count):
    gpus(count)
    waited = []
    monkeypatch.setattr(torch.cuda, 'synchronize', lambda device=None: waited.append(device))
    d2l.synchronize()
    assert waited == list(range(count))


def test_synchronize_leaves_gpus_alone_on_which_this_process_holds_no_memory(gpus, monkeypatch):
    gpus(4)
    waited = []
    monkeypatch.setattr(torch.cuda, 'memory_reserved', lambda device: {1: 2 << 20, 3: 512}.get(device, 0))
    monkeypatch.setattr(torch.cuda, 'synchronize', lambda device=None: waited.append(device))
    d2l.synchronize()
    assert waited == [1, 3]


def test_synchronize_never_calls_cuda_on_a_machine_without_it(gpus, monkeypatch):
    gpus(0)
    monkeypatch.setattr(torch.cuda, 'synchronize', lambda device=None: pytest.fail('called CUDA'))
    d2l.synchronize()


def test_synchronize_does_not_start_cuda(gpus, monkeypatch):
    gpus(2)
    monkeypatch.setattr(torch.cuda, 'is_initialized', lambda: False)
    monkeypatch.setattr(torch.cuda, 'memory_reserved', lambda device: pytest.fail('asked CUDA for memory'))
    monkeypatch.setattr(torch.cuda, 'synchronize', lambda device=None: pytest.fail('started CUDA'))
    d2l.synchronize()

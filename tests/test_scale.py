import pytest

import d2l_local as d2l


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv('D2L_LOCAL_SCALE', raising=False)


@pytest.mark.parametrize('count, name', [(0, 'rehearsal'), (1, 'full'), (4, 'full')])
def test_the_machine_decides_by_default(gpus, count, name):
    gpus(count)
    assert d2l.choose_scale() is d2l.SCALES[name]


@pytest.mark.parametrize('count', [0, 2])
@pytest.mark.parametrize('name', ['full', 'rehearsal', 'smoke'])
def test_the_environment_variable_overrides_the_machine(gpus, monkeypatch, count, name):
    gpus(count)
    monkeypatch.setenv('D2L_LOCAL_SCALE', name)
    assert d2l.choose_scale().name == name


def test_the_argument_overrides_the_environment_variable(monkeypatch):
    monkeypatch.setenv('D2L_LOCAL_SCALE', 'full')
    assert d2l.choose_scale('smoke').name == 'smoke'


def test_an_empty_environment_variable_counts_as_unset(gpus, monkeypatch):
    gpus(0)
    monkeypatch.setenv('D2L_LOCAL_SCALE', '')
    assert d2l.choose_scale().name == 'rehearsal'


@pytest.mark.parametrize('name', ['huge', '', 'Full'])
def test_an_unknown_scale_is_refused_with_the_allowed_ones(name):
    with pytest.raises(ValueError, match='full, rehearsal, smoke') as raised:
        d2l.choose_scale(name)
    assert repr(name) in str(raised.value)


def test_an_unknown_scale_from_the_environment_is_refused_with_where_it_came_from(monkeypatch):
    monkeypatch.setenv('D2L_LOCAL_SCALE', 'huge')
    with pytest.raises(ValueError, match="'huge'.*D2L_LOCAL_SCALE.*full, rehearsal, smoke"):
        d2l.choose_scale()


def test_the_chosen_scale_is_printed_in_one_line_with_the_reason(gpus, monkeypatch, capsys):
    sizes = '4,000 training and 1,000 test images, 10 epochs, batch size / 4, ResNet width 4\n'
    gpus(0)
    d2l.choose_scale()
    assert capsys.readouterr().out == f'scale: rehearsal (no CUDA GPU)\n{sizes}'
    d2l.choose_scale('rehearsal')
    assert capsys.readouterr().out == f'scale: rehearsal (asked for)\n{sizes}'
    monkeypatch.setenv('D2L_LOCAL_SCALE', 'rehearsal')
    d2l.choose_scale()
    assert capsys.readouterr().out == f'scale: rehearsal (from D2L_LOCAL_SCALE)\n{sizes}'


def test_full_is_the_published_size():
    assert d2l.SCALES['full'] == d2l.Scale('full', 60000, 10000, width=64, epochs=10)


def test_batches_keep_their_proportions_at_every_scale():
    assert [d2l.SCALES['full'].batch(size) for size in (256, 512)] == [256, 512]
    for name in ('rehearsal', 'smoke'):
        assert [d2l.SCALES[name].batch(size) for size in (256, 512, 2)] == [64, 128, 1]

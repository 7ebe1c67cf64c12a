"""`make execute`: outputs are stored in one form; `test_carry.py` has how they reach every language."""

import pytest
from nbformat.v4 import new_output

from book import execute


def printed(text, name='stdout'):
    return new_output('stream', name=name, text=text)


def test_neighbouring_pieces_of_a_stream_become_one_and_the_order_stays():
    figure = new_output('display_data', data={'text/plain': 'figure'})
    merged = execute.merge_streams([printed('a\n'), printed('b\n'), figure, printed('c\n'), printed('w\n', 'stderr')])
    assert [output.get('text', 'figure') for output in merged] == ['a\nb\n', 'figure', 'c\n', 'w\n']


def test_an_unknown_page_is_named(capsys):
    with pytest.raises(SystemExit):
        execute.main(['no-such-page'])
    assert 'no such page: no-such-page; there are index' in capsys.readouterr().err

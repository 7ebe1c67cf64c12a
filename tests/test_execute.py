"""`make execute`: outputs are stored in one form and reach every language."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from book import execute


def printed(text, name='stdout'):
    return new_output('stream', name=name, text=text)


def test_neighbouring_pieces_of_a_stream_become_one_and_the_order_stays():
    figure = new_output('display_data', data={'text/plain': 'figure'})
    merged = execute.merge_streams([printed('a\n'), printed('b\n'), figure, printed('c\n'), printed('w\n', 'stderr')])
    assert [output.get('text', 'figure') for output in merged] == ['a\nb\n', 'figure', 'c\n', 'w\n']


def test_code_and_outputs_reach_a_translation_and_its_text_stays():
    english = new_notebook(
        cells=[new_markdown_cell('Text', id='text'), new_code_cell('x = 2', id='code', outputs=[printed('2\n')])]
    )
    translated = new_notebook(cells=[new_markdown_cell('Chữ', id='text'), new_code_cell('x = 1', id='code')])
    execute.carry_over(english, translated)
    assert translated.cells[0].source == 'Chữ'
    assert translated.cells[1] == english.cells[1]


def test_an_unknown_page_is_named(capsys):
    with pytest.raises(SystemExit):
        execute.main(['no-such-page'])
    assert 'no such page: no-such-page; there are index' in capsys.readouterr().err

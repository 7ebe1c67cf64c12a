"""What the English notebook brings to a translation: everything but the translated text, which is never lost."""

import datetime

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from book import carry, languages, notebooks
from book.notebooks import TRANSLATED_FROM, UNTRANSLATED


def english():
    return new_notebook(
        cells=[
            new_markdown_cell('# Title', id='title'),
            new_code_cell('x = 2', id='code', outputs=[new_output('stream', name='stdout', text='2\n')]),
            new_markdown_cell('Some text.', id='text', metadata={'tags': ['slide']}),
            new_markdown_cell('$$\na\n$$ (eq_a)', id='formula'),
        ]
    )


def translated():
    notebook, _ = carry.carry_over(english())
    for cell, words in zip([notebook.cells[0], notebook.cells[2]], ['# Tên', 'Chữ.']):
        cell.metadata[TRANSLATED_FROM] = cell.metadata.pop(UNTRANSLATED)
        cell.source = words
    return notebook


def ids(notebook):
    return [cell.id for cell in notebook.cells]


def cell_of(notebook, name):
    return next(cell for cell in notebook.cells if cell.id == name)


def test_a_notebook_without_translation_holds_the_english_marked_as_such():
    notebook, left_over = carry.carry_over(english())
    assert [cell.source for cell in notebook.cells] == [cell.source for cell in english().cells]
    assert carry.states(english(), notebook) == {'title': carry.MISSING, 'text': carry.MISSING}
    assert left_over == []


def test_what_is_up_to_date_stays():
    assert carry.carry_over(english(), translated()) == (translated(), [])
    assert carry.states(english(), translated()) == {'title': carry.TRANSLATED, 'text': carry.TRANSLATED}


def test_code_outputs_metadata_and_formulas_are_the_english_ones():
    source, ours = english(), translated()
    ours.cells[1] = new_code_cell('x = 1', id='code')
    source.cells[3].source = '$$\nb\n$$ (eq_a)'
    source.cells[2].metadata['tags'] = ['other']
    result, _ = carry.carry_over(source, ours)
    assert result.cells[1] == source.cells[1] and result.cells[3] == source.cells[3]
    assert result.cells[2].metadata['tags'] == ['other'] and result.cells[2].source == 'Chữ.'


def test_an_edited_cell_is_stale_and_keeps_its_translation():
    source = english()
    source.cells[2].source = 'Some other text.'
    result, left_over = carry.carry_over(source, translated())
    assert carry.states(source, result) == {'title': carry.TRANSLATED, 'text': carry.STALE}
    assert cell_of(result, 'text').source == 'Chữ.' and left_over == []


def test_inserted_and_moved_cells_have_the_english_order():
    source = english()
    source.cells.reverse()
    source.cells.insert(1, new_markdown_cell('New words.', id='new'))
    result, left_over = carry.carry_over(source, translated())
    assert ids(result) == ['formula', 'new', 'text', 'code', 'title'] and left_over == []
    assert carry.states(source, result) == {'new': carry.MISSING, 'text': carry.TRANSLATED, 'title': carry.TRANSLATED}


def test_a_split_cell_keeps_its_translation_and_the_rest_is_untranslated():
    source = english()
    source.cells[2].source = 'Some'
    source.cells.insert(3, new_markdown_cell('text.', id='rest'))
    result, left_over = carry.carry_over(source, translated())
    states = carry.states(source, result)
    assert (states['text'], states['rest']) == (carry.STALE, carry.MISSING)
    assert cell_of(result, 'text').source == 'Chữ.' and left_over == []


@pytest.mark.parametrize('change', ['deleted', 'now code', 'without words'])
def test_a_translation_without_a_place_is_left_over(change):
    source = english()
    replacement = {
        'deleted': [],
        'now code': [new_code_cell('1', id='text')],
        'without words': [new_markdown_cell('$$\nc\n$$', id='text')],
    }
    source.cells[2:3] = replacement[change]
    assert [cell.source for cell in carry.carry_over(source, translated())[1]] == ['Chữ.']


def test_of_two_cells_with_one_id_none_is_lost():
    ours = translated()
    ours.cells.append(new_markdown_cell('Chữ khác.', id='text'))
    result, left_over = carry.carry_over(english(), ours)
    assert cell_of(result, 'text').source == 'Chữ.'
    assert [cell.source for cell in left_over] == ['Chữ khác.']


def test_an_untranslated_cell_follows_the_english_until_somebody_begins_to_translate_it():
    ours, _ = carry.carry_over(english())
    source = english()
    source.cells[2].source = 'Some other text.'
    assert cell_of(carry.carry_over(source, ours)[0], 'text').source == 'Some other text.'
    ours.cells[2].source = 'Một ít'
    result, _ = carry.carry_over(source, ours)
    assert cell_of(result, 'text').source == 'Một ít'
    assert carry.states(source, result)['text'] == carry.MISSING


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A copy of the real chapters that the module `carry` takes for the book."""
    for language in languages.languages():
        (tmp_path / language.code).mkdir()
        for path in [*language.folder.glob('*.ipynb'), *language.folder.glob('*.yml')]:
            (tmp_path / language.code / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(languages, 'CHAPTERS', tmp_path)
    monkeypatch.setattr(carry, 'short', lambda path: path.relative_to(tmp_path).as_posix())
    carry.sync(vietnamese())
    return tmp_path


def vietnamese():
    return next(language for language in languages.translations() if language.code == 'vi')


def change(path, edit):
    notebook = notebooks.read(path)
    edit(notebook)
    notebooks.write(notebook, path)


def test_sync_changes_nothing_that_is_up_to_date(book):
    before = {path: path.read_bytes() for path in book.rglob('*.*')}
    assert carry.sync(vietnamese()) == []
    assert {path: path.read_bytes() for path in book.rglob('*.*')} == before


def test_sync_names_the_file_that_keeps_a_translation_and_never_writes_over_it(book):
    (book / 'vi' / 'setup.kept.md').write_text('Kept before.\n')
    last = notebooks.read(book / 'vi' / 'setup.ipynb').cells[-1]
    change(book / 'en' / 'setup.ipynb', lambda notebook: notebook.cells.pop())
    (message,) = carry.sync(vietnamese())
    assert message == f'vi/setup.ipynb: brought up to the English; kept in vi/setup.kept.md: {last.id}'
    kept = (book / 'vi' / 'setup.kept.md').read_text(encoding='utf-8')
    today = datetime.date.today().isoformat()
    assert kept == f'Kept before.\n<!-- cell {last.id}, put aside on {today} -->\n\n{last.source.strip()}\n\n'
    assert carry.sync(vietnamese()) == []


def test_a_cell_that_moves_to_another_page_takes_its_translation_along(book):
    moved = notebooks.read(book / 'en' / 'setup.ipynb').cells[-1]
    moved.id = 'moved'
    text = notebooks.read(book / 'vi' / 'setup.ipynb').cells[-1].source
    change(book / 'en' / 'setup.ipynb', lambda notebook: notebook.cells.pop())
    change(book / 'en' / 'resnet.ipynb', lambda notebook: notebook.cells.insert(1, moved))
    assert len(carry.sync(vietnamese())) == 2
    assert notebooks.read(book / 'vi' / 'resnet.ipynb').cells[1].source == text
    assert not list(book.rglob('*.kept.md'))


def test_syncing_only_the_page_that_a_cell_has_left_keeps_its_translation(book):
    moved = notebooks.read(book / 'en' / 'setup.ipynb').cells[-1]
    change(book / 'en' / 'setup.ipynb', lambda notebook: notebook.cells.pop())
    change(book / 'en' / 'resnet.ipynb', lambda notebook: notebook.cells.insert(1, moved))
    carry.sync(vietnamese(), ['setup'])
    assert f'cell {moved.id}' in (book / 'vi' / 'setup.kept.md').read_text(encoding='utf-8')


def test_a_file_that_is_no_notebook_or_has_no_cell_ids_is_named(book):
    path = book / 'vi' / 'setup.ipynb'
    path.write_text('<<<<<<< HEAD')
    with pytest.raises(notebooks.NotebookError, match='vi/setup.ipynb is not a notebook'):
        carry.sync(vietnamese())
    path.write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}')
    with pytest.raises(notebooks.NotebookError, match='without the cell ids'):
        carry.sync(vietnamese())

"""The commands of a translator: what is left to do, what is wrong, what is done, and a new language."""

import pytest
import yaml
from nbformat.v4 import new_markdown_cell, new_notebook

from book import carry, glossary, languages, notebooks, translations

TEXT = {'title': '# Loss and **layers**', 'text': 'A layer has a loss.', 'code': 'Run `make book`.'}
VIETNAMESE = {'title': '# Mất mát và **tầng**', 'text': 'Một tầng có mất mát.', 'code': 'Hãy chạy `make book`.'}


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A small book of two pages in English, with a glossary for Vietnamese and no translation yet."""
    monkeypatch.setattr(languages, 'ROOT', tmp_path)
    monkeypatch.setattr(languages, 'CHAPTERS', tmp_path / 'chapters')
    folder = tmp_path / 'chapters' / 'en'
    (folder / 'img').mkdir(parents=True)
    (folder / 'img' / 'sign.svg').write_text('<svg/>')
    (folder / 'language.yml').write_text('name: English\ntitle: Book\ncaptions: {}\ninterface: {}\n')
    (tmp_path / '_toc.yml').write_text(
        'root: chapters/en/index\nparts:\n- {caption: Part, chapters: [file: chapters/en/page]}\n'
    )
    for page in ('index', 'page'):
        cells = [new_markdown_cell(text, id=name) for name, text in TEXT.items()]
        notebooks.write(new_notebook(cells=cells), folder / f'{page}.ipynb')
    (tmp_path / 'book').mkdir()
    (tmp_path / 'book' / 'glossary.en-vi.csv').write_text(
        'english,translation,also,never,avoid,note\nlayer,tầng,,lớp mạng,lớp,\nloss,mất mát,hàm mục tiêu,,,\n'
    )
    return tmp_path


def edit(book, language, page, change):
    path = book / 'chapters' / language / f'{page}.ipynb'
    notebook = notebooks.read(path)
    change({cell.id: cell for cell in notebook.cells})
    notebooks.write(notebook, path)


def translate(book, **texts):
    """Write `texts` (all by default) into the cells of the page, as a translator does."""

    def change(cells):
        for name, text in (texts or VIETNAMESE).items():
            cells[name].source = text

    edit(book, 'vi', 'page', change)


def run(capsys, *arguments):
    """The status of a command and what it printed; what cannot be done ends with status 2."""
    try:
        status = translations.main(list(arguments))
    except SystemExit as error:
        status = error.code
    printed = capsys.readouterr()
    return status, printed.out + printed.err


@pytest.fixture
def done(book, capsys):
    """The small book with its second page translated."""
    run(capsys, 'start', 'vi')
    translate(book)
    assert run(capsys, 'done', 'vi', 'page') == (0, 'vi/page: title, text, code noted as translated\n')
    return book


def test_start_makes_a_folder_with_everything_untranslated(book, capsys):
    status, printed = run(capsys, 'start', 'vi')
    folder = book / 'chapters' / 'vi'
    assert status == 0 and 'chapters/vi is ready' in printed
    assert (folder / 'img' / 'sign.svg').is_file()
    settings = yaml.safe_load((folder / 'language.yml').read_text(encoding='utf-8'))
    assert (settings['name'], settings['complete'], settings['captions']) == ('Tiếng Việt', False, {'Part': 'Part'})
    assert run(capsys, 'status') == (
        0,
        'Tiếng Việt (vi):   0 %  0 of 6 cells translated\n'
        '  index    0 %  0 of 3 cells translated\n'
        '  page     0 %  0 of 3 cells translated\n',
    )
    assert run(capsys, 'check') == (0, 'No problems found.\n')
    assert run(capsys, 'sync') == (0, 'Everything was up to date.\n')


def test_status_counts_and_names_cells(done, capsys):
    edit(done, 'en', 'page', lambda cells: cells['text'].update(source='Another loss of a layer.'))
    printed = run(capsys, 'status', 'vi')[1]
    assert '33 %  2 of 6 cells translated' in printed.splitlines()[0]
    assert 'page    66 %  2 of 3 cells translated\n           stale: text\n' in printed


def test_only_a_language_that_says_it_is_complete_must_be(done, capsys):
    edit(done, 'en', 'page', lambda cells: cells['text'].update(source='Another loss of a layer.'))
    assert run(capsys, 'check')[0] == 0
    path = done / 'chapters' / 'vi' / 'language.yml'
    path.write_text(path.read_text(encoding='utf-8').replace('complete: false', 'complete: true'), encoding='utf-8')
    status, printed = run(capsys, 'check')
    assert status == 1
    assert printed.splitlines()[-1] == 'vi/page: text: stale' and 'vi/index: title: untranslated' in printed
    (done / 'chapters' / 'vi' / 'page.ipynb').unlink()
    assert run(capsys, 'check')[1].splitlines()[-1] == 'vi/page: not translated'


@pytest.mark.parametrize(
    'cell, text, problem',
    [
        ('title', '## Mất mát và **tầng**', "heading level differs: ['#'] in English, ['##'] here"),
        ('title', '# Mất mát và ** tầng**', 'the bold marker does not touch the word: ** tầng**'),
        ('text', 'Một lớp có mất mát.', "the glossary has 'layer' as 'tầng'"),
        ('text', 'Một tầng có cái giá.', "the glossary has 'loss' as 'mất mát' or 'hàm mục tiêu'"),
        ('text', 'Một tầng (lớp mạng) có mất mát.', "the glossary refuses 'lớp mạng'"),
        ('text', 'Một tầng có hàm mục tiêu.', None),
        ('code', 'Cha\u0323y `make book`.', 'the text is not in Unicode NFC'),
    ],
)
def test_check_names_what_is_wrong(done, capsys, cell, text, problem):
    translate(done, **{cell: text})
    expected = (1, f'vi/page: {cell}: {problem}\n') if problem else (0, 'No problems found.\n')
    assert run(capsys, 'check') == expected


def test_check_names_code_that_differs_and_notebooks_that_are_no_pages(done, capsys):
    edit(done, 'vi', 'page', lambda cells: cells['text'].update(id='other'))
    (done / 'chapters' / 'vi' / 'old.ipynb').write_bytes((done / 'chapters' / 'vi' / 'page.ipynb').read_bytes())
    printed = run(capsys, 'check')[1]
    assert "vi/page: the cells differ: missing ['text'], extra ['other']" in printed
    assert 'vi/old: not a page of _toc.yml' in printed


def test_a_stale_cell_is_done_only_by_its_name(done, capsys):
    edit(done, 'en', 'page', lambda cells: cells['text'].update(source='Another loss of a layer.'))
    assert run(capsys, 'done', 'vi', 'page')[1] == 'vi/page: nothing noted as translated\n'
    translate(done, text='Một mất mát khác của một tầng.')
    assert run(capsys, 'done', 'vi', 'page', 'text')[0] == 0
    assert 'stale' not in run(capsys, 'status')[1]


def test_a_translation_of_english_that_has_changed_is_done_only_by_its_name(book, capsys):
    run(capsys, 'start', 'vi')
    translate(book, text='Một tầng có mất mát.')
    edit(book, 'en', 'page', lambda cells: cells['text'].update(source='Another loss of a layer.'))
    run(capsys, 'sync')
    assert run(capsys, 'done', 'vi', 'page')[1] == 'vi/page: nothing noted as translated\n'
    assert run(capsys, 'done', 'vi', 'page', 'text')[1] == 'vi/page: text noted as translated\n'


def test_a_cell_that_holds_the_english_is_not_done_unless_it_is_the_same(book, capsys):
    run(capsys, 'start', 'vi')
    translate(book, text='Một tầng có mất mát.')
    assert run(capsys, 'done', 'vi', 'page')[1] == 'vi/page: text noted as translated\n'
    status, printed = run(capsys, 'done', 'vi', 'page', 'code')
    assert status == 2 and 'code holds the English text' in printed
    assert run(capsys, 'done', 'vi', 'page', 'code', '--same')[0] == 0
    assert translations.states(languages.translations()[0])['page']['code'] == carry.TRANSLATED


@pytest.mark.parametrize(
    'arguments, message',
    [
        (['start', 'vi'], 'chapters/vi exists already; run sync'),
        (['start', 'Việt'], "'Việt' is not a language code such as fr"),
        (['status', 'fr'], 'no translation into fr; there are vi'),
        (['done', 'vi', 'nowhere'], 'no such page: nowhere; there are index, page'),
        (['done', 'vi', 'page', 'none'], 'vi/page has no text cell none; its cells are title, text, code'),
    ],
)
def test_what_is_not_possible_is_explained(done, capsys, arguments, message):
    status, printed = run(capsys, *arguments)
    assert status == 2 and message in printed


def test_a_term_is_found_in_its_forms_and_not_inside_a_longer_one():
    terms = [glossary.Term(name, '', (), ()) for name in ('batch', 'batch size', 'loss', 'node (machine)', 'a / b c')]

    def found(text):
        return [term.english for term in glossary.used(text, terms)]

    assert found('The batch size') == ['batch size']
    assert found('Batches, losses and nodes; b c') == ['batch', 'loss', 'node (machine)', 'a / b c']
    assert found('# Batch Size\n\ntext') == ['batch size']
    assert found('`batch` {numref}`loss` $node$ [word](loss) minibatch Batch Size') == ['batch']


def test_every_glossary_of_the_project_can_be_read():
    for language, terms in glossary.glossaries():
        assert len({term.english for term in terms}) == len(terms) > 0, language.code
        assert all(form for term in terms for form in term.forms)

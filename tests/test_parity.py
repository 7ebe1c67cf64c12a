"""Every translation says what the English says: same cells, same code, same structure, no known mistakes."""

import copy
import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from book import languages, notebooks, parity

TRANSLATIONS = [
    pytest.param(language, page, id=f'{language.code}-{page}')
    for language in languages.translations()
    for page in languages.pages()
]
ALL_PAGES = [
    pytest.param(language, page, id=f'{language.code}-{page}')
    for language in languages.languages()
    for page in languages.pages()
]


def notebook_of(language, page):
    return notebooks.read(language.folder / f'{page}.ipynb')


@pytest.mark.parametrize('language, page', TRANSLATIONS)
def test_translation_has_the_structure_of_the_english(language, page):
    assert parity.compare(notebook_of(languages.source(), page), notebook_of(language, page)) == []


@pytest.mark.parametrize('language, page', ALL_PAGES)
def test_typography(language, page):
    problems = [
        f'{cell.id}: {problem}'
        for cell in notebook_of(language, page).cells
        if cell.cell_type == 'markdown'
        for problem in parity.typography(cell.source)
    ]
    assert problems == []


@pytest.mark.parametrize('page', languages.pages())
def test_vietnamese_has_no_phrase_that_is_always_wrong(page):
    path = languages.CHAPTERS / 'vi' / f'{page}.ipynb'
    text = ' '.join(cell.source for cell in notebooks.read(path).cells if cell.cell_type == 'markdown').lower()
    words = re.sub(r'\s+', ' ', text)
    assert [phrase for phrase in parity.never_phrases() if re.search(rf'\b{re.escape(phrase)}\b', words)] == []


def test_the_glossary_names_phrases_that_are_always_wrong():
    assert 'lô nhỏ' in parity.never_phrases() and len(parity.never_phrases()) > 20


def test_every_notebook_of_a_language_is_a_page_and_every_page_a_notebook():
    for language in languages.languages():
        names = {path.stem for path in language.folder.glob('*.ipynb')}
        assert names == set(languages.pages()), language.code


ENGLISH = """(sec_x)=
# Title

See {numref}`sec_y` and {numref}`sec_z` with $a$ and `code` at [a link](https://example.org/a).

| a | b |
|---|---|
| 1 | 2 |

1. one
1. two

$$
y = x
$$ (eq_x)

```{figure} img/f.svg
:name: fig_f
:alt: words

Caption
```

```bash
make book
```
"""
TRANSLATED = ENGLISH.replace('Title', 'Tên').replace('words', 'lời').replace('Caption', 'Chú thích')


def pair(translated=TRANSLATED):
    english = new_notebook(cells=[new_markdown_cell(ENGLISH, id='text'), new_code_cell('x = 1', id='code')])
    other = copy.deepcopy(english)
    other.cells[0].metadata[notebooks.TRANSLATED_FROM] = notebooks.source_hash(english.cells[0])
    other.cells[0].source = translated
    return english, other


def test_a_true_translation_passes():
    assert parity.compare(*pair()) == []


def test_word_order_may_differ():
    swapped = TRANSLATED.replace('See {numref}`sec_y` and {numref}`sec_z`', '{numref}`sec_z`, {numref}`sec_y`')
    assert parity.compare(*pair(swapped)) == []


@pytest.mark.parametrize(
    'old, new, kind',
    [
        ('(sec_x)=', '(sec_xx)=', 'label'),
        ('{numref}`sec_y`', '{numref}`sec_w`', 'role'),
        ('{numref}`sec_y`', 'mục 2', 'role'),
        ('$a$', '$b$', 'inline maths'),
        ('`code`', '`mã`', 'inline code'),
        ('https://example.org/a', 'https://example.org/b', 'link target'),
        ('# Tên', '## Tên', 'heading level'),
        ('1. two\n', '', 'list marker'),
        ('| 1 | 2 |', '| 1 |', 'table shape'),
        ('y = x', 'y = z', 'display maths'),
        ('(eq_x)', '(eq_y)', 'equation label'),
        ('img/f.svg', 'img/g.svg', 'directive'),
        (':name: fig_f', ':name: fig_g', 'directive option'),
        (':alt: lời\n', '', 'alternative text'),
        ('make book', 'làm sách', 'plain fence'),
    ],
)
def test_a_departure_is_named(old, new, kind):
    assert old in TRANSLATED
    problems = parity.compare(*pair(TRANSLATED.replace(old, new)))
    assert any(problem.startswith(f'text: {kind} differs') for problem in problems), problems


def test_changed_english_makes_a_translation_stale():
    english, other = pair()
    english.cells[0].source += '\nA new sentence.'
    assert parity.compare(english, other) == ['text: translated from an English text that has changed since']


def test_changed_code_is_named():
    english, other = pair()
    other.cells[1].source = 'x = 2'
    assert parity.compare(english, other) == ['code: code, outputs or metadata differ from the English cell']


def test_missing_and_moved_cells_are_named():
    english, other = pair()
    other.cells.reverse()
    assert 'in another order' in parity.compare(english, other)[0]
    other.cells.pop()
    assert "missing ['text']" in parity.compare(english, other)[0]


@pytest.mark.parametrize(
    'text, problem',
    [
        ('chu\u031b\u0303', 'NFC'),
        ('a ** bold** word', 'bold marker'),
        ('a word , and', 'space before'),
    ],
)
def test_bad_typography_is_named(text, problem):
    assert any(problem in message for message in parity.typography(text)), parity.typography(text)

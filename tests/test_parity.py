"""Every translation says what the English says: same cells, same code, same structure, no known mistakes."""

import copy

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from book import languages, notebooks, parity, translations

ALL_NOTEBOOKS = [
    pytest.param(path, id=f'{language.code}-{path.stem}')
    for language in languages.languages()
    for path in sorted(language.folder.glob('*.ipynb'))
]


@pytest.mark.parametrize('language', languages.translations(), ids=lambda language: language.code)
def test_nothing_is_wrong_in_a_translation(language):
    assert translations.check(language) == []


@pytest.mark.parametrize('path', ALL_NOTEBOOKS)
def test_typography(path):
    problems = [
        f'{cell.id}: {problem}'
        for cell in notebooks.read(path).cells
        if cell.cell_type == 'markdown'
        for problem in parity.typography(cell.source)
    ]
    assert problems == []


def test_every_english_notebook_is_a_page_and_every_page_a_notebook():
    assert {path.stem for path in languages.source().folder.glob('*.ipynb')} == set(languages.pages())


ENGLISH = """(sec_x)=
# Title

See {numref}`sec_y` and {numref}`sec_z` with $a$ and `code` at [a link](https://example.org/a), {ref}`here <sec_y>`.

![sign](img/s.svg)

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

Caption with {cite:t}`Some.2020`
```

:::{admonition} A title
Advice on $b$
:::

```bash
make book
```
"""
TRANSLATED = ENGLISH
for ours, theirs in (
    ('# Title', '# Tên'),
    ('words', 'lời'),
    ('Caption with', 'Chú thích theo'),
    ('here <', 'ở đây <'),
    ('A title', 'Nhan đề'),
):
    TRANSLATED = TRANSLATED.replace(ours, theirs)


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
        ('1. two\n', '', 'list item'),
        ('ở đây <sec_y>', 'ở đây <sec_z>', 'role'),
        ('img/s.svg', 'img/t.svg', 'image'),
        ('`Some.2020`', '`Other.2020`', 'role'),
        ('$b$', '$a$', 'inline maths'),
        ('{admonition}', '{note}', 'directive'),
        ('| 1 | 2 |', '| 1 |', 'table shape'),
        ('y = x', 'y = z', 'display maths'),
        ('(eq_x)', '(eq_y)', 'equation label'),
        ('img/f.svg', 'img/g.svg', 'directive'),
        (':name: fig_f', ':name: fig_g', 'directive option'),
        (':alt: lời\n', '', 'alternative text'),
        ('make book', 'làm sách', 'block of code'),
    ],
)
def test_a_departure_is_named(old, new, kind):
    assert old in TRANSLATED
    problems = parity.compare(*pair(TRANSLATED.replace(old, new)))
    assert any(problem.startswith(f'text: {kind} differs') for problem in problems), problems


def test_only_cells_translated_from_the_present_english_are_compared():
    english, other = pair(TRANSLATED.replace('# Tên', '## Tên'))
    english.cells[0].source += '\nA new sentence.'
    assert parity.compare(english, other) == []


def test_metadata_of_a_text_cell_are_those_of_the_english():
    english, other = pair()
    english.cells[0].metadata['tags'] = ['slide']
    assert parity.compare(english, other) == ['text: metadata differ from the English cell; run sync']


def test_changed_code_is_named():
    english, other = pair()
    other.cells[1].source = 'x = 2'
    assert parity.compare(english, other) == ['code: code, outputs or metadata differ from the English cell; run sync']


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

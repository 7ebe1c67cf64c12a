"""The slides: marks read, mistakes named, nothing of them elsewhere, and in a browser readable from the last row."""

import copy
import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from site_pages import SHOTS, chromium

from book import carry, languages, markup, notebooks, parity, runnable, slides, slides_marks, source
from book.slides_marks import SlideError

ENGLISH = languages.source()
SMALLEST = {'text': 28, 'code': 20, 'foot': 18, 'figure': 18}  # pixels on a screen of 1280 x 720
SCREEN = {'width': 1280, 'height': 720}
MARK = """<!-- slide
:title: A Title
:code: count 2-3
:output: count
:figure: img/splitting.svg
* A point with $x$
* Another with `code`
-->"""
TEXT = """(sec_a)=
# A Page

An *introduction* with {numref}`sec_b`, {eq}`eq_c` and {cite:p}`A.B.C.2020,D.E.2021`.

```{figure} img/splitting.svg
:name: fig_a
:alt: Some words

A caption.
```
"""
MORE = f"""## More

What is told.

{MARK}

Told later.

<!-- slide
:title: Words Alone
-->
"""
# Walks through a deck. Gives, for each slide: what lies outside it, and the size and kind of its smallest letters.
MEASURE = """() => Array.from({length: Reveal.getTotalSlides()}, (_, index) => {
  Reveal.slide(index);
  const slide = Reveal.getCurrentSlide(), sizes = {}, outside = [];
  const smallest = (kind, size) => { sizes[kind] = Math.min(sizes[kind] ?? Infinity, size); };
  const foot = slide.querySelector('.foot')?.getBoundingClientRect().top ?? 720;
  for (const element of slide.querySelectorAll('.sheet *')) {
    if (element.closest('.notes') || element.parentElement.closest('math, svg')) continue;
    const box = element.getBoundingClientRect();
    const bottom = element.closest('.foot') ? 720 : foot;
    if (box.left < 0 || box.top < 0 || box.right > 1280 || box.bottom > bottom + 0.5
        || element.scrollWidth > element.clientWidth + 1 && element.clientWidth) {
      outside.push(`${element.tagName} ${element.textContent.trim().slice(0, 40)}`);
    }
    const words = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    const kind = element.closest('.foot') ? 'foot' : element.closest('pre') ? 'code' : 'text';
    if (words) smallest(kind, parseFloat(getComputedStyle(element).fontSize));
    if (element.tagName === 'IMG') {
      const scale = Math.min(element.clientWidth / element.naturalWidth, element.clientHeight / element.naturalHeight);
      const letters = parseFloat(/^<svg[^>]*font-size="([0-9.]+)"/.exec(atob(element.src.split(',')[1]))?.[1] ?? 12);
      smallest('figure', scale * letters);
    }
  }
  const points = [...slide.querySelectorAll('.points, .pictures, .programme')].map((e) => e.getBoundingClientRect());
  const crossing = points.some((a, i) => points.slice(i + 1).some((b) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1));
  if (crossing) outside.push('parts lie over each other');
  return {outside, sizes};
})"""


def page(*texts):
    """A page with a text cell for each of `texts`, and a code cell `count` with four lines and some output."""
    cells = [new_markdown_cell(text, id=f'text-{number}') for number, text in enumerate(texts)]
    outputs = [new_output('stream', text='1\n2\n'), new_output('execute_result', {'text/plain': '3'})]
    return new_notebook(cells=[*cells, new_code_cell('a = 1\nb = 2\nc = 3\nd', id='count', outputs=outputs)])


def read(*texts, names=None):
    return slides_marks.slides(page(*texts), 'page', ENGLISH, names)


def test_a_page_without_marks_has_no_slides():
    assert read(TEXT) == []


def test_a_mark_is_read():
    title, first, second = read(TEXT, MORE)
    assert title.title == 'A Page'
    assert (first.title, first.text) == ('A Title', '* A point with $x$\n* Another with `code`')
    assert (first.code, first.printed) == ('b = 2\nc = 3', '1\n2\n3')
    assert [picture.alternative for picture in first.pictures] == ['Some words']
    assert (second.title, second.text, second.code, second.pictures) == ('Words Alone', '', '', ())


def test_the_text_above_a_mark_is_its_note():
    labels = slides_marks.names(['(sec_b)=\n# Next Page', TEXT, '$$\na = b.\n$$ (eq_c)', '$$\na \\\\ b\n$$ (eq_d)'])
    assert labels == {'sec_a': '*A Page*', 'sec_b': '*Next Page*', 'fig_a': '*A caption*', 'eq_c': '$a = b$'}
    title, first, second = read(TEXT, MORE, names=labels)
    assert title.note == 'An *introduction* with *Next Page*, ($a = b$) and (A et al. 2020; D and E 2021).'
    assert (first.note, second.note) == ('What is told.', 'Told later.')


@pytest.mark.parametrize(
    'old, new, message',
    [
        (':title: A Title\n', '', 'a title has to be there'),
        (':title: A Title', ':title:', 'a title has to be there'),
        (':code:', ':source:', 'the options are title, code'),
        (':code: count 2-3\n:output: count', ':output: count\n:code: count', 'in this order'),
        ('count 2-3', 'counts 2-3', "no code cell 'counts'; there are count"),
        ('count 2-3', 'count 2-5', 'there are the lines 1 to 4'),
        ('count 2-3', 'count 3-2', 'there are the lines 1 to 4'),
        ('count 2-3', 'count x', 'is not the id of a code cell'),
        (':output: count', ':output: text-0', "no code cell 'text-0'"),
        ('img/splitting.svg', 'img/none.svg', "no figure 'img/none.svg'; its figures are: img/splitting.svg"),
        ('* Another', '* b\n* c\n* d\n* e\n* Another', '6 points'),
        ('A point', 'A point' * 20, 'a point of'),
    ],
)
def test_a_mistake_is_named_with_its_place(old, new, message):
    assert old in MARK
    with pytest.raises(SlideError, match=re.escape(message)) as error:
        read(TEXT, MORE.replace(MARK, MARK.replace(old, new)))
    assert str(error.value).startswith('en/page, cell text-1, mark ')


@pytest.mark.parametrize('broken', [MARK.replace('<!-- slide', '<!--slide'), MARK.replace('\n-->', ' -->')])
def test_a_mark_that_cannot_be_read_is_named(broken):
    with pytest.raises(SlideError, match='^en/page, cell text-1: a mark cannot be read'):
        read(TEXT, f'Words.\n\n{broken}')


def test_a_cell_without_output_is_named():
    notebook = page(TEXT, MORE)
    notebook.cells[-1].outputs = []
    with pytest.raises(SlideError, match='no stored output'):
        slides_marks.slides(notebook, 'page', ENGLISH)


def test_code_that_is_too_long_is_named():
    notebook = page(TEXT, MORE.replace('count 2-3', 'count'))
    notebook.cells[-1].source = '\n'.join(['x = 1'] * 17)
    with pytest.raises(SlideError, match='17 lines, and 16 are the most'):
        slides_marks.slides(notebook, 'page', ENGLISH)


def test_too_many_slides_are_an_error():
    marks = ['<!-- slide\n:title: T\n-->'] * 14
    assert len(read(TEXT, '\n\n'.join(marks))) == 15
    with pytest.raises(SlideError, match='^en/page has 16 slides'):
        read(TEXT, '\n\n'.join([*marks, marks[0]]))


def test_maths_that_cannot_be_shown_is_named():
    with pytest.raises(SlideError, match='A Page.*maths cannot be shown'):
        slides.rendered(read(TEXT, MORE.replace('$x$', r'$\nonsense$')), ENGLISH)


def test_tags_are_letters_on_a_slide():
    text = slides.rendered(read(TEXT, MORE.replace('Another with', 'Another <b>with</b>')), ENGLISH)
    assert '&lt;b&gt;with' in text


def test_marks_are_no_part_of_pages_and_runnable_notebooks(tmp_path):
    without = 'What is told.\n\nTold later.'
    assert markup.without_slides(MORE) == f'## More\n\n{without}'
    assert runnable.markdown(MORE, None, None) == f'## More\n\n{without}'
    for language in languages.languages():
        source.assemble(language, tmp_path / language.code)
        for path in (tmp_path / language.code).glob('*.ipynb'):
            assert '<!-- slide' not in path.read_text(encoding='utf-8'), path


def test_words_of_marks_are_words_to_translate():
    assert markup.has_words('<!-- slide\n:title: Words\n-->')
    words = markup.words(MORE).split()
    assert 'Title' in words and 'point' in words
    assert 'slide' not in words and 'count' not in words


TRANSLATED = MORE.replace('A Title', 'Một tên').replace('A point', 'Một ý').replace('Another', 'Ý khác')


def differences(translated):
    english = page(TEXT, MORE)
    other = copy.deepcopy(english)
    other.cells[1].source = translated
    for cell, original in zip(other.cells[:2], english.cells):
        cell.metadata[notebooks.TRANSLATED_FROM] = notebooks.source_hash(original)
    return parity.compare(english, other)


def test_a_true_translation_of_a_mark_passes():
    assert differences(TRANSLATED) == []


@pytest.mark.parametrize(
    'old, new, kind',
    [
        ('<!-- slide\n:title: Words Alone\n-->\n', '', 'slide'),
        (':code: count 2-3', ':code: count', 'slide'),
        (':output: count\n', '', 'slide'),
        ('* Ý khác with `code`\n', '`code`\n', 'slide'),
        ('$x$', '$y$', 'inline maths'),
        ('`code`', '`mã`', 'inline code'),
    ],
)
def test_a_departure_of_a_mark_is_named(old, new, kind):
    assert old in TRANSLATED
    problems = differences(TRANSLATED.replace(old, new))
    assert any(problem.startswith(f'text-1: {kind} differs') for problem in problems), problems


def test_a_stale_cell_gives_english_slides(monkeypatch):
    english = page(TEXT, MORE)
    other = copy.deepcopy(english)
    other.cells[1].source = TRANSLATED
    other.cells[1].metadata[notebooks.TRANSLATED_FROM] = '0' * 12
    monkeypatch.setattr(carry, 'english_of', lambda name: english)
    monkeypatch.setattr(carry, 'stored', lambda language, name: other)
    language = languages.translations()[0]
    assert slides_marks.slides(slides_marks.stored('page', language), 'page', language)[1].title == 'A Title'


@pytest.fixture(scope='module')
def decks(tmp_path_factory):
    """All decks, as (language, page, path), built once."""
    folder = slides.build(tmp_path_factory.mktemp('slides'))
    paths = [(language, path) for language in languages.languages() for path in (folder / language.code).glob('*.html')]
    return [(language, path.stem, path) for language, path in paths]


def test_every_language_has_the_same_decks(decks):
    pages = {language.code: {name for lang, name, _ in decks if lang == language} for language in languages.languages()}
    assert pages[languages.SOURCE]
    for language in languages.complete_translations():
        assert pages[language.code] == pages[languages.SOURCE]
    listed = (decks[0][2].parents[1] / 'index.html').read_text(encoding='utf-8')
    assert re.findall(r'href="(.*?)"', listed) == [
        f'{language.code}/{name}.html'
        for language in languages.languages()
        for name in languages.pages()
        if name in pages[language.code]
    ]


def test_decks_say_their_language_and_licences(decks):
    for language, _, path in decks:
        text = path.read_text(encoding='utf-8')
        assert f'<html lang="{language.code}">' in text
        assert 'Hakim El Hattab' in text and 'STI Pub Companies' in text


def test_slides_can_be_read_from_the_last_row(decks):
    SHOTS.mkdir(parents=True, exist_ok=True)
    requests, errors, problems = [], [], []
    with chromium() as browser:
        context = browser.new_context(viewport=SCREEN, offline=True)
        tab = context.new_page()
        tab.on('request', lambda request: requests.append(request.url))
        tab.on('pageerror', lambda error: errors.append(str(error)))
        tab.on('console', lambda message: errors.append(message.text) if message.type == 'error' else None)
        for language, name, path in decks:
            tab.goto(path.as_uri())
            tab.evaluate('document.fonts.ready')
            measured = tab.evaluate(MEASURE)
            assert 1 < len(measured) <= slides_marks.MOST_SLIDES
            for number, slide in enumerate(measured, 1):
                small = {kind: size for kind, size in slide['sizes'].items() if size < SMALLEST[kind]}
                if slide['outside'] or small:
                    problems.append(f'{language.code}/{name}, slide {number}: {slide["outside"]} {small}')
            photograph(tab, SHOTS / f'slides-{language.code}-{name}.png')
    assert problems == []
    assert errors == []
    assert [url for url in requests if not url.startswith(('data:', 'file:'))] == []
    assert {url.partition('?')[0] for url in requests if url.startswith('file:')} == {
        path.as_uri() for _, _, path in decks
    }


def photograph(tab, path):
    """A picture of all slides of a deck, one below the other, for a person to look at."""
    tab.goto(tab.url.partition('#')[0] + '?view=print')
    tab.wait_for_selector('.pdf-page')
    tab.screenshot(path=path, full_page=True)

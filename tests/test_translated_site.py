"""A book with a third language and a translation that lags behind: nothing is hidden, defined twice or untrue.

One copy of the project is changed as authors change it, brought up to date and built; all tests look at that site.
"""

import re
from collections import Counter

import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe
from nbformat.v4 import new_code_cell, new_markdown_cell
from site_pages import DESKTOP, PHONE, SHOTS, chromium, project_copy, run_in_copy, soup

from book import carry, glossary, notebooks, notices
from book.languages import SOURCE, languages, pages

EDITED = 'Whoever edits a sentence such as this one makes a translation stale.'
INSERTED = 'A paragraph that has come in between.'
SCRATCH, CONCISE, ABSENT = 'multiple-gpus', 'multiple-gpus-concise', 'resnet'
VIETNAMESE = next(language for language in languages() if language.code == 'vi')


def edit(folder, page, change):
    path = folder / 'chapters' / SOURCE / f'{page}.ipynb'
    notebook = notebooks.read(path)
    change(notebook.cells, {cell.id: cell for cell in notebook.cells})
    notebooks.write(notebook, path)


def change_scratch(cells, by_id):
    """Edit a cell with a labelled equation, split one with a labelled figure, insert two cells, delete one."""
    by_id['data-parallelism'].source += f'\n\n{EDITED}'
    text, figure = by_id['splitting'].source.split('\n\n```')
    by_id['splitting'].source = text
    cells.insert(cells.index(by_id['splitting']) + 1, new_markdown_cell(f'```{figure}', id='splitting-figure'))
    cells.insert(1, new_markdown_cell(f'(sec_inserted)=\n## An Inserted Heading\n\n{INSERTED}', id='inserted'))
    cells.insert(2, new_code_cell('6 * 7', id='inserted-code', execution_count=1))
    cells.remove(by_id['splitting-layers'])


def change_concise(cells, by_id):
    """Edit the cell with the page's title, move one cell to the end, and exchange two."""
    by_id['title'].source += f'\n\n{EDITED}'
    cells.append(cells.pop(cells.index(by_id['fresh-net'])))
    one, other = cells.index(by_id['speed']), cells.index(by_id['published-text'])
    cells[one], cells[other] = cells[other], cells[one]


@pytest.fixture(scope='module')
def project(tmp_path_factory):
    folder = project_copy(tmp_path_factory.mktemp('project'), [language.code for language in languages()])
    edit(folder, SCRATCH, change_scratch)
    edit(folder, CONCISE, change_concise)
    for arguments in (['sync', 'vi'], ['start', 'eo']):
        done = run_in_copy(folder, 'book.translations', *arguments)
        assert done.returncode == 0, done.stderr
    (folder / 'chapters' / 'vi' / f'{ABSENT}.ipynb').unlink()
    done = run_in_copy(folder, 'book.site')
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope='module')
def site(project):
    return project / '_build' / 'site'


def vietnamese(site, page):
    return soup(site / 'vi' / f'{page}.html').article


def notice(state):
    return VIETNAMESE.word(notices.NOTICES[state])


def english_box(article, words):
    """The element in English that holds `words`, and the notice before it or None."""
    box = next(box for box in article.select('.not-translated') if words in box.text)
    english = next(part for part in box.find_all(lang=SOURCE) if words in part.text)
    note = box.select_one('.translation-notice')
    return english, note.text.strip() if note else None


def test_a_started_language_is_on_every_page_of_the_switch(site):
    for page in pages():
        path = site / 'eo' / f'{page}.html'
        assert soup(path).html['lang'] == 'eo'
        switch = soup(site / SOURCE / f'{page}.html').select('.language-switch a')
        assert 'Esperanto' in [link.text.strip() for link in switch]
    assert soup(site / 'eo' / f'{SCRATCH}.html').select_one('h1 [lang=en]').text == 'Training on Multiple GPUs'


def test_a_started_language_holds_the_english_and_says_so(project):
    done = run_in_copy(project, 'book.translations', 'status', 'eo')
    assert re.match(r'Esperanto \(eo\): +0 %  0 of \d+ cells translated', done.stdout)
    assert run_in_copy(project, 'book.translations', 'check', 'eo').returncode == 0
    settings = yaml.safe_load((project / 'chapters' / 'eo' / 'language.yml').read_text(encoding='utf-8'))
    assert set(settings['interface']) >= set(VIETNAMESE.settings['interface'])


def test_an_edited_cell_shows_the_english_a_notice_and_the_earlier_translation(site):
    for page, earlier in ((SCRATCH, 'Song song hóa dữ liệu'), (CONCISE, 'Cách lập trình súc tích')):
        article = vietnamese(site, page)
        english, note = english_box(article, EDITED)
        assert note == notice(carry.STALE)
        fold = english.parent.select_one('details')
        assert not fold.has_attr('open') and VIETNAMESE.word(notices.EARLIER) in fold.summary.text
        assert earlier in fold.text and not fold.find_parent(lang=SOURCE)


def test_an_inserted_cell_shows_the_english_and_a_notice(site):
    article = vietnamese(site, SCRATCH)
    _, note = english_box(article, INSERTED)
    assert note == notice(carry.MISSING)
    assert article.find(id='sec-inserted').find_next('h2').find(lang=SOURCE).text == 'An Inserted Heading'
    assert '6 * 7' in article.text


def test_a_deleted_cell_is_gone_and_its_translation_is_kept_beside_the_notebook(project, site):
    kept = project / 'chapters' / 'vi' / f'{SCRATCH}.kept.md'
    assert 'cell splitting-layers' in kept.read_text(encoding='utf-8')
    assert 'AlexNet được huấn luyện' in kept.read_text(encoding='utf-8')
    assert 'AlexNet được huấn luyện' not in vietnamese(site, SCRATCH).text
    assert not list(site.rglob('*.kept*'))


def test_moved_and_exchanged_cells_are_translated_where_the_english_has_them(project, site):
    article = vietnamese(site, CONCISE)
    moved = ('Thảo luận', 'Nếu dùng lại một mạng, thống kê tích lũy')
    exchanged = ('Để có số liệu thay vào công thức', 'hai con số thời gian ở trên')
    for earlier, later in (moved, exchanged):
        assert article.text.index(earlier) < article.text.index(later)
    untranslated = ' '.join(box.text for box in article.select('.not-translated'))
    assert not [words for words in (*moved, *exchanged) if words in untranslated]


def test_nothing_is_defined_twice_or_numbered_otherwise_than_in_english(site):
    for page in (SCRATCH, CONCISE, ABSENT):
        ours, english = vietnamese(site, page), soup(site / SOURCE / f'{page}.html').article
        ids = Counter(element['id'] for element in ours.find_all(id=True))
        assert [name for name, count in ids.items() if count > 1] == []
        for numbers in ('.eqno', '.caption-number', '.section-number'):
            found = [re.search(r'\d[\d.]*', element.text)[0] for element in ours.select(numbers)]
            assert found == [re.search(r'\d[\d.]*', element.text)[0] for element in english.select(numbers)]
    assert vietnamese(site, SCRATCH).select('figure[id=fig-splitting] img')


def test_a_page_that_is_not_there_is_in_english_with_one_notice(site):
    article = vietnamese(site, ABSENT)
    assert [note.text.strip() for note in article.select('.translation-notice')] == [notice(carry.MISSING)]
    for paragraph in article.select('section > p'):
        pytest.fail(f'not marked as English: {paragraph.text}')
    assert all(heading.find(lang=SOURCE) for heading in article.select('h1, h2'))


def test_markup_of_notices_is_rendered(site):
    for page in pages():
        for code in ('vi', 'eo'):
            article = soup(site / code / f'{page}.html').article
            for unread in article.find_all(['pre', 'code', 'script', 'style', 'math']):
                unread.extract()
            assert not re.search(r':::|\{\.|language-en|\]\{', article.text), (code, page)
            soup.cache_clear()


def test_the_glossary_page_has_every_term_and_where_it_is_first_used(site):
    terms = glossary.read(VIETNAMESE)
    for code in (SOURCE, 'vi', 'eo'):
        rows = soup(site / code / 'glossary.html').select('.glossary tbody tr')
        cells = {row.td.text: row.find_all('td') for row in rows}
        assert set(cells) == {term.english for term in terms}
        assert all(cells[term.english][1].text == term.translation for term in terms)
        assert cells['shard'][2].a['href'] == f'{SCRATCH}.html'
        assert cells['residual network'][2].a['href'] == f'{ABSENT}.html'
        assert cells['shard'][1].find(lang='vi')


@pytest.mark.parametrize('scheme, viewport', [('light', DESKTOP), ('dark', PHONE)], ids=['desktop', 'phone'])
def test_notices_are_accessible_and_fit(site, scheme, viewport):
    SHOTS.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        tab = browser.new_context(viewport=viewport, color_scheme=scheme).new_page()
        tab.goto((site / 'vi' / f'{SCRATCH}.html').as_uri())
        tab.evaluate("document.querySelectorAll('.earlier-translation').forEach(fold => fold.open = true)")
        tab.wait_for_function("document.getAnimations().every(animation => animation.playState != 'running')")
        tab.screenshot(path=SHOTS / f'vi-notices-{scheme}.png', full_page=True)
        assert tab.evaluate('document.documentElement.scrollWidth <= window.innerWidth')
        violations = Axe().run(tab).response['violations']
        assert [(one['id'], one['help'], one['nodes'][0]['html'][:150]) for one in violations] == []

"""The site in its files: complete, linked, in the right language, nothing left unrendered."""

import re
import subprocess
import sys
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import Comment
from PIL import Image
from site_pages import browser, built, page_files, project_copy, run_in_copy, soup

from book import printed
from book.languages import CHAPTERS, SOURCE, complete_translations, finished, languages

# Markup of the notebooks that must not reach a reader: roles, directives, labels, maths, emphasis.
RAW = re.compile(r'\{[a-z:]+\}`|\((sec|fig|tab|eq)_|:::|```|\$|\\[a-z]+\{|\]\(|\*\*|:(label|numref|cite|eqref):')


@pytest.fixture(scope='module')
def site():
    return built()


def test_every_page_of_every_language_is_there(site):
    missing = [str(path) for _, path in page_files(site) if not path.is_file()]
    assert not missing
    assert (site / 'index.html').is_file()


def test_start_page_links_to_every_language_without_javascript(site):
    links = {a['href'] for a in soup(site / 'index.html').find_all('a')}
    pdfs = {f'{language.code}/{printed.file_name(language)}' for language in languages() if browser()}
    assert links == {f'{language.code}/index.html' for language in languages()} | pdfs


def test_pages_say_their_language_title_and_description(site):
    titles = set()
    for language, path in page_files(site):
        page = soup(path)
        assert page.html['lang'] == language.code
        assert language.settings['title'] in page.title.text, path
        for key in ({'name': 'description'}, {'property': 'og:description'}, {'property': 'og:title'}):
            assert page.find('meta', key)['content'].strip(), (path, key)
        titles.add((language.code, page.title.text))
    assert len(titles) == len(page_files(site)), 'two pages have the same title'


def test_pages_name_their_translations(site):
    for _, path in page_files(site):
        alternates = {
            link['hreflang']: (path.parent / link['href']).resolve()
            for link in soup(path).find_all('link', rel='alternate')
        }
        assert alternates.pop('x-default') == (site / SOURCE / path.name).resolve()
        assert alternates == {other.code: (site / other.code / path.name).resolve() for other in languages()}


def test_switch_names_the_other_languages(site):
    for language, path in page_files(site):
        links = soup(path).select('header .language-switch a, .bd-header-article .language-switch a')
        assert [(a['lang'], a.text.strip()) for a in links] == [
            (other.code, other.name) for other in languages() if other != language
        ]


def test_links_and_images_lead_somewhere(site):
    broken = []
    for _, path in page_files(site):
        for tag, attribute in (('a', 'href'), ('img', 'src'), ('script', 'src'), ('link', 'href')):
            for element in soup(path).find_all(tag, {attribute: True}):
                address = urlsplit(element[attribute])
                if address.scheme or (tag == 'a' and element.get('href') == '#'):
                    continue
                target = (path.parent / unquote(address.path)).resolve() if address.path else path
                if not target.is_file():
                    broken.append(f'{path.name}: {element[attribute]}')
                elif address.fragment and target.suffix == '.html':
                    if not soup(target).find(id=unquote(address.fragment)):
                        broken.append(f'{path.name}: {element[attribute]} (no such place)')
    assert not broken


def test_images_have_alternative_text(site):
    nameless = []
    for _, path in page_files(site):
        for image in soup(path).select('article img'):
            alt = image.get('alt', '').strip()
            if len(alt) < 20 or alt.endswith(('.svg', '.png')):
                nameless.append(f'{path.parent.name}/{path.name}: {image["src"]}')
    assert not nameless


def test_no_file_asks_another_host(site):
    asking = []
    for path in [*site.rglob('*.html'), *site.rglob('*.css')]:
        text = path.read_text(encoding='utf-8')
        if path.suffix == '.css':
            asking += [f'{path.name}: {url}' for url in re.findall(r'url\(["\']?(https?:[^)]*)\)|@import', text) if url]
            continue
        for element in soup(path).find_all(['script', 'img', 'iframe', 'source', 'link']):
            url = element.get('src') or (element.get('href') if 'stylesheet' in element.get('rel', []) else '')
            if url and urlsplit(url).netloc:
                asking.append(f'{path.name}: {url}')
    assert not asking


def test_nothing_is_left_unrendered(site):
    raw = []
    for _, path in page_files(site):
        for text in soup(path).body.find_all(string=True):
            hidden = isinstance(text, Comment) or text.find_parent(['script', 'style', 'code', 'pre', 'math'])
            if not hidden and RAW.search(text):
                raw.append(f'{path.parent.name}/{path.name}: {text.strip()[:80]}')
    assert not raw


def test_references_read_in_the_language_of_the_page(site):
    wrong, seen = [], set()
    for language, path in page_files(site):
        if language not in finished():  # one that has been started may have Sphinx's words
            continue
        words = language.settings.get('interface') or {}
        forms = [words.get(form, form) for form in ('Section %s', 'Fig. %s', 'Table %s', 'Listing %s')]
        pattern = re.compile('|'.join(re.escape(form).replace('%s', r'\d+(\.\d+)*') for form in forms))
        for reference in soup(path).select('.std-numref, .caption-number'):
            seen.add(language.code)
            if not pattern.fullmatch(reference.text.strip()):
                wrong.append(f'{path.parent.name}/{path.name}: {reference.text}')
    assert not wrong
    assert seen == {language.code for language in finished()}, 'no numbered reference in a language'


def test_captions_of_parts_are_translated(site):
    def captions(code):
        return [caption.text for caption in soup(site / code / 'index.html').select('.bd-docs-nav .caption-text')]

    for language in complete_translations():
        same = set(captions(SOURCE)) & set(captions(language.code))
        assert captions(language.code) and not same


def test_a_warning_fails_the_build_and_is_shown(tmp_path):
    copy = project_copy(tmp_path)
    page = copy / CHAPTERS.name / SOURCE / 'bibliography.ipynb'
    page.write_text(
        page.read_text(encoding='utf-8').replace('```{bibliography}', '{numref}`sec_nowhere`\\n\\n```{bibliography}')
    )
    result = run_in_copy(copy, 'book.site')
    assert result.returncode != 0
    assert 'sec_nowhere' in result.stderr


def test_addresses_of_site_and_repository_reach_the_pages(tmp_path, monkeypatch):
    monkeypatch.setenv('BOOK_URL', 'https://example.org/course')
    monkeypatch.setenv('BOOK_REPOSITORY_URL', 'https://github.com/somebody/course')
    copy = project_copy(tmp_path)
    result = run_in_copy(copy, 'book.site')
    assert result.returncode == 0, result.stderr
    folder = copy / '_build' / 'site' / SOURCE
    page = soup(folder / 'multiple-gpus.html')
    here = f'https://example.org/course/{SOURCE}/'
    assert page.find('meta', property='og:url')['content'] == f'{here}multiple-gpus.html'
    assert page.find('link', hreflang=SOURCE)['href'] == f'{here}multiple-gpus.html'
    picture = page.find('meta', property='og:image')['content']
    with Image.open(folder / picture.removeprefix(here)) as card:
        assert card.size == (1200, 630) and len(card.getcolors(2**20)) > 20
    addresses = [a['href'] for a in page.select('.page-actions a')]
    assert any(address.startswith('https://colab.research.google.com/github/somebody') for address in addresses)
    assert page.find('a', href='https://github.com/somebody/course')


def test_jupyter_book_alone_builds_the_english_book_without_warnings(tmp_path):
    project_copy(tmp_path)
    for name in ('.pytest_cache/README.md', '.venv/lib/notes.md', '_build/old.md'):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text('# Not a page')
    command = 'from jupyter_book.cli.main import main; main()'
    done = subprocess.run(
        [sys.executable, '-c', command, 'build', str(tmp_path), '-W', '-n', '--keep-going'],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    page = soup(tmp_path / '_build' / 'html' / 'chapters' / SOURCE / 'multiple-gpus-concise.html')
    assert page.html['lang'] == SOURCE and page.select('.std-numref')

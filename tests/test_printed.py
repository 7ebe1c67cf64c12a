"""The PDF of each language: complete, in its language, with an outline, its links inside it."""

import pypdf
import pytest
from site_pages import browser, built, soup

from book import printed, site
from book.languages import languages, pages


@pytest.fixture(scope='module', params=languages(), ids=lambda language: language.code)
def book(request):
    """A language, the folder of its pages and its PDF."""
    if not browser():
        pytest.skip('no chromium on the PATH: no PDF was printed')
    language, folder = request.param, built() / request.param.code
    return language, folder, pypdf.PdfReader(folder / printed.file_name(language))


def headings(path):
    """The headings of a page, without the mark that links to them."""
    for heading in soup(path).article.find_all(['h1', 'h2', 'h3']):
        mark = heading.find(class_='headerlink')
        yield ' '.join(heading.text.removesuffix(mark.text if mark else '').split())


def outline(entries):
    for entry in entries:
        if isinstance(entry, list):
            yield from outline(entry)
        else:
            yield entry


def test_it_says_its_language_and_title_and_has_tags(book):
    language, _, pdf = book
    root = pdf.trailer['/Root']
    assert root['/Lang'] == language.code and root['/MarkInfo']['/Marked']
    assert pdf.metadata.title == language.settings['title']


def test_the_outline_has_every_heading_of_every_page_in_order(book):
    _, folder, pdf = book
    expected = [heading for page in pages() for heading in headings(folder / f'{page}.html')]
    entries = list(outline(pdf.outline))
    assert [entry.title for entry in entries] == expected
    numbers = [pdf.get_destination_page_number(entry) for entry in entries]
    assert numbers == sorted(numbers) and numbers[0] > 0 and len(set(numbers)) > len(pages())


def test_the_words_of_all_pages_are_there(book):
    language, folder, pdf = book
    text = ''.join(page.extract_text() for page in pdf.pages)
    letters = ''.join(text.split())
    for page in pages():
        last = [
            paragraph for paragraph in soup(folder / f'{page}.html').article.find_all('p') if paragraph.text.strip()
        ]
        words = ''.join(last[-1].text.split())[:40]
        assert words in letters, (language.code, page, words)


def test_links_lead_into_the_book_or_to_the_web(book):
    _, _, pdf = book
    links = [
        entry.get_object() for page in pdf.pages for entry in page.get('/Annots', []) if '/A' in entry.get_object()
    ]
    addresses = {link['/A']['/URI'] for link in links if '/URI' in link['/A']}
    assert addresses and all(address.startswith(('https://', 'http://')) for address in addresses)


def test_without_a_chromium_the_build_ends_before_it_begins(tmp_path, monkeypatch):
    monkeypatch.setattr(printed.shutil, 'which', lambda program: None)
    with pytest.raises(printed.PrintError, match='install it'):
        site.build(tmp_path / 'site', tmp_path / 'source', pdf=True)
    assert not list(tmp_path.iterdir())

"""The book of one language as a PDF: its finished pages in one file, printed by Chromium."""

import copy
import logging
import os
import shutil
import subprocess
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup
from docutils.nodes import make_id
from jinja2 import Environment, FileSystemLoader
from pypdf import PdfWriter
from pypdf.generic import NameObject, TextStringObject

from .languages import pages

# Chrome first: where both are installed, as on GitHub's machines, Chromium may lack the right to a sandbox.
PROGRAMS = ('google-chrome', 'chromium', 'chromium-browser')
TEMPLATES = Path(__file__).parent / 'theme' / 'templates'
HEADINGS = 'h1, h2, h3, h4, h5, h6'
# What serves on a screen only.
SCREEN_ONLY = 'script, .headerlink, .prev-next-area, .copybtn'


class PrintError(RuntimeError):
    """The PDF could not be made; the message says why and what to do."""


def browser():
    """The path of a Chromium on this machine; raises `PrintError` if there is none."""
    for program in PROGRAMS:
        if path := shutil.which(program):
            return path
    raise PrintError(f'A PDF needs Chromium: install it, so that {" or ".join(PROGRAMS)} is on the PATH.')


def file_name(language):
    """The name of the PDF, from the title of the book."""
    return f'{make_id(language.settings["title"]) or language.code}.pdf'


def write(language, folder):
    """Print the finished pages of `language` in `folder` into one PDF there; gives its path.

    Raises:
        PrintError: if there is no Chromium, or it fails.
    """
    source, target = folder / 'print.html', folder / file_name(language)
    text, headings = one_page(language, folder)
    source.write_text(text, encoding='utf-8')
    command = [
        browser(),
        '--headless',
        '--disable-gpu',
        '--no-pdf-header-footer',
        '--generate-pdf-document-outline',
        f'--print-to-pdf={target}',
        source.as_uri(),
    ]
    if hasattr(os, 'geteuid') and os.geteuid() == 0:
        command.insert(1, '--no-sandbox')  # as root, as in a container, Chromium has no sandbox
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=300)
    except subprocess.TimeoutExpired:
        raise PrintError(f'Chromium did not print {source} within 5 minutes.') from None
    if done.returncode or not target.is_file():
        raise PrintError(f'Chromium did not print {source}:\n{done.stderr[-2000:]}')
    source.unlink()
    _name_outline(target, headings)
    return target


def _name_outline(path, titles):
    """Name the entries of the outline of a PDF.

    Chromium doubles those of headings at the top of a page, and joins words where a heading starts a new line.
    """
    logging.getLogger('pypdf').setLevel(logging.ERROR)  # it warns of Chromium's count of objects
    writer = PdfWriter(clone_from=path)
    entries = list(_entries(writer.root_object['/Outlines']))
    if len(entries) != len(titles):
        raise PrintError(f'The outline of {path} has {len(entries)} entries for {len(titles)} headings.')
    for entry, title in zip(entries, titles):
        entry[NameObject('/Title')] = TextStringObject(title)
    writer.write(path)


def _entries(parent):
    """All entries of an outline below `parent`, in reading order."""
    entry = parent.get('/First')
    while entry is not None:
        entry = entry.get_object()
        yield entry
        yield from _entries(entry)
        entry = entry.get('/Next')


def one_page(language, folder):
    """An HTML page with a cover, the contents and all pages of the book in reading order; and its headings."""
    names = pages()
    parsed = {name: _parsed(folder / f'{name}.html') for name in names}
    articles = {name: _article(parsed[name], name, names) for name in names}
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True)
    text = environment.get_template('print.html').render(
        language=language,
        sheets=[link['href'] for link in parsed[names[0]].select('link[rel="stylesheet"]')],
        contents=[(name, _words(articles[name].h1)) for name in names],
        articles=[str(article) for article in articles.values()],
    )
    return text, [_words(heading) for article in articles.values() for heading in article.select(HEADINGS)]


def _words(element):
    return ' '.join(element.text.split())


def _parsed(path):
    return BeautifulSoup(path.read_text(encoding='utf-8'), 'html.parser')


def _article(page, name, names):
    """The article of a page; its ids begin with the page's name, and its links lead to where pages are in the PDF."""
    article = copy.copy(page.article)
    for element in article.select(SCREEN_ONLY):
        element.decompose()
    for details in article.select('details'):
        details['open'] = ''
    for attribute in ('id', 'for', 'aria-labelledby', 'aria-describedby'):
        for element in article.find_all(attrs={attribute: True}):
            element[attribute] = ' '.join(f'{name}-{word}' for word in element[attribute].split())
    for link in article.find_all('a', href=True):
        link['href'] = _address(link['href'], name, names)
    article['id'] = name
    return article


def _address(href, name, names):
    address = urlsplit(href)
    if address.scheme:
        return href
    page = Path(unquote(address.path)).stem if address.path else name
    if page not in names:
        return href
    return f'#{page}-{address.fragment}' if address.fragment else f'#{page}'

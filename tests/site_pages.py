"""The built site as the tests see it: its pages, and a browser to look at them."""

import atexit
import functools
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from book import helper, printed
from book.languages import SOURCE, languages, pages
from book.site import build

ROOT = Path(__file__).resolve().parent.parent
SHOTS = ROOT / '_build' / 'screenshots'
PHONE = {'width': 375, 'height': 812}
DESKTOP = {'width': 1280, 'height': 900}
FLAGS = [
    '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync',
]  # fmt: skip


@functools.cache
def built():
    """The folder of the site, built once in a test run, away from the one that a person looks at."""
    folder = Path(tempfile.mkdtemp(prefix='site-'))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return build(folder / 'site', folder / 'source', pdf=bool(browser()))


def browser():
    """The path of a Chromium, or None; an error where the environment says CI=true."""
    try:
        return printed.browser()
    except printed.PrintError:
        if os.environ.get('CI') == 'true':
            raise
        return None


def project_copy(folder, codes=(SOURCE,)):
    """A copy of what the site is made from in some languages, to be changed by a test."""
    unwanted = shutil.ignore_patterns('__pycache__', '.*', '*.checkpoint')
    files = ('_config.yml', '_toc.yml', 'references.bib', *helper.SOURCES)
    for name in (*files, 'book', *(f'chapters/{code}' for code in codes)):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=unwanted)
        else:
            shutil.copy2(ROOT / name, folder / name)
    return folder


def run_in_copy(folder, *arguments):
    """Run a module of the copy in `folder`, such as `book.site`; gives the finished process with its output."""
    command = [sys.executable, '-m', *arguments]
    environment = {**os.environ, 'PYTHONPATH': str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=280)


def page_names():
    """The pages of one language's book, those without a notebook too."""
    return [*pages(), 'search']


def page_files(site):
    """All pages of the site, as (language, path) pairs."""
    return [(language, site / language.code / f'{name}.html') for language in languages() for name in page_names()]


@functools.cache
def soup(path):
    """The parsed page at `path`."""
    return BeautifulSoup(path.read_text(encoding='utf-8'), 'html.parser')


@contextmanager
def chromium():
    """A browser; without one the test is skipped, but fails where the environment says CI=true."""
    from playwright.sync_api import sync_playwright

    program = browser()
    if not program:
        pytest.skip('no chromium on the PATH: the pages were not looked at in a browser')
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield running
        running.close()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """A file server that does not write a line for every request."""

    def log_message(self, *arguments):
        pass


@contextmanager
def served(folder):
    """The address of a server of `folder` on this machine."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f'http://127.0.0.1:{server.server_port}'
    server.shutdown()

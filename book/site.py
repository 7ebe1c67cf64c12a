"""Render the stored notebooks of every language into one site: `python -m book.site`."""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from . import helper, printed
from .languages import ROOT, languages
from .source import assemble
from .start import start_page

BUILD = ROOT / '_build'
SITE = BUILD / 'site'


class BuildError(RuntimeError):
    """A language's book did not build without warnings; the message holds what Sphinx said."""


def build(site=SITE, work=BUILD / 'source', pdf=False, adding=None):
    """Render all languages into `site`, using `work` for what lies between; gives `site`.

    With `pdf`, each language's book is there as a PDF as well, and its pages link to it. `adding` is called with each
    language and the folder of its book before the book is built, and may add pages.

    Every language is built from nothing, because an incremental build keeps quiet about the warnings
    of pages it does not read again. The languages run side by side, one process each.
    """
    site, work = Path(site), Path(work)
    books = languages()
    if pdf:
        printed.browser()  # or an error before the work begins
    module = helper.prepare(work / 'helper')
    for language in books:
        assemble(language, work / language.code, module, pdf)
        if adding:
            adding(language, work / language.code)
    running = [(language, _start(work / language.code)) for language in books]
    reports = [(language, process.communicate()[0], process.returncode) for language, process in running]
    failed = [f'{language.name}:\n{_problems(output)}' for language, output, status in reports if status]
    if failed:
        raise BuildError('\n'.join(failed))
    shutil.rmtree(site, ignore_errors=True)
    for language in books:
        shutil.move(work / language.code / '_build' / 'html', site / language.code)
    pdfs = [printed.write(language, site / language.code).relative_to(site).as_posix() for language in books if pdf]
    shutil.copy2(helper.wheel(module), site)
    (site / 'index.html').write_text(start_page(books, pdfs), encoding='utf-8')
    return site


def _start(folder):
    """A process that builds the Jupyter Book in `folder`; any warning makes it fail."""
    command = 'from jupyter_book.cli.main import main; main()'
    options = ['-W', '-n', '--keep-going']
    return subprocess.Popen(
        [sys.executable, '-c', command, 'build', str(folder), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding='utf-8',
        env={**os.environ, 'NO_COLOR': '1', 'PYTHONIOENCODING': 'utf-8'},
    )


def _problems(output):
    """The warnings in what Sphinx printed, or all of it where there are none."""
    lines = re.sub(r'\x1b\[[0-9;]*m', '', output).splitlines()
    problems = [line for line in lines if 'WARNING:' in line or 'ERROR:' in line]
    return '\n'.join(problems or lines)


def main():
    """Build the site and say how to open it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--site', type=Path, default=SITE, help='folder of the finished site')
    parser.add_argument('--pdf', action='store_true', help='print each book into a PDF as well, by Chromium')
    arguments = parser.parse_args()
    try:
        site = build(arguments.site, pdf=arguments.pdf)
    except (BuildError, helper.HelperError, printed.PrintError, FileNotFoundError) as error:
        sys.exit(f'{error}\nThe book was not built: see the messages above.')
    folder = os.path.relpath(site)
    print(f'The book is ready. Open {folder}{os.sep}index.html in a browser, or serve it:')
    print(f'  python3 -m http.server --directory {folder} 8000    then http://localhost:8000/')


if __name__ == '__main__':
    main()

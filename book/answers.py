"""The instructors' answers to the exercises: `python -m book.answers` renders the book with them as its last part."""

import argparse
import os
import shutil
import sys
from pathlib import Path

import yaml

from . import helper, languages, site, source
from .languages import ROOT, SOURCE

ANSWERS = ROOT / 'answers'
RENDERED = site.BUILD / 'answers'
CAPTION = 'Answers'


def sections():
    """The pages that have exercises and answers to them, in reading order."""
    return [page for page in languages.pages() if (ANSWERS / SOURCE / f'{page}.ipynb').is_file()]


def add(language, folder):
    """Add the answers in `language`, or where they are missing the English ones, to the book in `folder`."""
    toc = yaml.safe_load((folder / source.TOC.name).read_text(encoding='utf-8'))
    caption = language.settings.get('captions', {}).get(CAPTION, CAPTION)
    chapters = [{'file': f'answers-{page}'} for page in sections()]
    toc['parts'].append({'caption': caption, 'numbered': False, 'chapters': chapters})
    (folder / source.TOC.name).write_text(yaml.safe_dump(toc, allow_unicode=True, sort_keys=False), encoding='utf-8')
    for page in sections():
        ours = ANSWERS / language.code / f'{page}.ipynb'
        shutil.copy2(ours if ours.is_file() else ANSWERS / SOURCE / ours.name, folder / f'answers-{page}.ipynb')


def main():
    """Render the book with the answers and say how to open it."""
    parser = argparse.ArgumentParser(prog='python -m book.answers', description=__doc__)
    parser.add_argument('--out', type=Path, default=RENDERED, help='folder of the rendered book')
    folder = parser.parse_args().out
    try:
        site.build(folder, work=site.BUILD / 'source-of-answers', adding=add)
    except (site.BuildError, helper.HelperError, FileNotFoundError) as error:
        sys.exit(f'{error}\nThe answers were not rendered: see the messages above.')
    print(f'The book with the answers is ready. Open {os.path.relpath(folder)}{os.sep}index.html in a browser.')
    print('It is for instructors: `make book` makes the book for students, without them.')


if __name__ == '__main__':
    main()

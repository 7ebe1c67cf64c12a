"""The languages and sections of the book, read from the folders and `_toc.yml`."""

from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = ROOT / 'chapters'
SOURCE = 'en'


@dataclass(frozen=True)
class Language:
    """A folder below `chapters/` that holds a `language.yml`.

    `code` is the folder's name and the HTML `lang`; `settings` is the content of `language.yml`.
    """

    code: str
    settings: dict

    @property
    def folder(self):
        return CHAPTERS / self.code

    @property
    def name(self):
        return self.settings['name']

    @property
    def is_complete(self):
        """Whether the language says `complete: true`: the tests then insist that every cell is translated."""
        return bool(self.settings.get('complete'))

    def word(self, english):
        """What the book says for `english` in this language; `english` itself where `language.yml` does not say."""
        return (self.settings.get('interface') or {}).get(english) or english


def languages():
    """All languages, the source first, then by code."""
    files = sorted(CHAPTERS.glob('*/language.yml'), key=lambda f: (f.parent.name != SOURCE, f.parent.name))
    return [Language(f.parent.name, yaml.safe_load(f.read_text(encoding='utf-8'))) for f in files]


def source():
    """The language that the others are translated from."""
    return languages()[0]


def translations():
    """All languages but the source."""
    return [language for language in languages() if language.code != SOURCE]


def complete_translations():
    """The translations of which the tests ask that nothing is left in English."""
    return [language for language in translations() if language.is_complete]


def finished():
    """The languages in which nothing is left to translate: the source and the complete translations."""
    return [source(), *complete_translations()]


def pages():
    """The names of the book's notebooks (no folder, no suffix) in reading order, from `_toc.yml`."""

    def walk(entry):
        for key in ('root', 'file'):
            if key in entry:
                yield Path(entry[key]).name
        for key in ('parts', 'chapters', 'sections'):
            for child in entry.get(key, []):
                yield from walk(child)

    return list(walk(yaml.safe_load((ROOT / '_toc.yml').read_text(encoding='utf-8'))))

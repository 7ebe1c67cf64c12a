"""What a translator needs: what is left to do, what is wrong, and the English notebooks' latest cells.

`python -m book.translations --help` lists the commands; CONTRIBUTING.md tells how to use them.
"""

import argparse
import re
import shutil
import sys

import yaml
from babel import Locale, UnknownLocaleError

from . import carry, glossary, languages, notebooks, parity
from .notebooks import TRANSLATED_FROM, UNTRANSLATED, NotebookError, source_hash

DESCRIPTION = """\
Say what is translated, check it, and bring it up to the English text.

A text cell is `untranslated` (it holds the English text), `translated`, or `stale`: the English that it was translated
from has changed. Readers see the English in place of cells that are untranslated or stale, with a notice. Code, outputs
and order are always those of the English notebooks."""


class TranslationError(ValueError):
    """What was asked for is not possible; the message says why and what to do."""


def states(language):
    """The state of every text cell of every page: a dictionary from pages to dictionaries from ids to states."""
    return {page: carry.states(carry.english_of(page), carry.stored(language, page)) for page in languages.pages()}


def status(language):
    """Lines that say how much of each page is translated, and which cells are not."""
    by_page = states(language)
    counts = [state for cells in by_page.values() for state in cells.values()]
    width = max(map(len, by_page))
    lines = [f'{language.name} ({language.code}): {_share(counts)}']
    for page, cells in by_page.items():
        lines.append(f'  {page:{width}}  {_share(list(cells.values()))}')
        for state in (carry.STALE, carry.MISSING):
            if set(cells.values()) == {carry.MISSING}:
                continue  # 0 % says it all
            names = [name for name, its_state in cells.items() if its_state == state]
            if names:
                lines.append(f'  {"":{width}}    {state}: {", ".join(names)}')
    return lines


def _share(cell_states):
    """'12 of 14 translated, 85 %': rounded down, so that 100 % means all."""
    done = cell_states.count(carry.TRANSLATED)
    percent = 100 * done // len(cell_states) if cell_states else 100
    return f'{percent:3} %  {done} of {len(cell_states)} cells translated'


def check(language):
    """Return a message for everything that is wrong in `language`.

    That is what differs in structure from the English, breaks with the glossary or with typography. Cells that are
    stale or untranslated are wrong only in a language that says `complete: true`.
    """
    problems = []
    terms = glossary.read(language)
    for page in languages.pages():
        english, translated = carry.english_of(page), carry.stored(language, page)
        found = _wrong_in(english, translated, terms) if translated else []
        if language.is_complete:
            unfinished = [
                f'{name}: {state}'
                for name, state in carry.states(english, translated).items()
                if state != carry.TRANSLATED
            ]
            found += unfinished if translated else ['not translated']
        problems += [f'{language.code}/{page}: {problem}' for problem in found]
    strays = {path.stem for path in language.folder.glob('*.ipynb')} - set(languages.pages())
    return problems + [f'{language.code}/{page}: not a page of _toc.yml' for page in sorted(strays)]


def _wrong_in(english, translated, terms):
    found = parity.compare(english, translated)
    source = {cell.id: cell for cell in english.cells if carry.is_translatable(cell)}
    for cell in translated.cells:
        if cell.id in source:
            wrong = parity.typography(cell.source)
            if carry.state(source[cell.id], cell) == carry.TRANSLATED:
                wrong += glossary.problems(source[cell.id].source, cell.source, terms)
            found += [f'{cell.id}: {problem}' for problem in wrong]
    return found


def done(language, page, cells=(), same=False):
    """Note that `cells` of `page` are translations of the present English; gives their ids.

    Without `cells`: all that are untranslated, hold something else than the English text, and were given the English
    that still stands; other cells have to be named. Raises `TranslationError` for a cell that is not there, or holds
    the English text and `same` is not given.
    """
    english, translated = carry.english_of(page), carry.stored(language, page)
    source = {cell.id: cell for cell in english.cells if carry.is_translatable(cell)}
    ours = {cell.id: cell for cell in translated.cells if cell.id in source} if translated else {}
    unknown = [name for name in cells if name not in ours]
    if unknown:
        raise TranslationError(
            f'{language.code}/{page} has no text cell {", ".join(unknown)}; its cells are {", ".join(ours)}. '
            'If they are new in English, run sync first.'
        )
    still_english = [
        name
        for name, cell in ours.items()
        if carry.is_untouched(cell) or source_hash(cell) == source_hash(source[name])
    ]
    waiting = [name for name, cell in ours.items() if cell.metadata.get(UNTRANSLATED) == source_hash(source[name])]
    chosen = list(cells) or [name for name in waiting if name not in still_english]
    refused = [name for name in chosen if name in still_english]
    if refused and not same:
        raise TranslationError(
            f'{language.code}/{page}: {", ".join(refused)} holds the English text. Translate it first, '
            'or add --same if the text is the same in both languages.'
        )
    for name in chosen:
        ours[name].metadata.pop(UNTRANSLATED, None)
        ours[name].metadata[TRANSLATED_FROM] = source_hash(source[name])
    if chosen:
        notebooks.write(translated, language.folder / f'{page}.ipynb')
    return chosen


def start(code, name=None):
    """Make the folder of a new language: every page in English and marked as untranslated; gives its path."""
    if not re.fullmatch(r'[a-z]{2,3}(-[A-Za-z0-9]{2,8})*', code):
        raise TranslationError(f'{code!r} is not a language code such as fr or pt-BR')
    source, folder = languages.source(), languages.CHAPTERS / code
    if folder.exists():
        raise TranslationError(f'{carry.short(folder)} exists already; run sync to bring it up to the English')
    shutil.copytree(source.folder, folder, ignore=shutil.ignore_patterns('.*', '*.ipynb', 'language.yml'))
    (folder / 'language.yml').write_text(_settings(source, name or _own_name(code)), encoding='utf-8')
    carry.sync(next(language for language in languages.translations() if language.code == code))
    return folder


def _settings(source, name):
    """The text of a new `language.yml`: the English words, and an empty place for each string of the interface."""
    others = [set(language.settings.get('interface') or {}) for language in languages.translations()]
    toc = yaml.safe_load((languages.ROOT / '_toc.yml').read_text(encoding='utf-8'))
    settings = {
        **source.settings,
        'name': name,
        'complete': False,
        'captions': {part['caption']: part['caption'] for part in toc.get('parts', []) if 'caption' in part},
        'interface': dict.fromkeys(sorted(set().union(*others))),
    }
    return (
        '# What a language is called and how it names what the notebooks do not hold: translate what follows a colon.\n'
        '# `complete: true` makes the tests insist that every cell is translated. An interface string left empty is\n'
        '# shown as Sphinx has it in this language, or in English.\n'
        + yaml.safe_dump(settings, allow_unicode=True, sort_keys=False, width=110)
    )


def _own_name(code):
    """What a language calls itself, or its code where that is not known."""
    try:
        name = Locale.parse(code, sep='-').get_display_name()
    except (UnknownLocaleError, ValueError):
        return code
    return name[:1].upper() + name[1:]


def _chosen(parser, codes):
    """The languages with these codes, or all that are translations."""
    known = {language.code: language for language in languages.translations()}
    unknown = [code for code in codes if code not in known]
    if unknown:
        parser.error(f'no translation into {", ".join(unknown)}; there are {", ".join(known) or "none yet"}')
    return [known[code] for code in codes] or list(known.values())


def _parser():
    formatted = {'formatter_class': argparse.RawDescriptionHelpFormatter}
    parser = argparse.ArgumentParser(prog='python -m book.translations', description=DESCRIPTION, **formatted)
    commands = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for name, text in (
        ('status', 'say how much of each section is translated, and which cells are not'),
        ('check', 'name what differs from the English in structure, from the glossary, or in typography'),
        ('sync', 'bring code, outputs, new and moved cells over; a translation without a place is kept in *.kept.md'),
    ):
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + '.')
        command.add_argument('languages', nargs='*', metavar='LANG', help='codes of languages; all by default')
    text = 'note that cells are translated, or revised, from the present English'
    command = commands.add_parser('done', help=text, description=text[0].upper() + text[1:] + '.')
    command.add_argument('language', metavar='LANG')
    command.add_argument('page', metavar='PAGE')
    command.add_argument('cells', nargs='*', metavar='CELL', help='ids; by default untranslated cells with a new text')
    command.add_argument('--same', action='store_true', help='the text is the same in both languages')
    text = 'make the folder of a new language, with everything marked as untranslated'
    command = commands.add_parser('start', help=text, description=text[0].upper() + text[1:] + '.')
    command.add_argument('language', metavar='LANG', help='its code, such as fr')
    command.add_argument('--name', help='what the language calls itself, if Python does not know it')
    return parser


def main(arguments=None):
    """Run one command; the exit status is 1 where `check` finds something and 2 where a command is not possible."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        if given.command == 'start':
            folder = start(given.language, given.name)
            print(f'{carry.short(folder)} is ready: translate its three .yml files and the notebooks.')
        elif given.command == 'done':
            if given.page not in languages.pages():
                parser.error(f'no such page: {given.page}; there are {", ".join(languages.pages())}')
            (language,) = _chosen(parser, [given.language])
            names = done(language, given.page, given.cells, given.same)
            print(f'{given.language}/{given.page}: {", ".join(names) or "nothing"} noted as translated')
        else:
            return _report(given.command, _chosen(parser, given.languages))
    except (TranslationError, NotebookError, FileNotFoundError) as error:
        parser.error(str(error))
    return 0


def _report(command, chosen):
    report = {'status': status, 'check': check, 'sync': carry.sync}[command]
    lines = [line for language in chosen for line in report(language)]
    quiet = {'check': 'No problems found.', 'sync': 'Everything was up to date.'}
    print('\n'.join(lines) or quiet.get(command, 'No translations yet: start one.'))
    return 1 if command == 'check' and lines else 0


if __name__ == '__main__':
    sys.exit(main())

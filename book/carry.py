"""Bring translated notebooks up to the English ones, and say which of their text cells are translated."""

import copy
import datetime

from . import languages, markup, notebooks
from .notebooks import TRANSLATED_FROM, UNTRANSLATED, source_hash

TRANSLATED, STALE, MISSING = 'translated', 'stale', 'untranslated'


def is_translatable(cell):
    """Whether a translation has words of its own for the English `cell`; all others are carried over as they are."""
    return cell.cell_type == 'markdown' and markup.has_words(cell.source)


def state(english, cell):
    """`TRANSLATED`, `STALE` (from an English text that has changed since) or `MISSING`, for the text cell `cell`."""
    if TRANSLATED_FROM not in cell.metadata:
        return MISSING
    return TRANSLATED if cell.metadata[TRANSLATED_FROM] == source_hash(english) else STALE


def states(english, translated):
    """The state of every translatable cell of the notebook `english` by its id, in order."""
    cells = {cell.id: cell for cell in translated.cells if cell.cell_type == 'markdown'} if translated else {}
    return {
        cell.id: state(cell, cells[cell.id]) if cell.id in cells else MISSING
        for cell in english.cells
        if is_translatable(cell)
    }


def is_untouched(cell):
    """Whether `cell` waits for translation and holds nothing but the English text that was put there."""
    return cell.metadata.get(UNTRANSLATED) == source_hash(cell)


def carry_over(english, translated=None, memory=None):
    """Return a notebook with the cells of `english` and the text of `translated`, and the cells that found no place.

    Cells belong together by their ids. A text cell keeps its translation, up to date or not. One that has none gets
    the translation of the same English text from `memory` (a dictionary from hashes to texts) or, marked as
    untranslated, the English text. All else is that of `english`. The second value lists the text cells of
    `translated` that hold somebody's work and are not in the result; the caller must not lose them.
    """
    memory = memory or {}
    at_hand, left_over = {}, []
    for cell in translated.cells if translated else []:
        if cell.cell_type == 'markdown' and not is_untouched(cell):
            if cell.id in at_hand:
                left_over.append(cell)
            at_hand.setdefault(cell.id, cell)
    result = copy.deepcopy(english)
    for cell in filter(is_translatable, result.cells):
        digest = source_hash(cell)
        if cell.id in at_hand:
            ours = at_hand.pop(cell.id)
            cell.source = ours.source
            for key in (TRANSLATED_FROM, UNTRANSLATED):
                if key in ours.metadata:
                    cell.metadata[key] = ours.metadata[key]
        elif digest in memory:
            cell.source = memory[digest]
            cell.metadata[TRANSLATED_FROM] = digest
        else:
            cell.metadata[UNTRANSLATED] = digest
    texts = {cell.source for cell in result.cells}
    return result, [
        cell for cell in (*left_over, *at_hand.values()) if cell.source.strip() and cell.source not in texts
    ]


def english_of(page):
    """The English notebook of `page`."""
    return notebooks.read(languages.source().folder / f'{page}.ipynb')


def stored(language, page):
    """The notebook of `page` in `language` as it is stored, or None."""
    path = language.folder / f'{page}.ipynb'
    return notebooks.read(path) if path.is_file() else None


def carried(language, pages=None):
    """The notebooks of `pages` (all by default) in `language`, brought up to the English, and what is left over.

    A dictionary from page names to pairs of a notebook and text cells (see `carry_over`). Nothing is written.
    """
    before = {page: stored(language, page) for page in languages.pages()}
    cells = [cell for notebook in before.values() if notebook for cell in notebook.cells]
    memory = {cell.metadata[TRANSLATED_FROM]: cell.source for cell in cells if TRANSLATED_FROM in cell.metadata}
    after = {page: carry_over(english_of(page), before[page], memory) for page in pages or before}
    # A cell that has moved to another of these pages is there now, so it is not left over.
    texts = {cell.source for notebook, _ in after.values() for cell in notebook.cells}
    return {
        page: (notebook, [cell for cell in left_over if cell.source not in texts])
        for page, (notebook, left_over) in after.items()
    }


def sync(language, pages=None):
    """Store `pages` (all by default) of `language` brought up to the English; gives a message for each that changes.

    No translation is lost: one that has no place any more is added to `<page>.kept.md` beside the notebook.
    """
    messages = []
    for page, (notebook, left_over) in carried(language, pages).items():
        path = language.folder / f'{page}.ipynb'
        text = notebooks.text(notebook)
        if path.is_file() and path.read_text(encoding='utf-8') == text:
            continue
        change = 'brought up to the English' if path.is_file() else 'new'
        if left_over:
            kept = _keep(language, page, left_over)
            change += f'; kept in {short(kept)}: {", ".join(cell.id for cell in left_over)}'
        path.write_text(text, encoding='utf-8')
        messages.append(f'{short(path)}: {change}')
    return messages


def _keep(language, page, cells):
    """Add the text of `cells` to the file of what was once translated for `page`, and return its path."""
    path = language.folder / f'{page}.kept.md'
    today = datetime.date.today().isoformat()
    with path.open('a', encoding='utf-8') as file:
        for cell in cells:
            file.write(f'<!-- cell {cell.id}, put aside on {today} -->\n\n{cell.source.strip()}\n\n')
    return path


def short(path):
    """`path` as it is called from the top of the project."""
    return path.relative_to(languages.ROOT).as_posix()

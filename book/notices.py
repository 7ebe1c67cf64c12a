"""How a page shows a text cell that is not translated: the English text, with a notice in the page's language."""

import copy
import re

from . import carry, markup
from .languages import SOURCE

NOTICES = {
    carry.MISSING: 'This part is not translated yet; here is the English text.',
    carry.STALE: 'The English text has changed since this part was translated; here it is as it is now.',
}
EARLIER = 'Earlier translation, possibly no longer right'
IN_ENGLISH = f'language-{SOURCE}'  # docutils makes this class the attribute `lang`


def shown(english, translated, language):
    """A copy of the notebook `translated` in which cells that are stale or untranslated show the text of `english`.

    Both have the same cells (see `carry.carry_over`). Of untranslated cells in a row only the first has a notice.
    """
    page = copy.deepcopy(translated)
    source = {cell.id: cell for cell in english.cells if carry.is_translatable(cell)}
    last = None
    for cell in page.cells:
        if cell.id not in source:
            continue
        state = carry.state(source[cell.id], cell)
        if state != carry.TRANSLATED:
            notice = '' if state == last == carry.MISSING else _words(NOTICES[state], language)
            earlier = cell.source if state == carry.STALE else ''
            cell.source = _english(source[cell.id].source, notice, earlier, language)
        last = state
    return page


def _words(english, language):
    """`english` as the language says it, marked as English where it does not."""
    word = language.word(english)
    return f'[{word}]{{.{IN_ENGLISH}}}' if word == english else word


def _english(text, notice, earlier, language):
    """The English `text` in boxes, with the notice in the first box and the earlier translation in the last.

    Headings, and the labels before them, stay outside: they make the page's structure.
    """
    pieces, boxes = _pieces(text), []
    first_box = 0 if pieces[0][1].strip() or len(pieces) == 1 else 1
    for number, (heading, body) in enumerate(pieces):
        inside = [_box('translation-notice', notice)] if notice and number == first_box else []
        if body.strip():
            inside.append(_box(IN_ENGLISH, body.strip()))
        if earlier and number == len(pieces) - 1:
            inside.append(_dropdown(_words(EARLIER, language), markup.without_definitions(earlier)))
        if heading:
            heading = '{labels}{level} [{title}]{{.{language}}}\n'.format(**heading.groupdict(), language=IN_ENGLISH)
        boxes += [heading] if heading else []
        boxes += [_box('not-translated', '\n'.join(inside))] if inside else []
    return '\n'.join(boxes)


def _pieces(text):
    """`text` cut before its headings: pairs of a match of `markup.HEADING` (or '') and the text that follows it."""
    headings = markup.headings(text)
    starts = [0, *(heading.end() for heading in headings)]
    ends = [*(heading.start() for heading in headings), len(text)]
    return list(zip(['', *headings], (text[start:end] for start, end in zip(starts, ends))))


def _fence(content):
    """Colons enough to hold `content`."""
    return ':' * max([3, *(len(colons) + 1 for colons in re.findall(r'^:{3,}', content, re.M))])


def _box(css_class, content):
    fence = _fence(content)
    return f'{fence}{{div}} {css_class}\n{content}\n{fence}'


def _dropdown(title, content):
    fence = _fence(content)
    return f'{fence}{{dropdown}} {title}\n:class-container: earlier-translation\n\n{content}\n{fence}'

"""Compare a translated notebook with the English one, cell by cell, in everything but the prose itself."""

import re
import unicodedata

from . import carry, markup
from .notebooks import TRANSLATED_FROM, UNTRANSLATED

# What a translation keeps to the letter, by kind. Found in the prose, except what directives and fences say themselves.
KEPT = {
    'label': markup.LABEL,
    'role': markup.ROLE,
    'display maths': markup.DISPLAY_MATHS,
    'equation label': markup.EQUATION_LABEL,
    'link target': re.compile(r'\]\(([^)\s]+)\)|<(https?://[^>\s]+)>'),
    'image': re.compile(r'!\[[^\]]*\]\(([^)\s]+)\)'),
    'footnote': re.compile(r'\[\^([\w-]+)\]'),
    'heading level': re.compile(r'^(#+) ', re.M),
    'list item': re.compile(r'^( *)(?:[-*]|\d+\.) ', re.M),
    'table shape': re.compile(r'^(\|.*\|)\s*$', re.M),
    'tag': re.compile(r'</?[a-z][^<>]*>'),
    'directive': re.compile(r'^[`:]{3,}\{([\w-]+)\}(.*)$', re.M),
    'directive option': re.compile(r'^:(?!alt:|caption:)([\w-]+:.*)$', re.M),
}
IN_FENCES = {'directive', 'directive option'}
IN_ANY_ORDER = {'role', 'inline maths', 'inline code', 'link target', 'image'}  # word order differs between languages


def structure(text):
    """What a translation of `text` must have in common with it: a dict from kinds to lists of strings."""
    slides = [_slide(mark) for mark in markup.SLIDE.finditer(text)]
    text = markup.slides_as_text(text)
    prose = markup.prose(text)
    found = {'slide': slides}
    for kind, pattern in KEPT.items():
        matches = pattern.findall(text if kind in IN_FENCES else prose)
        found[kind] = [match if isinstance(match, str) else ''.join(match) for match in matches]
    # The words that a role shows instead of its target's own, and the title of a box, are translated.
    found['role'] = [re.sub(r'`[^`<]*<([^`>]+)>`', r'`\1`', role) for role in found['role']]
    found['directive'] = [
        name if name in markup.TITLED else name + argument for name, argument in KEPT['directive'].findall(text)
    ]
    found['table shape'] = [str(re.sub(r'`[^`]*`', '', row).count('|')) for row in found['table shape']]
    found['inline maths'] = markup.INLINE_MATHS.findall(markup.DISPLAY_MATHS.sub('', prose))
    found['inline code'] = markup.INLINE_CODE.findall(markup.ROLE.sub('', prose))
    found['block of code'] = [block[0] for block in markup.FENCE.finditer(markup.unwrapped(text))]
    fences = [fence[0] for fence in markup.FENCE.finditer(text)]
    found['alternative text'] = [str(':alt: ' in fence) for fence in fences if '{figure}' in fence]
    return {kind: sorted(values) if kind in IN_ANY_ORDER else values for kind, values in found.items()}


def _slide(mark):
    """What the mark of a slide has in common with its translation, besides the structure of its text."""
    options = [option[0] for option in markup.SLIDE_OPTION.finditer(mark['options']) if option['name'] != 'title']
    return ' '.join([*options, f'{len(KEPT["list item"].findall(mark["body"]))} points'])


def compare(english, translated):
    """Return a list of messages, one for each way in which `translated` departs from `english`; empty if none.

    Both are notebooks. Compared are cell ids and their order, code cells with their outputs and metadata, the metadata
    of text cells, and the structure of each cell that is translated from the English that stands there now (labels,
    roles, maths, links, images, headings, lists, tables, directives, marks of slides).
    """
    ids, translated_ids = ([cell.id for cell in notebook.cells] for notebook in (english, translated))
    if ids != translated_ids:
        missing, extra = sorted(set(ids) - set(translated_ids)), sorted(set(translated_ids) - set(ids))
        return [f'the cells differ: missing {missing}, extra {extra}, or in another order; run sync']
    problems = []
    for cell, other in zip(english.cells, translated.cells):
        if not carry.is_translatable(cell):
            if cell != other:
                problems.append(f'{cell.id}: code, outputs or metadata differ from the English cell; run sync')
            continue
        metadata = {key: other.metadata[key] for key in other.metadata if key not in (TRANSLATED_FROM, UNTRANSLATED)}
        if (cell.cell_type, cell.metadata) != (other.cell_type, metadata):
            problems.append(f'{cell.id}: metadata differ from the English cell; run sync')
        if carry.state(cell, other) == carry.TRANSLATED:
            theirs = structure(other.source)
            for kind, ours in structure(cell.source).items():
                if ours != theirs[kind]:
                    problems.append(f'{cell.id}: {kind} differs: {ours} in English, {theirs[kind]} here')
    return problems


def typography(text):
    """Return messages about `text` that hold in any language: Unicode form, bold markers, stray spaces."""
    problems = []
    if unicodedata.normalize('NFC', text) != text:
        problems.append('the text is not in Unicode NFC')
    prose = markup.INLINE_CODE.sub('x', markup.prose(text))
    for bold in re.findall(r'\*\*(.+?)\*\*', prose):
        if bold != bold.strip():
            problems.append(f'the bold marker does not touch the word: **{bold}**')
    problems += [f'space before punctuation: {found!r}' for found in re.findall(r'\w+ [,;:.!?](?=\s|$)', prose)]
    return problems

"""Compare a translated notebook with the English one, cell by cell, in everything but the prose itself."""

import csv
import re
import unicodedata

from . import languages, notebooks

GLOSSARY = languages.ROOT / 'book' / 'glossary.en-vi.csv'

FENCE = re.compile(r'^(`{3,}|:{3,}).*?^\1\s*$', re.M | re.S)
# What a translation keeps to the letter, by kind. Found in the text without its code fences, except where noted.
KEPT = {
    'label': re.compile(r'^\(([\w-]+)\)=\s*$', re.M),
    'role': re.compile(r'\{[\w:]+\}`[^`]*`'),
    'display maths': re.compile(r'\$\$(.*?)\$\$', re.S),
    'equation label': re.compile(r'^\$\$ \((\w+)\)$', re.M),
    'link target': re.compile(r'\]\(([^)\s]+)\)'),
    'heading level': re.compile(r'^(#+) ', re.M),
    'list marker': re.compile(r'^( *)(?:[-*]|\d+\.) ', re.M),
    'table shape': re.compile(r'^(\|.*\|)\s*$', re.M),
    'directive': re.compile(r'^[`:]{3,}\{([\w-]+)\}(.*)$', re.M),
    'directive option': re.compile(r'^:(?!alt:|caption:)([\w-]+:.*)$', re.M),
    'plain fence': re.compile(r'^(```\w*\n.*?^```)$', re.M | re.S),
}
IN_FENCES = {'directive', 'directive option', 'plain fence'}
IN_ANY_ORDER = {'role', 'inline maths', 'inline code'}  # word order differs between languages
INLINE_MATHS = re.compile(r'(?<![\\$])\$(?!\$)([^$]+)\$(?!\$)')
INLINE_CODE = re.compile(r'`([^`\n]+)`')


def structure(text):
    """What a translation of `text` must have in common with it: a dict from kinds to lists of strings."""
    prose = FENCE.sub('', text)
    found = {}
    for kind, pattern in KEPT.items():
        matches = pattern.findall(text if kind in IN_FENCES else prose)
        found[kind] = [match if isinstance(match, str) else ' '.join(match) for match in matches]
    found['table shape'] = [str(re.sub(r'`[^`]*`', '', row).count('|')) for row in found['table shape']]
    found['inline maths'] = INLINE_MATHS.findall(KEPT['display maths'].sub('', prose))
    found['inline code'] = INLINE_CODE.findall(KEPT['role'].sub('', prose))
    figures = [block.group(0) for block in FENCE.finditer(text) if '{figure}' in block.group(0)]
    found['alternative text'] = [str(':alt: ' in figure) for figure in figures]
    return {kind: sorted(values) if kind in IN_ANY_ORDER else values for kind, values in found.items()}


def compare(english, translated):
    """Return a list of messages, one for each way in which `translated` departs from `english`; empty if none.

    Both are notebooks. Compared are cell ids and their order, code cells with their outputs and tags, the structure
    of each text cell (labels, roles, maths, links, headings, lists, tables, directives), and whether a text cell was
    translated from the English that stands there now.
    """
    ids, translated_ids = ([cell.id for cell in notebook.cells] for notebook in (english, translated))
    if ids != translated_ids:
        missing, extra = sorted(set(ids) - set(translated_ids)), sorted(set(translated_ids) - set(ids))
        return [f'the cells differ: missing {missing}, extra {extra}, or in another order']
    problems = []
    for cell, other in zip(english.cells, translated.cells):
        if cell.cell_type == 'code':
            if cell != other:
                problems.append(f'{cell.id}: code, outputs or metadata differ from the English cell')
            continue
        if other.metadata.get(notebooks.TRANSLATED_FROM) != notebooks.source_hash(cell):
            problems.append(f'{cell.id}: translated from an English text that has changed since')
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
    prose = INLINE_CODE.sub('x', FENCE.sub('', text))
    for bold in re.findall(r'\*\*(.+?)\*\*', prose):
        if bold != bold.strip():
            problems.append(f'the bold marker does not touch the word: **{bold}**')
    problems += [f'space before punctuation: {found!r}' for found in re.findall(r'\w+ [,;:.!?](?=\s|$)', prose)]
    return problems


def never_phrases():
    """The phrases that are always wrong in Vietnamese in this subject, from the glossary."""
    with GLOSSARY.open(encoding='utf-8', newline='') as file:
        return [phrase for row in csv.DictReader(file) for phrase in row['never'].split('|') if phrase]

"""Turn a stored notebook into one that runs anywhere: in plain Markdown, its pictures and the helper module inside."""

import copy
import re

import nbformat

from . import markup

# Tried in this order at each place of a text. Code and maths are there to be left as they are.
TOKEN = re.compile(
    r'\{(?P<role>[a-z][\w:+-]*)\}`(?P<text>[^`]+)`'
    r'|(?<!`)(?P<ticks>`{1,2})(?!`)(?:(?!\n\n).)*?(?<!`)(?P=ticks)(?!`)'
    r'|(?<!\\)\$\$(?P<display>.+?)\$\$(?:[ \t]*\((?P<label>[\w:.-]+)\))?'
    r'|(?<![\\$])\$(?!\$)(?:(?!\n\n)[^$])+\$'
    r'|\[(?P<words>[^\[\]]*)\]\{\.[\w. -]+\}',
    re.S,
)
OPTION = re.compile(r'^:([\w-]+):[ \t]*(.*)$', re.M)
# What must not be left: roles, labels, directives, attributes, links to files that lie beside the page only.
LEFT = re.compile(
    r'\{[\w:+-]+\}`|^\([\w.-]+\)=|^\s*(?:`{3,}|:{3,}|~{3,})\{|^:{3,}|\]\{[.#]|\]\((?![a-z]+:)[^)]*\)', re.M
)
# For Colab and Kaggle: a GPU, and in Kaggle two of them and the network, which the data are fetched from.
METADATA = {
    'accelerator': 'GPU',
    'colab': {'gpuType': 'T4', 'provenance': []},
    'kaggle': {
        'accelerator': 'nvidiaTeslaT4',
        'dataSources': [],
        'isGpuEnabled': True,
        'isInternetEnabled': True,
        'language': 'python',
        'sourceType': 'notebook',
    },
}
# How JupyterLab and VS Code, Colab, and Kaggle each hide the code of a cell.
HIDDEN = {'jupyter': {'source_hidden': True}, 'cellView': 'form', '_kg_hide-input': True}
MOST_BYTES = 1_000_000  # what Kaggle accepts


class ConversionError(ValueError):
    """Markup that cannot be turned into plain Markdown, or too large a notebook; the message says which."""


def has_code(notebook):
    """Whether there is anything to run in a notebook."""
    return any(cell.cell_type == 'code' for cell in notebook.cells)


def runnable(notebook, references, picture, first_cell):
    """Return the runnable form of the stored `notebook`.

    Args:
        notebook: as read from `chapters`; it stays as it is.
        references: gives the Markdown of a role with `resolve(role, text)` and the name of a box with `title(name)`;
            after all roles, `cited()` gives the Markdown of a list of what was cited, or ''.
        picture: a function from a path, as a directive names it, to a data URI.
        first_cell: the code that brings the helper module.

    Raises:
        ConversionError: if a cell has markup that is not known here, or the notebook becomes too large.
    """
    result = copy.deepcopy(notebook)
    result.metadata.update(METADATA)
    for cell in result.cells:
        # Tags change how cells run; all else is for the book or the program that wrote it.
        cell.metadata = {'tags': cell.metadata.tags} if cell.metadata.get('tags') else {}
        if cell.cell_type == 'code':
            cell.outputs, cell.execution_count = [], None
        else:
            cell.source = _converted(cell, references, picture)
    helper = nbformat.v4.new_code_cell(first_cell, id='bring-d2l-local', metadata=copy.deepcopy(HIDDEN))
    result.cells.insert(0, helper)
    if cited := references.cited():
        result.cells.append(nbformat.v4.new_markdown_cell(cited, id='cited-works'))
    nbformat.validate(result)
    size = len(nbformat.writes(result).encode('utf-8'))
    if size > MOST_BYTES:
        raise ConversionError(
            f'the notebook has {size:,} bytes, and Kaggle takes {MOST_BYTES:,}: use smaller pictures.'
        )
    return result


def _converted(cell, references, picture):
    try:
        return markdown(cell.source, references, picture)
    except ValueError as error:
        raise ConversionError(f'cell {cell.id}: {error}') from error


def markdown(source, references, picture):
    """Plain Markdown that says the same as the MyST text `source`; see `runnable` for the other arguments."""
    page = _Text(references, picture)
    text = page.converted(markup.without_slides(source)).strip()
    prose = TOKEN.sub(lambda match: match[0] if match['role'] else '', markup.FENCE.sub(_without_plain_code, text))
    if left := LEFT.search(prose):
        raise ConversionError(f'no plain Markdown is known for {left[0].strip()!r}.')
    # The pictures stand at the end, by their paths, so that the text above stays readable while it is edited.
    return '\n\n'.join([text, *(f'[{path}]: {uri}' for path, uri in page.pictures.items())])


def _without_plain_code(fence):
    return fence[0] if fence['fence'][0] == ':' or fence['info'].startswith('{') else ''


class _Text:
    """The conversion of one cell, which collects its pictures."""

    def __init__(self, references, picture):
        self.references, self.picture = references, picture
        self.pictures = {}

    def converted(self, text):
        """`text` with its directives, and everything between them, in plain Markdown."""
        pieces, end = [], 0
        for fence in markup.FENCE.finditer(text):
            pieces += [self._prose(text[end : fence.start()]), self._fence(fence)]
            end = fence.end()
        return ''.join([*pieces, self._prose(text[end:])])

    def _prose(self, text):
        return TOKEN.sub(self._token, re.sub(markup.LABEL.pattern + r'\n*', '', text, flags=re.M))

    def _token(self, match):
        if match['role']:
            return self.references.resolve(match['role'], ' '.join(match['text'].split()))
        if match['display']:
            return self._maths(match['display'], match['label'])
        if match['words'] is not None:
            return self._prose(match['words'])
        return match[0]

    def _maths(self, latex, label=None):
        latex = latex.strip()
        if r'\\' in latex and r'\begin' not in latex:
            latex = f'\\begin{{aligned}}\n{latex}\n\\end{{aligned}}'
        if label:
            number = re.sub(r'^\[(.*)\]\([^)]*\)$', r'\1', self.references.resolve('eq', label))
            latex += f'\n\\tag{{{number.strip("()")}}}'
        return f'$$\n{latex}\n$$'

    def _fence(self, fence):
        directive = markup.DIRECTIVE.match(fence['info'].strip())
        if not directive:
            if fence['fence'].startswith(':') or fence['info'].strip().startswith('{'):
                raise ConversionError(f'no plain Markdown is known for the block {fence["info"].strip()!r}.')
            return fence[0]
        name, argument = directive[1], directive[2].strip()
        options = markup.OPTIONS.match(fence['body'])
        body = fence['body'][options.end() if options else 0 :].strip()
        options = dict(OPTION.findall(options[0])) if options else {}
        if name in ('figure', 'image'):
            return self._figure(argument, options, body)
        if name == 'math':
            return self._maths(body or argument, options.get('label'))
        if name in markup.LITERAL:
            return f'```{argument}\n{body}\n```'
        if name == 'div':
            inside = self.converted(body)
            return _quoted(inside) if 'notice' in argument else inside
        if name in ('admonition', 'dropdown'):
            title = self._prose(argument)
        else:
            title, body = self.references.title(name), f'{argument}\n\n{body}'.strip()
            if title is None:
                raise ConversionError(f'no plain Markdown is known for the directive {name!r}.')
        return _quoted(f'**{title}**\n\n{self.converted(body)}')

    def _figure(self, path, options, caption):
        self.pictures[path] = self.picture(path)
        alternative = re.sub(r'([\[\]])', r'\\\1', options.get('alt', ''))
        lines = [f'![{alternative}][{path}]']
        if caption:
            number = self.references.resolve('numref', options['name']) + '. ' if 'name' in options else ''
            first, *rest = self.converted(caption).split('\n\n')
            lines += [f'<em>{number}{first}</em>', *rest]
        return '\n\n'.join(lines)


def _quoted(text):
    return '\n'.join(f'> {line}'.rstrip() for line in text.strip().splitlines())

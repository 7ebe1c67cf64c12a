"""The marks in a page's text cells that say what stands on its slides.

    <!-- slide
    :title: The Gradients Weigh Least
    :code: count 6-10
    :output: count
    * At most five points, which may hold $maths$ and `code`.
    -->

`:title:` has to be there. `:code:` shows the source of a code cell and `:output:` what it printed or drew, both as a
whole or some lines; `:figure: img/x.svg` shows a figure of the page. Below the options there is Markdown. The text
between the mark before and this one becomes the note for the speaker.
"""

import re
from dataclasses import dataclass

from . import carry, languages, markup, plots, runnable

OPTIONS = ['title', 'code', 'output', 'figure']
MOST_SLIDES = 15  # of a section, its title among them
MOST_LINES = 16  # of code, or of what it printed
MOST_POINTS = 5
LONGEST_POINT = 100  # characters, of which a formula counts as one
DRAWINGS = ('image/svg+xml', 'image/png')

POINT = re.compile(r'^(?:[*-]|\d+\.) +(.*(?:\n +.*)*)', re.M)
REFERENCE = re.compile(r'(?P<cell>[a-z][a-z0-9-]*)(?: (?P<first>\d+)(?:-(?P<last>\d+))?)?')
ROLE = re.compile(r'\{(?P<role>[\w:]+)\}`(?:(?P<words>[^`<]*?) *<[^`>]*>|(?P<target>[^`<]*))`')
EQUATION = re.compile(r'^\$\$\n(?P<latex>[^$]*)^\$\$ +\((?P<label>[\w:.-]+)\)', re.M)
ATTRIBUTE = re.compile(r'\[([^\[\]]*)\]\{[^{}`]*\}')
VIEW_BOX = re.compile(r'<svg\b[^>]*\bviewBox="[-\d.]+ [-\d.]+ (?P<width>[\d.]+) (?P<height>[\d.]+)"')
SUSPECT = re.compile(r'<!--\s*slide', re.I)


class SlideError(ValueError):
    """A mark that makes no slide; the message names page and mark, and says what to do."""


@dataclass(frozen=True)
class Picture:
    """A figure or a plot: its media type, its content as a notebook stores it, and its alternative text."""

    media_type: str
    content: str
    alternative: str

    @property
    def proportion(self):
        """The height of a drawing in its widths; 0 where that is not known."""
        box = VIEW_BOX.search(self.content)
        return float(box['height']) / float(box['width']) if box else 0


@dataclass(frozen=True)
class Slide:
    """What stands on a slide: text in Markdown, lines of code, printed lines, pictures; and the speaker's note."""

    title: str
    note: str
    text: str = ''
    code: str = ''
    printed: str = ''
    pictures: tuple = ()


def stored(page, language):
    """The notebook of `page` in `language`, with English text in cells without an up-to-date translation."""
    english = carry.english_of(page)
    if language.code == languages.SOURCE:
        return english
    notebook, _ = carry.carry_over(english, carry.stored(language, page))
    source = {cell.id: cell for cell in english.cells if carry.is_translatable(cell)}
    for cell in notebook.cells:
        if cell.id in source and carry.state(source[cell.id], cell) != carry.TRANSLATED:
            cell.source = source[cell.id].source
    return notebook


def names(texts):
    """What the labels in the Markdown `texts` say in a note, by the label: titles, captions, formulas of one line."""
    found = {}
    for text in texts:
        for heading in markup.headings(text):
            found |= {label: f'*{heading["title"]}*' for label in markup.LABEL.findall(heading['labels'])}
        for equation in EQUATION.finditer(text):
            if r'\\' not in equation['latex']:  # on one line
                found[equation['label']] = f'${equation["latex"].strip().rstrip(".,")}$'
        for _, options, caption in _directives(text):
            if 'name' in options:
                found[options['name']] = f'*{plain(caption, {}).strip().rstrip(".")}*'
    return found


def slides(notebook, page, language, names=None):
    """The slides of a page, the first one with its title; an empty list for a page without marks.

    Args:
        notebook: the page, as `stored` gives it.
        page, language: its name and the `Language`, which lead to its pictures.
        names: what labels are called in notes, as from `names`.

    Raises:
        SlideError: if a mark cannot be read, asks for what is not there or for more than fits, or there are too many.
    """
    if not any(SUSPECT.search(cell.source) for cell in notebook.cells if cell.cell_type == 'markdown'):
        return []
    found = _Page(notebook, page, language, names or {}).slides()
    if len(found) > MOST_SLIDES:
        raise SlideError(
            f'{language.code}/{page} has {len(found)} slides with the one of its title, and {MOST_SLIDES} are the '
            'most: take some marks away, or join two.'
        )
    return found


def plain(text, names):
    """The MyST text `text` in Markdown without figures, headings, labels and roles, for a note."""
    text = markup.FENCE.sub(lambda fence: '' if '{figure}' in fence['info'] else fence[0], text)
    text = markup.EQUATION_LABEL.sub('$$', markup.unwrapped(text))
    text = re.sub(markup.LABEL.pattern, '', text, flags=re.M)
    for heading in reversed(markup.headings(text)):
        text = text[: heading.start()] + text[heading.end() :]
    text = ROLE.sub(lambda match: match['words'] or _reference(match['role'], match['target'].strip(), names), text)
    return markup.TAG.sub('', ATTRIBUTE.sub(r'\1', text)).strip()


def _reference(role, target, names):
    """What a role says in a note."""
    if role.startswith('cite'):
        works = '; '.join(map(_work, target.split(',')))
        return works if role.endswith(':t') else f'({works})'
    words = names.get(target.lower()) or target.split('_', 1)[-1].replace('_', ' ')
    return f'({words})' if role == 'eq' else words


def _work(key):
    """'Huang et al. 2019' for the key 'Huang.Cheng.Bapna.ea.2019'."""
    *authors, year = key.strip().split('.')
    return f'{" and ".join(authors) if len(authors) < 3 else f"{authors[0]} et al."} {year}'


def _directives(text):
    """The figures of `text`: for each the path, a dictionary of options, and the caption."""
    for fence in markup.FENCE.finditer(text):
        directive = markup.DIRECTIVE.match(fence['info'].strip())
        if directive and directive[1] == 'figure':
            options = markup.OPTIONS.match(fence['body'])
            length = options.end() if options else 0
            yield directive[2].strip(), dict(runnable.OPTION.findall(fence['body'][:length])), fence['body'][length:]


class _Page:
    """A page whose marks are read."""

    def __init__(self, notebook, page, language, names):
        self.page, self.language, self.names = page, language, names
        self.texts = [cell for cell in notebook.cells if cell.cell_type == 'markdown']
        self.code = {cell.id: cell for cell in notebook.cells if cell.cell_type == 'code'}
        self.figures = {path: options for cell in self.texts for path, options, _ in _directives(cell.source)}
        self.plots = {**plots.read(languages.source()).get(page, {}), **plots.read(language).get(page, {})}

    def slides(self):
        found = [slide for cell in self.texts for slide in self._in_cell(cell)]
        first = self.texts[0].source
        end = markup.SLIDE.search(first)
        note = plain(first[: end.start()] if end else first, self.names)
        return [Slide(markup.headings(first)[0]['title'], note), *found]

    def _in_cell(self, cell):
        """The slides of a text cell's marks; in the first cell, what stands above all marks belongs to the title."""
        if SUSPECT.search(markup.SLIDE.sub('', cell.source)):
            raise SlideError(
                f'{self.language.code}/{self.page}, cell {cell.id}: a mark cannot be read. It begins with a line '
                '"<!-- slide", goes on with ":title: words" and ends with a line "-->".'
            )
        end = 0
        for mark in markup.SLIDE.finditer(cell.source):
            above = '' if cell is self.texts[0] and end == 0 else cell.source[end : mark.start()]
            end = mark.end()
            try:
                yield self._slide(mark, plain(above, self.names))
            except SlideError as error:
                first_line = mark['options'].partition('\n')[0]
                place = f'{self.language.code}/{self.page}, cell {cell.id}, mark {first_line!r}'
                raise SlideError(f'{place}: {error}') from error

    def _slide(self, mark, note):
        options = [(option['name'], option['value']) for option in markup.SLIDE_OPTION.finditer(mark['options'])]
        given = [name for name, _ in options]
        if given != [name for name in OPTIONS if name in given] or not dict(options).get('title'):
            raise SlideError(f'the options are {", ".join(OPTIONS)}, in this order; a title has to be there.')
        options = dict(options)
        _check(mark['body'])
        code = printed = ''
        pictures = []
        if 'code' in options:
            cell, first, last = self._cell(options['code'])
            code = _lines(cell.source, first, last, options['code'])
        if 'output' in options:
            cell, first, last = self._cell(options['output'])
            text, pictures = self._output(cell)
            printed = _lines(text, first, last, options['output']) if text or first else ''
        if 'figure' in options:
            pictures.append(self._figure(options['figure']))
        return Slide(options['title'], note, mark['body'].strip(), code, printed, tuple(pictures))

    def _cell(self, reference):
        """The code cell, first and last line that `reference` names; the lines are None for the whole cell."""
        match = REFERENCE.fullmatch(reference)
        if not match:
            raise SlideError(f'{reference!r} is not the id of a code cell, or one with lines, as in "count 3-9".')
        if match['cell'] not in self.code:
            raise SlideError(f'there is no code cell {match["cell"]!r}; there are {", ".join(self.code)}.')
        first = int(match['first']) if match['first'] else None
        return self.code[match['cell']], first, int(match['last']) if match['last'] else first

    def _output(self, cell):
        """What `cell` printed, and the pictures it drew."""
        texts, pictures = [], []
        for output in cell.outputs:
            drawings = [type_ for type_ in DRAWINGS if type_ in output.get('data', {})]
            if drawings:
                alternative = ' '.join(self.plots.get(cell.id, '').split())
                pictures.append(Picture(drawings[0], output.data[drawings[0]], alternative))
            else:
                texts.append(output.get('text') or output.get('data', {}).get('text/plain', ''))
        text = '\n'.join(line.rstrip('\n') for line in texts if line.strip())
        if not text and not pictures:
            raise SlideError(f'the code cell {cell.id!r} has no stored output.')
        return text, pictures

    def _figure(self, path):
        folders = (self.language.folder, languages.source().folder)
        files = [folder / path for folder in folders if (folder / path).is_file()]
        if path not in self.figures or not files:
            known = ', '.join(self.figures) or 'none'
            raise SlideError(f'the page has no figure {path!r}; its figures are: {known}.')
        if files[0].suffix != '.svg':
            raise SlideError(f'{path} is no SVG file, which stays sharp on a large screen.')
        return Picture(DRAWINGS[0], files[0].read_text(encoding='utf-8'), self.figures[path].get('alt', ''))


def _check(body):
    """Raise `SlideError` for a text that has more points, or longer ones, than can be read in a hall."""
    points = POINT.findall(body)
    if len(points) > MOST_POINTS:
        raise SlideError(f'{len(points)} points, and {MOST_POINTS} are the most: make two slides.')
    for point in points:
        length = len(markup.INLINE_MATHS.sub('x', point))
        if length > LONGEST_POINT:
            raise SlideError(f'a point of {length} characters, and {LONGEST_POINT} are the most: {point!r}')


def _lines(text, first, last, reference):
    """The lines `first` to `last` of `text`, counted from 1, or all of them."""
    lines = text.splitlines()
    if first is not None:
        if not 1 <= first <= last <= len(lines):
            raise SlideError(f'{reference!r}: there are the lines 1 to {len(lines)}.')
        lines = lines[first - 1 : last]
    if len(lines) > MOST_LINES:
        raise SlideError(
            f'{reference!r} has {len(lines)} lines, and {MOST_LINES} are the most: choose some, as in "count 3-9".'
        )
    return '\n'.join(lines).rstrip()


def of_language(language):
    """The slides of every page of `language` that has marks: a dictionary from pages to lists; raises `SlideError`."""
    pages = {page: stored(page, language) for page in languages.pages()}
    cells = [cell for notebook in pages.values() for cell in notebook.cells]
    labels = names(cell.source for cell in cells if cell.cell_type == 'markdown')
    found = {page: slides(notebook, page, language, labels) for page, notebook in pages.items()}
    return {page: deck for page, deck in found.items() if deck}

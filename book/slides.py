"""Slides for lectures, one file for each section and language that needs no network: `python -m book.slides`.

nbconvert makes them from the notebooks' marks (see `slides_marks`) with the template in `slides_template`; reveal.js
moves from slide to slide. Maths becomes MathML, as on the pages.
"""

import argparse
import base64
import importlib.util
import os
import shutil
import sys
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from markdown_it import MarkdownIt
from math_core import LatexError
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbconvert.exporters import SlidesExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from pygments.formatters import HtmlFormatter

from . import slides_marks
from .languages import ROOT, languages
from .slides_marks import SlideError
from .theme.maths import mathml

SLIDES = ROOT / '_build' / 'slides'
TEMPLATE = Path(__file__).parent / 'slides_template'
FONT = Path(__file__).parent / 'theme' / 'static' / 'math.woff2'
FONT_LICENCE = FONT.with_name('math-font-licence.txt')
CODE_STYLE = 'a11y-high-contrast-light'
# A slide of 1280 x 720 pixels has this much room below its title, and type of these sizes.
WIDTH, HEIGHT = 1200, 528
POINT_WIDTH, POINT_HEIGHT = 14.5, 50  # a character, and a line with the space around it
LARGEST_CODE, SMALLEST_CODE = 28, 20
CODE_WIDTH, CODE_HEIGHT = 0.61, 1.31  # of a character, in font sizes
TALL = 0.9  # height of a picture, in widths, from which on it stands beside the title, too


def build(folder=SLIDES):
    """Write `<language>/<page>.html` for every page with marks, and an `index.html` that lists them; gives `folder`.

    Raises:
        SlideError: if a mark makes no slide.
    """
    folder = Path(folder)
    decks = [(language, slides_marks.of_language(language)) for language in languages()]
    shutil.rmtree(folder, ignore_errors=True)
    exporter = _exporter()
    for language, pages in decks:
        (folder / language.code).mkdir(parents=True)
        for page, slides in pages.items():
            text = rendered(slides, language, exporter)
            (folder / language.code / f'{page}.html').write_text(text, encoding='utf-8')
    environment = Environment(loader=FileSystemLoader(TEMPLATE), autoescape=True)
    text = environment.get_template('list.html.j2').render(decks=decks)
    (folder / 'index.html').write_text(text, encoding='utf-8')
    return folder


def rendered(slides, language, exporter=None):
    """The HTML of a deck; raises `SlideError` for maths that cannot be shown."""
    resources = {'deck': {'title': slides[0].title, 'language': language, 'count': len(slides)}}
    try:
        return (exporter or _exporter()).from_notebook_node(notebook(slides), resources=resources)[0]
    except LatexError as error:
        raise SlideError(f'{language.code}, {slides[0].title!r}: maths cannot be shown: {error}') from error


def notebook(slides):
    """A notebook with slide metadata, from which nbconvert makes a deck."""
    cells = []
    for number, slide in enumerate(slides, 1):
        parts = [_heading(slide, is_first=number == 1)]
        parts += [_drawn(slide.pictures)] if slide.pictures else []
        parts += [_programme(slide)] if slide.code or slide.printed else []
        parts += [new_markdown_cell(slide.text)] if slide.text else []
        parts += [new_markdown_cell(slide.note)] if slide.note else []
        for part in parts:
            part.metadata.update(slideshow={'slide_type': '-'}, number=number)
        parts[0].metadata.slideshow.slide_type = 'slide'
        if slide.note:
            parts[-1].metadata.slideshow.slide_type = 'notes'
        cells += parts
    return new_notebook(cells=cells)


def _heading(slide, is_first):
    level = '#' if is_first else '##'
    return new_markdown_cell(f'{level} {slide.title}', metadata={'layout': _layout(slide, is_first)})


def _layout(slide, is_first):
    """The class of a slide, from which `slides.css` arranges its parts."""
    if is_first:
        return 'cover'
    if slide.pictures:
        is_tall = any(picture.proportion >= TALL for picture in slide.pictures)
        return 'picture' if not slide.text else 'tall' if is_tall else 'beside'
    return 'programmed' if slide.code or slide.printed else 'words'


def _drawn(pictures):
    outputs = [
        new_output('display_data', {picture.media_type: picture.content}, metadata={'alt': picture.alternative})
        for picture in pictures
    ]
    return new_code_cell(outputs=outputs)


def _programme(slide):
    """The cell with the code of a slide and what was printed."""
    outputs = [new_output('stream', text=slide.printed)] if slide.printed else []
    return new_code_cell(slide.code, outputs=outputs, metadata={'size': code_size(slide)})


def code_size(slide):
    """The size of code in pixels: as large as width and height of the slide allow, within limits."""
    lines = [*slide.code.splitlines(), *slide.printed.splitlines()]
    boxes = bool(slide.code) + bool(slide.printed)
    room = HEIGHT - 44 * boxes
    if not slide.pictures:
        text = [line for line in slide.text.splitlines() if line.strip()]
        room -= POINT_HEIGHT * sum(1 + int(len(line) * POINT_WIDTH / WIDTH) for line in text)
    fitting = min((WIDTH - 48) / (CODE_WIDTH * max(map(len, lines))), room / (CODE_HEIGHT * len(lines)))
    return max(SMALLEST_CODE, min(LARGEST_CODE, int(fitting)))


def _exporter():
    exporter = SlidesExporter(
        template_name=TEMPLATE.name,
        extra_template_basedirs=[str(TEMPLATE.parent)],
        filters={'markdown2html': _markdown().render, 'base64': _base64},
    )
    reveal = Path(importlib.util.find_spec('sphinx_revealjs').origin).parent / '_static' / 'revealjs'
    # What stands in the head of each deck; none of it differs.
    exporter.environment.globals['kit'] = {
        'styles': [
            _read(reveal / 'dist' / 'reveal.css'),
            HtmlFormatter(style=CODE_STYLE).get_style_defs('.highlight'),
        ],
        'scripts': [_script(reveal / 'dist' / 'reveal.js'), _script(reveal / 'plugin' / 'notes' / 'notes.js')],
        'font': _base64(FONT.read_bytes()),
        'licences': [_read(reveal / 'LICENSE'), _read(FONT_LICENCE)],
    }
    return exporter


def _read(path):
    return path.read_text(encoding='utf-8')


def _script(path):
    """A script as it can stand in a page, without the link to its map; in a string, `<\\/` means the same as `</`."""
    lines = _read(path).replace('</script', '<\\/script').replace('<!--', '<\\!--').splitlines()
    return '\n'.join(line for line in lines if not line.startswith('//# sourceMappingURL'))


def _base64(content):
    return base64.b64encode(content.encode('utf-8') if isinstance(content, str) else content).decode('ascii')


def _markdown():
    """A converter of Markdown with tables and maths; tags are shown as they are."""
    converter = MarkdownIt('commonmark', {'html': False}).enable('table')
    return converter.use(dollarmath_plugin, allow_digits=False, renderer=_maths)


def _maths(latex, options):
    return mathml(latex, options['display_mode'])


def main():
    """Make all slides and say how to open them."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--out', type=Path, default=SLIDES, help='folder of the slides')
    arguments = parser.parse_args()
    try:
        folder = build(arguments.out)
    except SlideError as error:
        sys.exit(f'{error}\nThe slides were not made: see the message above.')
    print(f'The slides are ready. Open {os.path.relpath(folder)}{os.sep}index.html in a browser.')
    print('Keys: space and arrows move, F fills the screen, S opens the speaker view, O shows all slides.')


if __name__ == '__main__':
    main()

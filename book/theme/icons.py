"""The theme's icons at the size of the dozen that the pages use.

The theme brings an icon library as 1.5 MB of script and again as fonts. The script is left out, and the
fonts are cut down to the icons that stand in the built pages and in the theme's own style sheets.
"""

import re
from pathlib import Path

from fontTools import subset
from markupsafe import Markup
from sphinx.util import logging

SCRIPT = re.compile(r'<script[^>]*fontawesome\.js[^>]*></script>')
# In the theme's style sheet: `.fa-bars:before,.fa-navicon:before{content:"\f0c9"}`
RULE = re.compile(r'([^{}]*\.fa-[^{}]*):before\{content:"\\([0-9a-f]+)"\}')
OTHER = re.compile(r'[\ue000-\uf8ff]|\\[ef][0-9a-f]{3}\b')

logger = logging.getLogger(__name__)


def setup(app):
    app.connect('html-page-context', _drop_script)
    app.connect('build-finished', _shrink_fonts)


def _drop_script(app, page, template, context, doctree):
    context['without_icon_script'] = lambda html: Markup(SCRIPT.sub('', html))


def _shrink_fonts(app, error):
    if error or app.builder.format != 'html':
        return
    static = Path(app.outdir) / '_static'
    icons = _icons(Path(app.outdir))
    fonts = list(static.rglob('fa-*.woff2'))
    if not icons or not fonts:
        logger.warning('the theme keeps its icons in another way than book/theme/icons.py expects')
    for path in fonts:
        options = subset.Options(flavor='woff2', notdef_outline=True)
        font = subset.load_font(path, options)
        cutter = subset.Subsetter(options)
        cutter.populate(unicodes=icons)
        cutter.subset(font)
        subset.save_font(font, path, options)
    for unused in ('*.map', 'fontawesome.js*', 'fa-*.ttf'):
        for path in list(static.rglob(unused)):
            path.unlink()


def _icons(folder):
    """The code points of all icons that pages and style sheets below `folder` use."""
    names = set()
    for page in folder.rglob('*.html'):
        names.update(re.findall(r'\bfa-[a-z0-9-]+', page.read_text(encoding='utf-8')))
    points = set()
    for sheet in folder.rglob('*.css'):
        text = sheet.read_text(encoding='utf-8')
        for selectors, point in RULE.findall(text):
            if names.intersection(re.findall(r'\.(fa-[a-z0-9-]+)', selectors)):
                points.add(int(point, 16))
        for found in OTHER.findall(RULE.sub('', text)):
            points.add(ord(found) if len(found) == 1 else int(found[1:], 16))
    return points

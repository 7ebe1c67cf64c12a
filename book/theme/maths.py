"""Maths as MathML, made when the book is built, so that a page needs no script and no other host."""

import re

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)
converter = LatexToMathML(fancy_error=False)
# Sphinx numbers equations by their labels; the converter must not number them a second time.
UNNUMBERED = {'equation': 'gathered', 'align': 'aligned', 'split': 'aligned', 'gather': 'gathered'}
ENVIRONMENT = re.compile(rf'\\(begin|end)\{{({"|".join(UNNUMBERED)})\*?\}}')


def setup(app):
    app.add_html_math_renderer('mathml', (_visit_inline, None), (_visit_display, None))


def mathml(latex, display):
    """The MathML of `latex`; raises `LatexError` for what cannot be shown."""
    latex = ENVIRONMENT.sub(lambda match: rf'\{match[1]}{{{UNNUMBERED[match[2]]}}}', latex.strip())
    if display and r'\\' in latex and r'\begin' not in latex:
        latex = rf'\begin{{aligned}}{latex}\end{{aligned}}'
    return converter.convert_with_local_state(latex, displaystyle=display)


def _converted(translator, node, display):
    try:
        return mathml(node.astext(), display)
    except LatexError as error:
        logger.warning('maths cannot be shown: %s in %r', error, node.astext(), location=node)
        return f'<code>{translator.encode(node.astext())}</code>'


def _visit_inline(translator, node):
    translator.body.append(translator.starttag(node, 'span', '', CLASS='math notranslate'))
    translator.body.append(_converted(translator, node, display=False) + '</span>')
    raise nodes.SkipNode


def _visit_display(translator, node):
    translator.body.append(translator.starttag(node, 'div', '', CLASS='math notranslate'))
    # The formula scrolls in a box of its own, beside its number.
    translator.body.append(f'<div class="formula">{_converted(translator, node, display=True)}</div>')
    if node['number']:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, _('Link to this equation'))
        translator.body.append('</span>')
    translator.body.append('</div>\n')
    raise nodes.SkipNode

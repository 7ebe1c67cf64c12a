"""The directive `glossary-table`: the terms of the book in its languages, with the section that uses each one first.

A page in a language that has a glossary shows that one, every other page all of them.
"""

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from .. import glossary, languages
from .interface import book_language


class GlossaryTable(SphinxDirective):
    """A table with one row a term: English, the translations, the first section."""

    def run(self):
        here = book_language(self.config)
        pages = [page for page in languages.pages()[1:] if page != self.env.docname.split('/')[-1]]
        container = nodes.container(classes=['glossary'])
        table = '\n'.join(_rows(here, glossary.glossaries(), pages))
        self.state.nested_parse(table.splitlines(), self.content_offset, container)
        return [container]


def _rows(here, glossaries, pages):
    """The lines of the table, in MyST."""
    shown = [pair for pair in glossaries if pair[0] == here] or glossaries
    columns = [(language, {term.english: term.translation for term in terms}) for language, terms in shown]
    by_name = {term.english: term for _, terms in shown for term in terms}
    terms = [by_name[name] for name in sorted(by_name, key=str.lower)]
    first = glossary.first_pages(terms, pages)
    source = languages.source()
    yield _row([_said(source.name, source), *(_said(one.name, one) for one, _ in columns), here.word('First used in')])
    yield _row(['---'] * (len(columns) + 2))
    for term in terms:
        names = [_said(names.get(term.english, ''), language) for language, names in columns]
        page = first.get(term.english)
        yield _row([_said(term.english, source), *names, f'{{doc}}`{page}`' if page else ''])


def _said(words, language):
    """`words` marked as being in `language`."""
    return f'[{words}]{{.language-{language.code}}}' if words else ''


def _row(cells):
    return f'| {" | ".join(cells)} |'


def setup(app):
    app.add_directive('glossary-table', GlossaryTable)

"""What a page says about itself: its other languages, its description, its preview in social media."""

from docutils import nodes
from markupsafe import Markup
from sphinx import locale

from ..languages import SOURCE, languages
from . import preview
from .interface import book_language

DESCRIPTION_LENGTH = 200


def setup(app):
    app.connect('html-page-context', _describe, priority=400)


def _describe(app, page, template, context, doctree):
    language = book_language(app.config)
    base = app.config.html_baseurl
    up = '../' * (page.count('/') + 1)
    links = []
    if app.config.book_has_languages:
        for other in languages():
            href = f'{up}{other.code}/{page}.html'
            address = f'{_site(base, language)}{other.code}/{page}.html' if base else href
            links.append({'code': other.code, 'name': other.name, 'href': href, 'address': address})
    context['book_language'] = language
    context['language_links'] = links
    context['licence'] = Markup(language.settings['licence'])
    context['metatags'] = Markup(context.get('metatags', '')) + _tags(app, page, context, doctree, language, links)


def _site(base, language):
    """The address of the whole site, from that of one language's book."""
    return base.rstrip('/').removesuffix(f'/{language.code}') + '/'


def _tags(app, page, context, doctree, language, links):
    description = _first_paragraph(doctree) or language.settings['description'].strip()
    # Without the number that `context['title']` has.
    title = app.env.titles[page].astext() if page in app.env.titles else locale._('Search')
    tags = [
        ('link', {'rel': 'icon', 'href': context['pathto']('_static/icon.svg', 1)}),
        ('meta', {'name': 'description', 'content': description}),
        ('meta', {'property': 'og:type', 'content': 'article'}),
        ('meta', {'property': 'og:title', 'content': title}),
        ('meta', {'property': 'og:description', 'content': description}),
        ('meta', {'property': 'og:site_name', 'content': language.settings['title']}),
        ('meta', {'property': 'og:locale', 'content': language.code}),
    ]
    if app.config.html_baseurl:
        base = app.config.html_baseurl
        tags += [
            ('meta', {'property': 'og:url', 'content': f'{base}{page}.html'}),
            ('meta', {'property': 'og:image', 'content': f'{base}_static/{preview.NAME}'}),
            ('meta', {'property': 'og:image:width', 'content': preview.SIZE[0]}),
            ('meta', {'property': 'og:image:height', 'content': preview.SIZE[1]}),
            ('meta', {'property': 'og:image:alt', 'content': language.settings['title']}),
            ('meta', {'name': 'twitter:card', 'content': 'summary_large_image'}),
        ]
    tags += [('link', {'rel': 'alternate', 'hreflang': link['code'], 'href': link['address']}) for link in links]
    tags += [
        ('link', {'rel': 'alternate', 'hreflang': 'x-default', 'href': link['address']})
        for link in links
        if link['code'] == SOURCE
    ]
    return Markup('\n').join(
        Markup('<{} {}/>').format(name, Markup(' ').join(Markup('{}="{}"').format(*item) for item in values.items()))
        for name, values in tags
    )


def _first_paragraph(doctree):
    """The page's first paragraph outside boxes, as plain text of at most `DESCRIPTION_LENGTH` characters."""
    for paragraph in doctree.findall(nodes.paragraph) if doctree else ():
        if isinstance(paragraph.parent, nodes.section):
            text = ' '.join(paragraph.astext().split())
            if len(text) <= DESCRIPTION_LENGTH:
                return text
            return text[:DESCRIPTION_LENGTH].rsplit(' ', 1)[0].rstrip(',;:.') + '…'
    return ''

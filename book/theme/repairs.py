"""Small repairs of the generated pages for people who use them with a screen reader or the keyboard."""

from sphinx.locale import _


def setup(app):
    app.connect('html-page-context', _repair)


def _repair(app, page, template, context, doctree):
    if 'body' in context:
        # docutils gives entries of a list of references a role that such an entry no longer has.
        context['body'] = context['body'].replace('role="doc-biblioentry"', 'role="listitem"')
    context['repaired'] = _repaired_frame


def _repaired_frame(html):
    """The theme's frame around a page, with its sidebar as a landmark and no English words left."""
    sidebar = '<div id="pst-primary-sidebar" '
    landmark = f'{sidebar}role="navigation" aria-label="{_("Site navigation")}" '
    for word in ('Page', 'Main'):
        html = html.replace(f'aria-label="{word}"', f'aria-label="{_(word)}"')
    return html.replace(sidebar, landmark)

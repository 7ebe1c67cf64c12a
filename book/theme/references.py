"""What a role says on a page, as Markdown: Sphinx resolves it, so that a notebook has the numbers of its page."""

from urllib.parse import urljoin

from docutils import nodes
from sphinx import addnodes
from sphinx.locale import admonitionlabels
from sphinx.util.nodes import split_explicit_title

# Roles without their domain's name, other than those of the standard domain.
SHORT = {'eq': ('math', 'numref')}


class References:
    """The references of the page `page`, and afterwards what it cites. Links need the address where the book will be.

    Call it when Sphinx has read and numbered all pages.
    """

    def __init__(self, app, page):
        self._app, self._page = app, page
        self._cited = {}

    def resolve(self, role, text):
        """The Markdown of a role with this content.

        Raises:
            ValueError: if the role or what it refers to is not known.
        """
        env = self._app.env
        domain_name, kind = role.split(':', 1) if ':' in role else SHORT.get(role, ('std', role))
        if domain_name not in env.domains or kind not in env.get_domain(domain_name).roles:
            raise ValueError(f'no plain Markdown is known for the role {role!r}.')
        is_explicit, title, target = split_explicit_title(text)
        if domain_name == 'std' and kind in ('numref', 'ref'):
            target = target.lower()
        options = {'refdomain': domain_name, 'reftype': kind, 'reftarget': target, 'refexplicit': is_explicit}
        node = addnodes.pending_xref('', refdoc=self._page, refwarn=True, **options)
        resolved = env.get_domain(domain_name).resolve_xref(
            env, self._page, self._app.builder, kind, target, node, nodes.inline('', title)
        )
        if resolved is None or not resolved.astext():
            raise ValueError(f'{{{role}}}`{text}` refers to nothing.')
        return self._markdown(resolved)

    def title(self, name):
        """The word above a box of this kind (note, tip, ...) in the language of the book, or None."""
        return str(admonitionlabels[name]) if name in admonitionlabels else None

    def cited(self):
        """The works that `resolve` has met so far, as a section in Markdown, or '' without any."""
        if not self._cited:
            return ''
        page = next(key.docname for key in self._app.env.get_domain('cite').bibliographies)
        return '\n'.join([f'## {self._app.env.titles[page].astext()}', '', *(f'* {work}' for work in self._cited)])

    def _markdown(self, node):
        if isinstance(node, nodes.Text):
            return str(node)
        inner = ''.join(map(self._markdown, node.children))
        if isinstance(node, nodes.emphasis):
            return f'*{inner}*'
        if isinstance(node, nodes.reference):
            if 'reftitle' in node:  # the whole entry of a cited work; a dictionary keeps the order of citing
                self._cited[node['reftitle']] = None
            address = self._address(node)
            return f'[{inner}]({address})' if address else inner
        return inner

    def _address(self, node):
        """Where a reference leads on the published site, or None while nobody knows where that is."""
        base = self._app.config.html_baseurl
        if not base:
            return None
        page = urljoin(base, self._app.builder.get_target_uri(self._page))
        return urljoin(page, node['refuri'] if 'refuri' in node else f'#{node["refid"]}')

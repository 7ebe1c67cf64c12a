"""Beside each page with code, the notebook that runs anywhere, and on the page the ways to get it."""

from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

from sphinx.locale import _
from sphinx.util import logging

from .. import helper, notebooks, pictures, runnable
from .interface import book_language
from .references import References

FIRST_CELL = Path(runnable.__file__).with_name('first_cell.py')
# The branch of the repository on GitHub that holds the published site.
BRANCH = 'gh-pages'

logger = logging.getLogger(__name__)


def setup(app):
    # The folder that `book.helper.prepare` has filled; without it there are no runnable notebooks.
    app.add_config_value('book_helper', '', 'html', [str])
    # Before the theme looks which parts of a page are empty, and after it has put its own buttons there.
    app.connect('html-page-context', _offer, priority=400)
    app.connect('html-page-context', _drop_download, priority=600)


def _offer(app, page, template, context, doctree):
    """Write the page's runnable notebook and offer it."""
    if not app.config.book_helper or doctree is None:
        return
    context['has_page_actions'] = True
    context['book_pdf'] = context['pathto'](app.config.book_pdf, 1) if app.config.book_pdf else ''
    source = Path(app.env.doc2path(page))
    if source.suffix != '.ipynb':
        return
    notebook = notebooks.read(source)
    if not runnable.has_code(notebook):
        return
    target = Path(app.outdir) / f'{page}.ipynb'
    try:
        converted = runnable.runnable(
            notebook,
            References(app, page),
            picture=lambda path: pictures.data_uri(source.parent / path),
            first_cell=first_cell(app.config),
        )
    except ValueError as error:
        logger.warning('no runnable notebook: %s', error, location=page)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    notebooks.write(converted, target)
    context['notebook_links'] = _links(app.config, page)


def _drop_download(app, page, template, context, doctree):
    """Take away the theme's download of the source, which is full of markup."""
    if 'has_page_actions' in context:
        buttons = context['header_buttons']
        context['header_buttons'] = [button for button in buttons if button.get('label') != 'download-buttons']


def first_cell(config):
    """The code of the cell that brings the helper module."""
    text = helper.carried(config.book_helper)
    title = _('Run this cell first: it brings d2l_local, the helper module of the course')
    call = (
        f'bring_d2l_local(\n    addresses={addresses(config)!r},\n    edition={helper.edition(text)!r},\n'
        f"    # The module itself, for where there is no network.\n    carried='{text}',\n)"
    )
    return f'# @title {title}\n{FIRST_CELL.read_text(encoding="utf-8").strip()}\n\n\n{call}'


def addresses(config):
    """What pip may install the helper module from: the published site, the repository, or nothing while unknown."""
    found = []
    if config.html_baseurl:
        language = book_language(config)
        site = config.html_baseurl.rstrip('/').removesuffix(f'/{language.code}') + '/'
        found.append(urljoin(site, helper.wheel(config.book_helper).name))
    if repository := config.html_theme_options.get('repository_url'):
        found.append(f'git+{repository}')
    return found


def _links(config, page):
    """The ways to get a page's notebook; the first is a download."""
    name = page.rsplit('/', 1)[-1]
    links = [{'words': _('Download notebook'), 'href': f'{name}.ipynb', 'icon': 'fa-download'}]
    published = _on_github(config.html_theme_options.get('repository_url', ''), f'{config.language}/{page}.ipynb')
    if published:
        colab = f'https://colab.research.google.com/github/{published}'
        kaggle = f'https://www.kaggle.com/kernels/welcome?src={quote(f"https://github.com/{published}", safe="/:")}'
        links.append({'words': _('Open in Colab'), 'href': colab, 'icon': 'fa-arrow-up-right-from-square'})
        links.append({'words': _('Open in Kaggle'), 'href': kaggle, 'icon': 'fa-arrow-up-right-from-square'})
    return links


def _on_github(repository, path):
    """Where GitHub shows the published file `path`, after the host; None for a repository that is not there."""
    address = urlsplit(repository)
    project = address.path.strip('/').removesuffix('.git')
    return f'{project}/blob/{BRANCH}/{path}' if address.netloc == 'github.com' and project else None

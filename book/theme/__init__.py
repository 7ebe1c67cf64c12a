"""The Sphinx extension that makes the theme of Jupyter Book ours.

Each part is a module with its own `setup`: interface strings, language links and metadata, maths,
search, icons, glossary, runnable notebooks. The extension knows the book's language from Sphinx's
`language` and everything about it from `chapters/<language>/language.yml`.
"""

from pathlib import Path

from . import glossary_table, head, icons, interface, maths, preview, repairs, runnable, search

HERE = Path(__file__).parent


def setup(app):
    app.add_config_value('book_has_languages', False, 'html', [bool])
    # The name of the book's PDF, if there will be one.
    app.add_config_value('book_pdf', '', 'html', [str])
    # Jupyter Book always sets this for sphinx_comments, an extension that we leave out.
    app.add_config_value('comments_config', {}, '')
    app.connect('config-inited', _use_our_files, priority=100)
    app.add_css_file('book.css', priority=900)
    for part in (interface, head, preview, maths, search, icons, repairs, glossary_table, runnable):
        part.setup(app)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}


def _use_our_files(app, config):
    """Put our templates before the theme's, and our static files beside the theme's."""
    config.templates_path.insert(0, str(HERE / 'templates'))
    config.html_static_path.append(str(HERE / 'static'))

"""The words of the interface: those of `language.yml` first, then the catalogues of Sphinx and the theme."""

import gettext
import json

from sphinx import locale

from ..languages import languages

# The message catalogues a reader of the page meets: Sphinx and its base theme, and the book theme.
DOMAINS = ('sphinx', 'booktheme')
# Strings that scripts put on the page; `static/interface.js` says where.
SCRIPT_STRINGS = (
    'Copy',
    'Copy to clipboard',
    'Copied!',
    'Failed to copy',
    'Toggle hidden content',
    'Hide Search Matches',
    'Preparing search...',
    'Search Results',
    'Searching',
    'Search finished, found ${resultCount} page(s) matching the search query.',
    'Your search did not match any documents. Please make sure that all words are spelled correctly '
    "and that you've selected enough categories.",
)


class Catalogue(gettext.NullTranslations):
    """A message catalogue from a mapping; what it lacks comes from its fallback."""

    def __init__(self, strings):
        super().__init__()
        self.strings = strings

    def gettext(self, message):
        return self.strings.get(message) or super().gettext(message)


def setup(app):
    app.connect('config-inited', _translate, priority=101)
    app.connect('builder-inited', _translate_scripts)


def book_language(config):
    """The `Language` that `config` builds."""
    return next(language for language in languages() if language.code == config.language)


def _translate(app, config):
    language = book_language(config)
    strings = language.settings.get('interface') or {}
    for domain in DOMAINS:
        catalogue = Catalogue(strings)
        key = ('general', domain)
        if key in locale.translators:
            catalogue.add_fallback(locale.translators[key])
        locale.translators[key] = catalogue
    app.translator = locale.translators['general', 'sphinx']  # what templates use
    config.html_title = language.settings['title']
    config.project = language.settings['title']
    config.html_theme_options['search_bar_text'] = language.word('Search this book...')
    for setting, string in (
        ('togglebutton_hint', 'Click to show'),
        ('togglebutton_hint_hide', 'Click to hide'),
        ('nb_code_prompt_show', 'Show code cell {type}'),
        ('nb_code_prompt_hide', 'Hide code cell {type}'),
    ):
        config[setting] = language.word(string)


def _translate_scripts(app):
    """Hand the strings to the scripts; after all others, because it changes what they have set up."""
    strings = {string: locale._(string) for string in SCRIPT_STRINGS}
    data = json.dumps({'language': app.config.language, 'strings': strings}, ensure_ascii=False)
    app.add_js_file(None, body=f'window.bookInterface = {data}', priority=900)
    app.add_js_file('interface.js', priority=901)

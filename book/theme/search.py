"""Full-text search for languages that Sphinx does not know, such as Vietnamese.

Words are folded: lower case, without diacritics, so that "Mạng", "mang" and the same letters in either
Unicode form find each other. There are no stop words: Vietnamese has words written like English ones.
"""

import re
import unicodedata

from sphinx import search

# Letters with a stroke have no decomposition in Unicode.
STROKES = str.maketrans({'đ': 'd', 'Đ': 'D', 'ł': 'l', 'Ł': 'L', 'ø': 'o', 'Ø': 'O'})

# The same folding as `fold`, for the query.
STEMMER = r"""
var Stemmer = function () {
  const strokes = { "đ": "d", "ł": "l", "ø": "o" };
  this.stemWord = (word) =>
    word.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").replace(/[đłø]/g, (letter) => strokes[letter]);
}
"""
SPLITTER = r"""
var splitQuery = (query) => query.normalize("NFC").split(/[^\p{L}\p{N}_]+/u).filter((term) => term);
"""


def fold(word):
    """`word` in lower case without diacritics: `fold('Độ') == 'do'`."""
    letters = unicodedata.normalize('NFD', word.translate(STROKES))
    return ''.join(letter for letter in letters if not unicodedata.combining(letter)).lower()


class FoldedSearch(search.SearchLanguage):
    """Words split at what is no letter or digit, folded, none left out."""

    language_name = 'Folded'
    js_stemmer_code = STEMMER
    js_splitter_code = SPLITTER
    stopwords = set()

    def split(self, input):
        return re.findall(r'\w+', unicodedata.normalize('NFC', input))

    def stem(self, word):
        return fold(word)


def setup(app):
    app.connect('config-inited', _register)


def _register(app, config):
    if config.language not in search.languages:
        language = type(f'Search{config.language}', (FoldedSearch,), {'lang': config.language})
        app.add_search_language(language)

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

# The piece of text beside a result shows where the query is: the words as they were typed, or else with other
# diacritics, or else the last of them. Headings are compared with the query in the Unicode form of the pages.
EXCERPTS = r"""
(() => {
  const { makeSearchSummary, _performSearch } = Search;
  const fold = new Stemmer().stemWord;
  const find = (text, words) => {
    const literal = words.replace(/[.*+?^${}()|[\]\\\/]/g, "\\$&");
    return text.search(new RegExp(`(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`, "u"));
  };
  let typed;
  Search._performSearch = (query, ...terms) => {
    typed = query.normalize("NFC").toLowerCase().trim();
    return _performSearch(typed, ...terms);
  };
  Search.makeSearchSummary = (html, folded, anchor) => {
    const words = [...folded], last = words[words.length - 1];
    const text = Search.htmlToText(html, anchor);
    const plain = fold(text); // as long as the text, whose letters are composed
    const start = [
      find(text.toLowerCase(), typed), find(plain, words.join(" ")), find(plain, last), plain.indexOf(last),
    ].find((place) => place >= 0);
    return makeSearchSummary(html, start === undefined ? words : [text.slice(start, start + 60)], anchor);
  };
})();
"""


def fold(word):
    """`word` in lower case without diacritics: `fold('Độ') == 'do'`."""
    letters = unicodedata.normalize('NFD', word.translate(STROKES))
    return ''.join(letter for letter in letters if not unicodedata.combining(letter)).lower()


class FoldedSearch(search.SearchLanguage):
    """Words split at what is no letter or digit, folded, none left out."""

    language_name = 'Folded'
    js_stemmer_code = STEMMER
    js_splitter_code = SPLITTER + EXCERPTS
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

"""The glossaries, `glossary.en-<language>.csv`: what a term is called, and whether a translation keeps to it.

Columns: `english`; `translation`; `also`, other wordings that are right in some places; `never`, phrases that are
always wrong in this subject; `avoid`, phrases that often are; `note`. Several phrases in one field are divided by `|`.
"""

import csv
import re
from dataclasses import dataclass

from . import languages, markup, notebooks


@dataclass(frozen=True)
class Term:
    """One row of a glossary; `also` and `never` are tuples of phrases."""

    english: str
    translation: str
    also: tuple
    never: tuple

    @property
    def forms(self):
        """The words to look for in English: 'virtual machine / cloud instance' has two, 'node (machine)' has one."""
        return [form.strip() for form in re.sub(r'\([^)]*\)', '', self.english).split('/')]


def path(language):
    """Where the glossary of `language` is, or would be."""
    return languages.ROOT / 'book' / f'glossary.{languages.SOURCE}-{language.code}.csv'


def read(language):
    """The terms of a language's glossary; none for a language without one."""
    if not path(language).is_file():
        return []
    with path(language).open(encoding='utf-8', newline='') as file:
        rows = list(csv.DictReader(file))
    return [Term(row['english'], row['translation'], _phrases(row['also']), _phrases(row['never'])) for row in rows]


def _phrases(field):
    return tuple(phrase.strip() for phrase in field.split('|') if phrase.strip())


def used(text, terms):
    """The terms of `terms` whose English form, or its plural, stands in `text`; of 'batch size' no 'batch' is left."""
    of_form = {form.lower(): term for term in terms for form in term.forms}
    longest_first = sorted(of_form, key=len, reverse=True)
    if not longest_first:
        return []
    # A capital letter may begin a sentence; two, outside a heading, are a name, such as that of a book.
    forms = '|'.join(f'[{form[0].upper()}{form[0].lower()}]{re.escape(form[1:])}' for form in longest_first)
    words = markup.HEADING.sub(lambda heading: heading[0].lower(), markup.words(text))
    found = re.findall(rf'(?<![\w-])({forms})(?:e?s)?(?![\w-])', ' '.join(words.split()))
    return list(dict.fromkeys(of_form[form.lower()] for form in found))


def problems(english, translated, terms):
    """Return a message for each term of the text `english` that its translation renders in another way, or wrongly."""
    text = ' '.join(translated.lower().split())
    found = []
    for term in used(english, terms):
        wordings = [term.translation, *term.also]
        if term.translation and not any(wording.lower() in text for wording in wordings):
            found.append(f'the glossary has {term.english!r} as {" or ".join(map(repr, wordings))}')
    never = (phrase for term in terms for phrase in term.never)
    found += [f'the glossary refuses {phrase!r}' for phrase in never if re.search(rf'\b{re.escape(phrase)}\b', text)]
    return found


def first_pages(terms, pages):
    """The first of the named `pages` whose English text uses a term, by the term's English form."""
    first = {}
    for page in pages:
        notebook = notebooks.read(languages.source().folder / f'{page}.ipynb')
        text = '\n\n'.join(cell.source for cell in notebook.cells if cell.cell_type == 'markdown')
        for term in used(text, terms):
            first.setdefault(term.english, page)
    return first


def glossaries():
    """Every language that has a glossary, with its terms: a list of pairs."""
    return [(language, terms) for language in languages.translations() if (terms := read(language))]

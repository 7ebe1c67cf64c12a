"""What a page shows where a translation is missing or stale, as MyST text."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from book import carry, markup, notices
from book.languages import Language
from book.notebooks import TRANSLATED_FROM, source_hash

LANGUAGE = Language('fr', {'interface': {notices.NOTICES[carry.STALE]: 'Ancien.', notices.EARLIER: 'Avant'}})


def shown(*pairs):
    """The texts shown for pairs of an English text and its translation (None: untranslated), with code between."""
    english, translated = new_notebook(), new_notebook()
    for number, (text, translation, from_text) in enumerate(pairs):
        cell = new_markdown_cell(text, id=f'text-{number}')
        other = new_markdown_cell(translation or text, id=cell.id)
        if translation:
            other.metadata[TRANSLATED_FROM] = source_hash(new_markdown_cell(from_text))
        english.cells += [cell, new_code_cell(id=f'code-{number}')]
        translated.cells += [other, new_code_cell(id=f'code-{number}')]
    return [cell.source for cell in notices.shown(english, translated, LANGUAGE).cells[::2]]


def test_a_translated_cell_is_shown_as_it_is():
    assert shown(('Text', 'Texte', 'Text')) == ['Texte']


def test_an_untranslated_cell_has_a_notice_after_its_heading_and_the_next_has_none():
    first, second = shown(('(sec_x)=\n# Title\n\nText', None, None), ('More', None, None))
    missing = notices.NOTICES[carry.MISSING]
    assert first == (
        '(sec_x)=\n# [Title]{.language-en}\n\n'
        f'::::{{div}} not-translated\n:::{{div}} translation-notice\n[{missing}]{{.language-en}}\n:::\n'
        ':::{div} language-en\nText\n:::\n::::'
    )
    assert second == '::::{div} not-translated\n:::{div} language-en\nMore\n:::\n::::'


def test_a_stale_cell_shows_the_english_and_folds_the_earlier_translation():
    (text,) = shown(('New\n\n:::{note}\nBox\n:::', '(sec_x)=\n## Vieux\n\nTexte', 'Old'))
    assert text == (
        ':::::{div} not-translated\n:::{div} translation-notice\nAncien.\n:::\n'
        '::::{div} language-en\nNew\n\n:::{note}\nBox\n:::\n::::\n'
        ':::{dropdown} Avant\n:class-container: earlier-translation\n\n**Vieux**\n\nTexte\n:::\n:::::'
    )


def test_headings_stay_outside_the_boxes_and_comments_in_code_are_no_headings():
    (text,) = shown(('Text\n\n(sec_y)=\n## Next\n\n```bash\n# comment\n```', None, None))
    lines = text.splitlines()
    assert lines[lines.index('(sec_y)=') + 1] == '## [Next]{.language-en}'
    assert lines[lines.index('(sec_y)=') - 1] == '::::' and '# comment' in lines


def test_a_text_shown_again_defines_nothing():
    text = (
        '(sec_x)=\n## Title\n\n$$\na\n$$ (eq_a)\n\n```{figure} img/f.svg\n:name: fig_f\n:alt: words\n\nCaption\n```\n\n'
        ':::{admonition} Advice\nInside.\n:::\n\n```bash\n# comment\n```'
    )
    again = markup.without_definitions(text)
    assert again == ('**Title**\n\n$$\na\n$$\n\nCaption\n\n**Advice**\n\nInside.\n\n```bash\n# comment\n```')


def test_formulas_code_and_directives_without_text_have_no_words():
    for text in ('```{bibliography}\n```', '$$\na\n$$ (eq_a)', '(sec_x)=\n', '```bash\nmake\n```', '{cite:t}`A.2020`'):
        assert not markup.has_words(text), text
    for text in ('Word', '```{figure} f.svg\n\nCaption\n```', '[link](https://example.org)'):
        assert markup.has_words(text), text

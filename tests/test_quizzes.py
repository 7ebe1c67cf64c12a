"""The self-check quizzes: one right choice for each question, feedback on every choice, the same in every language."""

import re

import pytest

from book import languages, notebooks

QUESTION = re.compile(r'^\*\*(\d+)\.\*\* (.+)$', re.M)
CHOICE = re.compile(r'<details><summary>(.+)</summary>\n\n\*\*(.+?)\*\* (.+)\n\n</details>')


def quizzes(language):
    """The text of the quiz of each page that has one."""
    cells = {page: notebooks.read(language.folder / f'{page}.ipynb').cells for page in languages.pages()}
    return {page: cell.source for page in cells for cell in cells[page] if cell.id == 'quiz'}


def questions(text):
    """For each question, in order: its choices, as triples of the choice, the verdict and the feedback."""
    starts = [match.start() for match in QUESTION.finditer(text)]
    return [CHOICE.findall(text[start:end]) for start, end in zip(starts, [*starts[1:], len(text)])]


CASES = [
    pytest.param(language, page, text, id=f'{language.code}-{page}')
    for language in languages.finished()
    for page, text in quizzes(language).items()
]


def sections():
    """Pages with exercises."""
    source = languages.source().folder
    return [
        page
        for page in languages.pages()
        if 'exercises' in [cell.id for cell in notebooks.read(source / f'{page}.ipynb').cells]
    ]


def test_every_section_has_a_quiz():
    assert list(quizzes(languages.source())) == sections()


@pytest.mark.parametrize('language, page, text', CASES)
def test_a_quiz_can_be_answered(language, page, text):
    assert text.startswith(f'## {language.word("Check Yourself")}\n')
    assert [int(number) for number, _ in QUESTION.findall(text)] == list(range(1, 9))
    assert text.count('<details>') == sum(map(len, questions(text))), 'a choice without verdict or feedback'
    right, wrong = language.word('Right.'), language.word('Not quite.')
    for number, choices in enumerate(questions(text), 1):
        verdicts = [verdict for _, verdict, _ in choices]
        assert 3 <= len(choices) <= 4 and sorted(verdicts) == sorted([right] + [wrong] * (len(choices) - 1)), number
        for choice, _, feedback in choices:
            assert not re.search(r'[`$*]|\{\w+\}', choice), f'question {number}: Markdown is not shown in a choice'
            assert len(feedback) > 40, f'question {number}: {feedback}'


@pytest.mark.parametrize('language, page, text', CASES)
def test_the_right_choice_is_at_the_same_place_in_every_language(language, page, text):
    def places(text, word):
        return [[verdict == word for _, verdict, _ in choices] for choices in questions(text)]

    english = quizzes(languages.source())[page]
    assert places(text, language.word('Right.')) == places(english, 'Right.')


@pytest.mark.parametrize('page, text', quizzes(languages.source()).items(), ids=lambda value: value[:20])
def test_the_place_of_the_right_choice_cannot_be_guessed(page, text):
    places = [[verdict for _, verdict, _ in choices].index('Right.') for choices in questions(text)]
    assert max(map(places.count, places)) <= 4

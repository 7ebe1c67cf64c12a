"""What the page for instructors says of assignments, exercises and the plan is what there is."""

import re

import pytest

from book import languages, notebooks
from grading import sources

LANGUAGES = languages.finished()


def cells(language, page='teaching'):
    return {cell.id: cell.source for cell in notebooks.read(language.folder / f'{page}.ipynb').cells}


def points(path):
    """All points of an assignment, and those that are given by hand."""
    graded = [cell.metadata.get('nbgrader', {}) for cell in notebooks.read(path).cells]
    graded = [mark for mark in graded if mark.get('grade')]
    return sum(m['points'] for m in graded), sum(m['points'] for m in graded if m.get('solution'))


@pytest.mark.parametrize('language', LANGUAGES, ids=lambda language: language.code)
def test_the_points_of_the_assignments(language):
    text = cells(language)['assignments']
    rows = re.findall(r'^\| \d: .*\| (\d+) \((\d+)\) \| \d+ \|$', text, re.M)
    real = [points(path) for path in sorted((sources.ASSIGNMENTS / language.code).glob('*.ipynb'))]
    assert [(int(total), int(by_hand)) for total, by_hand in rows] == real
    assert str(sum(total for total, _ in real)) in text


@pytest.mark.parametrize('language', LANGUAGES, ids=lambda language: language.code)
def test_every_session_has_its_minutes(language):
    rows = [row for row in cells(language)['two-weeks'].splitlines() if re.search(r'\(\d+\)', row)]
    assert [sum(map(int, re.findall(r'\((\d+)\)', row))) for row in rows] == [90] * 8


@pytest.mark.parametrize('language', LANGUAGES, ids=lambda language: language.code)
def test_outcomes_are_given_for_every_section_with_exercises(language):
    labels = re.findall(r'^\| \{numref\}`(\w+)`', cells(language)['outcomes'], re.M)
    with_exercises = [page for page in languages.pages() if 'exercises' in cells(language, page)]
    assert labels == [re.match(r'\((\w+)\)=', cells(language, page)['title'])[1] for page in with_exercises]

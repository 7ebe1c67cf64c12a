"""The instructors' answers: one to each exercise, the same in every language, and the cells say what they claim."""

import re

import pytest
import yaml

from book import answers, languages, notebooks, parity, source

EXERCISE = re.compile(r'^1\. \*\(', re.M)
# Prose may name a variable once more in one language than in the other.
FREE = {'inline maths', 'inline code'}


def of(language, page):
    return notebooks.read(answers.ANSWERS / language.code / f'{page}.ipynb')


def exercises(page):
    notebook = notebooks.read(languages.source().folder / f'{page}.ipynb')
    return sum(len(EXERCISE.findall(cell.source)) for cell in notebook.cells if cell.id == 'exercises')


def test_every_section_with_exercises_has_answers():
    assert answers.sections() == [page for page in languages.pages() if exercises(page)]


@pytest.mark.parametrize('page', answers.sections())
def test_every_exercise_has_an_answer(page):
    for language in languages.finished():
        cells = of(language, page).cells
        numbers = [re.match(r'## (\d+)\. \w', c.source) for c in cells if re.fullmatch(r'answer-\d+', c.id)]
        assert [int(number[1]) for number in numbers] == list(range(1, exercises(page) + 1)), language.code
        assert any(cell.cell_type == 'code' and 'assert ' in cell.source for cell in cells)


@pytest.mark.parametrize('page', answers.sections())
def test_the_answers_are_the_same_in_every_language(page):
    english = of(languages.source(), page)
    for language in languages.complete_translations():
        translated = of(language, page)
        assert [cell.id for cell in english.cells] == [cell.id for cell in translated.cells]
        for cell, other in zip(english.cells, translated.cells):
            if cell.cell_type == 'code':
                assert cell == other, cell.id
                continue
            ours, theirs = parity.structure(cell.source), parity.structure(other.source)
            assert [kind for kind in ours if ours[kind] != theirs[kind] and kind not in FREE] == [], cell.id
            assert parity.typography(other.source) == [], cell.id


def test_the_answers_become_the_last_part_of_a_book(tmp_path):
    for language in languages.finished():
        folder = tmp_path / language.code
        source.assemble(language, folder)
        answers.add(language, folder)
        *_, part = yaml.safe_load((folder / '_toc.yml').read_text(encoding='utf-8'))['parts']
        assert part['caption'] == {'en': 'Answers', 'vi': 'Lời giải'}.get(language.code, part['caption'])
        assert [chapter['file'] for chapter in part['chapters']] == [f'answers-{page}' for page in answers.sections()]
        assert all((folder / f'{chapter["file"]}.ipynb').is_file() for chapter in part['chapters'])


def test_students_get_a_book_without_answers(tmp_path):
    source.assemble(languages.source(), tmp_path / 'en')
    assert not list((tmp_path / 'en').rglob('answers*'))

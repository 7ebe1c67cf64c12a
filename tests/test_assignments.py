"""The assignments grade as they should, by the real commands of nbgrader.

For every assignment, a class of students hands in the solution, the student version as it is, and wrong answers, which
lose exactly the points of what is wrong.
"""

import copy
import re
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
import yaml
from nbgrader.api import Gradebook
from site_pages import ROOT

from book import carry, parity
from book.languages import SOURCE
from book.notebooks import read
from grading import course, integrity, sources
from grading.limits import Failure
from grading.starter import with_starters

ENDLESS, ENDLESS_SECONDS, MEGABYTES = 'endless', 40, 3000  # long enough for every other cell on a busy machine
LOOP = 'import time\n\nwhile True:\n    time.sleep(1)'  # no work for the processor, which others need
HOARD = "hoard = []\nwhile True:\n    hoard.append(b'x' * 2**28)"
# Lines of solutions and hidden tests that betray nothing.
COMMON = {
    '',
    ')',
    'return net',
    'for tensor in tensors:',
    'tensor.copy_(total)',
    'dist.barrier()',
    'if dist.get_rank() == 0:',
}
NAMES = sources.names()
pytestmark = pytest.mark.timeout(1500)  # the first test waits for all classes
TRANSLATIONS = [(name, code) for code in sources.codes() if code != SOURCE for name in NAMES]


def wrong_answers(name):
    """Wrong answers by a label: sources of cells, the tests that they fail, words of the feedback."""
    answers = yaml.safe_load((ROOT / 'tests' / 'wrong_answers' / f'{name}.yml').read_text(encoding='utf-8'))
    return {label.replace(' ', '-'): answer for label, answer in answers.items()}


def combined(answers):
    """The answers in as few notebooks as hold them: one notebook has several, if they are to different tasks."""
    groups = []
    for label, answer in answers.items():
        for group in groups:
            touched = {name for other in group.values() for name in (*other['cells'], *other['fails'])}
            if not touched & {*answer['cells'], *answer['fails']}:
                group[label] = answer
                break
        else:
            groups.append({label: answer})
    return {f'wrong-{number}': group for number, group in enumerate(groups, start=1)}


def graded_tests(notebook):
    """The code cells that give points, by their grade id."""
    cells = sources.graded_cells(notebook).items()
    return {name: cell for name, cell in cells if cell.metadata.nbgrader.grade and cell.cell_type == 'code'}


def answered(notebook, changed):
    """A copy of `notebook` with other sources in some cells."""
    notebook = copy.deepcopy(notebook)
    for name, source in changed.items():
        sources.graded_cells(notebook)[name].source = source
    return notebook


class Class:
    """A class of students, and what nbgrader gives them for one assignment."""

    def __init__(self, folder, name, code):
        self.name, self.folder = name, course.make(folder, code, names=[name])
        self.solution, self.released = read(sources.path(name, code)), course.released(folder, name)

    def grade(self, handed_in):
        for student, notebook in handed_in.items():
            target = self.folder / 'submitted' / student / self.name / f'{self.name}.ipynb'
            target.parent.mkdir(parents=True)
            nbformat.write(notebook, target)
        if ENDLESS in handed_in:
            self.nbgrader('autograde', '--student', ENDLESS, f'--Execute.timeout={ENDLESS_SECONDS}')
        self.nbgrader('autograde')  # those that have not been graded yet
        self.nbgrader('generate_feedback')
        return self

    def nbgrader(self, command, *options):
        try:
            course.nbgrader(self.folder, command, self.name, *options, megabytes=MEGABYTES)
        except Failure as failure:
            pytest.fail(f'nbgrader {command}: {failure}\n{failure.output[-4000:]}')

    def lost(self, student):
        """The test cells that have given `student` less than all points."""
        with Gradebook(f'sqlite:///{self.folder / "gradebook.db"}', 'course') as gradebook:
            grades = gradebook.find_submission_notebook(self.name, self.name, student).grades
            return {g.name for g in grades if g.cell.cell_type == 'code' and (g.auto_score or 0) < g.max_score}

    def feedback(self, student):
        page = self.folder / 'feedback' / student / self.name / f'{self.name}.html'
        return ' '.join(re.sub(r'<[^>]+>', '', page.read_text(encoding='utf-8')).split())


def class_of(folder, name, code):
    """A class that hands in an assignment: solved, unanswered, without a test (put back), wrong, and endless."""
    group = Class(folder, name, code)
    answers = [cell.id for cell in sources.nbgrader_cells(group.solution) if cell.metadata.nbgrader.solution]
    shorter = copy.deepcopy(group.released)
    shorter.cells.remove(list(graded_tests(shorter).values())[0])
    wrong = {
        student: merged(answer['cells'] for answer in answers.values())
        for student, answers in combined(wrong_answers(name)).items()
    }
    return group.grade(
        {
            'solution': group.solution,
            'unanswered': group.released,
            'shorter': integrity.restored(group.released, shorter),
            ENDLESS: answered(group.solution, {answers[0]: LOOP, answers[1]: HOARD}),
            **{student: answered(group.solution, cells) for student, cells in wrong.items()},
        }
    )


@pytest.fixture(scope='module')
def classes(request, tmp_path_factory):
    """The classes that the chosen tests ask for, graded two at a time."""
    items = [item.callspec.params for item in request.session.items if hasattr(item, 'callspec')]
    wanted = sorted({params['group'] for params in items if 'group' in params})
    with ThreadPoolExecutor(2) as pool:
        return {pair: pool.submit(class_of, tmp_path_factory.mktemp('class') / 'course', *pair) for pair in wanted}


@pytest.fixture
def group(request, classes):
    return classes[request.param].result()


def merged(dictionaries):
    return {key: value for dictionary in dictionaries for key, value in dictionary.items()}


EVERY = [(name, code) for name in NAMES for code in sources.codes()]
IN_EVERY_LANGUAGE = pytest.mark.parametrize('group', EVERY, indirect=True, ids='-'.join)


@IN_EVERY_LANGUAGE
def test_the_solution_gets_full_marks(group):
    assert group.lost('solution') == set()


@IN_EVERY_LANGUAGE
def test_the_student_version_gets_nothing_and_runs_to_its_end(group):
    assert group.lost('unanswered') == group.lost('shorter') == set(graded_tests(group.released))
    graded = read(group.folder / 'autograded' / 'unanswered' / group.name / f'{group.name}.ipynb')
    assert all(cell.execution_count for cell in graded.cells if cell.cell_type == 'code')


@IN_EVERY_LANGUAGE
def test_wrong_answers_lose_what_is_wrong_and_are_told_why(group):
    answers = wrong_answers(group.name)
    assert len(answers) >= 5
    for student, theirs in combined(answers).items():
        assert group.lost(student) == {test for answer in theirs.values() for test in answer['fails']}, list(theirs)
        silent = [label for label, answer in theirs.items() if answer['says'] not in group.feedback(student)]
        assert not silent


@IN_EVERY_LANGUAGE
def test_an_endless_answer_is_stopped_and_the_others_are_graded(group):
    first, second, *others = graded_tests(group.solution)
    lost = group.lost(ENDLESS)
    assert {first, second} <= lost and len(lost) <= 3 and set(others) - lost
    assert 'MemoryError' in group.feedback(ENDLESS) and 'before timeout' in group.feedback(ENDLESS)


@pytest.mark.parametrize('name, code', TRANSLATIONS)
def test_languages_have_the_same_cells(name, code):
    english, translated = read(sources.path(name)), read(sources.path(name, code))
    assert not parity.compare(english, translated)
    assert set(carry.states(english, translated).values()) == {carry.TRANSLATED}
    assert [cell.metadata.get('nbgrader') for cell in english.cells] == [
        cell.metadata.get('nbgrader') for cell in translated.cells
    ]


@IN_EVERY_LANGUAGE
def test_nothing_of_a_solution_is_in_the_student_version(group):
    secret, visible = set(), {line.strip() for cell in group.released.cells for line in cell.source.splitlines()}
    for cell in group.solution.cells:
        for region in re.findall(r'### BEGIN (?:SOLUTION|HIDDEN TESTS|MARK SCHEME)\n(.*?)### END', cell.source, re.S):
            solution, _, starter = region.partition('### BEGIN STARTER')
            given = {line.strip('# ') for line in starter.splitlines()}
            secret.update({line.strip() for line in solution.splitlines()} - given)
        if cell.cell_type == 'markdown' and cell.metadata.get('nbgrader', {}).get('solution'):
            secret.update(cell.source.splitlines())
    assert len(secret) > 20 and not (secret & visible) - COMMON
    assert not [line for line in visible if line.startswith('### ')]


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('code', sources.codes())
def test_what_happened_to_test_cells_is_reported(name, code):
    notebook = read(sources.path(name, code))
    cell = list(graded_tests(notebook))[0]
    assert integrity.remarks(notebook, notebook) == []
    shorter, twice = copy.deepcopy(notebook), copy.deepcopy(notebook)
    shorter.cells.remove(sources.graded_cells(shorter)[cell])
    assert f'The test cell {cell} has been deleted' in integrity.remarks(notebook, shorter)[0]
    twice.cells.append(sources.graded_cells(twice)[cell])
    assert f'The cell {cell} is there 2 times' in integrity.remarks(notebook, twice)[0]
    assert 'has been changed' in integrity.remarks(notebook, answered(notebook, {cell: 'pass'}))[0]


@pytest.mark.parametrize('name', NAMES)
def test_whatever_must_be_there_is_put_back_where_it_was(name):
    notebook = read(sources.path(name))
    ids = [cell.metadata.nbgrader.grade_id for cell in sources.nbgrader_cells(notebook)]
    for cell in sources.nbgrader_cells(notebook):
        role, shorter = cell.metadata.nbgrader, copy.deepcopy(notebook)
        shorter.cells.remove(cell)
        whole = integrity.restored(notebook, shorter)
        answer = role.solution and not role.grade
        left = [other.metadata.nbgrader.grade_id for other in sources.nbgrader_cells(whole)]
        assert left == [name for name in ids if not answer or name != role.grade_id]
        assert 'deleted' in integrity.remarks(notebook, shorter)[0]


def test_a_starter_takes_the_place_of_a_solution():
    source = (
        'def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### BEGIN STARTER\n    # if True:\n    #     return 2\n'
    )
    assert with_starters(source + '    ### END SOLUTION\nf()') == 'def f():\n    if True:\n        return 2\nf()'
    plain = 'def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\nf()'
    assert with_starters(plain) == plain

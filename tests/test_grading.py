"""Grading a folder of submissions: what is found, what is stopped, what is reported, and the files of marks."""

import csv
import os
import subprocess
import sys
import time

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook

from book.notebooks import read
from grading import course, grade, limits, marks, sources, submissions

NAME = sources.names()[0]
TITLE = sources.title(NAME)


def hand_in(path, name=NAME, **changed):
    """Put the solution of an assignment into the file `path`, with other sources in some cells."""
    notebook = read(sources.path(name))
    for cell, source in changed.items():
        sources.graded_cells(notebook)[cell.replace('_', '-')].source = source
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


def table(path):
    with open(path, encoding='utf-8-sig', newline='') as file:
        return list(csv.reader(file))


def test_submissions_are_found_in_every_form(tmp_path):
    hand_in(tmp_path / 'an@example.org' / 'work' / 'renamed.ipynb')
    hand_in(tmp_path / 'an@example.org' / '.ipynb_checkpoints' / 'old.ipynb')
    hand_in(tmp_path / 'Trần Bình_4711_assignsubmission_file' / 'x.ipynb', sources.names()[1])
    hand_in(tmp_path / 'lechi_LATE_815_99_homework-1.ipynb')
    found = {(s.student, s.number, s.assignment) for s in submissions.find(tmp_path)}
    assert found == {
        ('an@example.org', '', NAME),
        ('Trần Bình', '4711', sources.names()[1]),
        ('lechi', '815', NAME),
    }


def test_students_of_one_name_are_told_apart(tmp_path):
    for number in (4711, 4712):
        hand_in(tmp_path / f'Trần Bình_{number}_assignsubmission_file' / 'x.ipynb')
    assert [s.number for s in submissions.find(tmp_path)] == ['4711', '4712']


def test_the_latest_of_two_notebooks_counts(tmp_path):
    for name, seconds in (('a', 2), ('b', 1)):
        hand_in(tmp_path / 'an' / f'{name}.ipynb')
        stamp = time.time() + seconds
        os.utime(tmp_path / 'an' / f'{name}.ipynb', (stamp, stamp))
    (found,) = submissions.find(tmp_path)
    assert found.path.name == 'a.ipynb'


def test_a_folder_without_notebooks_is_refused(tmp_path):
    with pytest.raises(submissions.SubmissionError, match='one folder for each student'):
        submissions.find(tmp_path)
    done = subprocess.run([sys.executable, '-m', 'grading.grade', tmp_path / 'no'], capture_output=True, text=True)
    assert done.returncode == 2 and 'there is no folder' in done.stderr


def test_a_run_ends_in_time_with_all_that_it_has_started():
    child = 'import subprocess, sys, time; subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60.25)"]); '
    with pytest.raises(limits.Failure, match='longer than 2 seconds'):
        limits.run([sys.executable, '-c', child + 'time.sleep(60)'], '.', seconds=2)
    assert not [p for p in psutil.process_iter(['cmdline']) if '60.25' in ' '.join(p.info['cmdline'] or [])]


@pytest.mark.skipif(sys.platform != 'linux', reason='memory is limited on Linux only')
def test_a_run_gets_no_more_memory_than_it_may():
    command = [sys.executable, '-c', 'b"x" * 2**29']
    assert limits.run(command, '.', megabytes=1000) == ''
    with pytest.raises(limits.Failure, match='error') as failure:
        limits.run(command, '.', megabytes=300)
    assert 'MemoryError' in failure.value.output


def test_a_warning_is_not_printed_where_it_would_cost_points():
    code = 'import warnings; warnings.warn("slow"); import torch; torch.tensor(torch.ones(2)); print(1)'
    assert limits.run([sys.executable, '-c', code], '.') == '1\n'


def test_marks_are_written_in_the_forms_of_canvas_and_moodle(tmp_path):
    def result(student, number, assignment, points, remarks=()):
        submission = submissions.Submission(student, number, tmp_path / 'x.ipynb', assignment)
        return grade.Result(submission, points, 18, 2, list(remarks))

    other = sources.names()[1]
    results = [
        result('an', '', NAME, 16.0, ['The cell x has been changed.']),
        result('an', '', other, 4.5),
        result('Bình', '4711', NAME, 0.0),
        result('chi', '', None, None),
    ]
    marks.write(results, tmp_path)
    assert table(tmp_path / 'canvas.csv') == [
        ['Student', 'ID', 'SIS User ID', 'SIS Login ID', 'Section', TITLE, sources.title(other)],
        ['    Points Possible', '', '', '', '', '18', '18'],
        ['an', '', '', 'an', '', '16', '4.5'],
        ['Bình', '4711', '', '', '', '0', ''],
    ]
    assert table(tmp_path / 'moodle.csv')[:2] == [
        [
            'Student',
            'ID number',
            TITLE,
            f'{TITLE} (feedback)',
            sources.title(other),
            f'{sources.title(other)} (feedback)',
        ],
        ['an', '', '16', 'The cell x has been changed.', '4.5', ''],
    ]
    assert [row[0] for row in table(tmp_path / 'marks.csv')[1:]] == ['an', 'an', 'Bình', 'chi']


def test_a_course_may_be_moved(tmp_path, monkeypatch):
    """Out of a container, for example, and away from the project."""
    with monkeypatch.context() as patched:
        patched.setattr(course, 'nbgrader', lambda *arguments: '')
        made = course.make(tmp_path / 'there', sources.codes()[0])
    config = made / 'nbgrader_config.py'
    assert str(sources.ROOT) in config.read_text(encoding='utf-8')
    config.write_text(config.read_text(encoding='utf-8').replace(str(sources.ROOT), '/nowhere'), encoding='utf-8')
    here = made.rename(tmp_path / 'here')
    course.nbgrader(here, 'db', 'assignment', 'add', 'one')
    assert (here / 'gradebook.db').is_file() and not made.exists()


@pytest.mark.timeout(600)
def test_one_submission_cannot_spoil_the_others(tmp_path):
    """A loop that ignores the interrupt, a damaged file, a stranger, and between them a good solution."""
    stubborn = (
        'while True:\n    try:\n        while True:\n            pass\n    except KeyboardInterrupt:\n        pass'
    )
    folder, out = tmp_path / 'in', tmp_path / 'out'
    hand_in(folder / 'bình' / 'work.ipynb', warm_up=stubborn)
    hand_in(folder / 'chi' / 'work.ipynb')
    (folder / 'dung').mkdir()
    (folder / 'dung' / 'work.ipynb').write_text('{')
    (folder / 'em').mkdir()
    nbformat.write(new_notebook(cells=[new_code_cell('1')]), folder / 'em' / 'work.ipynb')
    results = {r.submission.student: r for r in grade.grade(folder, out, cell_seconds=15, seconds=120)}
    assert results['chi'].points == 16 and results['chi'].by_hand == 2 and results['chi'].most == 18
    assert results['bình'].points is None and 'could not be interrupted' in results['bình'].remarks[-1]
    for student in ('dung', 'em'):
        assert results[student].points is None and 'no notebook of an assignment' in results[student].remarks[0]
    with Gradebook(f'sqlite:///{out / "course" / "gradebook.db"}', 'course') as gradebook:
        (answer,) = [
            g for g in gradebook.find_submission_notebook(NAME, NAME, 'student-2').grades if g.needs_manual_grade
        ]
        answer.manual_score, answer.needs_manual_grade = 1.25, False
        gradebook.db.commit()
    hand_in(folder / 'anh' / 'late.ipynb')
    assert [r.points for r in grade.marks_again(folder, out)] == [None, None, 17.25, None, None]
    assert 'Grading was stopped' in (out / 'marks.csv').read_text(encoding='utf-8')
    feedback = (out / 'feedback' / 'chi' / f'{NAME}.html').read_text(encoding='utf-8')
    assert TITLE in feedback and 'Score: 17.25 / 18.0' in feedback
    with pytest.raises(ValueError, match='not empty'):
        grade.grade(folder, out)
    assert table(out / 'canvas.csv')[2:] == [['chi', '', '', 'chi', '', '17.25']]

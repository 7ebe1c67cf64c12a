"""Grade a folder of submissions: `python -m grading.grade FOLDER`.

Grading executes the code of students, with limits on time and memory, but with your rights on this machine: the page
*Teaching This Course* and CONTRIBUTING.md say how to shut it in.
"""

import argparse
import json
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from book import notebooks

from . import course, integrity, marks, sources, submissions
from .limits import Failure

OUT = sources.ROOT / '_build' / 'grading'
NOTES = 'submissions.json'


@dataclass
class Result:
    """What grading has brought for one submission; `points` is None where there is nothing to grade."""

    submission: submissions.Submission
    points: float = None
    most: float = 0
    by_hand: float = 0
    remarks: list = field(default_factory=list)
    nbgrader_id: str = ''  # what nbgrader calls the student


def grade(folder, out, cell_seconds=120, seconds=600, megabytes=4096):
    """Grade the submissions in `folder` and write marks and feedback into `out`; gives a list of `Result`.

    A cell is interrupted after `cell_seconds`, a notebook after `seconds`, and no process may claim more than
    `megabytes` of memory. Whatever happens to one submission, the others are graded.

    Raises:
        ValueError: if `out` holds something already.
        submissions.SubmissionError: if there is nothing to grade.
        course.CourseError: if nbgrader refuses an assignment.
    """
    found = submissions.find(folder)
    out = Path(out).resolve()
    if out.exists() and any(out.iterdir()):
        raise ValueError(f'{out} is not empty: move it away, or choose another folder with --out.')
    place = course.make(out / 'course', sources.codes()[0], cell_seconds)
    results = []
    for number, submission in enumerate(found, start=1):
        result = _examined(place, submission)
        if submission.assignment:
            _autograde(place, f'student-{number}', result, seconds, megabytes)
        results.append(result)
        _note(place, results)
        print(marks.line(result), flush=True)
        for remark in result.remarks:
            print(f'    {remark}', flush=True)
    _write_feedback(place, out / 'feedback', results)
    marks.write(results, out)
    return results


def marks_again(folder, out):
    """Write marks and feedback of submissions that have been graded into `out` again, with the points given by hand."""
    place, results = Path(out).resolve() / 'course', []
    graded = {tuple(entry['key']): entry for entry in json.loads((place / NOTES).read_text(encoding='utf-8'))}
    for submission in submissions.find(folder):
        result = _examined(place, submission)
        entry = graded.get(_key(submission))
        if entry is None:
            result.remarks.append('It was not there when the others were graded.')
        elif submission.assignment:
            result.remarks, result.nbgrader_id = entry['remarks'], entry['nbgrader_id']
            result.points, result.by_hand = _score(place, result.nbgrader_id, submission.assignment)
        results.append(result)
        print(marks.line(result))
    _write_feedback(place, Path(out) / 'feedback', results)
    marks.write(results, Path(out))
    return results


def _key(submission):
    return submission.student, submission.number, submission.assignment


def _note(place, results):
    """Write down whom nbgrader calls what: more may have been handed in when the marks are written again."""
    entries = [
        {
            'key': _key(result.submission),
            'nbgrader_id': result.nbgrader_id,
            'remarks': result.remarks,
        }
        for result in results
    ]
    (place / NOTES).write_text(json.dumps(entries, ensure_ascii=False, indent=1), encoding='utf-8')


def _examined(place, submission):
    """What can be said of a submission without executing it."""
    result = Result(submission)
    name = submission.assignment
    if name is None:
        result.remarks.append(f'{submission.path.name} is no notebook of an assignment, or is damaged.')
        return result
    released = course.released(place, name)
    submitted = notebooks.read(submission.path)
    result.most = sum(cell.metadata.nbgrader.get('points', 0) for cell in sources.graded_cells(released).values())
    result.remarks += integrity.remarks(released, submitted)
    return result


def _autograde(place, student, result, seconds, megabytes):
    submission, name = result.submission, result.submission.assignment
    result.nbgrader_id = student
    target = place / 'submitted' / student / name / f'{name}.ipynb'
    target.parent.mkdir(parents=True)
    whole = integrity.restored(course.released(place, name), notebooks.read(submission.path))
    notebooks.write(whole, target)
    try:
        course.nbgrader(place, 'autograde', name, '--student', student, seconds=seconds, megabytes=megabytes)
    except Failure as failure:
        result.remarks.append(f'Grading was stopped: {_reason(failure)}.')
        _log(place, f'{submission.student} {name}', failure)
    result.points, result.by_hand = _score(place, student, name)


def _reason(failure):
    if 'CellTimeoutError' in failure.output:
        return 'a cell took too long and could not be interrupted'
    if 'DeadKernelError' in failure.output:
        return 'the kernel died, perhaps for lack of memory'
    return f'{failure}; what nbgrader said is in the folder logs' if failure.output else str(failure)


def _log(place, title, failure):
    """Keep what nbgrader said in the folder `logs`."""
    path = place.parent / 'logs' / f'{title}.txt'
    path.parent.mkdir(exist_ok=True)
    path.write_text(failure.output, encoding='utf-8')


def _score(place, student, name):
    """The points so far, None if nothing was graded, and at most how many a person still has to give."""
    with Gradebook(f'sqlite:///{place / "gradebook.db"}', 'course') as gradebook:
        try:
            notebook = gradebook.find_submission_notebook(name, name, student)
        except MissingEntry:
            return None, 0
        if all(grade.auto_score is None and grade.manual_score is None for grade in notebook.grades):
            return None, 0
        waiting = [grade for grade in notebook.grades if grade.needs_manual_grade]
        points = sum(grade.score for grade in notebook.grades if grade not in waiting)
        return points, sum(grade.max_score for grade in waiting)


def _write_feedback(place, folder, results):
    """Write each student's feedback to FOLDER/STUDENT/ASSIGNMENT.html, or STUDENT_NUMBER where there is a number."""
    for name in sorted({result.submission.assignment for result in results if result.points is not None}):
        try:
            course.nbgrader(place, 'generate_feedback', name, '--force')
        except Failure as failure:
            print(f'Not all feedback on {name} was written: {_reason(failure)}.')
            _log(place, f'feedback {name}', failure)
    for result in results:
        name = result.submission.assignment
        source = place / 'feedback' / result.nbgrader_id / f'{name}' / f'{name}.html'
        if result.nbgrader_id and source.is_file():
            student = '_'.join(filter(None, (result.submission.student, result.submission.number)))
            target = folder / student / f'{name}.html'
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog='python -m grading.grade', description=__doc__.splitlines()[0])
    parser.add_argument('folder', type=Path, help='what students have handed in: one folder each, or a download')
    parser.add_argument('--out', type=Path, default=OUT, help='empty folder for marks and feedback')
    parser.add_argument('--cell-seconds', type=int, default=120, help='time for a cell (default: %(default)s)')
    parser.add_argument('--seconds', type=int, default=600, help='time for a notebook (default: %(default)s)')
    parser.add_argument('--megabytes', type=int, default=4096, help='memory of a process (default: %(default)s)')
    again = 'grade nothing; write marks and feedback with what was given by hand since'
    parser.add_argument('--marks-again', action='store_true', help=again)
    given = parser.parse_args(arguments)
    if not given.folder.is_dir():
        parser.error(f'there is no folder {given.folder}.')
    if given.marks_again and not (given.out / 'course' / NOTES).is_file():
        parser.error(f'nothing has been graded into {given.out} yet.')
    try:
        if given.marks_again:
            marks_again(given.folder, given.out)
        else:
            grade(given.folder, given.out, given.cell_seconds, given.seconds, given.megabytes)
    except (course.CourseError, ValueError) as error:
        sys.exit(str(error))
    print(f'Marks and feedback are in {given.out}.')


if __name__ == '__main__':
    main()

"""The marks as CSV files: one for people, one each for the imports of Canvas and Moodle."""

import csv

from . import sources

CANVAS = ['Student', 'ID', 'SIS User ID', 'SIS Login ID', 'Section']


def line(result):
    """One line that says how a submission did."""
    name = result.submission.assignment or '?'
    if result.points is None:
        return f'{result.submission.student}: {name}: not graded'
    by_hand = f', {result.by_hand:g} to be given by hand' if result.by_hand else ''
    return f'{result.submission.student}: {name}: {result.points:g} of {result.most:g} points{by_hand}'


def write(results, folder):
    """Write `marks.csv`, `canvas.csv` and `moodle.csv` into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / 'marks.csv', _for_people(results))
    graded = [result for result in results if result.points is not None]
    _write(folder / 'canvas.csv', _for_canvas(graded))
    _write(folder / 'moodle.csv', _for_moodle(graded))


def _for_people(results):
    yield ['student', 'number', 'assignment', 'points of tests', 'points by hand (at most)', 'most', 'remarks']
    for result in results:
        points = '' if result.points is None else f'{result.points:g}'
        who = [result.submission.student, result.submission.number, result.submission.assignment or '']
        yield [*who, points, f'{result.by_hand:g}', f'{result.most:g}', ' '.join(result.remarks)]


def _for_canvas(results):
    """The form of the gradebook's export: who, a column an assignment, the points possible in the first row."""
    names = _assignments(results)
    most = {result.submission.assignment: f'{result.most:g}' for result in results}
    yield [*CANVAS, *(sources.title(name) for name in names)]
    yield ['    Points Possible', '', '', '', '', *(most[name] for name in names)]
    for (student, number), points in _by_student(results).items():
        login = '' if number else student
        yield [student, number, '', login, '', *(points.get(name, '') for name in names)]


def _for_moodle(results):
    """Whom to map from, and for each assignment the points and the remarks: Moodle wants both or none."""
    names = _assignments(results)
    said = {(r.submission.student, r.submission.number, r.submission.assignment): ' '.join(r.remarks) for r in results}
    titles = [(sources.title(name), f'{sources.title(name)} (feedback)') for name in names]
    yield ['Student', 'ID number', *(title for pair in titles for title in pair)]
    for (student, number), points in _by_student(results).items():
        pairs = [(points.get(name, ''), said.get((student, number, name), '')) for name in names]
        yield [student, number, *(value for pair in pairs for value in pair)]


def _assignments(results):
    present = {result.submission.assignment for result in results}
    return [name for name in sources.names() if name in present]


def _by_student(results):
    table = {}
    for result in results:
        key = result.submission.student, result.submission.number
        table.setdefault(key, {})[result.submission.assignment] = f'{result.points:g}'
    return table


def _write(path, rows):
    # With a mark of UTF-8, so that spreadsheets read names with diacritics.
    with open(path, 'w', encoding='utf-8-sig', newline='') as file:
        csv.writer(file).writerows(rows)

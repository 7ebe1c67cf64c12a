"""Find what students have handed in, in the forms in which it is downloaded.

* one folder a student, named after them, with the notebooks somewhere inside;
* Moodle: a folder `Full Name_12345_assignsubmission_file` a student;
* Canvas: files `name_12345_67890_notebook.ipynb`, all in one folder.

Which assignment a notebook belongs to is told by its cells, so that students may rename it.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from book import notebooks

from . import sources

MOODLE = re.compile(r'(?P<name>.+?)_(?P<number>\d+)_assignsubmission')
CANVAS = re.compile(r'(?P<name>[^_]+)_(?:LATE_)?(?P<number>\d+)_\d+_.+')


class SubmissionError(ValueError):
    """The folder has nothing to grade; the message says what is expected."""


@dataclass(frozen=True)
class Submission:
    """A notebook that a student has handed in.

    `student` is what the folder or file is called after: a login, an address, a name. `number` is what Canvas or Moodle
    call the student by, or ''; it tells students of one name apart. `assignment` is None where the notebook could not
    be read or belongs to none.
    """

    student: str
    number: str
    path: Path
    assignment: str


def find(folder):
    """All submissions in `folder`, by student and assignment. Of two for one assignment, the latest file counts.

    Raises:
        SubmissionError: if there is no notebook in it.
    """
    folder = Path(folder)
    known = {name: set(sources.graded_cells(notebooks.read(sources.path(name)))) for name in sources.names()}
    found = {}
    for path in sorted(folder.rglob('*.ipynb'), key=lambda path: (path.stat().st_mtime, path)):
        inside = path.relative_to(folder)
        if '.ipynb_checkpoints' in inside.parts:
            continue
        in_folder = len(inside.parts) > 1
        match = MOODLE.match(inside.parts[0]) if in_folder else CANVAS.match(inside.stem)
        student = match['name'] if match else inside.parts[0] if in_folder else inside.stem
        assignment = _assignment(path, known)
        number = match['number'] if match else ''
        found[student, number, assignment or path] = Submission(student, number, path, assignment)
    if not found:
        raise SubmissionError(f'There is no notebook in {folder}: give a folder that has one folder for each student.')
    return [found[key] for key in sorted(found, key=str)]


def _assignment(path, known):
    """The name of the assignment that most of the notebook's graded cells belong to, or None."""
    try:
        cells = set(sources.graded_cells(notebooks.read(path)))
    except notebooks.NotebookError:
        return None
    best = max(known, key=lambda name: len(known[name] & cells))
    return best if known[best] & cells else None

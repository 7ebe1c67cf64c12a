"""What a student has done to the cells that must stay as they are, and putting back those that are gone."""

import copy
from collections import Counter

from . import sources


def remarks(released, submitted):
    """Sentences on test cells and answer cells of `submitted` that are missing, there twice, or changed."""
    ours, theirs = sources.graded_cells(released), sources.graded_cells(submitted)
    copies = Counter(cell.metadata.nbgrader.grade_id for cell in sources.nbgrader_cells(submitted))
    found = []
    for name, cell in ours.items():
        role = cell.metadata.nbgrader
        if name not in theirs:
            if role.grade and role.solution:
                found.append(f'The written answer {name} has been deleted.')
            elif role.grade:
                found.append(f'The test cell {name} has been deleted; it was put back, and its points count.')
            elif role.solution:
                found.append(f'The answer cell {name} has been deleted or has lost its mark.')
            elif role.locked:
                found.append(f'The cell {name} has been deleted; it was put back.')
        elif copies[name] > 1:
            found.append(f'The cell {name} is there {copies[name]} times; the last one counts.')
        if name in theirs and role.locked and theirs[name].source.strip() != cell.source.strip():
            found.append(f'The cell {name} has been changed; the original was used.')
    return found


def restored(released, submitted):
    """A copy of `submitted` with the locked and the graded cells of `released` that are not there, in their places."""
    notebook = copy.deepcopy(submitted)
    theirs, place = sources.graded_cells(notebook), 0
    for cell in sources.nbgrader_cells(released):
        role = cell.metadata.nbgrader
        if role.grade_id in theirs:
            place = notebook.cells.index(theirs[role.grade_id]) + 1
        elif role.locked or role.grade:
            notebook.cells.insert(place, copy.deepcopy(cell))
            place += 1
    return notebook

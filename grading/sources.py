"""The assignments as they are stored: instructor versions with solutions and hidden tests, one notebook a language."""

from book.languages import ROOT, SOURCE, languages
from book.notebooks import read

ASSIGNMENTS = ROOT / 'assignments'


def names():
    """The names of all assignments, in order."""
    return sorted(path.stem for path in (ASSIGNMENTS / SOURCE).glob('*.ipynb'))


def codes():
    """The codes of the languages that have assignments, the source first."""
    return [language.code for language in languages() if (ASSIGNMENTS / language.code).is_dir()]


def path(name, code=SOURCE):
    """Where the notebook of an assignment is stored."""
    return ASSIGNMENTS / code / f'{name}.ipynb'


def title(name, code=SOURCE):
    """The title of an assignment, from its first heading."""
    return read(path(name, code)).cells[0].source.splitlines()[0].lstrip('# ')


def graded_cells(notebook):
    """The cells that nbgrader knows, by their grade id; of a repeated id, the last cell."""
    return {cell.metadata.nbgrader.grade_id: cell for cell in nbgrader_cells(notebook)}


def nbgrader_cells(notebook):
    """The cells of `notebook` with the metadata of nbgrader, in order."""
    return [cell for cell in notebook.cells if cell.metadata.get('nbgrader', {}).get('grade_id')]

"""A folder in which nbgrader works: its configuration, the sources of the assignments, its database."""

import shutil
import sys

from book.notebooks import read

from . import sources
from .limits import Failure, run

CONFIG = """\
import sys
from pathlib import Path

folder, project = Path(__file__).resolve().parent, Path({project!r})
c = get_config()
c.CourseDirectory.course_id = 'course'
c.CourseDirectory.root = str(folder)
c.Exchange.root = str(folder / 'exchange')
c.Execute.timeout = {seconds}
# Seconds that an interrupted cell has to end: it may have processes of its own to end first.
c.Execute.iopub_timeout = 20
# Only student versions need the project, which is elsewhere when a course comes out of a container.
if project.is_dir():
    sys.path.insert(0, str(project))
    from nbgrader.converters import GenerateAssignment
    from nbgrader.preprocessors import ClearSolutions

    from grading.starter import ClearSolutionsToStarters

    # nbgrader's own steps, with starters in place of some solutions.
    c.GenerateAssignment.preprocessors = [
        ClearSolutionsToStarters if step is ClearSolutions else step
        for step in GenerateAssignment.preprocessors.default_args[0]
    ]
"""


class CourseError(RuntimeError):
    """nbgrader could not do its work; the message holds what it said."""


def make(folder, code, cell_seconds=120, names=None):
    """Set up a course in `folder` with assignments in the language `code`, and make their student versions.

    `names` are those of the assignments, by default all. After `cell_seconds`, a cell is interrupted.

    Raises:
        CourseError: if nbgrader refuses a source.
    """
    shutil.rmtree(folder, ignore_errors=True)
    names = names or sources.names()
    for name in names:
        target = folder / 'source' / name
        target.mkdir(parents=True)
        shutil.copy2(sources.path(name, code), target)
    config = CONFIG.format(project=str(sources.ROOT), seconds=cell_seconds)
    (folder / 'nbgrader_config.py').write_text(config, encoding='utf-8')
    for name in names:
        try:
            nbgrader(folder, 'generate_assignment', name)
        except Failure as failure:
            raise CourseError(f'{name} ({code}) cannot be released.\n{failure.output[-3000:]}') from None
    return folder


def released(folder, name):
    """The student version of an assignment in a course."""
    return read(folder / 'release' / name / f'{name}.ipynb')


def nbgrader(folder, *arguments, **limits):
    """Run an nbgrader command in a course; gives what it said. Raises `limits.Failure`."""
    return run([sys.executable, '-m', 'nbgrader', *arguments], folder, **limits)

"""Make the student versions of all assignments, in every language: `python -m grading.release`.

For each language and assignment there is a folder with the notebook, ready to be handed out, and the same as a ZIP file
for a learning management system, together with the helper module.
"""

import argparse
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from book import helper

from . import course, sources

OUT = sources.ROOT / '_build' / 'assignments'


def release(out):
    """Write the student versions into `out`/LANGUAGE/NAME.ipynb and .zip; gives the paths of the ZIP files."""
    out, archives = Path(out), []
    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        wheel = helper.build_wheel(Path(work))
        for code in sources.codes():
            (out / code).mkdir(parents=True)
            folder = course.make(Path(work) / code, code)
            for name in sources.names():
                notebook = out / code / f'{name}.ipynb'
                shutil.copyfile(folder / 'release' / name / notebook.name, notebook)
                archive = notebook.with_suffix('.zip')
                with zipfile.ZipFile(archive, 'w', zipfile.ZIP_DEFLATED) as file:
                    file.write(notebook, notebook.name)
                    file.write(wheel, wheel.name)
                archives.append(archive)
    return archives


def main(arguments=None):
    parser = argparse.ArgumentParser(prog='python -m grading.release', description=__doc__.splitlines()[0])
    parser.add_argument('--out', type=Path, default=OUT, help='folder for what students get')
    given = parser.parse_args(arguments)
    try:
        for archive in release(given.out):
            print(archive)
    except (course.CourseError, helper.HelperError) as error:
        sys.exit(str(error))


if __name__ == '__main__':
    main()

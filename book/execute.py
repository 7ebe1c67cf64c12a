"""Execute the English notebooks, store their outputs, and carry code and outputs over to every language.

`make execute` runs this over all pages; `python -m book.execute multiple-gpus` over the pages that are named.
"""

import argparse
import sys
import tempfile

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from . import carry, languages, notebooks


def main(arguments=None):
    parser = argparse.ArgumentParser(prog='python -m book.execute', description=__doc__.splitlines()[0])
    parser.add_argument('pages', nargs='*', help='names as in _toc.yml, without folder; all by default')
    wanted = parser.parse_args(arguments).pages
    unknown = sorted(set(wanted) - set(languages.pages()))
    if unknown:
        parser.error(f'no such page: {", ".join(unknown)}; there are {", ".join(languages.pages())}')
    for page in wanted or languages.pages():
        source = languages.source().folder / f'{page}.ipynb'
        notebook = notebooks.read(source)
        print(f'executing {page}', flush=True)
        try:
            execute(notebook)
        except CellExecutionError as error:
            sys.exit(f'{source}: a cell failed, so nothing was stored.\n{error}')
        notebooks.write(notebook, source)
        for language in languages.translations():
            for message in carry.sync(language, [page]):
                print(message)


def execute(notebook):
    """Run all cells of `notebook` in an empty folder and store their outputs in it."""
    with tempfile.TemporaryDirectory() as folder:
        resources = {'metadata': {'path': folder}}
        NotebookClient(notebook, timeout=3600, resources=resources, record_timing=False).execute()
    for cell in notebook.cells:
        if cell.cell_type == 'code':
            cell.outputs = merge_streams(cell.outputs)
    notebook.metadata.language_info = {'name': 'python'}


def merge_streams(outputs):
    """Join neighbouring pieces of one stream: how printed text is cut into pieces depends on timing."""
    merged = []
    for output in outputs:
        last = merged[-1] if merged else None
        if last and output.output_type == last.output_type == 'stream' and output.name == last.name:
            last.text += output.text
        else:
            merged.append(output)
    return merged


if __name__ == '__main__':
    main()

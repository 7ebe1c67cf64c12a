"""What the plots among the outputs show, in words: alternative text from `chapters/<language>/plots.yml`.

The file names the code cells that draw, page by page. A test asks that none is missing.
"""

import yaml

from . import languages


def described(notebook, page, language):
    """Give each code cell of `notebook` the alternative text of its plot, in English where `language` has none."""
    texts = {**read(languages.source()).get(page, {}), **read(language).get(page, {})}
    for cell in notebook.cells:
        if cell.cell_type == 'code' and cell.id in texts:
            # The key that MyST-NB reads options for the images of a cell from.
            cell.metadata['mystnb'] = {'image': {'alt': ' '.join(texts[cell.id].split())}}
    return notebook


def read(language):
    """The texts of a language: a dictionary from pages to dictionaries from cell ids to texts."""
    path = language.folder / 'plots.yml'
    return yaml.safe_load(path.read_text(encoding='utf-8')) or {} if path.is_file() else {}

"""Every plot on a page is described in words, in each language."""

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from book import carry, plots
from book.languages import Language, finished, pages, source


def drawing_cells(notebook):
    """The ids of the code cells with a picture among their outputs."""
    return [
        cell.id
        for cell in notebook.cells
        if cell.cell_type == 'code'
        and any(kind.startswith('image/') for output in cell.outputs for kind in output.get('data', {}))
    ]


@pytest.mark.parametrize('language', finished(), ids=lambda language: language.code)
def test_every_plot_and_nothing_else_is_described(language):
    drawn = {page: drawing_cells(carry.english_of(page)) for page in pages()}
    described = {page: list(texts) for page, texts in plots.read(language).items()}
    assert described == {page: cells for page, cells in drawn.items() if cells}
    assert all(len(text) > 40 for texts in plots.read(language).values() for text in texts.values())


def test_a_language_without_a_description_has_the_english_one():
    (page, texts), *_ = plots.read(source()).items()
    name, text = next(iter(texts.items()))
    cell = new_code_cell(id=name)
    plots.described(new_notebook(cells=[cell]), page, Language('fr', {}))
    assert cell.metadata['mystnb']['image']['alt'] == ' '.join(text.split())

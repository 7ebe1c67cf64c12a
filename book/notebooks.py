"""Notebooks as this project stores them: nbformat 4.5, stable cell ids, one canonical text."""

import hashlib

import nbformat

# In the metadata of a text cell, the hash of the English text that the cell is a translation of, or still holds.
TRANSLATED_FROM = 'translated_from'
UNTRANSLATED = 'untranslated'


class NotebookError(ValueError):
    """A file is no notebook that this project can use; the message names it and says what to do."""


def read(path):
    """The notebook at `path`, as nbformat 4.5; raises `NotebookError`."""
    try:
        notebook = nbformat.read(path, as_version=4)
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, UnicodeDecodeError) as error:
        raise NotebookError(f'{path} is not a notebook: {str(error)[:300]}\nRestore an earlier version.') from None
    if notebook.nbformat_minor < 5:
        raise NotebookError(
            f'{path} was saved in format 4.{notebook.nbformat_minor}, without the cell ids that tie a translation to '
            'the English text. Restore an earlier version and edit it with JupyterLab.'
        )
    return notebook


def write(notebook, path):
    """Write `notebook` to `path` in canonical form: the same notebook always gives the same bytes."""
    path.write_text(text(notebook), encoding='utf-8')


def text(notebook):
    """The canonical text of `notebook`."""
    nbformat.validate(notebook)
    return nbformat.writes(notebook, version=4).rstrip('\n') + '\n'


def source_hash(cell):
    """Twelve hexadecimal digits that change when the cell's text changes."""
    return hashlib.sha256(cell.source.strip().encode('utf-8')).hexdigest()[:12]

"""Notebooks as this project stores them: nbformat 4.5, stable cell ids, one canonical text."""

import hashlib

import nbformat

# The key in a translated cell's metadata that holds the hash of the English cell it was made from.
TRANSLATED_FROM = 'translated_from'


def read(path):
    """The notebook at `path`, as nbformat 4."""
    return nbformat.read(path, as_version=4)


def write(notebook, path):
    """Write `notebook` to `path` in canonical form: the same notebook always gives the same bytes."""
    nbformat.validate(notebook)
    text = nbformat.writes(notebook, version=4)
    path.write_text(text.rstrip('\n') + '\n', encoding='utf-8')


def source_hash(cell):
    """Twelve hexadecimal digits that change when the cell's text changes."""
    return hashlib.sha256(cell.source.strip().encode('utf-8')).hexdigest()[:12]

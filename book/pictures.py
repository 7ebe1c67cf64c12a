"""Pictures in a form that every place shows where notebooks run.

Colab shows neither SVG nor pictures attached to a cell, and VS Code no SVG in a Markdown image. A PNG in a data URI is
what Colab itself writes, and all of them show it.
"""

import base64
import io
from pathlib import Path

import resvg_py
from font_roboto import Roboto, RobotoBold
from PIL import Image

WIDTH = 900  # pixels: sharp on most screens
COLOURS = 64  # drawings have a dozen; the others are for smooth edges
TYPES = {'.png': 'image/png', '.jpg': 'image/jpeg', '.jpeg': 'image/jpeg', '.gif': 'image/gif', '.webp': 'image/webp'}


def data_uri(path):
    """The picture in the file `path` as a data URI.

    Raises:
        ValueError: if there is no such file, or it is no picture of a known type.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f'there is no picture {path}.')
    if path.suffix == '.svg':
        return _uri('image/png', png(path))
    if path.suffix not in TYPES:
        raise ValueError(f'{path} is of no type that notebooks show: use .svg, {", ".join(TYPES)}.')
    return _uri(TYPES[path.suffix], path.read_bytes())


def png(path):
    """The SVG file `path` as a PNG of `WIDTH` pixels; letters come from Roboto, or the system where it lacks them."""
    drawn = resvg_py.svg_to_bytes(
        svg_path=str(path),
        width=WIDTH,
        background='#ffffff',
        font_files=[Roboto, RobotoBold],
        sans_serif_family='Roboto',
    )
    image = Image.open(io.BytesIO(bytes(drawn))).convert('RGB').quantize(COLOURS, dither=Image.Dither.NONE)
    file = io.BytesIO()
    image.save(file, 'PNG', optimize=True)
    return file.getvalue()


def _uri(type_, content):
    return f'data:{type_};base64,{base64.b64encode(content).decode("ascii")}'

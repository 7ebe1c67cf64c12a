"""The picture that social media show beside a link to the book: its title and description on a card.

Such a picture needs a full address, so pages name it only where the address of the site is known.
"""

from pathlib import Path

from font_roboto import Roboto, RobotoBold
from PIL import Image, ImageDraw, ImageFont

from .interface import book_language

NAME = 'preview.png'
SIZE = (1200, 630)  # pixels, what the large platforms ask for
MARGIN = 90
GROUND, INK, MUTED = '#14213d', '#ffffff', '#c7d3ea'
DEVICES = ('#60a5fa', '#fbbf77')


def setup(app):
    app.connect('build-finished', _write)


def _write(app, error):
    if not error and app.builder.format == 'html' and app.config.html_baseurl:
        settings = book_language(app.config).settings
        card(settings['title'], settings['description']).save(Path(app.outdir) / '_static' / NAME, optimize=True)


def card(title, description):
    """The card as an image: two devices that work together, the title and the description."""
    image = Image.new('RGB', SIZE, GROUND)
    draw = ImageDraw.Draw(image)
    draw.line((200, 150, 280, 150), INK, 10)
    for x, colour in zip((MARGIN, 260), DEVICES):
        draw.rounded_rectangle((x, 90, x + 130, 210), 24, colour)
    y = 265
    for text, font, colour, room in (
        (title, ImageFont.truetype(RobotoBold, 72), INK, 2),
        (description, ImageFont.truetype(Roboto, 34), MUTED, 3),
    ):
        for line in wrapped(text, font, SIZE[0] - 2 * MARGIN)[:room]:
            draw.text((MARGIN, y), line, colour, font)
            y += 1.3 * font.size
        y += 20
    return image


def wrapped(text, font, width):
    """The words of `text` in lines that are at most `width` pixels wide in `font`."""
    lines = ['']
    for word in text.split():
        longer = f'{lines[-1]} {word}'.strip()
        if lines[-1] and font.getlength(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines

"""The site's first page, which leads a reader to the book in the language of their browser."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader

TEMPLATES = Path(__file__).parent / 'theme' / 'templates'


def start_page(languages, pdfs=()):
    """The HTML of the start page, with a link to each language's book and, if `pdfs` has their addresses, its PDF."""
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True)
    return environment.get_template('start.html').render(
        languages=languages, pdfs=dict(zip((language.code for language in languages), pdfs))
    )

"""The site's first page, which leads a reader to the book in the language of their browser."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader

TEMPLATES = Path(__file__).parent / 'theme' / 'templates'


def start_page(languages):
    """The HTML of the start page; every language's link works without JavaScript."""
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True)
    return environment.get_template('start.html').render(languages=languages)

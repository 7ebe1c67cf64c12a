"""The concept figures: what the script draws is what is committed, and it can be read."""

import re
from xml.etree import ElementTree

import pytest

from book import figures
from book.languages import languages

SVG = '{http://www.w3.org/2000/svg}'
LANGUAGES = {language.code: language for language in languages()}
CASES = [(code, name) for code in LANGUAGES for name in figures.FIGURES]


class Recorder(dict):
    """Labels that remember which of them were read."""

    def __init__(self, labels):
        super().__init__(labels)
        self.read = set()

    def __getitem__(self, key):
        self.read.add(key)
        return super().__getitem__(key)


def committed(code, name):
    return LANGUAGES[code].folder / 'img' / f'{name}.svg'


def luminance(color):
    digits = color[1:] if len(color) == 7 else ''.join(2 * digit for digit in color[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def rectangles(root):
    """Every rectangle as (left, top, right, bottom, fill), in the order they are painted."""
    for rect in root.iter(f'{SVG}rect'):
        x, y, width, height = (float(rect.get(key, 0)) for key in ('x', 'y', 'width', 'height'))
        yield x, y, x + width, y + height, rect.get('fill')


@pytest.mark.parametrize('code, name', CASES)
def test_committed_figure_is_what_the_script_draws(code, name):
    expected = figures.draw(LANGUAGES[code])[name]
    assert committed(code, name).read_bytes() == expected.encode('utf-8'), 'run `python -m book.figures`'


@pytest.mark.parametrize('code, name', CASES)
def test_every_label_is_used(code, name):
    labels = Recorder(figures.labels_of(LANGUAGES[code])[name])
    figures.FIGURES[name](labels)
    assert labels.read == set(labels)


def test_all_languages_have_the_same_labels():
    keys = [{name: set(words) for name, words in figures.labels_of(one).items()} for one in LANGUAGES.values()]
    assert all(other == keys[0] for other in keys)


@pytest.mark.parametrize('code, name', CASES)
def test_text_stays_inside_its_box_and_can_be_read(code, name):
    root = ElementTree.fromstring(committed(code, name).read_bytes())
    assert root.find(f'{SVG}title').text
    size = float(root.get('font-size'))
    assert size * 700 / max(700, float(root.get('width'))) >= 12
    texts = list(root.iter(f'{SVG}text'))
    assert texts
    for text in texts:
        x, y = float(text.get('x')), float(text.get('y')) - 0.35 * size
        around = [box for box in rectangles(root) if box[0] <= x <= box[2] and box[1] <= y <= box[3]]
        left, top, right, bottom, fill = around[-1]
        half = figures.text_width(text.text, size) / 2
        assert left <= x - half and x + half <= right, text.text
        assert top <= y - size / 2 and y + size / 2 <= bottom, text.text
        assert contrast(text.get('fill'), fill) >= 4.5, text.text


@pytest.mark.parametrize('code, name', CASES)
def test_lines_of_text_do_not_overlap(code, name):
    root = ElementTree.fromstring(committed(code, name).read_bytes())
    size = float(root.get('font-size'))
    spans = []
    for text in root.iter(f'{SVG}text'):
        x, y, half = float(text.get('x')), float(text.get('y')), figures.text_width(text.text, size) / 2
        for other, left, right, baseline in spans:
            apart = x + half < left or right < x - half or abs(y - baseline) >= size
            assert apart, f'{text.text!r} overlaps {other!r}'
        spans.append((text.text, x - half, x + half, y))


@pytest.mark.parametrize('code, name', CASES)
def test_figure_needs_nothing_from_outside(code, name):
    svg = committed(code, name).read_text(encoding='utf-8')
    assert 'href' not in svg and 'url(http' not in svg
    assert set(re.findall(r'url\(#(\w+)\)', svg)) <= set(re.findall(r' id="(\w+)"', svg))


def test_a_label_that_is_too_long_is_an_error():
    labels = dict(figures.labels_of(LANGUAGES['en'])['residual-block'], relu='a label as long as a sentence')
    with pytest.raises(figures.LabelError, match='needs about .* pixels and has'):
        figures.residual_block(labels)


def test_no_picture_without_a_script():
    for language in LANGUAGES.values():
        assert {path.stem for path in (language.folder / 'img').glob('*.svg')} == set(figures.FIGURES)

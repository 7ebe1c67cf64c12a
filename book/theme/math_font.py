"""Make `static/math.woff2`: the part of a maths font that a page needs.

`python -m book.theme.math_font STIXMath-Regular.otf` (Debian package `fonts-stix`, version 1.1.1) gives
the file in the repository. The font's licence, beside it, asks that a changed font has another name.
"""

import sys
from pathlib import Path

from fontTools import subset

TARGET = Path(__file__).parent / 'static' / 'math.woff2'
NAME = 'Book Math'
# First and last code points of letters, digits, accents, arrows, operators and the maths alphabets
# (bold, italic, script, double-struck); glyphs that grow with their content come with them.
RANGES = """
0020-007E 00A0-00A0 00AC-00AC 00B0-00B1 00B7-00B7 00D7-00D7 00F7-00F7 0300-0308 030C-030C 0338-0338
0391-03A9 03B1-03D1 03D5-03D5 03F5-03F5 2010-2016 2018-201D 2020-2022 2026-2026 2032-2034 2061-2064
20D7-20D7 2102-2102 210B-2113 2115-2115 2119-211D 2124-2124 2128-2128 212C-2131 2133-2134 2190-2199
21A6-21A6 21D0-21D4 2200-220B 220F-2213 2216-222B 2234-2235 223C-223C 2243-2248 2254-2254 2260-2261
2264-2265 226A-226B 227A-227B 2282-2287 2295-2299 22A4-22A5 22C5-22C5 22EE-22F1 2308-230B 23B4-23B5
23DC-23DF 25A1-25A1 27E8-27E9 27F5-27FA 2A7D-2A7E 1D400-1D4CF 1D538-1D56B 1D6A4-1D755 1D7CE-1D7D7
"""


def cut(source, target=TARGET):
    """Write the part of the font at `source` to `target`."""
    options = subset.Options(
        flavor='woff2', layout_features=['ssty', 'dtls', 'flac', 'kern'], hinting=False, desubroutinize=True
    )
    font = subset.load_font(source, options)
    cutter = subset.Subsetter(options)
    bounds = [[int(bound, 16) for bound in pair.split('-')] for pair in RANGES.split()]
    cutter.populate(unicodes=[point for first, last in bounds for point in range(first, last + 1)])
    cutter.subset(font)
    for record in list(font['name'].names):
        if record.nameID in (1, 3, 4, 6, 16):
            record.string = NAME.replace(' ', '') if record.nameID == 6 else NAME
    font['CFF '].cff.fontNames = [NAME.replace(' ', '')]
    top = font['CFF '].cff.topDictIndex[0]
    top.FullName = top.FamilyName = NAME
    subset.save_font(font, target, options)


if __name__ == '__main__':
    cut(sys.argv[1])

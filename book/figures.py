"""Draw the concept figures of every language as SVG: `python -m book.figures`.

The words come from `chapters/<language>/figures.yml`, the pictures go to `chapters/<language>/img/`.
The same words always give the same bytes.
"""

from xml.sax.saxutils import escape

import yaml

from .languages import languages

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Noto Sans', sans-serif"
SIZE = 17  # pixels, in figures about 600 wide
LINE = 21  # from one line of text to the next
INK, GREY, PALE = '#1b1b1b', '#565656', '#f1f1f1'
# A device's box, the paler field it lies in, and its outline: blue and orange, told apart by the colour-blind.
DEVICES = (('#cfe3f7', '#eef5fc', '#1f5c99'), ('#fbdcbc', '#fef4ea', '#9a4a00'))


class LabelError(ValueError):
    """A label is wider than its place; the message says which one, and how wide it may be."""


def text_width(text, size=SIZE):
    """A generous estimate of the width of `text` in pixels: fonts of the system differ."""

    def em(character):
        if character in "iíìỉĩịjlI.,:;'|! ₀₁₂":
            return 0.36
        if character in 'ftr-()':
            return 0.45
        if character in 'mwMW←':
            return 0.98
        return 0.72 if character.isupper() else 0.62

    return size * sum(em(character) for character in text)


class Drawing:
    """A picture of `width` by `height` pixels on a white rounded ground, from boxes, texts and arrows."""

    def __init__(self, width, height, title):
        self.width, self.height, self.title = width, height, title
        self._parts = []

    def box(self, x, y, width, height, text='', fill=PALE, stroke=GREY, radius=7, dashed=False, bold=False):
        """A rounded box around one or more lines of centred text."""
        dash = ' stroke-dasharray="5 4"' if dashed else ''
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}" '
            f'fill="{fill}" stroke="{stroke}" stroke-width="1.5"{dash}/>'
        )
        if text:
            self.text(x + width / 2, y + height / 2, text, width - 8, bold=bold)

    def text(self, x, y, text, width, color=INK, bold=False):
        """Lines of text around the point (x, y), none of them wider than `width`."""
        lines = text.split('\n')
        for i, line in enumerate(lines):
            needed = text_width(line) * (1.08 if bold else 1)
            if needed > width:
                raise LabelError(f'{line!r} needs about {needed:.0f} pixels and has {width:g}: shorten or break it.')
            baseline = y + 0.35 * SIZE + (i - (len(lines) - 1) / 2) * LINE
            weight = ' font-weight="600"' if bold else ''
            self._parts.append(f'<text x="{x:g}" y="{baseline:.4g}" fill="{color}"{weight}>{escape(line)}</text>')

    def arrow(self, *points, color=INK, both=False, head=True, dashed=False):
        """A line through `points`, with an arrowhead at its end, or at both ends."""
        path = 'M' + ' L'.join(f'{x:g} {y:g}' for x, y in points)
        name = 'arrow' + color[1:]
        ends = f' marker-end="url(#{name})"' if head else ''
        ends += f' marker-start="url(#{name})"' if both else ''
        dash = ' stroke-dasharray="5 4"' if dashed else ''
        self._parts.append(f'<path d="{path}" fill="none" stroke="{color}" stroke-width="2"{dash}{ends}/>')

    def circle(self, x, y, radius, text):
        """A circle around a sign."""
        self._parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="#fff" stroke="{INK}" stroke-width="2"/>'
        )
        self.text(x, y, text, 2 * radius, bold=True)

    def svg(self):
        """The picture as the text of an SVG file."""
        markers = ''.join(
            f'<marker id="arrow{color[1:]}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="4.5" '
            f'markerHeight="4.5" orient="auto-start-reverse"><path d="M0 0 L10 5 L0 10 Z" fill="{color}"/></marker>'
            for color in (INK, *(stroke for _, _, stroke in DEVICES))
        )
        body = '\n'.join(self._parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" role="img" font-family="{FONT}" font-size="{SIZE}" '
            f'text-anchor="middle">\n<title>{escape(self.title)}</title>\n<defs>{markers}</defs>\n'
            f'<rect width="{self.width}" height="{self.height}" rx="12" fill="#fff"/>\n{body}\n</svg>\n'
        )


def splitting(labels):
    """The three ways to split a network of four layers over two devices, side by side."""
    drawing = Drawing(606, 400, labels['title'])
    device_width, gap, between = 62, 28, 34
    data, field, first, pitch, height = 48, 100, 134, 46, 34  # upper edges, and the rows of layers
    bottom = first + 3 * pitch + height + 8
    drawing.text(36, data + 14, labels['data'], 66)
    for layer in range(4):
        drawing.text(36, first + layer * pitch + height / 2, labels['layer'].format(layer + 1), 66)
    parts = {'within': (labels['all'], labels['all']), 'by_layer': (labels['all'], ''), 'by_data': ('½', '½')}
    for panel, (name, inputs) in enumerate(parts.items()):
        left = 74 + panel * (2 * device_width + gap + between)
        right = left + device_width + gap
        middle = left + device_width + gap / 2
        drawing.text(middle, 24, labels[name], 160, bold=True)
        for device, x in enumerate((left, right)):
            fill, pale, stroke = DEVICES[device]
            drawing.box(x, field, device_width, bottom - field, fill=pale, stroke=stroke)
            drawing.text(x + device_width / 2, field + 17, f'GPU {device + 1}', device_width, color=stroke, bold=True)
            if inputs[device]:
                drawing.box(x, data, device_width, 28, inputs[device], dashed=True)
                drawing.arrow((x + device_width / 2, data + 28), (x + device_width / 2, field - 2))
            for layer in range(4):
                if name == 'by_layer' and layer // 2 != device:
                    continue
                text = '½' if name == 'within' else str(layer + 1)
                y = first + layer * pitch
                drawing.box(x + 6, y, device_width - 12, height, text, fill=fill, stroke=stroke)
        rows = [first + layer * pitch + height / 2 for layer in range(4)]
        ends = left + device_width - 4, right + 4
        if name == 'within':
            for y in rows:
                drawing.arrow((ends[0], y), (ends[1], y), both=True)
        elif name == 'by_layer':
            drawing.arrow((ends[0], rows[1]), (middle, rows[1]), (middle, rows[2]), (ends[1], rows[2]), both=True)
        else:
            under = [(x + device_width / 2, y) for x, y in ((left, bottom + 2), (left, bottom + 16))]
            over = [(x + device_width / 2, y) for x, y in ((right, bottom + 16), (right, bottom + 2))]
            drawing.arrow(*under, *over, both=True)
        drawing.text(middle, bottom + 48, labels[f'{name}_sent'], 168)
    return drawing.svg()


def data_parallel_step(labels):
    """One step of data parallelism on two devices, from the minibatch to the same new parameters."""
    drawing = Drawing(560, 560, labels['title'])
    width, lefts = 244, (28, 288)
    centres = [left + width / 2 for left in lefts]
    drawing.text(280, 26, labels['split'], 500, bold=True)
    for device, (left, centre) in enumerate(zip(lefts, centres)):
        fill, pale, stroke = DEVICES[device]
        drawing.box(280 - 130 * (1 - device), 44, 130, 34, labels['shard'].format(device + 1), fill, stroke, radius=0)
        turn = 280 + (2 * device - 1) * 65
        drawing.arrow((turn, 78), (turn, 88), (centre, 88), (centre, 108))
        drawing.box(left, 110, width, 400, fill=pale, stroke=stroke, radius=10)
        drawing.text(centre, 130, labels[f'device_{device + 1}'], width, color=stroke, bold=True)
        drawing.text(centre, 154, labels['parameters'], width)
        drawing.box(left + 12, 174, width - 24, 54, labels['compute'], fill, stroke, bold=True)
        drawing.arrow((centre, 228), (centre, 246))
        drawing.box(left + 62, 248, width - 124, 34, labels['gradient'].format('₁₂'[device]), '#fff', stroke)
        drawing.arrow((centre, 282), (centre, 316))
        drawing.arrow((centre, 418), (centre, 448))
        drawing.box(left + 12, 450, width - 24, 44, labels['update'], fill, stroke, bold=True)
    drawing.box(64, 318, 432, 100, fill='#fff', stroke=INK, radius=10)
    drawing.text(280, 338, labels['all_reduce'], 400)
    drawing.text(280, 366, labels['sum'], 400, bold=True)
    drawing.text(280, 394, labels['broadcast'], 400, bold=True)
    drawing.text(280, 534, labels['same'], 500)
    return drawing.svg()


def residual_block(labels):
    """A plain block, a residual block, and a residual block whose shortcut is a 1x1 convolution."""
    drawing = Drawing(626, 530, labels['title'])
    width, height, pitch, first = 142, 36, 56, 122
    fill, _, stroke = DEVICES[0]
    bypass_fill, _, bypass = DEVICES[1]
    for name, left, lane in (('plain', 12, None), ('residual', 176, 340), ('projected', 364, 568)):
        centre = left + width / 2
        heading = centre if lane is None else (left + lane + 10) / 2
        drawing.text(heading, 34, labels[name], 250, bold=True)
        drawing.text(centre - 16, 78, 'x', 40, bold=True)
        texts = [
            labels['convolution'],
            labels['batch_norm'],
            labels['relu'],
            labels['convolution'],
            labels['batch_norm'],
        ]
        tops = [first + i * pitch for i in range(len(texts))]
        if name == 'projected':
            texts[0] = labels['strided']
        joint = tops[-1] + height + 36
        start = 70
        for text, top in zip(texts, tops):
            grow = 6 if '\n' in text else 0
            drawing.arrow((centre, start), (centre, top - grow - 1))
            drawing.box(left, top - grow, width, height + 2 * grow, text, fill, stroke)
            start = top + height + grow
        if lane is None:
            drawing.arrow((centre, start), (centre, joint + 29))
        else:
            drawing.arrow((centre, start), (centre, joint - 13))
            drawing.arrow((centre, 92), (lane, 92), (lane, joint), (centre + 13, joint), color=bypass)
            drawing.circle(centre, joint, 12, '+')
            drawing.arrow((centre, joint + 12), (centre, joint + 29))
        if name == 'projected':
            drawing.box(lane - 51, 200, 102, 78, labels['shortcut'], bypass_fill, bypass)
        drawing.text(centre - 30, tops[-1] + height + 14, 'f(x)', 40, bold=True)
        if name == 'residual':
            drawing.text(lane - 14, joint - 14, 'x', 20, color=bypass, bold=True)
        drawing.box(left, joint + 30, width, height, labels['relu'], fill, stroke)
        drawing.arrow((centre, joint + 30 + height), (centre, joint + 30 + height + 22))
    return drawing.svg()


def ddp_processes(labels):
    """Two processes with a replica and a share of the data each, whose gradients meet in an all-reduce."""
    drawing = Drawing(560, 590, labels['title'])
    width, lefts = 250, (20, 290)
    drawing.box(70, 16, 420, 36, labels['data'], radius=0)
    for device, left in enumerate(lefts):
        fill, pale, stroke = DEVICES[device]
        centre = left + width / 2
        drawing.arrow((centre, 52), (centre, 76))
        drawing.box(left, 78, width, 496, fill=pale, stroke=stroke, radius=10)
        drawing.text(centre, 100, labels['process'].format(device), width, color=stroke, bold=True)
        drawing.box(left + 16, 120, width - 32, 56, labels[f'share_{device}'], '#fff', stroke, dashed=True)
        drawing.arrow((centre, 176), (centre, 204))
        drawing.box(left + 16, 206, width - 32, 84, labels['replica'], fill, stroke, bold=True)
        drawing.arrow((centre, 290), (centre, 314))
        drawing.box(left + 52, 316, width - 104, 36, labels['gradient'].format('₀₁'[device]), '#fff', stroke)
        drawing.arrow((centre, 352), (centre, 384))
        drawing.arrow((centre, 456), (centre, 488))
        drawing.box(left + 16, 490, width - 32, 64, labels['update'], fill, stroke, bold=True)
    drawing.box(50, 386, 460, 70, fill='#fff', stroke=INK, radius=10)
    drawing.text(280, 407, labels['all_reduce'], 440)
    drawing.text(280, 434, labels['mean'], 440, bold=True)
    return drawing.svg()


def ddp_timeline(labels):
    """The time line of a training step, with one all-reduce at the end and with buckets behind the backward pass."""
    drawing = Drawing(674, 412, labels['title'])
    start, forward, unit, update, height = 90, 80, 71, 69, 42  # `unit` is the backward pass of a layer
    (fill, _, stroke), (sent_fill, _, sent) = DEVICES
    layers = [start + forward + i * unit for i in range(5)]  # where layers 4, 3, 2 and 1 begin, and the end
    sends = {
        'serial': [(layers[4], 138, labels['all_reduce'])],
        'overlap': [(layers[2], 69, labels['bucket'].format(1)), (layers[4], 69, labels['bucket'].format(2))],
    }
    for name, top in (('serial', 12), ('overlap', 214)):
        computation, network = top + 64, top + 64 + height + 14
        drawing.text(337, top + 14, labels[name], 620, bold=True)
        drawing.text(layers[2], top + 46, labels['backward'], 4 * unit)
        drawing.text(start / 2, computation + height / 2, labels['compute'], start - 8, color=stroke)
        drawing.text(start / 2, network + height / 2, labels['network'], start - 8, color=sent)
        drawing.box(start, computation, forward, height, labels['forward'], fill, stroke, radius=3)
        for i, x in enumerate(layers[:4]):
            drawing.box(x, computation, unit, height, labels['layer'].format(4 - i), fill, stroke, radius=3)
        for x, width, text in sends[name]:
            drawing.box(x, network, width, height, text, sent_fill, sent, radius=3)
            end = x + width
        drawing.arrow((end, network), (end, computation + height + 2), color=sent)
        drawing.box(end, computation, update, height, labels['update'], fill, stroke, radius=3)
    return drawing.svg()


FIGURES = {
    'splitting': splitting,
    'data-parallel-step': data_parallel_step,
    'residual-block': residual_block,
    'ddp-processes': ddp_processes,
    'ddp-timeline': ddp_timeline,
}


def labels_of(language):
    """The words of a language's figures: a dictionary for each figure, by the figure's name."""
    content = yaml.safe_load((language.folder / 'figures.yml').read_text(encoding='utf-8'))
    return {name: content[name.replace('-', '_')] for name in FIGURES}


def draw(language):
    """The SVG text of every figure of `language`, by the figure's name."""
    labels = labels_of(language)
    return {name: figure(labels[name]) for name, figure in FIGURES.items()}


def main():
    """Draw every figure in every language."""
    for language in languages():
        folder = language.folder / 'img'
        folder.mkdir(exist_ok=True)
        for name, svg in draw(language).items():
            (folder / f'{name}.svg').write_text(svg, encoding='utf-8', newline='\n')
            print((folder / f'{name}.svg').relative_to(language.folder.parent.parent))


if __name__ == '__main__':
    main()

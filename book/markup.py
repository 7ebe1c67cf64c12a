"""The MyST markup of a text cell: its directives, and what is left when they and other marks are taken away."""

import re

# A fence of backticks or colons with what it holds, and the line of a directive.
FENCE = re.compile(r'^(?P<fence>`{3,}|:{3,})(?P<info>.*)\n(?P<body>(?:.*\n)*?)(?P=fence)[ \t]*$', re.M)
DIRECTIVE = re.compile(r'\{([\w-]+)\} *(.*)')
OPTIONS = re.compile(r'\A(?::[\w-]+:.*\n)+')
LITERAL = {'code', 'code-block', 'sourcecode'}
# Directives whose argument is words to read, and not a file or a programming language.
TITLED = {'admonition', 'card', 'csv-table', 'dropdown', 'list-table', 'sidebar', 'tab-item', 'table', 'topic'}

LABEL = re.compile(r'^\(([\w.-]+)\)=[ \t]*$', re.M)
HEADING = re.compile(r'^(?P<labels>(?:\([\w.-]+\)=[ \t]*\n\s*)*)(?P<level>#{1,6}) +(?P<title>.*)$', re.M)
ROLE = re.compile(r'\{[\w:]+\}`[^`]*`')
DISPLAY_MATHS = re.compile(r'\$\$(.*?)\$\$', re.S)
EQUATION_LABEL = re.compile(r'^\$\$ +\((\w+)\)[ \t]*$', re.M)
INLINE_MATHS = re.compile(r'(?<![\\$])\$(?!\$)([^$]+)\$(?!\$)')
INLINE_CODE = re.compile(r'`([^`\n]+)`')
LINK_TARGET = re.compile(r'\]\([^)\s]+\)')
TAG = re.compile(r'</?[a-z][^<>]*>')
# The mark of a slide: a comment with options and Markdown, which `slides_marks.py` explains.
SLIDE = re.compile(r'^<!-- slide[ \t]*\n(?P<options>(?::[\w-]+:.*\n)*)(?P<body>(?:.*\n)*?)-->[ \t]*(?:\n+|\Z)', re.M)
SLIDE_OPTION = re.compile(r'^:(?P<name>[\w-]+):[ \t]*(?P<value>.*?)[ \t]*$', re.M)


def headings(text):
    """The matches of `HEADING` in `text`, without comments in blocks of code that look like headings."""
    fences = [fence.span() for fence in FENCE.finditer(text)]
    return [
        heading
        for heading in HEADING.finditer(text)
        if not any(start <= heading.start('level') < end for start, end in fences)
    ]


def without_slides(text):
    """`text` without its marks of slides, as a page shows it."""
    return SLIDE.sub('', text).rstrip('\n')


def slides_as_text(text):
    """`text` with the words of its marks of slides in their place: each title as a heading, then the points."""

    def words(mark):
        titles = [option['value'] for option in SLIDE_OPTION.finditer(mark['options']) if option['name'] == 'title']
        return ''.join(f'## {title}\n\n' for title in titles) + mark['body'] + '\n'

    return SLIDE.sub(words, text)


def unwrapped(text):
    """`text` with the words that its directives hold in place of the directives; code stays a block of code."""

    def words(fence):
        directive = DIRECTIVE.match(fence['info'])
        if not directive:
            return fence[0]
        name, argument = directive.groups()
        body = OPTIONS.sub('', fence['body'])
        if name in LITERAL:
            return f'```{argument}\n{body.lstrip()}```'
        if name == 'math':
            return f'$$\n{body.strip()}\n$$'
        title = f'**{argument}**\n\n' if name in TITLED and argument else ''
        return title + unwrapped(body).strip()

    return FENCE.sub(words, text)


def prose(text):
    """`text` with its directives unwrapped and without blocks of code."""
    return FENCE.sub('', unwrapped(text))


def words(text):
    """`text` without everything that a translator leaves as it is: code, roles, maths, link targets, labels, tags."""
    left = EQUATION_LABEL.sub('$$', prose(slides_as_text(text)))
    for pattern in (LABEL, DISPLAY_MATHS, ROLE, INLINE_CODE, INLINE_MATHS, LINK_TARGET, TAG):
        left = pattern.sub(' ', left)
    return left


def has_words(text):
    """Whether there is anything in `text` to translate."""
    return any(character.isalpha() for character in words(text))


def without_definitions(text):
    """`text` as it can be shown a second time on a page: without headings, labels and numbered figures."""
    text = EQUATION_LABEL.sub('$$', LABEL.sub('', unwrapped(text)))
    for heading in reversed(headings(text)):
        text = f'{text[: heading.start()]}**{heading["title"]}**{text[heading.end() :]}'
    return text.strip()

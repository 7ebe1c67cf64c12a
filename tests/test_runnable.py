"""The runnable notebooks: plain Markdown, the code of the section, and a first cell that brings the helper module."""

import base64
import os
import re
import subprocess
import sys
import sysconfig
import time
import venv
import zipfile
from types import SimpleNamespace

import nbformat
import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from markdown_it import MarkdownIt
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from site_pages import ROOT, browser, built, soup

from book import first_cell, helper, languages, notebooks, pictures, printed, runnable
from book.theme import runnable as theme
from book.theme.references import References

# Markup of the stored notebooks that no other program understands: roles, labels, directives, attributes.
RAW = re.compile(
    r'\{[\w:+-]+\}`|^\s*\([\w.-]+\)=|\$\$ *\(|^\s*[`:~]{3,} *\{|^:{3,}|\]\{\.|\b(sec|fig|tab|eq)_[a-z]', re.M
)
ENGLISH = languages.source()


def sections(language):
    """The pages of a language that have something to run."""
    return [page for page in languages.pages() if runnable.has_code(stored(page, language))]


def stored(page, language=ENGLISH):
    return notebooks.read(language.folder / f'{page}.ipynb')


EVERY = [
    pytest.param(language, page, id=f'{language.code}-{page}')
    for language in languages.languages()
    for page in sections(ENGLISH)
]


@pytest.fixture(scope='module')
def site():
    return built()


@pytest.fixture
def notebook(site, language, page):
    return nbformat.read(site / language.code / f'{page}.ipynb', as_version=4)


def code_of(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == 'code']


def texts_of(notebook):
    """The text cells without the letters of pictures."""
    texts = [cell.source for cell in notebook.cells if cell.cell_type == 'markdown']
    return [re.sub(r'^\[.+\]: data:\S+$', '', text, flags=re.M) for text in texts]


@pytest.mark.parametrize('language, page', EVERY)
def test_no_markup_of_the_book_is_left(notebook):
    assert [found[0] for text in texts_of(notebook) for found in [RAW.search(text)] if found] == []


@pytest.mark.parametrize('language, page', EVERY)
def test_the_code_is_that_of_the_english_section(notebook, page):
    title, *_ = code_of(notebook)[0].splitlines()
    assert title.startswith('# @title ')
    assert code_of(notebook)[1:] == code_of(stored(page))
    english = nbformat.read(built() / ENGLISH.code / f'{page}.ipynb', as_version=4)
    assert code_of(notebook)[0].removeprefix(title) == code_of(english)[0].removeprefix(
        code_of(english)[0].split('\n')[0]
    )


@pytest.mark.parametrize('language, page', EVERY)
def test_it_asks_for_a_gpu_and_hides_the_first_cell_and_fits_into_kaggle(notebook, site, language, page):
    assert notebook.metadata.accelerator == 'GPU' and notebook.metadata.kaggle.isGpuEnabled
    hidden = notebook.cells[0].metadata
    assert hidden.jupyter.source_hidden and hidden.cellView == 'form' and hidden['_kg_hide-input']
    assert [cell.id for cell in notebook.cells if cell.get('outputs')] == []
    assert (site / language.code / f'{page}.ipynb').stat().st_size <= 1_000_000


@pytest.mark.parametrize('language, page', EVERY)
def test_numbers_are_those_of_the_page(notebook, site, language, page):
    def counted(found):
        return sorted(found), len(found)

    rendered = soup(site / language.code / f'{page}.html').article
    text = '\n'.join(texts_of(notebook))
    forms = [language.word(form).replace('%s', r'\d+(?:\.\d+)*') for form in ('Section %s', 'Fig. %s')]
    references = [link.text for link in rendered.select('.std-numref')]
    captions = [caption.text.strip() for caption in rendered.select('.caption-number')]
    assert counted(re.findall('|'.join(forms), text)) == counted(references + captions)
    equations = [re.sub(r'[()#]|\W$', '', number.text) for number in rendered.select('.eqno')]
    assert re.findall(r'\\tag\{(.+?)\}', text) == equations
    for citation in rendered.select('.bibtex-citation'):
        assert citation.text in text.replace('*', '')


@pytest.mark.parametrize('language, page', EVERY)
def test_pictures_are_inside_and_have_a_name_and_a_caption(notebook, page):
    figures = ''.join(cell.source for cell in stored(page).cells).count('```{figure}')
    texts = '\n\n'.join(cell.source for cell in notebook.cells if cell.cell_type == 'markdown')
    shown = re.findall(r'^!\[(.{20,})\]\[(.+)\]\n\n<em>.+\. .+</em>', texts, re.M)
    assert len(shown) == figures
    # Rendered with the rules of Markdown, as in a program that runs notebooks, and no more.
    images = BeautifulSoup(MarkdownIt().render(texts), 'html.parser').find_all('img')
    assert [image['alt'] for image in images] == [alternative.replace('\\', '') for alternative, _ in shown]
    for image in images:
        type_, letters = image['src'].split(',')
        assert type_ == 'data:image/png;base64' and base64.b64decode(letters).startswith(b'\x89PNG')


def test_only_pages_with_code_have_one(site):
    for language in languages.languages():
        found = {path.stem for path in (site / language.code).glob('*.ipynb')}
        assert found == set(sections(ENGLISH)) and found != set(languages.pages())


class Fixed:
    """References whose answers are known."""

    def resolve(self, role, text):
        if role not in ('numref', 'eq', 'cite:p'):
            raise ValueError(f'unknown role {role}')
        return {'numref': 'Section 2', 'eq': '[(3.1)](https://example.org/#x)', 'cite:p': '[He, 2016]'}[role]

    def title(self, name):
        return {'note': 'Note'}.get(name)

    def cited(self):
        return ''


def plain(text):
    return runnable.markdown(text, Fixed(), lambda path: f'data:image/png;base64,{path}')


def test_roles_and_labels_become_plain_text():
    assert plain('(sec_x)=\n# Title\n\nAs in {numref}`sec_y`, {eq}`eq_z` {cite:p}`He`.') == (
        '# Title\n\nAs in Section 2, [(3.1)](https://example.org/#x) [He, 2016].'
    )


def test_a_labelled_equation_has_its_number_inside_the_maths():
    assert plain('Then\n\n$$\na = b.\n$$ (eq_z)\n\nholds.') == 'Then\n\n$$\na = b.\n\\tag{3.1}\n$$\n\nholds.'
    assert plain('$$a \\\\ b$$') == '$$\n\\begin{aligned}\na \\\\ b\n\\end{aligned}\n$$'


def test_code_and_maths_stay_as_they_are():
    text = 'Write `{numref}` or ``a `b` c``, $x_{a}$ and \\$5.\n\n```python\n(x)= {eq}`y` :::\n```\n\n```\n$$ (a)\n```'
    assert plain(text) == text


def test_a_figure_becomes_a_picture_with_a_caption():
    text = 'Before.\n\n```{figure} img/a.svg\n:name: fig_a\n:alt: A [b] c.\n\nTwo boxes, $x$.\n```\n\nAfter.'
    assert plain(text) == (
        'Before.\n\n![A \\[b\\] c.][img/a.svg]\n\n<em>Section 2. Two boxes, $x$.</em>\n\nAfter.\n\n'
        '[img/a.svg]: data:image/png;base64,img/a.svg'
    )


def test_boxes_become_quotations():
    assert plain('```{note}\nSee {numref}`sec_y`.\n\n* one\n```') == '> **Note**\n>\n> See Section 2.\n>\n> * one'
    text = '::::{div} not-translated\n:::{div} translation-notice\nSoon.\n:::\n:::{div} language-en\nText.\n:::\n::::'
    assert plain(text) == '> Soon.\nText.'
    assert plain(':::{dropdown} [Old]{.language-en}\n:class-container: x\n\nWords.\n:::') == '> **Old**\n>\n> Words.'


@pytest.mark.parametrize(
    'text',
    [
        '{nonsense}`x`',
        '```{nonsense}\nx\n```',
        ':::{nonsense}\nx\n:::',
        '* item\n\n  ```{note}\n  x\n  ```',
        '~~~{note}\nx\n~~~',
        '[setup](setup.ipynb)',
        '[words](#sec_x)',
    ],
)
def test_unknown_markup_is_an_error_that_names_the_cell(text):
    book = new_notebook(cells=[new_markdown_cell(text, id='a-cell'), new_code_cell('1')])
    with pytest.raises(runnable.ConversionError, match='cell a-cell: '):
        runnable.runnable(book, Fixed(), None, '')


def test_a_notebook_too_large_for_kaggle_is_an_error():
    book = new_notebook(cells=[new_code_cell('x' * runnable.MOST_BYTES)])
    with pytest.raises(runnable.ConversionError, match='Kaggle takes 1,000,000'):
        runnable.runnable(book, Fixed(), None, '')


def test_the_stored_notebook_stays_as_it_is_and_tags_stay_in_both():
    book = new_notebook(cells=[new_code_cell('1', metadata={'tags': ['raises-exception'], 'x': 1})])
    before = nbformat.writes(book)
    cell = runnable.runnable(book, Fixed(), None, 'print()').cells[1]
    assert nbformat.writes(book) == before
    assert cell.metadata == {'tags': ['raises-exception']}


def test_letters_of_a_drawing_are_drawn(tmp_path):
    frame = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="60"{}>{}</svg>'
    font = ' font-family="sans-serif" font-size="30"'
    drawn = []
    for words in ('', 'Tầng hướng dẫn', 'Tầng hướng dần'):
        (tmp_path / 'a.svg').write_text(frame.format(font, f'<text x="9" y="40">{words}</text>'), encoding='utf-8')
        drawn.append(pictures.png(tmp_path / 'a.svg'))
    assert len(set(drawn)) == 3


def test_a_picture_that_is_not_there_or_of_no_known_type_is_an_error(tmp_path):
    (tmp_path / 'a.tiff').touch()
    for name, message in (('b.svg', 'there is no picture'), ('a.tiff', 'use .svg')):
        with pytest.raises(ValueError, match=message):
            pictures.data_uri(tmp_path / name)


# References, as Sphinx hands them over.


def reference(base, **target):
    """The Markdown of the citation 'He et al.' on the page `resnet`, and the list of what was cited."""
    domain = SimpleNamespace(bibliographies=[SimpleNamespace(docname='works')])
    env = SimpleNamespace(titles={'works': nodes.title('', 'Works')}, get_domain=lambda name: domain)
    builder = SimpleNamespace(get_target_uri=lambda page: f'{page}.html')
    app = SimpleNamespace(config=SimpleNamespace(html_baseurl=base), builder=builder, env=env)
    page = References(app, 'resnet')
    link = nodes.reference('', '', nodes.Text('He '), nodes.emphasis('', 'et al.'), reftitle='He. Deep.', **target)
    return page._markdown(nodes.inline('', '', nodes.Text('['), link, nodes.Text(']'))), page.cited()


def test_links_lead_to_the_published_site():
    base = 'https://example.org/course/en/'
    assert reference(base, refuri='works.html#he')[0] == f'[[He *et al.*]({base}works.html#he)]'
    assert reference(base, refid='here')[0] == f'[[He *et al.*]({base}resnet.html#here)]'


def test_without_an_address_references_are_text_and_the_cited_works_are_listed():
    assert reference('', refuri='works.html#he') == ('[He *et al.*]', '## Works\n\n* He. Deep.')


# Where the notebooks can be opened.


def config(repository='', base='', language='vi', folder=None):
    options = {'repository_url': repository}
    return SimpleNamespace(html_theme_options=options, html_baseurl=base, language=language, book_helper=folder)


def test_colab_and_kaggle_open_the_published_copy():
    links = theme._links(config('https://github.com/someone/course.git'), 'setup')
    published = 'someone/course/blob/gh-pages/vi/setup.ipynb'
    assert [link['href'] for link in links] == [
        'setup.ipynb',
        f'https://colab.research.google.com/github/{published}',
        f'https://www.kaggle.com/kernels/welcome?src=https://github.com/{published}',
    ]


@pytest.mark.parametrize('repository', ['', 'https://gitlab.com/someone/course'])
def test_without_a_repository_on_github_there_is_only_the_download(repository):
    assert [link['href'] for link in theme._links(config(repository), 'setup')] == ['setup.ipynb']


def test_pages_offer_their_notebook(site):
    for language in languages.languages():
        for page in languages.pages():
            menu = soup(site / language.code / f'{page}.html').select_one('.page-actions')
            links = [(link['href'], link.has_attr('download')) for link in menu.find_all('a')]
            whole = [(printed.file_name(language), False)] if browser() else []
            assert links == ([(f'{page}.ipynb', True)] if page in sections(ENGLISH) else []) + whole
            assert menu.find('button', onclick='window.print()')


def test_pip_gets_the_addresses_that_are_known(module):
    name = helper.wheel(module).name
    assert theme.addresses(config(folder=module)) == []
    known = config('https://github.com/someone/course', 'https://example.org/course/vi/', folder=module)
    assert theme.addresses(known) == [
        f'https://example.org/course/{name}',
        'git+https://github.com/someone/course',
    ]


# Running them: in a folder of their own, in an environment without d2l_local, without a network.

OFFLINE = """
import socket

def refuse(address):
    if isinstance(address, tuple) and address[0] not in ('127.0.0.1', '::1', 'localhost', '0.0.0.0', ''):
        raise OSError(f'no network in this test: {address}')

connect, getaddrinfo = socket.socket.connect, socket.getaddrinfo
socket.socket.connect = lambda self, address: (refuse(address), connect(self, address))[1]
socket.getaddrinfo = lambda host, *more, **options: (refuse((host,)), getaddrinfo(host, *more, **options))[1]
"""
EXECUTE = """
import sys, nbformat, nbclient
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=250, kernel_name='python3').execute()
print(''.join(output.get('text', '') for output in notebook.cells[0].outputs))
"""


@pytest.fixture(scope='session')
def module(tmp_path_factory):
    return helper.prepare(tmp_path_factory.mktemp('helper'))


@pytest.fixture(scope='session')
def environment(tmp_path_factory):
    """The Python of an environment with everything that this one has but d2l_local, and without a network."""
    folder = tmp_path_factory.mktemp('environment')
    venv.create(folder, symlinks=True)
    packages = next(folder.glob('lib/python*/site-packages'))
    # A path file adds a folder and reads no path files in it, such as that of a development install.
    others = '\n'.join({sysconfig.get_path('purelib'), sysconfig.get_path('platlib')})
    (packages / 'others.pth').write_text(others)
    (packages / 'sitecustomize.py').write_text(OFFLINE)
    return folder / 'bin' / 'python'


def run(python, folder, *arguments, **variables):
    kept = {name: value for name, value in os.environ.items() if name not in ('PYTHONPATH', 'D2L_LOCAL_DATA')}
    variables = {**kept, 'D2L_LOCAL_SCALE': 'smoke', **variables}
    return subprocess.run([python, *arguments], cwd=folder, env=variables, capture_output=True, text=True, timeout=280)


def bring(python, folder, module, addresses=(), then='import d2l_local; print(d2l_local.__file__)'):
    """Run the first cell as a script, then some more code; gives the lines that were printed."""
    cell = theme.first_cell(config(folder=module)).replace('addresses=[]', f'addresses={list(addresses)!r}')
    (folder / 'cell.py').write_text(f'{cell}\n{then}\n', encoding='utf-8')
    done = run(python, folder, 'cell.py')
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize('page', sections(ENGLISH))
def test_it_runs_in_an_empty_folder_without_the_module_and_without_a_network(site, page, environment, tmp_path):
    source = site / ENGLISH.code / f'{page}.ipynb'
    done = run(environment, tmp_path, '-c', EXECUTE, str(source))
    assert done.returncode == 0, done.stderr[-3000:]
    assert f'd2l_local comes out of this notebook, into {tmp_path}' in done.stdout
    assert (tmp_path / 'd2l_local' / '__init__.py').is_file()


def test_the_environment_of_these_tests_has_neither_the_module_nor_a_network(environment, tmp_path):
    assert 'No module named' in run(environment, tmp_path, '-c', 'import d2l_local').stderr
    fetch = "import urllib.request; urllib.request.urlopen('https://example.org')"
    assert 'no network in this test' in run(environment, tmp_path, '-c', fetch).stderr


def test_where_the_module_is_there_is_nothing_to_do(module, tmp_path):
    lines = bring(sys.executable, tmp_path, module)
    assert lines == ['d2l_local is here already: nothing to do.', str(ROOT / 'd2l_local' / '__init__.py')]
    assert [path.name for path in tmp_path.iterdir()] == ['cell.py']


def demanding(wheel, folder):
    """A copy of the wheel in `folder` that wants a PyTorch of the far future."""
    copy = folder / wheel.name
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(copy, 'w') as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith('/METADATA'):
                assert b'Requires-Dist: torch>=' in content
                content = content.replace(b'Requires-Dist: torch>=', b'Requires-Dist: torch>=99')
            new.writestr(name, content)
    return copy


def test_pip_installs_the_module_and_nothing_else(environment, module, tmp_path):
    wheel = str(demanding(helper.wheel(module), tmp_path))
    lines = bring(environment, tmp_path, module, ['https://example.org/d2l_local-9-py3-none-any.whl', wheel])
    try:
        assert lines[0] == f'd2l_local was installed from {wheel}'
        assert lines[1].startswith(str(environment.parents[1]))
        installed = run(
            environment, tmp_path, '-m', 'pip', 'list', '--path', os.path.dirname(os.path.dirname(lines[1]))
        )
        assert [line.split()[0] for line in installed.stdout.splitlines()[2:]] == ['d2l_local']
    finally:
        run(environment, tmp_path, '-m', 'pip', 'uninstall', '--yes', 'd2l_local')


def test_without_a_network_the_module_comes_out_of_the_notebook(environment, module, tmp_path):
    addresses = ['https://example.org/d2l_local-9-py3-none-any.whl', 'git+https://example.org/course']
    lines = bring(environment, tmp_path, module, addresses)
    assert lines[0] == f'd2l_local comes out of this notebook, into {tmp_path}'
    assert lines[-1] == str(tmp_path / 'd2l_local' / '__init__.py')
    assert bring(environment, tmp_path, module)[0] == 'd2l_local is here already: nothing to do.'
    # Another edition takes its place.
    (tmp_path / 'd2l_local' / first_cell.MARK).write_text('older')
    (tmp_path / 'd2l_local' / 'leftover.py').touch()
    assert bring(environment, tmp_path, module)[0] == lines[0]
    assert not (tmp_path / 'd2l_local' / 'leftover.py').exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ['cell.py', 'd2l_local']


def test_a_folder_of_that_name_is_left_alone(environment, module, tmp_path):
    (tmp_path / 'd2l_local').mkdir()
    (tmp_path / 'd2l_local' / 'thesis.txt').write_text('mine')
    lines = bring(environment, tmp_path, module)
    assert not lines[-1].startswith(str(tmp_path / 'd2l_local'))
    assert [path.name for path in (tmp_path / 'd2l_local').iterdir()] == ['thesis.txt']


def test_without_pytorch_the_message_says_how_to_get_it(module, monkeypatch):
    monkeypatch.setattr(first_cell, 'NEEDED', ('torch', 'no_such_torchvision'))
    with pytest.raises(ModuleNotFoundError, match='%pip install no_such_torchvision'):
        first_cell.bring_d2l_local('', '')


def test_what_a_notebook_carries_is_the_module_with_all_its_images(environment, module, tmp_path):
    then = """
import numpy, d2l_local
from d2l_local import sample
for split in sample.COUNTS:
    images, labels = sample.load(split)
    print(tuple(images.shape), len(numpy.unique(images)), labels.sum().item())
"""
    from d2l_local import sample

    lines = bring(environment, tmp_path, module, then=then)[-2:]
    for line, split in zip(lines, sample.COUNTS):
        images, labels = sample.load(split)
        assert line == f'{tuple(images.shape)} {helper.SHADES} {labels.sum().item()}'
    carried = {path.relative_to(tmp_path).as_posix() for path in (tmp_path / 'd2l_local').rglob('*.py')}
    assert carried >= {path.relative_to(ROOT).as_posix() for path in (ROOT / 'd2l_local').rglob('*.py')}
    recorded = {path.name for path in (ROOT / 'results').glob('*.json')}
    assert {path.name for path in (tmp_path / 'd2l_local' / 'results').glob('*.json')} == recorded


def test_the_same_module_gives_the_same_text(module, monkeypatch):
    monkeypatch.setattr(time, 'time', lambda: 2e9)
    assert helper.pack(helper.wheel(module)) == helper.carried(module)

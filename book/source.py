"""One folder a language that is a Jupyter Book by itself, made from the common definition."""

import os
import shutil
from pathlib import Path

import yaml

from . import carry, markup, notices, plots, printed
from .languages import CHAPTERS, ROOT, SOURCE, pages, source
from .notebooks import read, write

CONFIG = ROOT / '_config.yml'
TOC = ROOT / '_toc.yml'


def assemble(language, folder, helper='', pdf=False):
    """Fill `folder` with the pages of `language`, a `_config.yml` and a `_toc.yml`.

    What a language lacks, from a picture to a whole page, is there in English. `helper` is the folder that
    `helper.prepare` has filled, if there are to be runnable notebooks. `pdf` says that the book will be a PDF as well.
    """
    english = source()
    missing = [page for page in pages() if not (english.folder / f'{page}.ipynb').is_file()]
    if missing:
        raise FileNotFoundError(
            f'{english.folder.relative_to(ROOT)} lacks {", ".join(missing)} (.ipynb), listed in {TOC.name}'
        )
    shutil.rmtree(folder, ignore_errors=True)
    unwanted = shutil.ignore_patterns('.*', '*.yml', '*.kept.md')
    shutil.copytree(english.folder, folder, ignore=unwanted)
    if language != english:
        shutil.copytree(language.folder, folder, ignore=unwanted, dirs_exist_ok=True)
        for page, (notebook, _) in carry.carried(language).items():
            write(notices.shown(carry.english_of(page), notebook, language), folder / f'{page}.ipynb')
    for page in pages():
        path = folder / f'{page}.ipynb'
        write(plots.described(_without_slides(read(path)), page, language), path)
    config = localized_config(yaml.safe_load(CONFIG.read_text(encoding='utf-8')), language, helper, pdf)
    for name in config.get('bibtex_bibfiles', []):
        shutil.copy2(ROOT / name, folder / name)
    _write(folder / CONFIG.name, config)
    _write(folder / TOC.name, localized_toc(yaml.safe_load(TOC.read_text(encoding='utf-8')), language))


def _without_slides(notebook):
    """`notebook` with text cells that are free from marks of slides."""
    for cell in notebook.cells:
        if cell.cell_type == 'markdown':
            cell.source = markup.without_slides(cell.source)
    return notebook


def localized_config(config, language, helper='', pdf=False):
    """`config` for one language, with the addresses that the environment gives."""
    config['title'] = language.settings['title']
    config['sphinx']['local_extensions'] = {
        name: str(ROOT / path) for name, path in config['sphinx']['local_extensions'].items()
    }
    config['sphinx']['config'].update(
        language=language.code,
        book_has_languages=True,
        book_helper=str(helper),
        book_pdf=printed.file_name(language) if pdf else '',
    )
    site = os.environ.get('BOOK_URL') or config['html'].get('baseurl')
    if site:
        config['html']['baseurl'] = f'{site.rstrip("/")}/{language.code}/'
    repository = config.setdefault('repository', {})
    repository['url'] = os.environ.get('BOOK_REPOSITORY_URL') or repository.get('url') or ''
    repository['path_to_book'] = language.folder.relative_to(ROOT).as_posix()
    if repository['url']:
        config['html'].update(use_repository_button=True, use_issues_button=True)
    return config


def localized_toc(entry, language):
    """`entry` of the table of contents with its captions translated and its folder taken away."""
    prefix = (CHAPTERS / SOURCE).relative_to(ROOT)
    captions = language.settings.get('captions', {})

    def walk(value, key=None):
        if isinstance(value, dict):
            return {k: walk(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(v) for v in value]
        if key in ('root', 'file'):
            return Path(value).relative_to(prefix).as_posix()
        return captions.get(value, value) if key == 'caption' else value

    return walk(entry)


def _write(path, content):
    path.write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False), encoding='utf-8')

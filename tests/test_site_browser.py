"""The site in a browser: private, quiet, readable on a phone, searchable, accessible, in one language."""

import gzip
import unicodedata
from collections import Counter

import pytest
from axe_playwright_python.sync_playwright import Axe
from site_pages import DESKTOP, PHONE, SHOTS, built, chromium, page_files, page_names, served

from book.languages import SOURCE, complete_translations, languages

FIRST_VIEW = 400_000
# Words of the interface that are the same in every language.
SHARED = {'Ctrl', 'K', '+', 'Notebook', 'CC BY-SA 4.0', '#', ''}
# All words around the text of a page that a reader can see, hover or hear, one a line.
CHROME = """() => {
  const words = [];
  const shown = (node) => !node.closest('article, script, style, .language-switch, nav.bd-docs-nav > *');
  for (const element of document.querySelectorAll('body *')) {
    const button = element.matches('.copybtn, .copybtn *, .toggle-button, .headerlink, details.hide summary *');
    if (!shown(element) && !button) continue;
    for (const name of ['title', 'aria-label', 'placeholder', 'data-tooltip', 'data-bs-original-title']) {
      if (element.hasAttribute(name)) words.push(element.getAttribute(name).trim());
    }
    if (element.closest('nav.page-toc, #jb-print-docs-body, .prev-next-title, .navbar-brand')) continue;
    for (const child of element.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) words.push(child.textContent.trim());
    }
  }
  return words;
}"""


@pytest.fixture(scope='module')
def site():
    return built()


@pytest.fixture(scope='module')
def browser():
    with chromium() as program:
        yield program


@pytest.fixture(scope='module')
def address(site):
    with served(site) as url:
        yield url


@pytest.fixture
def tab(browser):
    context = browser.new_context(viewport=DESKTOP)
    yield context.new_page()
    context.close()


def addresses(site, address):
    """Every page as (opened from disk, served)."""
    for _, path in page_files(site):
        yield path.as_uri()
        yield f'{address}/{path.relative_to(site).as_posix()}'


def test_pages_ask_no_other_host_and_report_no_error(site, address, tab):
    asked, errors = set(), []
    tab.on('request', lambda request: asked.add(request.url))
    tab.on('requestfailed', lambda request: errors.append(f'{tab.url}: {request.failure}: {request.url}'))
    tab.on('console', lambda message: errors.append(f'{tab.url}: {message.text}') if message.type == 'error' else None)
    tab.on('pageerror', lambda error: errors.append(f'{tab.url}: {error}'))
    for url in addresses(site, address):
        tab.goto(url)
        tab.wait_for_timeout(100)
    # Leaving a page ends what it still loads, such as its icon.
    errors = [error for error in errors if 'net::ERR_ABORTED' not in error]
    own = (site.as_uri(), address, 'data:')
    assert not [url for url in asked if not url.startswith(own)]
    assert not errors


def test_first_view_is_light(site, address, tab):
    """Every page with all it needs, as a server that compresses would send it."""
    heavy, urls, figures = [], set(), []
    tab.on('request', lambda request: urls.add(request.url))
    for _, path in page_files(site):
        urls.clear()
        tab.goto(f'{address}/{path.relative_to(site).as_posix()}')
        tab.wait_for_timeout(100)
        files = [site / url[len(address) + 1 :].split('?')[0] for url in urls if url.startswith(address)]
        size = sum(len(gzip.compress(file.read_bytes())) for file in files if file.is_file())
        figures.append(f'{path.relative_to(site)}: {size / 1000:.0f} kB\n')
        if not 0 < size <= FIRST_VIEW:
            heavy.append(f'{path.relative_to(site)}: {size} bytes')
    (SHOTS.parent / 'first-view.txt').write_text(''.join(figures), encoding='utf-8')  # for a person to look at
    assert not heavy


@pytest.mark.parametrize('kind', ['disk', 'served'])
def test_switch_leads_to_the_same_page(site, address, tab, kind):
    base, names = (site.as_uri(), page_names()) if kind == 'disk' else (address, page_names()[:2])
    for language in languages():
        for other in languages():
            for name in names if other != language else ():
                tab.goto(f'{base}/{language.code}/{name}.html')
                link = tab.locator(f'.language-switch a[lang="{other.code}"]')
                link.focus()
                tab.keyboard.press('Enter')
                tab.wait_for_url(f'{base}/{other.code}/{name}.html**')
                assert tab.evaluate('document.documentElement.lang') == other.code


def test_keyboard_reaches_the_switch(site, tab):
    tab.goto((site / SOURCE / 'index.html').as_uri())
    for _ in range(60):
        tab.keyboard.press('Tab')
        if tab.evaluate("Boolean(document.activeElement.closest('.language-switch'))"):
            return
    pytest.fail('60 presses of Tab did not reach the language switch')


def test_keyboard_opens_the_menu_of_the_notebook(site, tab):
    page = next(page for page in page_names() if (site / SOURCE / f'{page}.ipynb').is_file())
    tab.goto((site / SOURCE / f'{page}.html').as_uri())
    tab.locator('.page-actions > button').focus()
    tab.keyboard.press('Enter')
    assert not Axe().run(tab).response['violations']
    tab.keyboard.press('ArrowDown')
    assert tab.evaluate("document.activeElement.getAttribute('href')") == f'{page}.ipynb'
    tab.keyboard.press('Escape')
    assert not tab.locator('.page-actions a').first.is_visible()


def test_start_page_follows_the_browser(site, browser):
    for language in languages():
        context = browser.new_context(locale=language.code)
        tab = context.new_page()
        tab.goto((site / 'index.html').as_uri())
        tab.wait_for_url(f'**/{language.code}/index.html')
        context.close()
    context = browser.new_context(locale='qu')
    tab = context.new_page()
    tab.goto((site / 'index.html').as_uri())
    assert tab.locator('main a.start').count() == len(languages())
    context.close()


def test_no_page_is_wider_than_a_phone(site, browser):
    context = browser.new_context(viewport=PHONE, locale='qu')
    tab, wide = context.new_page(), []
    for path in [site / 'index.html'] + [path for _, path in page_files(site)]:
        tab.goto(path.as_uri())
        excess = tab.evaluate('document.documentElement.scrollWidth - window.innerWidth')
        if excess > 0:
            wide.append(f'{path.relative_to(site)}: {excess} pixels')
    context.close()
    assert not wide


def test_interface_speaks_the_language_of_the_page(site, tab):
    def chrome(code):
        words = Counter()
        for name in page_names():
            tab.goto((site / code / f'{name}.html').as_uri())
            words.update(tab.evaluate(CHROME))
        return {word for word in words if any(letter.isalpha() for letter in word)}

    source = chrome(SOURCE)
    for language in complete_translations():
        words = chrome(language.code)
        assert words
        english = (words & source) - SHARED
        assert not english


def test_boxes_are_titled_in_the_language_of_the_page(site, tab):
    for language in complete_translations():
        english = {word for word in language.settings['interface'] if word.isalpha()}
        for name in page_names():
            tab.goto((site / language.code / f'{name}.html').as_uri())
            titles = tab.locator('.admonition-title').all_inner_texts()
            assert not english & {title.strip() for title in titles}


def search(tab, base, language, query):
    """The addresses of the results of a search, in their order; `tab` shows them."""
    tab.goto(f'{base}/{language}/search.html?q={query}')
    tab.wait_for_function("document.querySelector('.search-summary')?.innerText")
    return tab.locator('ul.search li a').evaluate_all('links => links.map(a => a.getAttribute("href"))')


@pytest.mark.parametrize('kind', ['disk', 'served'])
def test_search_finds_words_with_and_without_diacritics(site, address, tab, kind):
    base = site.as_uri() if kind == 'disk' else address
    errors = []
    tab.on('console', lambda message: errors.append(message.text) if message.type == 'error' else None)

    def found(language, query):
        return {link.partition('?')[0].partition('#')[0] for link in search(tab, base, language, query)}

    assert found('en', 'exercises')
    word = 'huấn luyện'
    expected = found('vi', word)
    assert expected and not found('vi', 'huấnn luyệnn')
    for form in (unicodedata.normalize('NFD', word), word.upper()):
        assert found('vi', form) == expected, form
    for form in ('huan luyen', 'HUAN LUYEN'):
        assert found('vi', form) >= expected, form
    assert found('vi', 'độ') and found('vi', 'do')
    # Words that English search drops.
    assert found('vi', 'in') and found('vi', 'to')
    assert not errors


def test_search_shows_the_place_that_it_found(address, tab):
    def found(query):
        links = search(tab, address, 'vi', query)
        tab.wait_for_function(
            "[...document.querySelectorAll('ul.search li')].every(item => item.querySelector('p.context'))"
        )
        return links, tab.locator('ul.search p.context').all_inner_texts()

    for query in ('đồng bộ', 'dong bo'):
        links, excerpts = found(query)
        # The page has the word 'bộ' many times before.
        assert 'đồng bộ' in excerpts[links.index('large-batches.html')]
    assert any('nơ-ron' in excerpt for excerpt in found('nơ-ron')[1])
    assert any('(node)' in excerpt for excerpt in found('nút (node)')[1])
    # A heading is found as such, whichever Unicode form it is typed in.
    heading = 'Bài tập'
    links = search(tab, address, 'vi', heading)
    assert any('#' in link for link in links)
    assert search(tab, address, 'vi', unicodedata.normalize('NFD', heading)) == links


@pytest.mark.parametrize('scheme', ['light', 'dark'])
@pytest.mark.parametrize('viewport', [PHONE, DESKTOP], ids=['phone', 'desktop'])
def test_pages_are_accessible(site, browser, scheme, viewport):
    # In a language that the book does not have, because the start page leads on from it.
    context = browser.new_context(viewport=viewport, color_scheme=scheme, locale='qu')
    tab, problems = context.new_page(), []
    for path in [site / 'index.html'] + [path for _, path in page_files(site)]:
        tab.goto(path.as_uri())
        # Colours that are still fading in from one scheme to the other are not what a reader sees.
        tab.wait_for_function("document.getAnimations().every(animation => animation.playState != 'running')")
        for violation in Axe().run(tab).response['violations']:
            places = [node['html'][:150] for node in violation['nodes'][:3]]
            problems.append(f'{path.relative_to(site)}: {violation["id"]}: {violation["help"]}: {places}')
    context.close()
    assert not problems, '\n'.join(problems)


def test_screenshots_for_a_person_to_look_at(site, browser):
    SHOTS.mkdir(parents=True, exist_ok=True)
    written = []
    for scheme in ('light', 'dark'):
        for size, viewport in (('phone', PHONE), ('desktop', DESKTOP)):
            context = browser.new_context(viewport=viewport, color_scheme=scheme)
            tab = context.new_page()
            for language in languages():
                for name in page_names()[:4]:
                    tab.goto((site / language.code / f'{name}.html').as_uri())
                    path = SHOTS / f'{language.code}-{name}-{size}-{scheme}.png'
                    written.append(tab.screenshot(path=path, full_page=True))
            context.close()
    assert len(written) >= 2 * 2 * 3 * len(languages()) and min(map(len, written)) > 10_000

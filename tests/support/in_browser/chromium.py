"""Chromium, and measurements of texts in it."""

import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium to measure texts"),
]


def needs_browser(test):
    """Mark a test that opens pages in Chromium."""
    for mark in pytestmark:
        test = mark(test)
    return test


MEASURE = """svgs => {
    if (!document.body.dataset.measures) return null;
    document.body.innerHTML = svgs.join('');
    const inside = (a, b) => a.left >= b.left - .5 && a.right <= b.right + .5;
    return [...document.querySelectorAll('svg')].map(svg => {
        const page = svg.getBoundingClientRect();
        const texts = [...svg.querySelectorAll('text')].map(t => {
            const cell = t.closest('g[data-cell]');
            return {words: t.textContent, box: t.getBoundingClientRect(),
                    room: cell && cell.querySelector('rect')?.getBoundingClientRect()};
        });
        const wrong = [];
        for (const t of texts) {
            if (!inside(t.box, page)) wrong.push('leaves the picture: ' + t.words);
            if (t.room && !inside(t.box, t.room)) wrong.push('leaves its box: ' + t.words);
        }
        texts.sort((a, b) => a.box.top - b.box.top);
        for (let i = 0; i < texts.length; i++)
            for (let j = i + 1; j < texts.length && texts[j].box.top < texts[i].box.bottom; j++) {
                const a = texts[i].box, b = texts[j].box;
                const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                // Line boxes are taller than letters: a quarter of a line is empty.
                if (wide > 1 && high > 0.3 * Math.min(a.height, b.height))
                    wrong.push('overlap: ' + texts[i].words + ' and ' + texts[j].words);
            }
        return wrong;
    });
}"""


class Opened:
    """A page from a file, without a network, and its messages and requests."""

    def __init__(self, browser, path, bypass=False, **options):
        self.context = browser.new_context(offline=True, bypass_csp=bypass, **options)
        self.page, self.told, self.asked = self.context.new_page(), [], []
        self.page.on("console", lambda message: self.told.append(message.text))
        self.page.on("pageerror", lambda error: self.told.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def check_quiet(self, *folders):
        """Check that the page printed no message, and loaded only files of these folders."""
        assert self.told == []
        allowed = ("data:", "blob:", *(folder.as_uri() for folder in folders))
        assert [url for url in self.asked if not url.startswith(allowed)] == []

    def section(self, number):
        return self.page.locator(".exercise").nth(number)

    def verdict(self, number):
        return self.section(number).locator(".verdict").text_content()

    def score(self):
        return self.page.locator(".score").text_content()


def violations(page, **options):
    """Return the violations of accessibility rules on a page."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, **options).response["violations"]
    return [f"{v['id']}: {v['help']} {v['nodes'][0]['html'][:200]}" for v in found]


def faults_of(page, svgs):
    """Return the faulty texts of each picture. One page contains all pictures.

    The next call reuses the page, because loading takes longer than measuring.
    """
    found = page.evaluate(MEASURE, svgs)
    if found is None:
        page.set_content("<body style='margin:0' data-measures='texts'></body>")
        found = page.evaluate(MEASURE, svgs)
    return found

"""Pages in Chromium."""

import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = ["--disable-gpu", "--disable-quic"]  # Playwright adds others, such as --headless
pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")]


def needs_browser(test):
    """Mark a test that opens pages in Chromium."""
    for mark in pytestmark:
        test = mark(test)
    return test


class Opened:
    """A page from a file, without a network, and its messages and requests."""

    def __init__(self, browser, path, bypass=False, link="", **options):
        self.context = browser.new_context(offline=True, bypass_csp=bypass, **options)
        self.page, self.messages, self.requests = self.context.new_page(), [], []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(f"{path.as_uri()}#{link}" if link else path.as_uri())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def check_quiet(self, *folders):
        """Check that the page printed no message, and loaded only files of these folders."""
        assert self.messages == []
        allowed = ("data:", "blob:", *(folder.as_uri() for folder in folders))
        assert [url for url in self.requests if not url.startswith(allowed)] == []

    def section(self, number):
        return self.page.locator(".exercise").nth(number)

    def answer(self, number, typed):
        """Type an answer to a question, and press Enter."""
        self.section(number).locator("input").fill(str(typed))
        self.section(number).locator("input").press("Enter")

    def verdict(self, number):
        return self.section(number).locator(".verdict").text_content()

    def score(self):
        return self.page.locator(".score").text_content()


def violations(page, **options):
    """Return the violations of accessibility rules on a page."""
    from axe_playwright_python.sync_playwright import Axe

    results = Axe().run(page, **options).response["violations"]
    return [f"{v['id']}: {v['help']} {v['nodes'][0]['html'][:200]}" for v in results]

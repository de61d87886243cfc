"""Settings of the whole suite."""

import pytest
from hypothesis import settings
from in_browser import CHROMIUM, FLAGS

settings.register_profile("suite", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("suite")


@pytest.fixture(scope="session")
def browser():
    """Chromium, started once; a test opens a page in it, or a context, and closes that."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def page(browser):
    """A page in which pictures are measured, one after another."""
    return browser.new_page()

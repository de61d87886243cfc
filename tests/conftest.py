"""Settings of the whole suite."""

import gc

import pytest
from hypothesis import settings
from in_browser.chromium import CHROMIUM, FLAGS

settings.register_profile("suite", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("suite")

# A third of the time would go into looking for garbage among graphs, and among ten thousand tests.
gc.set_threshold(100_000, 20, 100)


def pytest_collection_modifyitems(items):
    """Files with tests in a browser come first: no worker is left alone with a long one."""
    first = {item.path for item in items if item.get_closest_marker("browser")}
    items.sort(key=lambda item: item.path not in first)


def pytest_collection_finish():
    """The tests themselves are no garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def browser():
    """Chromium, started once a file; a test opens a page in it, or a context, and closes that.

    Not once for all: while it is open, Playwright's event loop counts as running in this thread,
    and code that asks for one would find it.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def page(browser):
    """A page in which pictures are measured, one after another."""
    return browser.new_page()

"""Settings and fixtures of all tests."""

import gc
import os
import sys

import pytensor
import pytest
from hypothesis import Phase, settings
from in_browser.chromium import CHROMIUM, FLAGS
from in_browser.jupyter_lab import TIMEOUT, jupyter_lab
from traitlets.config import Config

settings.register_profile("suite", deadline=None, derandomize=True, max_examples=30)
settings.register_profile("mutants", settings.get_profile("suite"), phases=[Phase.generate])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

# The import of this module takes two seconds. jsonschema, a library of Jupyter, works without it.
sys.modules["rfc3987_syntax"] = None

# With the default thresholds, garbage collection takes a third of the time of the tests.
gc.set_threshold(100_000, 20, 100)


def pytest_collection_modifyitems(config, items):
    """Run files with browser tests first, and then the others from large to small.

    Without xdist, for example in `bench/mutants.py`, the order is the order of the command line.
    """
    if not config.pluginmanager.hasplugin("xdist"):
        return
    first = {item.path for item in items if item.get_closest_marker("browser")}
    items.sort(key=lambda item: (item.path not in first, -item.path.stat().st_size))


def pytest_collection_finish():
    """Exclude the tests from garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, which is the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def fast_compile():
    """PyTensor compiles functions without most rewrites and without C++, to save time."""
    with pytensor.config.change_flags(mode="FAST_COMPILE", cxx=""):
        yield


@pytest.fixture(scope="session")
def local_kernels(tmp_path_factory):
    """Settings of kernels with sockets in a folder: another process can take a port first."""
    path = tmp_path_factory.mktemp("kernels") / "kernel"
    return Config({"KernelManager": {"transport": "ipc", "ip": str(path)}})


@pytest.fixture(scope="module")
def browser():
    """Chromium, started for each file: Playwright's event loop runs until the browser closes.

    Tests in other files check for a running event loop, and must not find this loop.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        browser.on("context", lambda context: context.set_default_timeout(1000 * TIMEOUT))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def page(browser):
    """A page for measurements of pictures."""
    return browser.new_page()


@pytest.fixture(scope="session")
def jupyter(tmp_path_factory):
    """A JupyterLab server, started once per worker."""
    with jupyter_lab(tmp_path_factory.mktemp("jupyter")) as server:
        yield server

"""Every lesson as a page in Chromium, without a network: pictures, questions, no messages."""

import re

import pytest
from in_browser.chromium import pytestmark  # noqa: F401 (marks)
from sites import LESSONS, ROOT, build

REFERENCE = [f"reference/{path.stem}" for path in (ROOT / "notebooks/reference").glob("*.md")]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return build(ROOT / "notebooks", tmp_path_factory.mktemp("lessons") / "site")


def source(name):
    """Return the source of a page."""
    return (ROOT / "notebooks" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*(path.stem for path in LESSONS), "index", *REFERENCE])
def test_a_lesson_is_a_page_that_works_without_a_network(browser, site, name):
    told, requested = [], []
    context = browser.new_context(offline=True, viewport={"width": 1000, "height": 800})
    page = context.new_page()
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("request", lambda request: requested.append(request.url))
    page.goto((site / f"{name}.html").as_uri())
    exercises = page.locator(".exercise")
    asked = re.findall(r"visual\.(?:Question|Exercise)\(", source(name))
    assert exercises.count() == len(asked)
    assert asked or not name[0].isdigit()
    for exercise in exercises.all():
        exercise.locator(".show").click()
        assert exercise.locator(".verdict").get_attribute("data-outcome") == "given"
        assert len(exercise.locator(".verdict").text_content()) > 20
    for machine in page.locator(".scantape-machine").all()[:1]:
        for key in ("Home", "End"):
            machine.get_by_label("moment").press(key)
            ends = {"Home": "0", "End": machine.get_attribute("data-moments")}
            assert machine.get_attribute("data-moment") == ends[key]
    assert page.evaluate("document.body.scrollWidth <= innerWidth")
    context.close()
    assert told == []
    assert all(url.startswith((f"{site.as_uri()}/", "data:", "blob:")) for url in requested), (
        requested
    )

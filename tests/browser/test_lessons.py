"""Every lesson works as a page in Chromium without a network, and prints no messages."""

import re

import pytest
from in_browser.chromium import Opened, pytestmark  # noqa: F401 (marks)
from sites import LESSONS, ROOT, built_once

REFERENCE = [f"reference/{path.stem}" for path in (ROOT / "notebooks/reference").glob("*.md")]


@pytest.mark.parametrize("name", [*(path.stem for path in LESSONS), "index", *REFERENCE])
def test_a_lesson_is_a_page_that_works_without_a_network(browser, name):
    site, size = built_once(ROOT / "notebooks"), {"width": 1000, "height": 800}
    with Opened(browser, site / f"{name}.html", viewport=size) as opened:
        check_page(opened.page, name)
    opened.check_quiet(site)


def check_page(page, name):
    """Show all answers, move the first machine to both ends, and check the width of the page."""
    exercises = page.locator(".exercise")
    source = (ROOT / "notebooks" / f"{name}.md").read_text(encoding="utf-8")
    questions = re.findall(r"visual\.(?:Question|Exercise)\(", source)
    assert exercises.count() == len(questions)
    assert questions or not name[0].isdigit()
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

"""Every lesson as a page, in Chromium, with the network cut: pictures, questions, no complaint."""

import pytest
from building import build
from in_browser.chromium import CHROMIUM
from sites import LESSONS, ROOT

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: no lesson is opened"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("lessons") / "site"
    build(ROOT / "notebooks", out)
    return out


@pytest.mark.parametrize("name", [*(path.stem for path in LESSONS), "index"])
def test_a_lesson_is_a_page_that_works_without_a_network(browser, site, name):
    told, asked = [], []
    context = browser.new_context(offline=True, viewport={"width": 1000, "height": 800})
    page = context.new_page()
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / f"{name}.html").as_uri())
    exercises = page.locator(".exercise")
    assert exercises.count() >= (3 if name != "index" else 0)
    for exercise in exercises.all():
        exercise.locator(".show").click()
        assert exercise.locator(".verdict").get_attribute("data-outcome") == "given"
        assert len(exercise.locator(".verdict").text_content()) > 20
    for slider in page.get_by_label("step", exact=True).all()[:1]:  # not all have pictures to walk
        walked = page.locator("[data-current-step]").first
        slider.focus()
        page.keyboard.press("End")
        last = walked.get_attribute("data-current-step")
        page.keyboard.press("Home")
        assert walked.get_attribute("data-current-step") != last
    assert page.evaluate("document.body.scrollWidth <= innerWidth")
    page.screenshot(path=site / f"{name}.png", full_page=True)
    context.close()
    assert told == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked), asked

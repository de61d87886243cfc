"""Numbers that a page computes from other values of a loop: those of PyTensor, as Python prints."""

import json

import numpy as np
import pytest
from in_browser.chromium import Opened, pytestmark  # noqa: F401 (marks)

import visual
from lab.loops import gallery
from lab.notation import number_text
from lab.scans.node import outer_inputs
from lab.traces.program import program_of
from lab.traces.run import Ready, run
from visual.atlas.followed import EXACT, NUMBER, Slot, followed, printed, texts_of
from visual.atlas.grid import Combination, own
from visual.atlas.live import NEAR, _known, _told, _values, live, near
from visual.widgets.module import NUMBERS

COUNT = 1000
PICTURES = [
    ("square", 1, "tapes"),
    ("square", 2, "moment"),
    ("gap", 1, "tapes"),
    ("coupled", 2, "unrolled"),
    ("logistic", 1, "equations"),
    ("fibonacci", 2, "tapes"),
    ("extra", 1, "tapes"),
    ("delay", 0, "unrolled"),
    ("rnn", 1, "moment"),
]
COMPUTE = """([data, given]) => given.map((one) => {
    const {texts, stories} = scantape.textsOf(data, one);
    return [[...texts], [...stories]];
})"""
ATLAS = visual.Atlas(
    ["square", "newton"],
    taps={"square": [(-1,)], "newton": [{}]},
    costs=["last"],
    views=["tapes", "moment"],
)


@pytest.fixture(scope="module")
def page(browser):
    opened = browser.new_page()
    source = NUMBERS[0].read_text(encoding="utf-8")
    opened.add_script_tag(content=f"{{{source}; window.scantape = {{textsOf, numberText}};}}")
    yield opened
    opened.close()


def chosen(name, order):
    loop = gallery.loops[name]
    return Combination(loop, own(loop), order, "last")


def others(base, count):
    """Values of a loop, not far from its own."""
    random = np.random.default_rng(count)
    spread = {name: 1 + 0.2 * random.normal(size=(count, len(v))) for name, v in base.items()}
    return [
        {name: (np.array(v) * spread[name][one]).tolist() for name, v in base.items()}
        for one in range(count)
    ]


def different(found, wanted):
    """The words that are not those wanted; of the numbers of tooltips, twelve digits are.

    What full colours stand for is not computed on a page, which shows ⋯.
    """

    def words(texts):
        return [word for text in texts for word in text.split(" ")]

    assert len(words(found)) == len(words(wanted))
    return [
        (mine, word)
        for mine, word in zip(words(found), words(wanted), strict=True)
        if mine != word and "…" not in word and not _is_long(mine, word)
        if (mine, word[0]) != ("⋯", "±")
    ]


def _is_long(mine, word):
    numbers = NUMBER.findall(word)
    if not any(len(number) > 10 for number in numbers) or len(NUMBER.findall(mine)) != len(numbers):
        return False
    return np.allclose([*map(float, NUMBER.findall(mine))], [*map(float, numbers)], rtol=1e-11)


@pytest.mark.parametrize(("name", "order", "view"), PICTURES)
def test_a_picture_of_other_values_is_that_of_draw(page, name, order, view):
    at = chosen(name, order)
    picture = at.picture(view, "light")
    data = json.loads(json.dumps(live(at, view, picture)))
    given = others(data["base"], 4)
    for one, (texts, stories) in zip(given, page.evaluate(COMPUTE, [data, given]), strict=True):
        shapes = {name: np.shape(value) for name, value in _values(at).items()}
        values = {name: np.reshape(value, shapes[name]) for name, value in one.items()}
        drawn = at.picture(view, "light", values)
        for before, after, found in (
            (texts_of(picture.svg()), texts_of(drawn.svg()), dict(texts)),
            (_told(picture), _told(drawn), dict(stories)),
        ):
            mine = [found.get(number, text) for number, text in enumerate(before)]
            assert different(mine, after) == []
        assert len(texts) > 2


def run_of(at, given):
    """What PyTensor makes of values: a number for every place that is left at the end of a Scan."""
    graph = at.loop.build()
    derived = at.loop.derivative(at.order, graph=graph)
    numbers = program_of(derived.values, derived.given, graph.node.outputs[:1]).numbers
    ready = Ready()
    for one in given:
        values = {graph.inputs[name]: value for name, value in one.items()}
        _, recordings = run([*derived.values, *graph.node.outputs[:1]], values, ready=ready)
        found = {}
        for recording, scan in zip(recordings, numbers.scans, strict=True):
            held = {tape.argument: tape.final for tape in scan.held}
            for number, part in enumerate(outer_inputs(recording.parts)):
                if number in held:
                    pairs = zip(held[number], recording.final[part], strict=True)
                    found |= {int(place): float(value) for place, value in pairs}
        yield found


def is_left(part, run):
    """Whether a part is a number of four digits, and is known."""
    return isinstance(part, Slot) and part.digits != EXACT and part.place in run


@pytest.fixture(scope="module")
def thousand():
    """The numbers of a picture that are left on tapes, and a thousand values with their runs."""
    at = chosen("gap", 1)
    first, *rest = near(_values(at))
    drawn = [at.picture("tapes", "light", one) for one in ({}, first, *rest)]
    known = _known(at, True, NEAR[0])
    texts = followed([texts_of(one.svg()) for one in drawn], known)
    given = others({"x": [0.3, 0.6, 0.9]}, COUNT)
    runs = list(run_of(at, given))
    left = {
        number: parts
        for number, parts in texts.items()
        if all(isinstance(part, str) or is_left(part, runs[0]) for part in parts)
    }
    assert len(left) > 30
    return known.program.instructions.lines, left, given, runs


def plain(lines, texts):
    """As a page has it: no tuples."""
    data = {"lines": lines, "equations": [], "texts": [*texts.items()], "stories": []}
    return json.loads(json.dumps(data))


def wrong(page, lines, texts, given, runs):
    """How many of all texts are not as Python prints the numbers of PyTensor."""
    data = plain(lines, texts)
    count = 0
    for (found, _), numbers in zip(page.evaluate(COMPUTE, [data, given]), runs, strict=True):
        for number, text in found:
            parts = (
                p if isinstance(p, str) else printed(numbers[p[0]], p[1]) for p in texts[number]
            )
            count += text != "".join(parts)
    return count


def test_a_thousand_values_are_as_python_prints_them(page, thousand):
    assert len(thousand[2]) == COUNT
    assert wrong(page, *thousand) == 0


def test_a_wrong_formula_or_a_wrong_digit_is_seen(page, thousand):
    lines, texts, given, runs = thousand
    place = next(n for n, line in enumerate(lines) if line[0] == "cos")
    changed = [*lines[:place], ("sin", *lines[place][1:]), *lines[place + 1 :]]
    assert wrong(page, changed, texts, given[:20], runs[:20]) > 20
    number, parts = next((n, p) for n, p in texts.items() if not isinstance(p[0], str))
    other = {**texts, number: [(parts[0][0], 3), *parts[1:]]}
    data = plain(lines, other)
    ((found, _),) = page.evaluate(COMPUTE, [data, given[:1]])
    assert dict(found)[number] != printed(runs[0][parts[0][0]], 4)


NUMBERS_TO_PRINT = [
    *(0.0, -0.0, 1.0, -2.5, 0.1 + 0.2, 1.0625, 1.0635, 0.00012345, 0.000012345, 12345.0, 99995.0),
    *(123456789.0, 1e300, -1e-300, 5e-324, 2 / 3, 0.99999, 9999.5, 1e22, 0.5, 1e-5, 123.45, 7e-7),
    *(float("inf"), float("-inf"), float("nan")),
]


@pytest.mark.parametrize("digits", [2, 3, 4, 5, 7, 10, 17])
def test_numbers_are_printed_as_python_does(page, digits):
    random = np.random.default_rng(digits)
    halves = (random.integers(1, 10**5, 300) + 0.5) / 2.0 ** random.integers(0, 8, 300)
    some = [*random.normal(size=700) * 10.0 ** random.integers(-9, 9, 700), *halves]
    told = [str(number).replace("inf", "Infinity") for number in [*NUMBERS_TO_PRINT, *some]]
    script = "([all, digits]) => all.map((n) => scantape.numberText(Number(n), digits))"
    wanted = [number_text(float(number), digits) for number in told]
    assert page.evaluate(script, [told, digits]) == wanted


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return ATLAS.save(tmp_path_factory.mktemp("live") / "lesson.html")


def opened_at(browser, path, address):
    opened = Opened(browser, path)
    opened.page.goto(f"{path.as_uri()}#{address}")
    opened.page.wait_for_selector("[data-shown]")
    return opened


def written(page):
    return page.locator(".picture svg").locator("text, title, desc").all_text_contents()


def drawn(x, order=1, view="tapes"):
    return texts_of(chosen("square", order).picture(view, "light", {"x": x}).svg())


def test_a_value_is_typed_dragged_and_kept_in_the_address(browser, path):
    with opened_at(browser, path, "view=tapes") as opened:
        page = opened.page
        page.fill(".scantape-values input[type=text]", "1.25")
        page.press(".scantape-values input[type=text]", "Enter")
        assert different(written(page), drawn(1.25)) == []
        page.wait_for_function("() => location.hash.includes('at:x=1.25')")
        cell = page.locator("[data-cell]").first
        box = cell.bounding_box()
        page.mouse.move(box["x"] + 20, box["y"] + 10)
        page.mouse.down()
        page.mouse.move(box["x"] + 40, box["y"] + 10, steps=4)
        page.mouse.up()
        assert different(written(page), drawn(1.45)) == []
        told = page.text_content("pre[aria-label='as text']")
        assert told.startswith("This text has the numbers with which the page was made.")
        cell.focus()
        page.keyboard.press("Enter")
        story = page.locator(".scantape-story")
        assert "x₀ = 1.45" in story.inner_text()
        story.locator("input[type=range]").focus()
        page.keyboard.press("ArrowRight")
        assert different(written(page), drawn(1.46)) == []
        assert "x₀ = 1.46" in story.inner_text()
        page.locator("input[name=order][value='2']").check()
        page.wait_for_selector("[data-shown='square x:-1 2 last tapes']")
        assert different(written(page), drawn(1.46, 2)) == []
        page.wait_for_function("() => location.hash.includes('order=2')")
        address = page.evaluate("location.hash")
        page.goto("about:blank")
        page.goto(path.as_uri() + address)
        page.wait_for_selector("[data-shown='square x:-1 2 last tapes']")
        assert different(written(page), drawn(1.46, 2)) == []
        page.get_by_role("button", name="as they were").click()
        assert written(page) == drawn(0.95, 2)
        assert "at:" not in page.get_attribute(".scantape-link a", "href")
        assert opened.told == []


def test_a_page_says_what_it_does_not_compute(browser, path):
    with opened_at(browser, path, "loop=newton&view=tapes") as opened:
        told = opened.page.inner_text(".scantape-values")
        assert "The numbers of this picture are not computed here. newton stops by itself" in told
        assert opened.page.locator(".scantape-values input").count() == 0
    with opened_at(browser, path, "view=tapes&at:x=nan&at:y=3") as opened:
        assert written(opened.page) == drawn(0.95)
        assert opened.told == []


def test_it_keeps_up_with_who_drags(browser, path):
    with opened_at(browser, path, "order=2&view=tapes") as opened:
        frames = opened.page.evaluate(
            """async () => {
                const slider = document.querySelector('.scantape-values input[type=range]');
                const start = performance.now();
                for (let n = 0; n < 30; n++) {
                    slider.value = 0.9 + n / 100;
                    slider.dispatchEvent(new Event('input', {bubbles: true}));
                    await new Promise(requestAnimationFrame);
                }
                return 30_000 / (performance.now() - start);
            }"""
        )
        assert frames > 20  # 60 on a machine that does nothing else

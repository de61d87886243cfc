"""Numbers that a page computes from other values of a loop: those of PyTensor, as Python prints."""

import json
import re

import numpy as np
import pytest
from in_browser.chromium import Opened, pytestmark  # noqa: F401 (marks)

import visual
from lab.loops import gallery
from lab.notation import number_text
from lab.traces.program import program_of
from lab.traces.run import Ready, run
from visual.atlas.grid import Combination, own, pattern
from visual.atlas.known import EXACT, NUMBER, Slot, printed
from visual.atlas.live import (
    NEAR,
    _known,
    _told,
    _values,
    coloured,
    followed,
    live,
    near,
    texts_of,
)
from visual.scene.theme import LIGHT, heat_colour, shades
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
    ("rnn", 1, "tapes"),
    ("rnn", 2, "stepgraph"),
    ("lookup", 1, "tapes"),
]
COMPUTE = """(asked) => {
    const [data, given, shades] = JSON.parse(asked);
    return JSON.stringify(given.map((one) => {
        const {texts, stories, patches} = scantape.computedPicture(data, one, shades);
        return [[...texts], [...stories], patches.map((one) => one && [one.outline, one.colour])];
    }));
}"""
ATLAS = visual.Atlas(
    ["square", "newton", "rnn"],
    taps={"square": [(-1,)], "newton": [{}], "rnn": [{}]},
    costs=["last"],
    views=["tapes", "moment"],
)


@pytest.fixture(scope="module")
def page(browser):
    opened = browser.new_page()
    source = NUMBERS[0].read_text(encoding="utf-8")
    names = "{computedPicture, numberText}"
    opened.add_script_tag(content=f"{{{source}; window.scantape = {names};}}")
    yield opened
    opened.close()


def chosen(name, order):
    loop = gallery.loops[name]
    return Combination(loop, own(loop), order, "last")


def others(base, count):
    """Values of a loop, not far from its own; what is zero is one of them."""
    random = np.random.default_rng(count)
    spread = {name: 0.2 * random.normal(size=(count, len(v))) for name, v in base.items()}
    size = {name: np.where(np.array(v) == 0, 1, v) for name, v in base.items()}
    return [
        {name: (np.array(v) + size[name] * spread[name][one]).tolist() for name, v in base.items()}
        for one in range(count)
    ]


def computed(page, data, given):
    """What the page makes of values: texts, lines of stories, and outlines with colours."""
    asked = json.dumps([data, given, shades(LIGHT)])  # one string is faster than its parts
    return json.loads(page.evaluate(COMPUTE, asked))


def painted(svg):
    """The coloured entries of a picture, each with its colour, in order."""
    patch = r"(?:M[-\d.]+ [-\d.]+h[\d.]+v[\d.]+h-[\d.]+)+"
    found = re.findall(rf'<path d="({patch})" fill="(.*?)"/>', svg)
    return [(outline, colour) for path, colour in found for outline in re.findall("M[^M]*", path)]


def different(found, wanted):
    """The words that are not those wanted; of the numbers of tooltips, twelve digits are.

    A norm beside a strip may have a digit more than there is room for.
    """

    def words(texts):
        return [word for text in texts for word in text.replace("‖ ", "‖").split(" ")]

    assert len(words(found)) == len(words(wanted))
    return [
        (mine, word)
        for mine, word in zip(words(found), words(wanted), strict=True)
        if mine != word and "…" not in word and not _is_long(mine, word)
        if word[0] != "‖" or number_text(float(mine.split("‖")[1]), 3) != word.strip("‖")
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
    data = live(at, view, picture)
    given = others(data["base"], 4)
    made = computed(page, data, given)
    for one, (texts, stories, patches) in zip(given, made, strict=True):
        shapes = {name: np.shape(value) for name, value in _values(at).items()}
        values = {name: np.reshape(value, shapes[name]) for name, value in one.items()}
        drawn = at.picture(view, "light", values)
        for before, after, found in (
            (texts_of(picture.svg()), texts_of(drawn.svg()), dict(texts)),
            (_told(picture), _told(drawn), dict(stories)),
        ):
            mine = [found.get(number, text) for number, text in enumerate(before)]
            assert different(mine, after) == []
        mine, wanted = sorted(map(tuple, patches)), sorted(painted(drawn.svg()))
        if view == "stepgraph":  # its cards are as wide as what is written in them
            mine, wanted = (sorted(colour for _, colour in some) for some in (mine, wanted))
        assert mine == wanted
        assert len(texts) > 2


def test_a_norm_is_computed_whose_shape_has_no_room_with_other_values(page):
    loop = gallery.loops["rnn"]
    at = Combination(loop, pattern(loop, (-2,)), 2, "last")
    data = live(at, "tapes", at.picture("tapes", "light"))
    (given,) = others(data["base"], 1)
    ((texts, *_),) = computed(page, data, [given])
    values = {n: np.reshape(given[n], np.shape(value)) for n, value in _values(at).items()}
    drawn = texts_of(at.picture("tapes", "light", values).svg())
    before = texts_of(at.picture("tapes", "light").svg())
    mine = [dict(texts).get(number, text) for number, text in enumerate(before)]
    assert [pair for pair in different(mine, drawn) if pair[1][0] != "‖"] == []
    assert not [text for text in drawn if re.search(r"-0[,\]]", text)]  # there is no −0
    norms = [(mine, drawn[number]) for number, mine in texts if drawn[number].count("‖") == 2]
    assert {word.endswith("‖") for _, word in norms} == {True, False}
    for mine, word in norms:
        assert number_text(float(mine.split("‖")[1]), 3) == number_text(
            float(word.split("‖")[1]), 3
        )


def runs_of(at, given, known):
    """What PyTensor makes of values: a number for every place that is given or left on a tape.

    A norm of such numbers is that of numpy.  Places may have one number, as x and x + 0.
    """
    lines, same = known.program.instructions.lines, {}
    for place, values in known._values.items():
        same.setdefault(tuple(values), []).append(place)
    graph = at.loop.build()
    derived = at.loop.derivative(at.order, graph=graph)
    numbers = program_of(derived.values, derived.given, graph.node.outputs[:1]).numbers
    ready, shapes = Ready(), {name: value.shape for name, value in _values(at).items()}
    for one in given:
        values = {graph.inputs[n]: np.reshape(value, shapes[n]) for n, value in one.items()}
        _, recordings = run([*derived.values, *graph.node.outputs[:1]], values, ready=ready)
        found = {n: x[1] for n, x in enumerate(lines) if x[0] == "constant"}
        found |= {n: one[x[1]][x[2]] for n, x in enumerate(lines) if x[0] == "input"}
        for recording, scan in zip(recordings, numbers.scans, strict=True):
            held = {tape.argument: tape.final for tape in scan.held}
            for number, part in enumerate(recording.parts.variables):
                if number in held:
                    places, final = held[number].ravel(), recording.final[part].ravel()
                    found |= dict(zip(map(int, places), map(float, final), strict=True))
        for number, line in enumerate(lines):
            squares = lines[line[1]][1:] if line[0] == "sqrt" else ()
            if squares and all(lines[n][0] == "Sqr" and lines[n][1] in found for n in squares):
                found[number] = float(np.linalg.norm([found[lines[n][1]] for n in squares]))
        for places in same.values():
            known_ones = [found[place] for place in places if place in found]
            found |= dict.fromkeys(places, known_ones[0]) if known_ones else {}
        yield found


def is_left(part, run):
    """Whether a part is a number of four digits, and is known."""
    return isinstance(part, Slot) and part.digits != EXACT and part.place in run


@pytest.fixture(scope="module", params=["gap", "rnn"])
def thousand(request):
    """What a picture shows that is left on tapes, and a thousand values with their runs."""
    at = chosen(request.param, 1)
    drawn = [at.picture("tapes", "light", one) for one in ({}, *near(_values(at)))]
    known = _known(at, True, NEAR[0])
    strips = coloured(drawn, known)
    texts = followed([texts_of(one.svg()) for one in drawn], known)
    lines = known.program.instructions.lines
    given = others({name: value.ravel() for name, value in _values(at).items()}, COUNT)
    runs = list(runs_of(at, given, known))
    once = {tuple(parts): number for number, parts in texts.items()}
    left = {
        number: parts
        for parts, number in once.items()
        if all(isinstance(part, str) or is_left(part, runs[0]) for part in parts)
    }
    painted = [(*pair, "", "") for pair in dict.fromkeys(one[:2] for one in strips)]
    assert len(left) > 10
    assert bool(painted) == (request.param == "rnn")
    return lines, left, painted, given, runs


def data_of(lines, texts, strips=()):
    data = {"lines": lines, "equations": [], "texts": [*texts.items()], "stories": []}
    return {**data, "strips": strips}


def as_python(parts, numbers):
    return "".join(p if isinstance(p, str) else printed(numbers[p[0]], p[1]) for p in parts)


def wrong(page, lines, texts, strips, given, runs):
    """How many texts, and colours, are not what Python makes of the numbers of PyTensor."""
    told, coloured = 0, 0
    made = computed(page, data_of(lines, texts, strips), given)
    for (found, _, patches), numbers in zip(made, runs, strict=True):
        told += sum(text != as_python(texts[number], numbers) for number, text in found)
        scales = {one[1] for one in strips}
        full = {one: max(abs(numbers[entry]) for entry in lines[one][1:]) for one in scales}
        for (_, colour), (place, scale, *_) in zip(patches, strips, strict=True):
            coloured += colour != heat_colour(numbers[place] / full[scale], LIGHT)
    return told, coloured


def test_a_thousand_values_are_as_python_prints_them(page, thousand):
    assert len(thousand[-1]) == COUNT
    assert wrong(page, *thousand) == (0, 0)


def test_a_wrong_formula_or_a_wrong_digit_is_seen(page, thousand):
    lines, texts, strips, given, runs = thousand
    place = next(n for n, line in enumerate(lines) if line[0] in ("cos", "tanh"))
    changed = [*lines[:place], ("sin", *lines[place][1:]), *lines[place + 1 :]]
    told, coloured = wrong(page, changed, texts, strips, given[:20], runs[:20])
    assert told > 20
    assert coloured > 20 or not strips
    other = {n: [p if isinstance(p, str) else (p[0], 3) for p in one] for n, one in texts.items()}
    ((found, *_),) = computed(page, data_of(lines, other), given[:1])
    same = [n for n, text in found if text == as_python(texts[n], runs[0])]
    assert len(same) < len(texts) / 4


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


def test_strips_of_other_values_are_those_of_draw(browser, path):
    with opened_at(browser, path, "loop=rnn&view=tapes&theme=dark") as opened:
        page, at = opened.page, chosen("rnn", 1)
        before = written(page), painted_in(page)
        field = page.get_by_label("x₁[0], exactly")  # which is zero
        field.fill("0.8")
        field.press("Enter")
        values = {**_values(at)}
        values["x"] = values["x"].copy()
        values["x"][1, 0] = 0.8
        wanted = at.picture("tapes", "dark", values).svg()
        assert different(written(page), texts_of(wanted)) == []
        assert painted_in(page) == painted(wanted)
        page.get_by_role("button", name="as they were").click()
        assert (written(page), painted_in(page)) == before
        assert opened.told == []


def painted_in(page):
    paths = """all => all.map((one) =>
        `<path d="${one.getAttribute('d')}" fill="${one.getAttribute('fill')}"/>`).join("")"""
    return painted(page.locator(".picture svg path").evaluate_all(paths))


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

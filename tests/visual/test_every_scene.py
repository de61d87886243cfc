"""Draw every picture once, and run all checkers.

A case is a loop at an order, or another group of pictures. The table of checkers is in
`pictures.checkers`. Kinds and options come from the catalog, so the test includes new kinds and
options.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from eager.programs import FOLDED, RUNS, STRANGE, TWO_TAPES
from pictures.checkers import CHECKERS, SMALLEST, WIDEST, Picture, conflicts, problems
from pictures.routing import DRAWN
from strange_loops import HOSTILE, LONG, LOOPS, TAPES, WRT, loop_of
from twins import printed_with_two_seeds

import lab
import visual
from lab.errors import ArgumentError, GraphError
from lab.loops import gallery
from lab.tape import Tape
from visual.drawing.catalogue import PICTURES
from visual.options import NO_LEGEND, WIDTH
from visual.pictures.taps import taps
from visual.scene.shapes import Arrow, Box, Group, Polyline, Scene, Text, replaced
from visual.scene.theme import LIGHT, THEMES, Role

MORE = {
    "forty steps": LOOPS["a thousand steps"].with_steps(40),
    "far taps": gallery.loops["square"].with_taps({"x": (-3, -1)}).with_steps(3),
    "three": lab.Loop.from_text(
        "x = x*y; y = y + z; z = sin(z)*x", {"x": 0.5, "y": 0.6, "z": 0.7}, n_steps=3
    ),
}
EVERY = {**gallery.loops, **LOOPS, **MORE}
AT = [
    *((name, order) for name in gallery.loops for order in (1, 2, 3)),
    *((name, 2) for name in LOOPS),
    ("far taps", 4),
]
WITH_OPTIONS = ("square", "gap", "coupled", "rnn", "three", "forty steps")
# Values of options that are not switches, at order 2, which has four Scans.
VALUES = {"scan": (2,), "step": (0,), "steps": ("1:3",), "width": (360, "85mm", "170mm")}
VALUES["rule"] = ("never-accumulate",)
# Plots take longest; these loops have long curves, several curves, and arrays.
PLOTS, PLOTTED = ("values", "influence", "memory"), ("forty steps", "coupled", "rnn")
# Pictures of these cases show the same quantities of a loop.
COMPARED = {*AT, ("every Scan", None), ("step graphs", None)}
NARROW, RIGID = (360, "85mm"), ("phases", "stepgraph")


def of_loop(name: str, order: int) -> Iterator[Picture]:
    """Draw all kinds of pictures of a loop without options."""
    for kind in PICTURES:
        yield Picture(name, kind, draw(name, kind, order=order), order=order)
    yield Picture(name, "tapes", draw(name, "tapes", order=order, width=360), {"width": 360})


def draw(name, kind, **options):
    return visual.draw(EVERY[name], kind, **WRT.get(name, {}), **options)


def with_options(name: str) -> Iterator[Picture]:
    """Draw all kinds of pictures of a loop with each of their options."""
    for kind, known in PICTURES.items():
        if kind in PLOTS and name not in PLOTTED:
            continue
        for option in (*known.options, WIDTH, NO_LEGEND):
            values = VALUES.get(option.name, (True,) if option.action == "store_true" else None)
            assert values is not None, f"VALUES lacks {option.name}"
            for value in values:
                chosen = {option.name: value}
                message = ""
                try:
                    yield Picture(name, kind, draw(name, kind, order=2, **chosen), chosen)
                except ArgumentError as error:  # the picture cannot omit columns
                    message = str(error)
                if message:
                    assert kind in RIGID, message
                    assert re.match(rf"width = '{value}': .* needs \d+", message)
                    assert value in NARROW


def figures(_: str) -> Iterator[Picture]:
    for number in range(1, 9):
        yield Picture(f"figure {number}", "unrolled", visual.figure(number), {"all": True})


def routes(_: str) -> Iterator[Picture]:
    for name, case in DRAWN.items():
        scene = visual.routing(case.name, case.inputs, **case.metadata)
        yield Picture(name, "routing", scene)
    odd = [float("nan"), -1.23456e-300, 1e300, 123456789.123]
    mixed = visual.routing("where", (odd, odd), condition=[True, False, True, True])
    yield Picture("odd numbers", "routing", mixed)
    pair = [complex(1.23456e-100, -1.23456e200)]
    yield Picture("complex numbers", "routing", visual.routing("cat", [pair, pair], dim=0))


def eager_tapes(_: str) -> Iterator[Picture]:
    for name, run in {**RUNS, **FOLDED}.items():
        recorded = run()
        for tape in range(len(recorded.tapes)):
            yield Picture(name, "eager", visual.eager(recorded, tape=tape or None))
    for name, wrt in TWO_TAPES:
        yield Picture(name, "two tapes", visual.two_tapes(gallery.loops[name], wrt=wrt))
    for name, loop in STRANGE.items():
        yield Picture(name, "two tapes", visual.two_tapes(loop))


def transposes(_: str) -> Iterator[Picture]:
    strange = ("hostile name", "long name", "matrix", "wide vector", "huge", "five states")
    for name in (*gallery.loops, *strange):
        for order in (1, 2):
            try:
                scene = visual.transposed(EVERY[name].trace(order=order), step=0)
            except GraphError:
                continue
            yield Picture(name, "transposed", scene)
        if name != "undefined":
            product = lab.dot_product(EVERY[name])
            yield Picture(name, "dot product", visual.dot_product(product))


def tap_pictures(_: str) -> Iterator[Picture]:
    for name, tape in TAPES.items():
        for variable in (name, LONG, HOSTILE):
            tapes = {variable: tape, f"{variable}2": tape, "y": Tape((-123456,), (0,))}
            loop = "hostile name" if variable == HOSTILE else f"{name} of {variable}"
            yield Picture(loop, "taps", taps(tapes, 3))


def every_scan(_: str) -> Iterator[Picture]:
    """Draw every Scan of the third derivative, and all moments of a machine with a long name."""
    for name in ("gap", "coupled", "rnn", "newton"):
        for kind in ("tapes", "unrolled"):
            for scan in range(1, 9):
                scene = draw(name, kind, order=3, scan=scan)
                yield Picture(name, kind, scene, {"scan": scan})
    machine = visual.machine(loop_of(3 * LONG, 0.5).trace())
    yield from (Picture("very long", "machine", machine.scene(m)) for m in range(8))
    machine = visual.machine(gallery.loops["rnn"].trace(order=2))  # a sentence of several lines
    yield from (Picture("vectors", "machine", machine.scene(15, width=w)) for w in (360, 840))


def step_graphs(_: str) -> Iterator[Picture]:
    """Draw the step of every Scan."""
    for name, order in [("square", 4), *((name, 2) for name in gallery.loops)]:
        for scan in range(1, 1 + len(EVERY[name].trace(order=order).scans)):
            yield Picture(name, "stepgraph", draw(name, "stepgraph", order=order, scan=scan))


def exercises(_: str) -> Iterator[Picture]:
    for name in ("square", "coupled", "rnn", "hostile name"):
        for task in visual.Exercises.of(EVERY[name].trace()).tasks:
            for scene in filter(None, (task.shown, task.revealed)):
                yield Picture(name, "exercise", scene)


GROUPS = {
    **dict.fromkeys(WITH_OPTIONS, with_options),
    "figures": figures,
    "taps": tap_pictures,
    "step graphs": step_graphs,
    "every Scan": every_scan,
    "routing": routes,
    "eager": eager_tapes,
    "transposed": transposes,
    "exercises": exercises,
}
CASES = [*AT, *((name, None) for name in GROUPS)]


@pytest.mark.parametrize(("name", "order"), CASES)
def test_every_picture(name, order):
    pictures = list(of_loop(name, order) if order else GROUPS[name](name))
    assert len(pictures) > 7
    wrong = [fault for picture in pictures for fault in problems(picture)]
    loops = {p.loop for p in pictures if (name, order) in COMPARED}
    for loop in loops & {*gallery.loops}:
        differ, known = conflicts((str(p), p.svg) for p in pictures if p.loop == loop)
        assert known
        wrong += differ
        if name == "square":
            assert wrong_quantities(known) == []
    assert wrong == []


def wrong_quantities(known):
    """Return quantities of the square loop that are missing, or whose values are wrong."""
    x = [0.95**2**i for i in range(5)]
    values = {f"x{'₀₁₂₃₄'[i]}": x[i] for i in range(5)} | {"dC/dx₁": 8 * x[3] * x[2] * x[1]}
    actual = {symbol: [float(value) for value in known[symbol]] for symbol in values}
    expected = {symbol: pytest.approx([values[symbol]] * len(actual[symbol])) for symbol in values}
    return [symbol for symbol in values if not actual[symbol] or actual[symbol] != expected[symbol]]


def test_a_conflict_is_detected():
    cell = "<title>x₁ = 0.9025</title>"
    assert conflicts([("tapes", cell), ("ssa", "<title>x₁ = 0.9025 (3)</title>")])[0] == []
    for other in ([cell + "<title>x₁ = 0.8</title>"], [cell, "<title>x₁ = 0.8145</title>"]):
        assert conflicts(enumerate(other))[0]
    assert "x₁" in wrong_quantities({f"x{n}": {} for n in "₀₁₂₃₄"} | {"dC/dx₁": {}})


@pytest.mark.parametrize("kind", [kind for kind in PICTURES if kind not in ("ssa", "phases")])
def test_order_0_is_drawn(kind):
    assert problems(Picture("square", kind, draw("square", kind, order=0))) == []


@pytest.mark.parametrize("kind", PICTURES)
def test_a_theme_changes_colors_and_nothing_else(kind):
    """The checks in one theme are therefore valid in all themes."""
    light = draw("rnn", kind)
    assert light.theme == LIGHT
    for theme in THEMES:
        other = draw("rnn", kind, theme=theme)
        assert other.theme == THEMES[theme]
        assert other == replace(light, theme=other.theme)
        assert other.theme.background in other.svg()
        assert other.svg() == light.themed(theme).rendered(".svg")


def test_two_processes_draw_the_same_bytes():
    """Two processes iterate over sets in different orders."""
    code = """
import hashlib, visual
from lab.loops import gallery
from visual.drawing.catalogue import PICTURES
from visual.backends.page import to_page
for kind in PICTURES:
    scene = visual.draw(gallery.loops["coupled"], kind, order=2)
    files = [scene.svg().encode(), scene.dot.encode()]
    files += [scene.pdf(), scene.png(), to_page(scene).encode()] * (kind in ("tapes", "values"))
    print(kind, *(hashlib.sha256(file).hexdigest() for file in files))
"""
    lines = (line.split() for line in printed_with_two_seeds(code).decode().splitlines())
    hashes = {kind: digests for kind, *digests in lines}
    assert hashes.keys() == {*PICTURES}
    assert len({*hashes["tapes"]} | {*hashes["values"]}) == 9  # both have no DOT
    svg = draw("coupled", "tapes", order=2).svg()
    assert hashes["tapes"][0] == hashlib.sha256(svg.encode()).hexdigest()
    with pytest.raises(AssertionError):
        printed_with_two_seeds("print(set('abcdefgh'))")


# Each checker must detect wrong pictures.


def with_more(scene, *shapes, **changes):
    return replace(scene, shapes=(*scene.shapes, *shapes), **changes)


def with_text(words):
    """Return a function that adds a text to a picture."""
    return lambda scene: with_more(scene, Text(9, 20, words))


def title(scene):
    return next(shape for shape in scene.walk() if isinstance(shape, Text) and shape.bold)


def renamed(scene, before, after):
    """Return the picture with `after` instead of each text that starts with `before`."""
    texts = [s for s in scene.walk() if isinstance(s, Text) and s.content.startswith(before)]
    changes = {id(text): replace(text, content=after) for text in texts}
    return replace(scene, shapes=replaced(scene.shapes, changes))


def six_cells(*arrows):
    corners = [(0, 0), (100, 0), (200, 0), (0, 100), (100, 100), (200, 100)]
    boxes = [Box(x, y, 50, 20, Role.INPUT) for x, y in corners]
    cells = [Group((box,), cell=str(n)) for n, box in enumerate(boxes)]
    return Scene(300, 200, (*cells, *arrows), "", "")


class Silent(Scene):
    """A faulty picture: its twin has no words."""

    def text(self):
        return "marks:\n"


class Full(Box):
    """A faulty patch: a negative number fills it completely."""

    filled = property(lambda self: self)


@dataclass(frozen=True)
class Rewritten(Scene):
    """A faulty picture: its SVG has another word."""

    words: tuple[str, str] = ("</svg>", "<SCRIPT/></svg>")

    def svg(self):
        return super().svg().replace(*self.words, 1)


BENT = Arrow(((25, 20), (25, 50), (225, 50), (225, 100)), straight=True)
WRONG = {
    "self_contained": [
        lambda s: replace(s, theme=replace(LIGHT, background="url(#a)")),
        lambda s: with_more(s, Box(9, 9, -4, 9, Role.INPUT)),
        lambda s: with_more(s, Box(float("nan"), 9, 9, 9, Role.INPUT)),
        lambda s: Rewritten(**vars(s), words=("<rect ", '<rect onclick="alert(1)" ')),
        lambda s: Rewritten(**vars(s), words=("<rect ", '<rect style="fill:red" ')),
        lambda s: Rewritten(**vars(s), words=("</svg>", "<script/></svg>")),
        lambda s: Rewritten(**vars(s), words=("</svg>", '<image href="x"/></svg>')),
        lambda s: Rewritten(**vars(s), words=('role="img"', "")),
    ],
    "sized": [
        lambda s: replace(s, width=WIDEST + 1),
        lambda s: with_more(s, Text(20, 20, "small", SMALLEST - 0.5)),
        lambda s: replace(s, shapes=s.shapes * 40),
        lambda s: replace(s, millimeters=85.0),
    ],
    "inside": [
        lambda s: with_more(s, Text(s.width - 9, 20, "too far")),
        lambda s: with_more(s, Box(s.width - 9, 20, 30, 20, Role.INPUT)),
        lambda s: renamed(s, "0.9025", "0.9025123456789012"),
    ],
    "legible": [
        lambda s: with_more(s, Box(0, 0, 90, 30, Role.SPENT), Text(9, 20, "pale", muted=True)),
        lambda s: with_more(s, Box(0, 0, 90, 30, Role.WRONG), Text(9, 20, "dark on dark")),
    ],
    "routed": [
        lambda s: six_cells(Arrow(((50, 10), (200, 10)))),
        lambda s: six_cells(Arrow(((50, 10), (90, 20), (160, 20), (200, 10)))),
        lambda s: six_cells(
            BENT, Arrow(((125, 20), (125, 50), (160, 50), (160, 110), (150, 110)), straight=True)
        ),
    ],
    "crowded": [lambda s: six_cells(BENT, Arrow(((225, 20), (225, 98))))],
    "crossed": [
        lambda s: with_more(
            s, Polyline(((0, title(s).y - 3), (title(s).left + 20, title(s).y - 3)))
        )
    ],
    "overlapping": [
        lambda s: with_more(s, replace(title(s), y=title(s).y - 0.7 * title(s).size)),
        lambda s: with_more(s, replace(title(s), x=title(s).left + title(s).width - 5)),
    ],
    "explained": [
        lambda s: renamed(s, "preserved:", "product: of two"),
        lambda s: renamed(s, "preserved:", "preserved: saved"),
        lambda s: with_more(s, Box(0, 0, 50, 20, Role.UNDEFINED)),
    ],
    "striped": [
        lambda s: renamed(s, "full color: ", "full color: ±9 of x"),
        lambda s: renamed(s, "strips, of up to 8", "strips"),
        with_text("⋯3"),
        lambda s: with_more(s, Group((Full(0, 0, 9, 20, Role.INPUT, heat=-1.0),), cell="x")),
    ],
    "twinned": [
        lambda s: Silent(**vars(s)),
        lambda s: replace(s, twin="a bell \x07\n"),
        lambda s: replace(s, twin="without an end"),
    ],
    "escaped": [lambda s: Silent(**vars(s)), lambda s: Rewritten(**vars(s))],
    "named": [
        lambda s: with_more(s, *(Group((), cell=f"{n}:x:r0", title="x = 1") for n in (7, 8)))
    ],
    "whole": [*map(with_text, ("-0.00…", "‖0.07…", "∂C′…₂", "hun…[t−1]", "⋯1"))],
    "opened": [lambda s: renamed(s, "2 · ", "1 · square")],
    "titled": [lambda s: renamed(s, "2 · ", "a Scan")],
    "timeless": [with_text("buf[1] ← x[3]·2")],
}


@pytest.mark.parametrize("checker", CHECKERS, ids=lambda check: check.__name__)
def test_a_checker_detects_wrong_pictures(checker):
    loop = {"escaped": "hostile name", "striped": "rnn"}.get(checker.__name__, "square")
    kind = "unrolled" if checker.__name__ in ("routed", "crowded") else "tapes"
    chosen = {"scan": 2} if checker.__name__ == "titled" else {}
    good = Picture(loop, kind, draw(loop, kind, order=1, **chosen), chosen, 1)
    assert list(checker(good)) == []
    for wrong in WRONG[checker.__name__]:
        assert list(checker(replace(good, scene=wrong(good.scene)))), wrong


def test_checkers_accept_correct_pictures():
    """Correct arrows join boxes, avoid other boxes, and overlap only if they start at one box."""
    straight = Arrow(((50, 10), (100, 10)))
    around = Arrow(((125, 20), (125, 60), (160, 60), (160, 110), (150, 110)), straight=True)
    over = Arrow(((25, 0), (25, -20), (225, -20), (225, 0)))
    scene = six_cells(straight, BENT, around, over)
    by_name = {check.__name__: check for check in CHECKERS}
    for name in ("routed", "crowded"):
        assert list(by_name[name](Picture("", "unrolled", scene))) == []
    texts = ("1.414…", "x₀, …, x₃", "⋯31", "dC/dx₃", "0.01234…", "x[t−1]·x₃ + buf_dx[−1]")
    scene = Scene(9, 9, tuple(Text(0, 0, words) for words in texts), "", "")
    for name in ("whole", "timeless"):
        assert list(by_name[name](Picture("", "tapes", scene))) == []

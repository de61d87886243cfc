"""One step, large: it fits, it tells nothing of what comes later, and its factors are right."""

import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from pictures import SVG, arrows, box_at, cells, crossed_texts, later, meets, pieces, touches
from twins import assert_twin

import lab
import visual
from lab.equations.sentences import StepOf
from lab.errors import ArgumentError
from lab.loops import gallery
from visual.layout.names import NamedScan
from visual.scene.shapes import Arrow, Box, Group, Text
from visual.scene.theme import Role

pytestmark = pytest.mark.sizes

ORDERS = (0, 1, 2, 3)
GOLDEN = {"moment-square-2": ("square", 2, 3, 1), "moment-gap-1": ("gap", 1, 2, 2)}


@cache
def every_moment(name, order):
    """All steps of all Scans, of long traces some."""
    trace = gallery.loops[name].trace(order=order)
    return [
        (trace, number, step, visual.moment(trace, scan=number, step=step))
        for number, scan in enumerate(trace.scans, start=1)
        for step in (range(6) if scan.steps <= 6 else (0, 1, scan.steps // 2, scan.steps - 1))
        if step < scan.steps
    ]


@pytest.mark.parametrize("name", GOLDEN)
def test_twins(name):
    loop, order, scan, step = GOLDEN[name]
    assert_twin(name, visual.draw(gallery.loops[loop], "moment", order=order, scan=scan, step=step))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", gallery.loops)
def test_it_fits_on_a_projector_and_on_a_phone(name, order):
    for _, _, _, scene in every_moment(name, order):
        texts = [shape for shape in scene.walk() if isinstance(shape, Text)]
        assert scene.width <= 840
        assert scene.height <= 588
        assert min(text.size for text in texts) >= 13
        assert all(text.left >= 0 and text.left + text.width <= scene.width for text in texts)
        assert all(text.y - text.size >= 0 and text.y <= scene.height for text in texts)


@pytest.mark.parametrize("states", [2, 20])
def test_what_is_wide_or_long_still_fits(states):
    names = [f"state{number}" for number in range(states)]
    loop = lab.Loop(
        lambda **values: tuple(0.9 * sum(values.values()) for _ in values),
        states=tuple(lab.State(name, 0.1) for name in names),
        n_steps=3,
    )
    long = gallery.loops["gap"].with_steps(400)
    for scene in (visual.draw(loop, "moment"), visual.draw(long, "moment", step=200)):
        assert (scene.width <= 840, scene.height <= 588) == (True, True)
    assert "⋯" in scene.text()


# What has not happened.


def written(scene):
    """All numbers in an SVG, whether they are drawn or in tooltips."""
    root = ElementTree.fromstring(scene.svg())
    told = [e.text or "" for tag in ("text", "title", "desc") for e in root.iter(f"{SVG}{tag}")]
    return {float(n) for text in told for n in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", text)}


@pytest.mark.parametrize("name", ["square", "gap", "coupled", "logistic", "rnn", "extra", "newton"])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_no_number_of_a_later_step_is_in_the_page(name, order):
    hidden = 0
    for trace, number, step, scene in every_moment(name, order):
        found = written(scene)
        factors = set(map(float, re.findall(r"· [^|\n]*? = (-?\d+\.\d+)", scene.text())))
        for value in later(trace, number - 1, step):
            forms = {value, float(f"{value:.4g}"), float(f"{value:.6g}")}
            assert not forms & (found - factors), (name, order, number, step, value)
            hidden += 1
    assert hidden >= 6


def test_the_reader_of_later_numbers_sees_one():
    trace = gallery.loops["square"].trace(order=1)
    after = written(visual.moment(trace, scan=2, step=2))
    assert any(
        float(f"{value:.4g}") in after for value in later(trace, number=1, step=1)
    )  # the step makes it: one step earlier it must not be told


def test_slots_that_a_loop_has_not_filled_are_empty():
    scene = visual.moment(gallery.loops["square"].trace(order=0), step=1)
    empty = [(role, words) for _, role, words, title, _ in cells(scene) if "not written" in title]
    assert [role for role, _ in empty] == [Role.UNWRITTEN] * 5  # x₂ before, x₃ and x₄ twice
    assert all(words == [] for _, words in empty)


# What is shown.


def test_the_factors_of_the_square():
    for order, scan in ((1, 2), (2, 3), (2, 4)):
        trace = gallery.loops["square"].trace(order=order)
        for step in range(4):
            k = step if scan == 3 else 3 - step
            told = visual.moment(trace, scan=scan, step=step).text()
            (factor,) = re.findall(r"· 2·x[₀-₉] = (\S+)", told) or re.findall(
                r"(\S+) = 2·x[₀-₉]",
                told,  # of which the arrow has the number alone
            )
            assert f"· {factor}" in told or f"= {factor}" in told
            assert float(factor) == float(f"{2 * 0.95**2**k:.4g}")


def test_the_factors_of_gap():
    """∂x₆/∂x₃ = cos(x₃) + x₅, ∂x₆/∂x₅ = x₃, from the loop's own equation."""
    x = [0.3, 0.6, 0.9]
    for _ in range(5):
        x.append(np.sin(x[-3]) + x[-1] * x[-3])
    told = visual.draw(gallery.loops["gap"], "moment", scan=2, step=1).text()
    (both,) = re.findall(r"· \(cos\(x₃\) \+ x₅\) = (\S+)", told)
    (one,) = re.findall(r"· x₃ = (\S+)", told)
    np.testing.assert_allclose([float(both), float(one)], [np.cos(x[3]) + x[5], x[3]], rtol=5e-4)


# Whose a factor is: what lies on an arrow is its own, and read so, the numbers come out right.


def factors_of(scene):
    """Every arrow with its factor; wrong are those that have none, or lie on one another's."""
    shapes = list(scene.walk())
    chips = [
        (box, words.content)
        for box, words in pairwise(shapes)
        if isinstance(box, Box) and box.role is Role.PANEL and isinstance(words, Text)
    ]
    found, wrong = [], []
    for box, words in chips:
        on = [a for a in arrows(scene) if any(meets(piece, box, -1) for piece in pieces(a))]
        whole = [a for a in on if touches(a.points[0], box, 1)]
        if (
            not words.startswith("+ ") and whole
        ):  # a box of what the step makes of all that it reads
            on = [a for a in on if not touches(a.points[-1], box, 1)]
        wrong += [] if len(on) == 1 else [words]
        found += [(arrow, words, bool(whole)) for arrow in on]
        inside = Box(box.x + 1, box.y + 1, box.width - 2, box.height - 2, box.role)
        wrong += [other for other, told in chips if other is not box and overlap(other, inside)]
    ended = {id(arrow) for arrow, _, _ in found}
    formulas = [box for box, words in chips if any(w == words and all_ for _, w, all_ in found)]
    return found, wrong + [
        arrow.points
        for arrow in arrows(scene)
        if id(arrow) not in ended and not any(touches(arrow.points[-1], b, 1) for b in formulas)
    ]


def overlap(one, other):
    across = one.x < other.x + other.width and other.x < one.x + one.width
    return across and one.y < other.y + other.height and other.y < one.y + one.height


def wrong_sums(scene):
    """The slots whose value is not the sum of what the arrows bring, as a reader reads them."""
    found, _ = factors_of(scene)
    held = {}
    for group in scene.groups():
        if group.cell and " = " in group.title:
            box = next(shape for shape in group.shapes if isinstance(shape, Box))
            held[id(box)] = (box, group.title.partition(" = ")[2].partition(" (before")[0])
    around, sums, told = [box for box, _ in held.values()], {}, {}
    for arrow, words, is_whole in found:
        number = re.search(r"^[·+](?:.* =)? (\S+)$", words)
        if is_whole and not words.startswith("+ "):
            continue
        target = box_at(arrow.points[-1], around)
        told[id(target)] = held[id(target)][1]
        if "[" in told[id(target)] or not number or not re.match(r"-?[\d.]", number.group(1)):
            sums.setdefault(id(target), []).append(np.nan)  # nobody can add this up
            continue
        from_slot = any(touches(arrow.points[0], box, 4) for box in around)
        start = held[id(box_at(arrow.points[0], around))][1] if from_slot else "1"
        brought, told_ = np.nan if "[" in start else float(start), float(number.group(1))
        adds = words.startswith("+ ") and from_slot  # what stood there goes on, and gets more
        sums.setdefault(id(target), []).append(brought + told_ if adds else brought * told_)
    return sum(bool(np.isfinite(parts).all()) for parts in sums.values()), [
        (told[one], parts)
        for one, parts in sums.items()
        if np.isfinite(parts).all()
        and abs(sum(parts) - float(told[one])) > 1e-3 * sum(map(abs, parts)) + 1e-12
    ]


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", gallery.loops)
def test_a_factor_touches_its_own_arrow_and_no_other(name, order):
    read = 0
    for _, number, step, scene in every_moment(name, order):
        assert factors_of(scene)[1] == [], (number, step)
        slots, wrong = wrong_sums(scene)
        assert wrong == [], (number, step)
        read += slots
    assert read or name in ("rnn", "lookup")  # of arrays


def bare_slots(trace, number, step, scene):
    """How many arrows the step has to the slots after it that none comes to, less those told of."""
    one = StepOf(NamedScan(trace, number - 1), step)
    cells_ = [g for g in scene.groups() if g.cell and isinstance(g.shapes[0], Box)]
    lower = max(g.shapes[0].y for g in cells_)
    boxes = [g.shapes[0] for g in cells_ if g.shapes[0].y > lower - 30]
    reached = sum(any(touches(a.points[-1], box, 4) for a in arrows(scene)) for box in boxes)
    written = {(f.target.argument, one.row(f.target)) for f in one.named.scan.formulas}
    told = sum(map(int, re.findall(r"(\d+) (?:arrows? not|more tape)", scene.text())))
    return max(0, len(written) - reached) if not told else 0


@pytest.mark.parametrize("name", ["coupled", "rnn", "gap", "newton", "window"])
def test_no_slot_is_written_by_nothing(name):
    """An arrow comes to every slot that is written, or it is told that some are not drawn."""
    for trace, number, step, scene in every_moment(name, 2):
        assert bare_slots(trace, number, step, scene) == 0, (number, step)


def test_a_slot_without_an_arrow_is_seen():
    trace, number, step, scene = every_moment("coupled", 1)[-1]
    faint = [s for s in scene.walk() if isinstance(s, Arrow) and s.faint]
    shapes = tuple(g for g in scene.groups() if g.cell)
    left = tuple(s for s in scene.walk() if isinstance(s, Arrow) and s not in faint)
    assert bare_slots(trace, number, step, replace(scene, shapes=(*shapes, *left))) == len(faint)


def test_a_factor_on_another_arrow_is_seen():
    scene = visual.draw(gallery.loops["gap"], "moment", scan=2, step=1)
    assert wrong_sums(scene) == (2, [])
    shapes = list(scene.walk())
    (one, other) = [
        n
        for n, s in enumerate(shapes)
        if isinstance(s, Text) and "· " in s.content and " = " in s.content
    ]
    a, b = shapes[one], shapes[other]
    shapes[one], shapes[other] = replace(a, content=b.content), replace(b, content=a.content)
    cells_and_all = [*(g for g in scene.groups() if g.cell), *shapes]
    assert len(wrong_sums(replace(scene, shapes=tuple(cells_and_all)))[1]) == 2
    moved_off = [replace(s, x=s.x + 500) if s in (shapes[one - 1], a) else s for s in scene.walk()]
    assert factors_of(replace(scene, shapes=tuple(moved_off)))[1]


def test_of_arrays_the_formula_of_the_factor_is_told():
    told = visual.draw(gallery.loops["rnn"], "moment", step=0).text()
    assert "Wᵀ @ (▢·(1 − h₄²))" in told
    assert "▢ is what the arrow brings" in told


def shown_numbers(scene):
    """The numbers in the cells of arrays, with what a tooltip says that is there."""
    for group in scene.groups():
        told = [s for s in group.shapes if isinstance(s, Text) and s.mono and not s.struck]
        if group.cell and " = [" in group.title and told:
            value = eval(group.title.partition(" = ")[2].partition(" (")[0])
            yield np.array(value), [s.content for s in told]


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_a_short_vector_shows_its_numbers_and_a_matrix_its_first(order):
    for *_, scene in every_moment("rnn", order):
        found = [*shown_numbers(scene)]
        assert found
        for value, words in found:
            if value.ndim == 2:
                (told,) = words
                assert told.startswith("[0,0] ")
                words, value = [told.removeprefix("[0,0] ")], value[0, :1]
            assert len(words) == len(value)
            for word, number in zip(words, value, strict=True):
                digits = len(re.sub(r"e.*|\D", "", word).lstrip("0")) or 1
                assert float(word) == pytest.approx(number, rel=0.5 * 10.0 ** (1 - digits))


def test_what_is_read_of_a_vector_is_its_numbers():
    """By hand: h₁ and h₂ of the network, and the signal that is given."""
    loop = gallery.loops["rnn"]
    (x,), (state,) = loop.sequences, loop.states
    weights = {p.name: np.asarray(p.value) for p in loop.parameters}
    h = [np.asarray(state.initial)]
    for row in np.asarray(x.values)[:4]:
        h.append(np.tanh(weights["W"] @ h[-1] + weights["U"] @ row))
    told = visual.draw(loop, "moment", step=2).text()  # goes back through step 1
    for name, value in (("h₁", h[1]), ("h₂", h[2]), ("x₁", np.asarray(x.values)[1])):
        (written,) = re.findall(rf"{name} =\W*\[([^\]]*)\]", told)
        np.testing.assert_allclose(eval(f"[{written}]"), value, rtol=5e-3)


def test_a_long_vector_shows_its_colours_and_one_number():
    long = lab.Loop(lambda v: v * v, states=(lab.State("v", np.linspace(0.5, 0.9, 6)),), n_steps=2)
    scene = visual.draw(long, "moment")
    assert any(isinstance(s, Box) and s.heat is not None for s in scene.walk())
    assert all(len(words) == 1 and "[0] " in words[0] for _, words in shown_numbers(scene))


@pytest.mark.parametrize("name", ["square", "coupled", "rnn", "gap"])
def test_every_step_is_told_with_its_scan(name):
    """Nobody mixes a step of the Scan that goes back and one of the loop."""
    for trace, number, step, scene in every_moment(name, 2):
        texts = " ".join(s.content for s in scene.walk() if isinstance(s, Text))
        named = re.findall(r"\bstep (\d+)( of Scan \d+)?", texts)
        assert named
        assert all(scan for _, scan in named)
        assert f"step {step} of Scan {number} (0 to {trace.scans[number - 1].steps - 1})" in texts
        parent = trace.scans[number - 1].parent
        if parent is not None:
            back = trace.scans[parent].steps - 1 - step
            assert f"back through step {back} of Scan {parent + 1}" in texts


def test_what_a_step_reads_is_told_with_its_origin():
    told = visual.draw(gallery.loops["square"], "moment", order=2, scan=3, step=1).text()
    assert "x₁ = 0.9025" in told
    assert "step 0 of Scan 1 · read as x[t]" in told
    assert "step 1 of Scan 2 · read as dx[t]" in told


@pytest.mark.parametrize("name", gallery.loops)
def test_no_arrow_runs_through_a_cell(name):
    for _, _, _, scene in every_moment(name, 1):
        found = [role for role in crossed_texts(scene) if isinstance(role, Role)]
        assert found == []


def test_roles_are_those_of_the_tape():
    scene = visual.draw(gallery.loops["square"], "moment", step=1)
    groups = [group for group in scene.groups() if group.cell]
    roles = [next(s.role for s in g.shapes if isinstance(s, Box)) for g in groups]
    assert isinstance(groups[0], Group)
    assert roles.count(Role.OVERWRITTEN) == roles.count(Role.PRESERVED) == 2  # before and after


def test_by_default_the_first_sum_of_the_scan_with_the_result():
    loop = gallery.loops["square"]
    assert visual.draw(loop, "moment", order=2).title == "Step 1 of 4 · gradient of square"
    assert visual.draw(loop, "moment", order=1).title == "Step 1 of 2 · gradient of square"
    assert visual.draw(loop.with_steps(1), "moment", order=1).title.startswith("Step 0 of 2")
    assert visual.draw(gallery.loops["rnn"], "moment", order=1).title.startswith("Step 1 of 2")
    assert visual.draw(loop, "moment", order=1, cost="sum").title.startswith("Step 0 of 2")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scan": 3}, "scan = 3: the Scans of this trace are 1 · square and 2 · gradient"),
        ({"step": 4}, "step = 4: gradient of square makes the steps 0 to 3."),
        ({"step": True}, "step = True"),
        ({"scan": "2"}, "scan = '2'"),
    ],
)
def test_what_cannot_be_drawn_says_why(options, words):
    with pytest.raises(ArgumentError) as caught:
        visual.draw(gallery.loops["square"], "moment", **options)
    assert words in str(caught.value)


def test_what_is_in_short_says_what_is_added_to_what_stood_there():
    """By hand, from h₄ = tanh(W @ h₃ + U @ x₃): what comes to dW and dU, and what dx₃ is."""
    scene = visual.moment(gallery.loops["rnn"].trace(order=2))
    told = [s.content for s in scene.walk() if isinstance(s, Text)]
    assert [one for one in told if re.match(r"[+=] ", one)] == [
        "+ outer(buf[0]·(1 − h₄²), h₃)",
        "+ outer(buf[0]·(1 − h₄²), x₃)",
        "= Uᵀ @ (buf[0]·(1 − h₄²))",
    ]
    assert any(one.startswith("▢ is what the arrow brings; strips: olive") for one in told)

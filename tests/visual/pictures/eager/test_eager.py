"""Pictures of the eager tape have a group per event, and the numbers of the recording."""

import math
import re
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

import numpy
import pytest
from eager.programs import FOLDED, RUNS
from pictures import (
    at_step,
    keyed_boxes,
    keyed_values,
    number_of,
    touches,
)
from pictures.checkers import Drawn, problems
from twins import assert_twin

import visual
from lab.eager import grad, np, recording
from lab.eager.records import (
    Appended,
    PassedOn,
    Popped,
    Seeded,
    Sent,
    Summed,
)
from lab.errors import ArgumentError
from lab.notation import number_text
from visual.pictures.eager.story import moments
from visual.pictures.eager.words import node_name
from visual.scene.shapes import Arrow, Box, Group, Polyline, Text
from visual.scene.theme import Role

recorded = lru_cache(lambda name: {**RUNS, **FOLDED}[name]())
drawn = lru_cache(lambda name: visual.eager(recorded(name), all=True))
whole = [name for name in RUNS if name != "fan"]  # of the fan a list is folded


def texts(shapes):
    return [shape.content for shape in shapes if isinstance(shape, Text)]


def boxes(scene):
    """The boxes of nodes, and of their totals, by number."""
    nodes, totals = {}, {}
    for _, title, box in keyed_boxes(scene):
        name = title.split(" ")[0]
        if name.startswith("n"):
            nodes[number_of(name)] = box
        found = re.match(r"gradient of the result wrt (n[₀-₉]+),", title)
        if found:
            totals[number_of(found.group(1))] = box
    return nodes, totals


# Every event has its shapes, grouped by moment, and a moment has no other shapes.


@pytest.mark.parametrize("name", whole)
def test_every_moment_shows_its_events_and_nothing_else(name):
    scene = drawn(name)
    nodes, totals = boxes(scene)
    begins = [first for first, _ in moments(recorded(name))]
    for moment in set(begins):
        left = [s for s in at_step(scene, moment) if "full color" not in getattr(s, "content", "")]
        for number, event in enumerate(recorded(name).events):
            if begins[number] == moment:
                check = EXPECTED.get(type(event), lambda *_: ())
                found = check(recorded(name), event, left, nodes, totals)
                left = [shape for shape in left if not any(shape is one for one in found)]
        assert left == []


def within(shapes, box):
    """A box and its content from top to bottom: strips with their edges, and texts."""
    right, bottom = box.x + box.width, box.y + box.height

    def corner(shape):
        return shape.points[0] if isinstance(shape, Polyline) else (shape.x, shape.y)

    found = [(s, *corner(s)) for s in shapes if isinstance(s, Box | Text | Polyline)]
    inside = [s for s in found if box.x <= s[1] <= right and box.y <= s[2] <= bottom]
    return [s for s, x, y in sorted(inside, key=lambda each: each[2])]


def shows(shapes, held):
    """The shapes are a box with this number in it, and perhaps arrows."""
    (box,) = {s for s in shapes if isinstance(s, Box) and s.heat is None}
    if isinstance(held.value, numpy.ndarray) and held.value.ndim == 0:
        assert texts(shapes)[-1] == number_text(held.value)
    elif isinstance(held.value, numpy.ndarray):
        norm = number_text(math.sqrt(sum(float(v) ** 2 for v in held.value.ravel())))
        assert f"‖{norm}‖" in texts(shapes)[-1]
    return box


def of_appended(run, event, shapes, nodes, totals):
    node = run.nodes[event.node]
    mine = within(shapes, nodes[event.node])
    box = shows(mine, node.value)
    assert box == nodes[event.node]
    arrows = [s for s in shapes if isinstance(s, Arrow) and touches(s.points[-1], box, 1.1)]
    starts = [{n for n, other in nodes.items() if touches(a.points[0], other, 1.1)} for a in arrows]
    assert sorted(starts, key=min) == [{parent} for parent in sorted({*node.parents})]
    for argument in node.arguments:  # the label has the arguments of the operation
        if isinstance(argument, int) and "…" not in texts(mine)[0]:
            assert node_name(argument) in texts(mine)[0]
    return [*mine, *arrows]


def of_seeded(run, event, shapes, nodes, totals):
    (seed,) = [s for s in shapes if isinstance(s, Box) and s.role is Role.SEED]
    mine = within(shapes, seed)
    assert shows(mine, event.gradient) is seed
    assert texts(mine)[0] == "seed"
    assert seed.y == nodes[event.node].y
    return mine


def of_sent(run, event, shapes, nodes, totals):
    target, total = nodes[event.target], totals[event.target]
    received = [
        s
        for s in shapes
        if isinstance(s, Box) and s.heat is None and s.x == total.x and target.y <= s.y < total.y
    ]
    box = min(received, key=lambda box: box.y)
    mine = within(shapes, box)
    assert shows(mine, event.gradient) is box
    (arrow,) = [s for s in shapes if isinstance(s, Arrow) and touches(s.points[-1], box, 1.1)]
    assert touches(arrow.points[0], totals[event.source])
    assert number_of(texts(mine)[0].split(" ")[1]) == event.source
    return [*mine, arrow]


def of_total(run, event, shapes, nodes, totals):
    mine = within(shapes, totals[event.node])
    box = shows(mine, event.total)
    assert box == totals[event.node]
    start = run.tapes[run.nodes[event.node].tape].nodes[0] == event.node
    assert box.role is (Role.RESULT if start else Role.INTERMEDIATE)
    arrived = [e for e in run.events if isinstance(e, Sent) and e.target == event.node]
    seeds = [e for e in run.events if isinstance(e, Seeded) and e.node == event.node]
    label = f"sum of {len(arrived) + len(seeds)}" if isinstance(event, Summed) else "gradient"
    assert texts(mine)[0].split(" ≡ ")[0] in (label, "zeros")
    return mine


def of_popped(run, event, shapes, nodes, totals):
    """Nothing, unless the node received no gradient."""
    nothing = [s for s in shapes if isinstance(s, Text) and s.content == "no gradient"]
    assert len(nothing) == (event.node not in totals)
    boxes = [s for s in shapes if isinstance(s, Box) and s.role is Role.PANEL]
    return [*nothing, *boxes]


EXPECTED = {
    Appended: of_appended,
    Seeded: of_seeded,
    Popped: of_popped,
    PassedOn: of_total,
    Summed: of_total,
    Sent: of_sent,
}


@pytest.mark.parametrize("name", whole)
def test_nodes_and_lists_stand_in_the_order_of_events(name):
    """Down a column the nodes as they were appended; in a list gradients as they arrived."""
    scene, run = drawn(name), recorded(name)
    nodes, _ = boxes(scene)
    for tape in run.tapes:
        heights = [nodes[number].y for number in tape.nodes]
        assert heights == sorted(set(heights))
        assert len({nodes[number].x for number in tape.nodes}) == 1
    columns = {run.tapes[run.nodes[n].tape].priority: box.x for n, box in nodes.items()}
    assert [columns[p] for p in sorted(columns)] == sorted(columns.values())
    lists = {}  # the senders and contributions of each node, in order
    for event in run.events:
        if isinstance(event, Sent):
            lists.setdefault(event.target, []).append(node_name(event.source))
    _, totals = boxes(scene)
    for target, sources in lists.items():
        above = [nodes[target].y <= s.y < totals[target].y for s in slips_of(scene)]
        found = [s for s, is_here in zip(slips_of(scene), above, strict=True) if is_here]
        here = [s for s in found if totals[target].x < s.x < totals[target].x + 20]
        told = [s.content.split(" ")[1] for s in sorted(here, key=lambda s: s.y)]
        assert told == sources


def slips_of(scene):
    """Return the senders of contributions, which are at the left of the contributions."""
    return [s for s in scene.walk() if isinstance(s, Text) and s.content.startswith("from n")]


# Numbers, against calculus.


def test_numbers_of_the_square_loop():
    values = keyed_values(drawn("square"))
    for number in range(5):
        x = 0.95 ** (2**number)
        gradient = math.prod(2 * 0.95 ** (2**later) for later in range(number, 4))
        assert float(values[f"value of node {number}"][0]) == pytest.approx(x, rel=1e-14)
        both = [float(v) for v in values[f"gradient of node {number}"]]
        assert both == pytest.approx([gradient] * 2, rel=1e-14)  # the contribution, and the total


def test_numbers_of_a_program():
    """The total of every node, by the chain rule on paper."""
    x, y = 0.7, 0.49
    z, sine = math.sin(y) + x, math.sin(y)
    expected = {
        0: z * 2 * x + y * (math.cos(y) * 2 * x + 1) + math.exp(x),
        1: z + y * math.cos(y),
        2: y,
        3: y,
        4: 1,
        5: 1,
        6: 1,
    }
    values = keyed_values(drawn("program"))
    for number, gradient in expected.items():
        found = float(values[f"gradient of node {number}"][-1])
        assert found == pytest.approx(gradient, rel=1e-14)
    assert float(values["value of node 2"][0]) == pytest.approx(sine, rel=1e-14)


# Keys.


@pytest.mark.parametrize("name", RUNS)
def test_equal_keys_have_equal_values(name):
    for values in keyed_values(drawn(name)).values():
        assert len(set(values)) == 1


# Folding.


@pytest.mark.parametrize("name", FOLDED)
def test_long_programs_fold_and_say_so(name):
    run = recorded(name)
    scene = visual.eager(run, all=True)
    shown = set(boxes(scene)[0])
    told = re.findall(r"⋯ ([\d,]+) nodes? hidden: n(\S+) to n(\S+)", "\n".join(
        texts(scene.walk())
    ))  # fmt: skip
    hidden = set()
    for count, first, last in told:
        ends = number_of(_subscript(first)), number_of(_subscript(last))
        assert ends[1] - ends[0] + 1 == int(count.replace(",", ""))
        hidden |= set(range(ends[0], ends[1] + 1))
    assert shown | hidden == set(range(len(run.nodes)))
    assert not shown & hidden
    assert {0, len(run.nodes) - 1} <= shown


def _subscript(name):
    return "n" + name.strip("[]").translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def test_a_long_list_folds_and_says_so():
    words = texts(drawn("fan").walk())
    assert "⋯ 6 gradients hidden" in words
    assert "sum of 10" in words


@pytest.mark.parametrize("tape", [None, 1])
@pytest.mark.parametrize("name", [*RUNS, *FOLDED])
def test_one_tape_is_open_where_several_have_no_room(name, tape):
    """The open tape has the gradients of its nodes; the nodes of other tapes are small."""
    run = recorded(name)
    if tape is not None and len(run.tapes) < 2:
        pytest.skip("the run has a single tape")
    scene = visual.eager(run, tape=tape)
    assert problems(Drawn(name, "eager", scene)) == []
    nodes, totals = boxes(scene)
    told = re.findall(r"⋯ ([\d,]+) nodes? hidden", "\n".join(texts(scene.walk())))
    assert len(nodes) + sum(int(count.replace(",", "")) for count in told) == len(run.nodes)
    if drawn(name).width > 840 or tape is not None:
        assert {run.nodes[node].tape for node in totals} <= {tape or 0}
        assert "all=True all of them" in scene.text().replace("\n   ", "")
    for key, values in keyed_values(scene).items():  # as they are where all is open
        assert set(values) <= set(keyed_values(drawn(name)).get(key, values))


def test_the_tape_must_be_one_of_the_recording():
    for tape in (-1, 2, "x", True):
        with pytest.raises(ArgumentError, match=r"tape = .*0 to 1"):
            visual.eager(recorded("second order"), tape=tape)


# How it looks.


@pytest.mark.parametrize("name", ["square", "program", "second order, setters", "closure"])
def test_twins(name):
    scene = drawn(name)
    assert_twin(f"eager-{name.replace(', ', '-').replace(' ', '-')}", scene)


def test_gradients_tell_by_what_they_were_multiplied():
    """Through x·sin(x) at 2: by sin(2) past the product, by cos(2) into the sine."""
    scene = visual.eager(recording(grad(lambda x: x * np.sin(x)), 2.0))
    told = {
        re.sub("from n[₀-₉]+ · ", "", t) for t in texts(scene.walk()) if " · " in t and "from" in t
    }
    assert told == {number_text(value) for value in (math.sin(2), math.cos(2), 2.0)}


def sums_shown(scene):
    """Return the visible contributions of each node from top to bottom, and their sum."""
    parts = []
    for group in scene.groups():
        words = texts(group.shapes)
        if re.match("gradient [0-9]+ of n", group.title):
            parts.append(Decimal(words[-1]))
        elif ", sum of " in group.title:
            yield parts, Decimal(words[-1])
        if group.title.startswith("gradient of the result wrt"):
            parts = []


def test_the_digits_shown_add_up():
    """x² · x² at 4.5: four shares of x³, 91.125, are 364.5."""
    four = visual.eager(recording(grad(lambda x: (x * x) * (x * x)), 4.5))
    sums = [*sums_shown(four), *sums_shown(drawn("closure"))]
    assert len(sums) == 2
    assert sums[0] == ([Decimal("91.125")] * 4, Decimal("364.5"))
    assert [(parts, total) for parts, total in sums if sum(parts) != total] == []
    cut = Group((Text(0, 0, "182.2"),), title="gradient 3 of n₀, from n₁")
    wrong = replace(four, shapes=(cut, *four.shapes))
    assert any(sum(parts) != total for parts, total in sums_shown(wrong))

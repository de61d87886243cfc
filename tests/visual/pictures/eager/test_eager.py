"""Pictures of the eager tape have a group per event, and the numbers of the recording."""

import re
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

import numpy
import pytest
from eager.programs import FOLDED, RUNS
from pictures import at_step, cell_groups, keyed_boxes, keyed_values, number_of, touches
from twins import assert_twin

import visual
from lab.eager import grad, recording
from lab.eager.records import Appended, PassedOn, Sent, Summed
from visual.layout.cells import full_text
from visual.pictures.eager.story import moments
from visual.scene.shapes import Arrow, Group, Text

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


def text_of(held):
    return full_text(held.value) if isinstance(held.value, numpy.ndarray) else "0 elsewhere"


def unlike_events(run, scene):
    """Return the moments whose cells, values, or arrows are not those of the events."""
    nodes, totals = boxes(scene)
    owners = {**nodes, **{f"gradient of {number}": box for number, box in totals.items()}}
    cells = [(g, moment) for g, moment, _ in cell_groups(scene)]
    begins = [first for first, _ in moments(run)]
    wrong = []
    for moment in sorted(set(begins)):
        told, starts = Counter(), Counter()
        for event, begin in zip(run.events, begins, strict=True):
            match event:
                case _ if begin != moment:
                    continue
                case Appended(node):
                    told[f"value of node {node}", text_of(run.nodes[node].value)] += 1
                    starts.update({*run.nodes[node].parents})
                case Sent():
                    told[f"gradient of node {event.target}", text_of(event.gradient)] += 1
                    if event.source is not None:
                        starts[f"gradient of {event.source}"] += 1
                case PassedOn(node) | Summed(node):
                    told[f"gradient of node {node}", text_of(event.total)] += 1
        own = [group for group, begin in cells if begin == moment]
        shown = Counter((g.cell.split(", part")[0], value_in(g.title)) for g in own)
        arrows = [shape for shape in at_step(scene, moment) if isinstance(shape, Arrow)]
        ends = [touches(a.points[-1], g.shapes[0], 1.1) for a in arrows for g in own]
        found = Counter(
            o for a in arrows for o, box in owners.items() if touches(a.points[0], box, 1.1)
        )
        if shown != told or found != starts or sum(ends) != len(arrows):
            wrong.append(moment)
    return wrong


def value_in(title):
    """Return the value at the end of a tooltip."""
    value = title.rpartition(" = ")[2].partition("; entries")[0]
    return "0 elsewhere" if value.endswith("0 elsewhere") else value


@pytest.mark.parametrize("name", whole)
def test_every_moment_shows_its_events_and_nothing_else(name):
    assert unlike_events(recorded(name), drawn(name)) == []


def without(shapes, cell):
    """The shapes without the cells that have this key."""
    kept = (shape for shape in shapes if getattr(shape, "cell", "") != cell)
    return tuple(
        replace(shape, shapes=without(shape.shapes, cell)) if isinstance(shape, Group) else shape
        for shape in kept
    )


def test_a_wrong_moment_is_found():
    run, scene = recorded("square"), drawn("square")
    assert len(unlike_events(run, drawn("closure"))) > 5
    for cell in {group.cell for group, *_ in cell_groups(scene)}:
        assert unlike_events(run, replace(scene, shapes=without(scene.shapes, cell)))


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


@pytest.mark.parametrize(
    ("name", "tape"),
    [
        (name, tape)
        for name in {**RUNS, **FOLDED}
        for tape in (None, 1)
        if tape is None or len(recorded(name).tapes) > 1
    ],
)
def test_one_tape_is_open_where_several_have_no_room(name, tape):
    """The open tape has the gradients of its nodes; the nodes of other tapes are small."""
    run = recorded(name)
    scene = visual.eager(run, tape=tape)
    nodes, totals = boxes(scene)
    told = re.findall(r"⋯ ([\d,]+) nodes? hidden", "\n".join(texts(scene.walk())))
    assert len(nodes) + sum(int(count.replace(",", "")) for count in told) == len(run.nodes)
    if drawn(name).width > 840 or tape is not None:
        assert {run.nodes[node].tape for node in totals} <= {tape or 0}
        assert "all=True shows all tapes" in scene.text().replace("\n   ", "")
    for key, values in keyed_values(scene).items():  # as they are where all is open
        assert set(values) <= set(keyed_values(drawn(name)).get(key, values))


# How it looks.


@pytest.mark.parametrize("name", ["square", "program", "second order, setters", "closure"])
def test_twins(name):
    scene = drawn(name)
    assert_twin(f"eager-{name.replace(', ', '-').replace(' ', '-')}", scene)


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

"""Pictures of the eager tape show its events, and the same numbers as the tapes of a Scan."""

import re
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate

import numpy
import pytest
from eager.programs import FOLDED, RUNS, TWO_TAPES, A
from pictures import at_step, cell_groups, touches, words_of
from strange_loops import loop_of
from twins import assert_twin

import visual
from lab.eager import grad, recording
from lab.eager.records import Appended, Sent, Totaled
from lab.loops.gallery import loops
from visual.layout.cells import full_text
from visual.scene.shapes import Arrow, Box, Group, Text
from visual.scene.theme import Role

recording_of = lru_cache(lambda name: {**RUNS, **FOLDED}[name]())
picture_of = lru_cache(lambda name: visual.eager(recording_of(name), all=True))
UNFOLDED = [name for name in RUNS if name != "fan"]  # fan has a folded list


DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789", "n[]")


def boxes(scene):
    """Return the boxes of nodes, and the boxes of their total gradients, by number."""
    nodes, totals = {}, {}
    for group, *_ in cell_groups(scene):
        match = re.match(r"(gradient of the result wrt )?n([₀-₉]+)\b", group.title)
        if match:
            (totals if match[1] else nodes)[int(match[2].translate(DIGITS))] = group.shapes[0]
    return nodes, totals


def text_of(record):
    return full_text(record.value) if isinstance(record.value, numpy.ndarray) else "0 elsewhere"


def wrong_moments(run, scene):
    """Return the moments whose cells, values, or arrows differ from the events."""
    nodes, totals = boxes(scene)
    owners = {**nodes, **{f"gradient of {number}": box for number, box in totals.items()}}
    cells = [(g, moment) for g, moment, _ in cell_groups(scene)]
    moments_of_events = [*accumulate(isinstance(event, Appended | Sent) for event in run.events)]
    wrong = []
    for moment in sorted(set(moments_of_events)):
        expected, starts = Counter(), Counter()
        for event, event_moment in zip(run.events, moments_of_events, strict=True):
            match event:
                case _ if event_moment != moment:
                    continue
                case Appended(node):
                    expected[f"value of node {node}", text_of(run.nodes[node].value)] += 1
                    starts.update({*run.nodes[node].parents})
                case Sent():
                    expected[f"gradient of node {event.target}", text_of(event.gradient)] += 1
                    if event.source is not None:
                        starts[f"gradient of {event.source}"] += 1
                case Totaled(node):
                    expected[f"gradient of node {node}", text_of(event.total)] += 1
        groups = [group for group, event_moment in cells if event_moment == moment]
        actual = Counter((g.cell.split(", part")[0], value_in(g.title)) for g in groups)
        paths = [shape.points for shape in at_step(scene, moment) if isinstance(shape, Arrow)]
        ends = [touches(path[-1], g.shapes[0], 1.1) for path in paths for g in groups]
        origins = Counter(o for p in paths for o, box in owners.items() if touches(p[0], box, 1.1))
        if actual != expected or origins != starts or sum(ends) != len(paths):
            wrong.append(moment)
    return wrong


def value_in(title):
    """Return the value at the end of a tooltip."""
    value = title.rpartition(" = ")[2].partition("; entries")[0]
    return "0 elsewhere" if value.endswith("0 elsewhere") else value


@pytest.mark.parametrize("name", UNFOLDED)
def test_every_moment_shows_its_events_and_nothing_else(name):
    assert wrong_moments(recording_of(name), picture_of(name)) == []


def test_a_wrong_moment_is_detected():
    assert len(wrong_moments(recording_of("square"), picture_of("closure"))) > 5


# Folding.


def hidden_nodes(scene):
    """Return the numbers of the nodes that notes report as hidden."""
    notes = "\n".join(words_of(scene))
    numbers = set()
    for count, *ends in re.findall(r"⋯ ([\d,]+) nodes? hidden: (n\S+) to (n\S+)", notes):
        first, last = (int(end.translate(DIGITS)) for end in ends)
        assert last - first + 1 == int(count.replace(",", ""))
        numbers |= set(range(first, last + 1))
    return numbers


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {"all": True}) for name in FOLDED),
        *((name, {}) for name in {**RUNS, **FOLDED}),
        *((n, {"tape": 1}) for n in {**RUNS, **FOLDED} if len(recording_of(n).tapes) > 1),
    ],
)
def test_each_node_is_shown_or_hidden_and_one_tape_is_open(name, options):
    check_nodes(name, options, visual.eager(recording_of(name), **options))


def check_nodes(name, options, scene):
    """Check that each node is drawn or hidden, and that only the open tape shows gradients."""
    run, tape = recording_of(name), options.get("tape")
    (nodes, totals), hidden = boxes(scene), hidden_nodes(scene)
    assert nodes.keys() | hidden == set(range(len(run.nodes)))
    assert not nodes.keys() & hidden
    assert nodes.keys() >= {n.number for n in (*run.nodes[:1], *run.nodes[-1:])}
    if not options.get("all") and (picture_of(name).width > 840 or tape is not None):
        assert {run.nodes[node].tape for node in totals} <= {tape or 0}
        assert "all=True shows all tapes" in scene.text().replace("\n   ", "")
    # Cells have the same values as in the picture with all tapes open.
    cells, all_cells = (
        {(g.cell, value_in(g.title)) for g, *_ in cell_groups(s)} for s in (scene, picture_of(name))
    )
    assert {key for key, _ in cells - all_cells} & {key for key, _ in all_cells} == set()


@pytest.mark.parametrize("other", ["square", "closure"])
def test_a_picture_with_other_nodes_is_detected(other):
    with pytest.raises(AssertionError):
        check_nodes("program", {}, picture_of(other))


# How it looks.


def sum_of_squares(a):
    return (a[[0, 0]] ** 2).sum()


# x² · x² at 4.5: four contributions of x³ = 91.125 sum to 364.5, and so do the printed digits.
TWINS = {
    "eager-program": lambda: picture_of("program"),
    "eager-setters": lambda: visual.eager(
        recording(grad(lambda a: grad(sum_of_squares)(a).sum()), A[:2]), all=True
    ),
    "eager-closure": lambda: picture_of("closure"),
    "eager-sum": lambda: visual.eager(recording(grad(lambda x: (x * x) * (x * x)), 4.5)),
    "two-tapes-window": lambda: visual.two_tapes(loops["window"].with_steps(2), wrt="u", all=True),
    "two-tapes-long": lambda: visual.two_tapes(  # 0.5·1.001ᵏ
        loop_of("x", 0.5, lambda x: x * 1.001, n_steps=1000), step=500
    ),
}


@pytest.mark.parametrize("name", TWINS)
def test_text_twins(name):
    assert_twin(name, TWINS[name]())


both_tapes = lru_cache(lambda name, wrt: visual.two_tapes(loops[name], wrt=wrt, all=True))


def value_of(title):
    """Return the numbers at the end of a tooltip."""
    numbers = title.rpartition(" = ")[2].split(" (")[0]
    return [float(number) for number in re.findall(r"-?[\d.]+(?:e[-+]?\d+)?|nan|inf", numbers)]


def middle_of(scene):
    """Return the x-coordinate of the left edge of the Scan's half."""
    return next(s.x for s in scene.walk() if isinstance(s, Text) and s.content == "the Scan")


def unmatched(scene, wrt):
    """Return the slots of the Scan with a value that no eager node has at the same moment.

    The eager half has no gradients of initial values except `wrt`. If a node has no gradient yet,
    the slot contains 0.
    """
    boxes = [(group.title, group.shapes[0]) for group, *_ in cell_groups(scene)]
    cells = [(title, box, box.x < middle_of(scene) - 1) for title, box in boxes]
    wrong = []
    for moment, name in scene.moments.items():
        shapes = at_step(scene, moment)
        here = [(title, is_eager) for title, box, is_eager in cells if box in shapes]
        known = [value_of(title) for title, is_eager in here if is_eager]
        for title, is_eager in here:
            value, is_slot = value_of(title), ", slot " in title
            is_other = name == "gradients of the start" and f"/d{wrt}" not in title
            if is_slot and not is_eager and not is_other and value != [0] * len(value):
                equal = (pytest.approx(value, rel=1e-12) == other for other in known)
                wrong += [] if any(equal) else [title]
    return wrong


@pytest.mark.parametrize(("name", "wrt"), TWO_TAPES)
def test_both_sides_have_the_same_values_in_the_order_of_the_run(name, wrt):
    """No moment of the forward pass shows a gradient."""
    scene, steps = both_tapes(name, wrt), range(loops[name].trace(wrt=wrt).scans[0].steps)
    if wrt != "birth":  # the first step computes hunters₁ without birth, therefore without a node
        assert unmatched(scene, wrt) == []
        assert sum(", slot " in group.title for group, *_ in cell_groups(scene)) > len(steps)
    outside = ("after the loop", "gradients of the values after the loop")
    assert [moment for moment in scene.moments.values() if moment not in outside] == [
        *(f"step {step} of the loop" for step in steps),
        *(f"gradients of step {step}" for step in reversed(steps)),
        "gradients of the start",
    ]
    forward = [m for m, moment in scene.moments.items() if not moment.startswith("gradients of")]
    words = [word for moment in forward for word in words_of(at_step(scene, moment))]
    assert words
    assert [word for word in words if re.match("[d∂]", word)] == []


def test_a_wrong_value_on_one_side_is_detected():
    scene = both_tapes("square", "x")
    box = Box(middle_of(scene), 0, 9, 9, Role.SEED)
    wrong = Group((box,), 1, cell="x", title="x₂, slot 2 of x = 0.8146", moment="step 1")
    assert unmatched(replace(scene, shapes=(*scene.shapes, wrong)), "x") == [wrong.title]

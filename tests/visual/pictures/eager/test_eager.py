"""Pictures of the eager tape show its events, and the same numbers as the tapes of a Scan."""

import re
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate

import numpy
import pytest
from eager.programs import FOLDED, REFUSED, RUNS, TWO_TAPES, A
from pictures import at_step, cell_groups, touches
from strange_loops import one
from twins import assert_twin

import visual
from lab.eager import grad, recording
from lab.eager.records import Appended, PassedOn, Sent, Summed
from lab.loops.gallery import loops
from visual.layout.cells import full_text
from visual.scene.shapes import Arrow, Box, Group, Text
from visual.scene.theme import Role

recorded = lru_cache(lambda name: {**RUNS, **FOLDED}[name]())
drawn = lru_cache(lambda name: visual.eager(recorded(name), all=True))
whole = [name for name in RUNS if name != "fan"]  # fan has a folded list


DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789", "n[]")


def texts(shapes):
    return [shape.content for shape in shapes if isinstance(shape, Text)]


def boxes(scene):
    """Return the boxes of nodes, and the boxes of their total gradients, by number."""
    nodes, totals = {}, {}
    for group, *_ in cell_groups(scene):
        found = re.match(r"(gradient of the result wrt )?n([₀-₉]+)\b", group.title)
        if found:
            (totals if found[1] else nodes)[int(found[2].translate(DIGITS))] = group.shapes[0]
    return nodes, totals


def text_of(held):
    return full_text(held.value) if isinstance(held.value, numpy.ndarray) else "0 elsewhere"


def unlike_events(run, scene):
    """Return the moments whose cells, values, or arrows are not those of the events."""
    nodes, totals = boxes(scene)
    owners = {**nodes, **{f"gradient of {number}": box for number, box in totals.items()}}
    cells = [(g, moment) for g, moment, _ in cell_groups(scene)]
    begins = [*accumulate(isinstance(event, Appended | Sent) for event in run.events)]
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
        paths = [shape.points for shape in at_step(scene, moment) if isinstance(shape, Arrow)]
        ends = [touches(path[-1], g.shapes[0], 1.1) for path in paths for g in own]
        found = Counter(o for p in paths for o, box in owners.items() if touches(p[0], box, 1.1))
        if shown != told or found != starts or sum(ends) != len(paths):
            wrong.append(moment)
    return wrong


def value_in(title):
    """Return the value at the end of a tooltip."""
    value = title.rpartition(" = ")[2].partition("; entries")[0]
    return "0 elsewhere" if value.endswith("0 elsewhere") else value


@pytest.mark.parametrize("name", whole)
def test_every_moment_shows_its_events_and_nothing_else(name):
    assert unlike_events(recorded(name), drawn(name)) == []


def test_a_wrong_moment_is_found():
    assert len(unlike_events(recorded("square"), drawn("closure"))) > 5


# Folding.


def hidden_nodes(scene):
    """Return the numbers of the nodes that notes report as hidden."""
    notes = "\n".join(texts(scene.walk()))
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
        *((n, {"tape": 1}) for n in {**RUNS, **FOLDED} if len(recorded(n).tapes) > 1),
    ],
)
def test_each_node_is_shown_or_hidden_and_one_tape_is_open(name, options):
    check_nodes(name, options, visual.eager(recorded(name), **options))


def check_nodes(name, options, scene):
    """The open tape has the gradients of its nodes; the nodes of other tapes are small."""
    run, tape = recorded(name), options.get("tape")
    (nodes, totals), hidden = boxes(scene), hidden_nodes(scene)
    assert nodes.keys() | hidden == set(range(len(run.nodes)))
    assert not nodes.keys() & hidden
    assert nodes.keys() >= {n.number for n in (*run.nodes[:1], *run.nodes[-1:])}
    if not options.get("all") and (drawn(name).width > 840 or tape is not None):
        assert {run.nodes[node].tape for node in totals} <= {tape or 0}
        assert "all=True shows all tapes" in scene.text().replace("\n   ", "")
    # as in the picture with all tapes open
    shown, everything = (
        {(g.cell, value_in(g.title)) for g, *_ in cell_groups(s)} for s in (scene, drawn(name))
    )
    assert {key for key, _ in shown - everything} & {key for key, _ in everything} == set()


@pytest.mark.parametrize("other", ["square", "closure"])
def test_a_picture_with_other_nodes_is_noticed(other):
    with pytest.raises(AssertionError):
        check_nodes("program", {}, drawn(other))


# How it looks.


def sum_of_squares(a):
    return (a[[0, 0]] ** 2).sum()


# x² · x² at 4.5: four contributions of x³ = 91.125 sum to 364.5, and so do the printed digits.
TWINS = {
    "program": RUNS["program"],
    "setters": lambda: recording(grad(lambda a: grad(sum_of_squares)(a).sum()), A[:2]),
    "closure": RUNS["closure"],
    "sum": lambda: recording(grad(lambda x: (x * x) * (x * x)), 4.5),
}
TWINS_OF_BOTH = {
    "window": (loops["window"].with_steps(2), {"wrt": "u", "all": True}),
    "long": (one("x", 0.5, lambda x: x * 1.001, n_steps=1000), {"step": 500}),  # 0.5·1.001ᵏ
}


@pytest.mark.parametrize("name", TWINS)
def test_twins(name):
    assert_twin(f"eager-{name}", visual.eager(TWINS[name](), all=name != "sum"))


@pytest.mark.parametrize("name", TWINS_OF_BOTH)
def test_twins_of_two_tapes(name):
    loop, options = TWINS_OF_BOTH[name]
    assert_twin(f"two-tapes-{name}", visual.two_tapes(loop, **options))


both_tapes = lru_cache(lambda name, wrt: visual.two_tapes(loops[name], wrt=wrt, all=True))


def value_of(title):
    """Return the numbers at the end of a tooltip."""
    written = title.rpartition(" = ")[2].split(" (")[0]
    return [float(number) for number in re.findall(r"-?[\d.]+(?:e[-+]?\d+)?|nan|inf", written)]


def middle(scene):
    """Return the x-coordinate at which the half of the Scan begins."""
    return next(s.x for s in scene.walk() if isinstance(s, Text) and s.content == "the Scan")


def unmatched(scene, wrt):
    """Return the slots of the Scan with a value that no eager node has at the same moment.

    The eager half has no gradients of initial values except `wrt`. If a node has no gradient yet,
    the slot contains 0.
    """
    boxes = [(group.title, group.shapes[0]) for group, *_ in cell_groups(scene)]
    cells = [(title, box, box.x < middle(scene) - 1) for title, box in boxes]
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
    outside = ("after the loop", "gradients of what follows the loop")
    assert [moment for moment in scene.moments.values() if moment not in outside] == [
        *(f"step {step} of the loop" for step in steps),
        *(f"gradients of step {step}" for step in reversed(steps)),
        "gradients of the start",
    ]
    early = [m for m, moment in scene.moments.items() if not moment.startswith("gradients of")]
    shown = [word for moment in early for word in texts(at_step(scene, moment))]
    assert shown
    assert [word for word in shown if re.match("[d∂]", word)] == []


def test_another_value_on_one_side_is_noticed():
    scene = both_tapes("square", "x")
    box = Box(middle(scene), 0, 9, 9, Role.SEED)
    wrong = Group((box,), 1, cell="x", title="x₂, slot 2 of x = 0.8146", moment="step 1")
    assert unmatched(replace(scene, shapes=(*scene.shapes, wrong)), "x") == [wrong.title]


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_unrolled_is_refused_in_a_sentence(name):
    with pytest.raises(REFUSED[name]):
        visual.two_tapes(loops[name])

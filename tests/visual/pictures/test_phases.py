"""The phases picture: typed decisions, one panel each, against what is known of the loop."""

from xml.etree import ElementTree

import pytest
from pictures import cells
from strange_loops import LOOPS, derivations_of
from twins import assert_twin

import lab
from lab import records
from lab.errors import ArgumentError
from lab.gradients.decisions import PullbackRule
from lab.gradients.record import Verdict
from lab.loops import gallery
from lab.scans.replacing import scan_nodes
from visual.pictures.connections import LOOKS, WORDS
from visual.pictures.phases import PURPOSES, phases
from visual.scene.shapes import Arrow, Box, Group, Polyline, Scene, Text, walk
from visual.scene.theme import THEMES, Role

ALL = [*gallery.loops, *LOOPS]


def items(derivation, number):
    """The decisions of one phase: subject and verdict."""
    (phase,) = (p for p in derivation.record.phases if p.number == number)
    return {item.subject: item.verdict for item in phase.items}


@pytest.mark.parametrize(
    ("name", "order", "which"), [("square", 2, 1), ("undefined", 1, 0), ("extra", 1, 0)]
)
def test_text_twins(name, order, which):
    derivation = derivations_of(name, order)[which]
    assert_twin(f"phases-{name}-{order}", phases(derivation))
    if name == "square":
        assert_twin("phases-square-2-all", phases(derivation, all=True))


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("name", gallery.loops)
def test_no_two_variables_have_one_name(name, order):
    found = [(d, number) for d in derivations_of(name, order) for number in (2, 5, 7, 10, 11)]
    for derivation, number in found:
        (phase,) = (p for p in derivation.record.phases if p.number == number)
        # What is said of reused results, and of groups that are empty, is not about a variable.
        subjects = [i.subject for i in phase.items if i.verdict is not Verdict.REUSED]
        assert len(set(subjects)) == len(subjects)
        gradients = [o.gradient for o in derivation.outcomes if o.gradient]
        assert len(set(gradients)) == len(gradients)


def test_what_is_read_at_two_taps_is_told_apart():
    """Of x[t−2]·x[t−1], in which dx[t+2] ← dx[t]·x[t−1] and dx[t+1] ← dx[t]·x[t−2], by hand.

    What was written at +2 has its gradient where the next tape is read at −2.
    """
    found = gallery.loops["square"].with_taps({"x": (-2, -1)}).derivative(2)
    derivation = next(
        d
        for node in scan_nodes(list(found.values))
        if (d := getattr(node.op, "derivation", None)) and d.forward.called == "gradient of square"
    )
    (phase,) = (p for p in derivation.record.phases if p.number == 5)
    told = {item.subject: item.expression for item in phase.items if item.expression}
    assert told == {
        "x[t−2]": "d2dx[t−1]·dx[t]",
        "x[t−1]": "d2dx[t−2]·dx[t]",
        "dx[t]": "d2dx[t−2]·x[t−1] + d2dx[t−1]·x[t−2]",
        "dx[t+2]": "d2dx[t−2]",
        "dx[t+1]": "d2dx[t−1]",
    }
    assert [o.gradient for o in derivation.outcomes][:2] == ["d2x[t−2][::-1]", "d2x[t−1][::-1]"]


# What the eleven-phase document works out by hand: phase, subject, verdict.
DOCUMENT = [
    (0, 6, {"x[t−1], preserved": Verdict.ACCUMULATED}),
    (0, 7, {"x[t−1]": Verdict.READ}),
    (1, 5, {"x[t]": Verdict.CONNECTED, "dx[t]": Verdict.CONNECTED, "dx[t+1]": Verdict.CONNECTED}),
    (1, 6, {"dx[t], preserved": Verdict.ACCUMULATED, "dx[t+1], overwritten": Verdict.OVERWRITTEN}),
    (1, 9, {"d2x": Verdict.PER_STEP}),
    (1, 11, {"x": Verdict.CONNECTED, "dx": Verdict.CONNECTED}),
]


@pytest.mark.parametrize(("which", "number", "expected"), DOCUMENT)
def test_decisions_of_the_documents_example(which, number, expected):
    found = items(derivations_of("square", 2)[which], number)
    assert expected.items() <= found.items()


def test_a_third_derivative_adds_nothing_anywhere():
    """Both taps of the second backward Scan are overwritten, as the document ends by saying."""
    derivation = next(
        d for d in derivations_of("square", 3) if "gradient of the gradient" in d.record.forward
    )
    assert set(items(derivation, 6).values()) == {Verdict.OVERWRITTEN}


@pytest.mark.parametrize(
    ("name", "number", "subject", "verdict"),
    [
        ("lookup", 2, "k", Verdict.DISCONNECTED),
        ("lookup", 9, "dtable", Verdict.SUMMED),
        ("lookup", 11, "k", Verdict.DISCONNECTED),
        ("undefined", 5, "v[t]", Verdict.UNDEFINED),
        ("undefined", 11, "v", Verdict.UNDEFINED),
        ("walk", 2, "rng", Verdict.UNTRACED),
        ("walk", 11, "rng", Verdict.UNTRACED),
        ("rnn", 5, "h[t]", Verdict.REUSED),
        ("extra", 5, "x[t]", Verdict.REUSED),
    ],
)
def test_decisions_of_other_loops(name, number, subject, verdict):
    derivation = derivations_of(name, 1)[0]
    assert items(derivation, number)[subject] is verdict


def test_a_wrong_rule_shows_in_the_picture():
    """Accumulating at overwritten taps, PyTensor's mistake before 3.0, turns orange into green."""
    loop = gallery.loops["square"]
    graph = loop.build()
    wrong = PullbackRule(accumulates=lambda tape: tape.reads)
    made = lab.derivative(loop.cost(graph), graph.inputs["x"], 2, rule=wrong)
    records = [d.node.op.derivation for d in made.genealogy if d.order]
    roles = {key: role for d in records for key, role, *_ in cells(phases(d)) if "dx[t+1], " in key}
    assert set(roles.values()) == {Role.PRESERVED}
    right = {
        key: role
        for d in derivations_of("square", 2)
        for key, role, *_ in cells(phases(d))
        if "dx[t+1], " in key
    }
    assert set(right.values()) == {Role.OVERWRITTEN}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_every_derivation_draws(name, order):
    if order == 3 and name not in gallery.loops:
        return
    for derivation in derivations_of(name, order):
        scene = phases(derivation, all=True)
        assert phases(derivation).moments == scene.moments
        root = ElementTree.fromstring(scene.svg())
        assert root.get("role") == "img"
        steps = [s.step for s in scene.shapes if isinstance(s, Group)]
        assert steps == list(range(11))
        drawn = {key.split(":", 1)[1] for key, *_ in cells(scene)}
        told = [item for phase in derivation.record.phases for item in phase.items]
        assert drawn == {item.subject for item in told if item.verdict is not Verdict.ABSENT}
        words = scene.text()
        for item in told:
            assert item.verdict is not Verdict.ABSENT or item.subject in words
        if order <= 2:
            assert len(scene.svg()) < 100_000


@pytest.mark.parametrize("theme", THEMES)
def test_a_stored_record_draws_the_same(theme):
    for name in ("square", "undefined", "walk"):
        derivation = derivations_of(name, 1)[0]
        again = records.from_json(derivation.to_json())
        assert again == derivation.record
        assert phases(again, theme).svg() == phases(derivation, theme).svg()


def test_every_phase_has_a_purpose_and_every_verdict_a_look():
    assert sorted(PURPOSES) == list(range(1, 12))
    assert set(LOOKS) == set(Verdict)
    assert set(WORDS) == set(Verdict) - {Verdict.NOTED}


def test_long_expressions_are_whole_in_the_tooltip():
    x = lab.Loop(
        lambda x: sum((k + 1) * x**k for k in range(30)), states=(lab.State("x", 0.1),), n_steps=2
    )
    derivation = x.derivative(1).genealogy[-1].node.op.derivation
    scene = phases(derivation, phase=5)
    cut = [s for s in scene.walk() if isinstance(s, Text) and "…" in s.content]
    assert cut
    assert all(len(s.title) > len(s.content) for s in cut)
    assert max(s.left + s.width for s in scene.walk() if isinstance(s, Text)) < scene.width


@pytest.mark.parametrize("number", range(1, 12))
def test_one_phase_is_opened(number):
    derivation = derivations_of("coupled", 2)[1]
    whole, opened = phases(derivation), phases(derivation, phase=number)
    assert list(opened.moments.items()) == [(number - 1, whole.moments[number - 1])]
    told = opened.text()
    for item in derivation.record.phases[number - 1].items:
        assert item.decision in told or len(item.decision) > 70
        assert len(item.expression) > 70 or item.expression in told
    assert opened.height < whole.height


def new_and_pale(scene, number):
    """How many boxes, texts and arrows of the sketch of a phase are new, and how many are not."""
    (group,) = (s for s in scene.shapes if isinstance(s, Group) and s.step == number - 1)
    sketch = [s for s in walk(group.shapes) if left_of(s) >= 620]
    faded = [s.faded for s in sketch]
    return faded.count(False), faded.count(True)


def left_of(shape):
    return shape.points[0][0] if isinstance(shape, Arrow | Polyline) else shape.x


def test_the_sketch_grows_and_what_is_new_stands_out():
    """Of x**2: step count 1, no slot but that of x[t-1], one sequence, one tape of five slots."""
    scene = phases(derivations_of("square", 1)[0])
    grown = {number: new_and_pale(scene, number) for number in range(1, 12)}
    assert grown[1] == (2, 0)  # a frame, and how many steps
    assert grown[2] == (1, 2)  # x waits for its gradient
    assert grown[6][0] == 2  # a slot, and + in it
    assert grown[7][0] == 2  # x[t-1], and an arrow into the step
    assert grown[8][0] == 5  # x₀ to x₄
    assert grown[9][0] == 0  # x has its tape, and there is nothing else
    for number in range(2, 12):  # what is replaced, the frame and the step, counts once
        assert sum(grown[number]) >= sum(grown[number - 1]) >= grown[number][1]


@pytest.mark.parametrize(("name", "slots"), [("square", 5), ("gap", 8), ("coupled", 4)])
def test_the_sketch_has_the_slots_of_the_loop(name, slots):
    """By hand: the steps and the values that are given; a loop of many steps shows eight."""
    assert new_and_pale(phases(derivations_of(name, 1)[0]), 8)[0] == slots
    many = gallery.loops[name].with_steps(20).derivative(1).genealogy[-1].node.op.derivation
    assert new_and_pale(phases(many), 8)[0] == 8


@pytest.mark.parametrize("name", ["square", "gap", "coupled", "rnn"])
def test_slots_look_as_on_tapes(name):
    """What a backward step adds to it reads, then replaces, in the sketch as on tapes.

    What the loop keeps, where gradients add up, is preserved on the tape of the loop.
    """
    scene = phases(derivations_of(name, 1)[0])
    (row,) = (s for s in scene.shapes if isinstance(s, Group) and s.step == 5)
    boxes = [s for s in walk(row.shapes) if isinstance(s, Box) and s.role is not Role.PANEL]
    sketched = {box.role for box in boxes if box.x >= 620}
    tapes = gallery.loops[name].trace().scans
    assert sketched == {Role.OVERWRITTEN}
    assert all(tape.tape.overwritten for tape in tapes[1].tapes if not tape.is_total)
    assert {box.role for box in boxes if box.x < 620} == {Role.PRESERVED}
    assert not any(tape.tape.overwritten for tape in tapes[0].tapes)


def test_no_box_lies_below_a_formula():
    for name in ("gap", "coupled", "rnn"):
        scene = phases(derivations_of(name, 1)[0], "print")
        for group in (g for g in scene.groups() if isinstance(g.shapes[0], Group)):
            first, text = group.shapes[0], group.shapes[-1]
            if first.cell and isinstance(text, Text):
                (box,) = first.shapes
                assert box.role is Role.PANEL or box.x + box.width <= text.left


def test_what_has_no_room_is_counted():
    """The decisions of phase 5 that have no box are in the words that open it."""
    derivation = derivations_of("coupled", 2)[1]
    scene = phases(derivation)
    texts = [s.content for s in scene.walk() if isinstance(s, Text)]
    (told,) = (line for line in texts if line.endswith("more: phase=5"))
    decided = derivation.record.phases[4].items
    subjects = {i.subject for i in decided if i.verdict is not Verdict.NOTED}
    row = next(s for s in scene.shapes if isinstance(s, Group) and s.step == 4)
    boxed = {g.cell for g in Scene(0, 0, (row,), "", "").groups() if g.cell}
    assert told == f"⋯ {len(subjects) - len(boxed)} more: phase=5"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"verdict": "wrong"}, ["outcomes[0].verdict", "'wrong'", "Verdict", "accumulated"]),
        ({"kind": "tape"}, ["outcomes[0].kind", "'tape'", "Kind", "sit-sot"]),
    ],
)
def test_a_stored_status_that_does_not_exist_is_refused(data, says):
    stored = derivations_of("square", 1)[0].to_json()
    stored["outcomes"][0] |= data
    with pytest.raises(ArgumentError) as caught:
        records.from_json(stored)
    for part in says:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: phases(None), "derivation = None"),
        (lambda: phases(derivations_of("square", 1)[0], "pink"), "theme = 'pink'"),
        (lambda: phases(derivations_of("square", 1)[0], phase="a"), "phase = 'a': expected a"),
        (lambda: phases(derivations_of("square", 1)[0], phase=12), "phase = 12: .* 1 to 11"),
        (lambda: phases(derivations_of("square", 1)[0], all=1), "all = 1: expected True or False"),
    ],
)
def test_bad_input_is_told(wrong, says):
    with pytest.raises(ArgumentError, match=says):
        wrong()


def test_two_records_of_one_name_are_refused():
    with pytest.raises(
        TypeError, match=r"Verdict: lab\.gradients\.record has a record of this name"
    ):
        records.stored(type("Verdict", (), {}))

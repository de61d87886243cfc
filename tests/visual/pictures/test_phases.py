"""The phases picture: typed decisions, one panel each, against what is known of the loop."""

from xml.etree import ElementTree

import pytest
from pictures import cells
from strange_loops import LOOPS, derivations_of
from twins import assert_twin

import lab
import visual
from lab import records
from lab.errors import ArgumentError
from lab.gradients.decisions import PullbackRule
from lab.gradients.record import Verdict
from lab.loops import gallery
from lab.notation import tapped
from lab.scans.replacing import scan_nodes
from lab.tape import Kind
from visual.layout.sheet import SCREEN
from visual.pictures.connections import LOOKS, WORDS
from visual.pictures.phases.phases import PURPOSES, phases
from visual.pictures.phases.sentences import NOTHING, sentences
from visual.pictures.phases.sketch import Sketch
from visual.scene.shapes import Box, Group, Polyline, Text, walk
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
        assert [*scene.moments] == list(range(11))
        drawn = {key.split(":", 1)[1] for key, *_ in cells(scene)}
        told = [item for phase in derivation.record.phases for item in phase.items]
        assert drawn >= {item.subject for item in told if item.verdict is not Verdict.ABSENT}
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


def built(derivation, number):
    """What the sketch shows after a phase: how many shapes are new, and how many were there."""
    sketch = Sketch(
        derivation.record, derivation.record.phases[number - 1], None, SCREEN, 6
    ).drawn()
    faded = [shape.faded for shape in walk(sketch.shapes) if not isinstance(shape, Box | Polyline)]
    return faded.count(False), faded.count(True)


@pytest.mark.parametrize("name", ["square", "coupled", "rnn"])
def test_the_sketch_grows_and_what_is_new_stands_out(name):
    derivation = derivations_of(name, 1)[0]
    grown = {number: built(derivation, number) for number in range(1, 11)}
    for number in range(2, 11):
        assert grown[number][1] == sum(grown[number - 1])
    assert built(derivation, 11)[1] == sum(grown[10])
    assert all(grown[number][0] for number in grown if number != 9)
    assert bool(grown[9][0]) == (name != "square")  # which has neither sequence nor parameter


def written_in(scene):
    """All texts of a picture."""
    return [s.content for s in scene.walk() if isinstance(s, Text)]


@pytest.mark.parametrize("name", ["square", "gap", "coupled", "rnn", "newton"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_slots_look_as_on_tapes(name, order):
    """Of every Scan: the taps that a step reads and keeps, or replaces, have those roles here."""
    trace = gallery.loops[name].trace(order)
    for number, scan in enumerate(trace.scans):
        if scan.parent is None:
            continue
        scene = visual.draw(gallery.loops[name], "phases", order=order, scan=number + 1)
        shown = {
            (inside.content, box.role)
            for box, inside in boxes_with_names(scene)
            if box.role in (Role.OVERWRITTEN, Role.PRESERVED) and inside.mono
        }
        expected = {
            (tapped(tape.name, tap), role)
            for tape in scan.held
            if tape.kind is Kind.MIT_MOT
            for taps, role in (
                (tape.tape.overwritten, Role.OVERWRITTEN),
                (tape.tape.preserved, Role.PRESERVED),
            )
            for tap in taps
        }
        assert {(n, r) for n, r in shown if "…" not in n} <= expected
        assert len(shown) == len(expected)


def boxes_with_names(scene):
    """The boxes of a picture that have one text in them, and that."""
    for group in scene.groups():
        match group.shapes:
            case (Group(shapes=(Box() as box,)), Text() as text):
                yield box, text


ADDED = {  # by hand: the argument, and what is added to its share
    ("square", 1): {"x[t−1]": "so + dx[t+1]"},
    ("gap", 1): {"x[t−3]": "so + dx[t+3]", "x[t−1]": "so + dx[t+1]"},
    ("square", 2): {"dx[t]": "so + d2dx[t]", "dx[t+1]": "so nothing is added"},
}


@pytest.mark.parametrize(("name", "order"), ADDED)
def test_what_is_added_stands_at_the_share_that_it_is_added_to(name, order):
    texts = written_in(phases(derivations_of(name, order)[order - 1]))
    found, last = {}, ""
    for text in texts:
        last = text.partition(" ↦ ")[0] if " ↦ " in text else last
        if text.startswith("so "):
            found[last] = text
    assert found == ADDED[name, order]


def test_what_has_no_room_is_counted():
    """Of the seven shares of the second derivative of coupled, those without a line."""
    derivation = derivations_of("coupled", 2)[1]
    texts = written_in(phases(derivation))
    shares = [i for i in derivation.record.phases[4].items if i.expression]
    lines = sum(" ↦ " in text for text in texts)
    assert lines < len(shares) == 7
    assert f"⋯ {7 - lines} more: phase=5" in texts
    assert sum(" ↦ " in text for text in written_in(phases(derivation, all=True))) >= 7


@pytest.mark.parametrize("name", ALL)
def test_a_phase_that_adds_nothing_says_so(name):
    """In one pale line; the others tell of the loop's own variables."""
    for derivation in derivations_of(name, 2):
        said = [*sentences(derivation.record)]
        assert [line[-1] for line in said] == ["."] * 11
        for phase, line in zip(derivation.record.phases, said, strict=True):
            if all(item.verdict is Verdict.ABSENT for item in phase.items):
                assert line.startswith(NOTHING)
        pale = {s.content for s in phases(derivation).walk() if isinstance(s, Text) and s.muted}
        nothing = [line for line in said if line.startswith(NOTHING)]
        assert all(any(text.startswith(line[:40]) for text in pale) for line in nothing)


@pytest.mark.parametrize("name", gallery.loops)
@pytest.mark.parametrize("order", [2, 3])
def test_every_scan_fits_a_screen(name, order):
    loop = gallery.loops[name]
    for number, scan in enumerate(loop.trace(order).scans):
        if scan.parent is not None:
            scene = visual.draw(loop, "phases", order=order, scan=number + 1)
            assert scene.width == 840, number
            assert scene.height <= 1200


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

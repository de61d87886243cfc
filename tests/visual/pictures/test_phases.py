"""The phases picture: typed decisions, one panel each, against what is known of the loop."""

from xml.etree import ElementTree

import pytest
from pictures import cells
from strange_loops import LOOPS, derivations_of
from twins import assert_twin

import lab
from lab import records
from lab.errors import ArgumentError
from lab.gradients.record import Verdict
from lab.loops import gallery
from lab.scans.graphs import scan_nodes
from visual.pictures.connections import LOOKS, WORDS
from visual.pictures.phases import PURPOSES, phases
from visual.scene.shapes import Group, Text
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
    assert_twin(f"phases-{name}-{order}", phases(derivations_of(name, order)[which]))


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
    """Of x[t−2]·x[t−1], in which dx[t+2] ← dx[t]·x[t−1] and dx[t+1] ← dx[t]·x[t−2], by hand."""
    found = gallery.loops["square"].with_taps({"x": (-2, -1)}).derivative(2)
    derivation = next(
        d
        for node in scan_nodes(list(found.values))
        if (d := getattr(node.op, "derivation", None)) and d.forward.called == "gradient of square"
    )
    (phase,) = (p for p in derivation.record.phases if p.number == 5)
    told = {item.subject: item.expression for item in phase.items if item.expression}
    assert told == {
        "x[t−2]": "ddx[t+1]·dx[t]",
        "x[t−1]": "ddx[t+2]·dx[t]",
        "dx[t]": "ddx[t+2]·x[t−1] + ddx[t+1]·x[t−2]",
        "dx[t+2]": "ddx[t+2]",
        "dx[t+1]": "ddx[t+1]",
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
    wrong = lab.PullbackRule(accumulates=lambda tape: tape.reads)
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
        scene = phases(derivation)
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
    scene = phases(derivation)
    cut = [s for s in scene.walk() if isinstance(s, Text) and "…" in s.content]
    assert cut
    assert all(len(s.title) > len(s.content) for s in cut)
    assert max(s.left + s.width for s in scene.walk() if isinstance(s, Text)) < scene.width


def test_some_of_the_phases_alone():
    derivation = derivations_of("square", 1)[0]
    whole, some = phases(derivation), phases(derivation, only=range(6, 9))
    assert list(some.moments.items()) == list(whole.moments.items())[5:8]
    assert some.height < whole.height
    told = [s.content for s in some.walk() if isinstance(s, Text)]
    assert any("the gradient is added to what is there" in line for line in told)
    assert not any("disconnected" in line for line in told)  # which only phase 11 decides


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
        (lambda: phases(derivations_of("square", 1)[0], only=3), "only = 3: expected numbers"),
        (lambda: phases(derivations_of("square", 1)[0], only=()), "only = .*some of 1 to 11"),
        (lambda: phases(derivations_of("square", 1)[0], only=(1, 12)), "only = .1, 12.: .*11"),
    ],
)
def test_bad_input_is_told(wrong, says):
    with pytest.raises(ArgumentError, match=says):
        wrong()


def test_two_records_of_one_name_are_refused():
    with pytest.raises(
        TypeError, match=r"Verdict: lab\.gradients\.record has a record of this name"
    ):
        records.record(type("Verdict", (), {}))

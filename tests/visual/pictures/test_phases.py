"""Compare the phases picture with the record, with derivations by hand, and with the tapes."""

import pytest
from pictures import cells
from strange_loops import LOOPS, derivations_of, trace_of
from twins import assert_twin

import lab
import visual
from lab.gradients.record import Verdict
from lab.loops import gallery
from lab.notation import tap_symbol
from lab.tape import Kind
from visual.pictures.phases.phases import phases
from visual.pictures.phases.sentences import NOTHING, sentences
from visual.scene.shapes import Box, Group, Text
from visual.scene.theme import Role

ALL = [*gallery.loops, *LOOPS]


def items(derivation, number):
    """Return the verdicts of a phase by subject."""
    (phase,) = (p for p in derivation.record.phases if p.number == number)
    return {item.subject: item.verdict for item in phase.items}


@pytest.mark.parametrize(
    ("name", "order", "which"), [("square", 2, 1), ("undefined", 1, 0), ("extra", 1, 0)]
)
def test_text_twins(name, order, which):
    assert_twin(f"phases-{name}-{order}", phases(derivations_of(name, order)[which]))


# The example of the eleven-phase document, by hand: Scan, phase, verdicts.
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
    """The second backward Scan overwrites both taps, as in the eleven-phase document."""
    derivation = next(
        d for d in derivations_of("square", 3) if "gradient of the gradient" in d.record.forward
    )
    assert set(items(derivation, 6).values()) == {Verdict.OVERWRITTEN}


@pytest.mark.parametrize("name", ALL)
def test_every_derivation_draws_its_decisions_and_mutes_phases_that_add_nothing(name):
    for derivation in (d for order in (1, 2) for d in derivations_of(name, order)):
        scene, printed = phases(derivation), str(derivation)
        assert [*scene.moments] == list(range(11))
        drawn = {key.split(":", 1)[1] for key, *_ in cells(scene)}
        verdicts = items(derivation, 2)
        assert drawn >= {name for name in verdicts if verdicts[name] is not Verdict.ABSENT}
        pale = " ".join(s.content for s in scene.walk() if isinstance(s, Text) and s.muted)
        said = [*sentences(derivation.record)]
        assert [line[-1] for line in said] == ["."] * 11
        for phase, line in zip(derivation.record.phases, said, strict=True):
            assert all(item.subject in printed for item in phase.items)
            if all(item.verdict is Verdict.ABSENT for item in phase.items):
                assert line.startswith(NOTHING)
                assert line[:40] in pale


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


@pytest.mark.parametrize("name", ["square", "gap", "coupled", "rnn", "newton"])
def test_slots_look_as_on_tapes(name):
    """Compare the roles of all slots with the preserved and overwritten taps of each Scan."""
    for order in (1, 2, 3):
        trace = trace_of(name, order)
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
                (tap_symbol(tape.name, tap), role)
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
    """Yield the boxes of a picture with a text, and the text."""
    for group in scene.groups():
        match group.shapes:
            case (Group(shapes=(Box() as box,)), Text() as text, *_):
                yield box, text

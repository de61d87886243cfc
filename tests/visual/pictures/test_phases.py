"""Compare the phases picture with the record, with handwritten derivations, and with the tapes."""

import pytest
from pictures import cells
from strange_loops import LOOPS, derivations_of, loop_of
from twins import assert_twin

import lab
import visual
from lab.gradients.record import Verdict
from lab.loops import gallery
from visual.pictures.phases.phases import phases
from visual.pictures.phases.sentences import sentences
from visual.scene.shapes import Text

ALL = [*gallery.loops, *LOOPS]


def items(derivation, number):
    """Return the verdicts of a phase by subject."""
    return {item.subject: item.verdict for item in derivation.record.phases[number - 1].items}


@pytest.mark.parametrize(
    ("name", "order", "which"),
    [("square", 2, 1), ("undefined", 1, 0), ("extra", 1, 0), ("newton", 2, 1)],
)
def test_text_twins(name, order, which):
    assert_twin(f"phases-{name}-{order}", phases(derivations_of(name, order)[which]))


@pytest.mark.parametrize("name", ALL)
def test_every_derivation_draws_its_decisions_and_mutes_phases_that_add_nothing(name):
    for derivation in (d for order in (1, 2) for d in derivations_of(name, order)):
        scene, printed = phases(derivation), str(derivation)
        assert [*scene.moments] == list(range(11))
        subjects = {key.split(":", 1)[1] for key, *_ in cells(scene)}
        verdicts = items(derivation, 2)
        assert subjects >= {name for name in verdicts if verdicts[name] is not Verdict.ABSENT}
        muted = " ".join(s.content for s in scene.walk() if isinstance(s, Text) and s.muted)
        lines = [*sentences(derivation.record)]
        assert [line[-1] for line, _ in lines] == ["."] * 11
        for phase, (line, adds) in zip(derivation.record.phases, lines, strict=True):
            assert all(item.subject in printed for item in phase.items)
            if all(item.verdict is Verdict.ABSENT for item in phase.items):
                assert not adds
                assert line[:40] in muted


def test_tooltips_contain_long_expressions_in_full():
    loop = loop_of("x", 0.1, lambda x: sum((k + 1) * x**k for k in range(30)))
    scene = visual.draw(loop, "phases")
    cut = [s for s in scene.walk() if isinstance(s, Text) and "…" in s.content]
    assert cut
    assert all(len(s.title) > len(s.content) for s in cut)
    assert max(s.left + s.width for s in scene.walk() if isinstance(s, Text)) < scene.width


def test_a_name_is_not_split_at_its_operators():
    parameter = lab.Parameter("p + q", 2.0)
    start = {"states": [lab.State("x", 0.5)], "parameters": [parameter], "n_steps": 3}
    scene = visual.draw(lab.Loop(lambda **v: v["x"] * v["p + q"], **start), "phases")
    assert "·p + q" in [s.content for s in scene.walk() if isinstance(s, Text)]

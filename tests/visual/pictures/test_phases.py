"""Compare the phases picture with the record, with derivations by hand, and with the tapes."""

import math
import re
from itertools import pairwise

import pytest
from pictures import cells
from strange_loops import LOOPS, derivations_of
from twins import assert_twin

import lab
import visual
from lab.errors import ArgumentError
from lab.gradients.decisions import PullbackRule
from lab.gradients.record import Verdict
from lab.loops import gallery
from lab.notation import tap_symbol
from lab.tape import Kind
from visual.pictures.phases.phases import PURPOSES, phases
from visual.pictures.phases.sentences import LOOKS, NOTHING, legend_of, sentences
from visual.scene.shapes import Box, Group, Text, walk
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


def test_a_wrong_rule_shows_in_the_picture():
    """Accumulate at overwritten taps, as PyTensor did before 3.0: the role changes."""
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
def test_every_derivation_draws(name):
    orders = (1, 2, 3) if name in gallery.loops else (1, 2)
    for order, derivation in [(o, d) for o in orders for d in derivations_of(name, o)]:
        scene = phases(derivation)
        assert [*scene.moments] == list(range(11))
        drawn = {key.split(":", 1)[1] for key, *_ in cells(scene)}
        assert drawn >= {
            name for name, v in items(derivation, 2).items() if v is not Verdict.ABSENT
        }
        printed = str(derivation)  # the decisions of all phases
        for phase in derivation.record.phases:
            assert all(item.subject in printed for item in phase.items)
        if order <= 2:
            assert len(scene.svg()) < 100_000


def test_every_phase_has_a_purpose_and_every_verdict_a_look():
    assert len(set(PURPOSES)) == 11
    assert set(LOOKS) == set(Verdict)
    for verdict in set(Verdict) - {Verdict.NOTED, Verdict.ABSENT}:
        assert set(legend_of([verdict])) == {LOOKS[verdict][0]}


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


def opened_in(scene, number):
    """Return the groups of a phase."""
    return tuple(group for group in scene.groups() if group.step == number - 1)


NAMES = 24 + 138  # where the pieces of phases begin
SIGN = re.compile(r"(\w+)\[t([+−]\d+)?\]|(?<![\w.])([^\W\d]\w*)(?![\w(])")


def pieces_of(scene, number, mono=None):
    """Return the lines in the row of a phase, with the sentence at the end.

    With `mono`, return formulas only. A tooltip replaces a shortened text.
    """
    texts = [s for s in walk(opened_in(scene, number)) if isinstance(s, Text) and s.x >= NAMES]
    lines = {}
    for text in sorted(texts, key=lambda text: (text.y, text.left)):
        if mono in (None, text.mono):
            lines.setdefault(text.y, []).append(text)
    joined = []
    for line in lines.values():
        told = line[0].title or line[0].content
        for before, text in pairwise(line):
            apart = text.left - before.left - before.width > 5
            told += " " * apart + (text.title or text.content)
        joined.append(told)
    return joined


def by_name(lines, names, arrow=""):
    """Return formulas by name, with their lines joined."""
    known = "|".join(map(re.escape, names))
    _, *parts = re.split(rf"(?:^|  )({known}) {arrow}", "  ".join(lines))
    return {
        name: " ".join(told.split()) for name, told in zip(parts[::2], parts[1::2], strict=True)
    }


def predator(prey, hunters, birth):
    eaten = 0.1 * prey * hunters
    return prey + 0.1 * birth * prey - eaten, hunters + eaten - 0.1 * hunters


STEPS = {  # by hand: step, results, and per argument the written slot and the added slot
    ("square", 1): (
        lambda x: [x * x],
        ["dx[t]"],
        {"x[t−1]": ("dx[t+1]", "dx[t+1]")},
    ),
    ("gap", 1): (
        lambda x3, x1: [math.sin(x3) + x3 * x1],
        ["dx[t]"],
        {"x[t−3]": ("dx[t+3]", "dx[t+3]"), "x[t−1]": ("dx[t+1]", "dx[t+1]")},
    ),
    ("logistic", 1): (
        lambda x, r: [r * x * (1 - x)],
        ["dx[t]"],
        {"x[t−1]": ("dx[t+1]", "dx[t+1]"), "r": ("dr", "dr")},
    ),
    ("newton", 1): (
        lambda x, a: [(x + a / x) / 2],
        ["dx[t]"],
        {"x[t−1]": ("dx[t+1]", "dx[t+1]"), "a": ("da", "da")},
    ),
    ("coupled", 1): (
        predator,
        ["dprey[t]", "dhunters[t]"],
        {
            "prey[t−1]": ("dprey[t+1]", "dprey[t+1]"),
            "hunters[t−1]": ("dhunters[t+1]", "dhunters[t+1]"),
            "birth": ("dbirth", "dbirth"),
        },
    ),
    ("square", 2): (
        lambda x, dx0, dx1: [2 * dx0 * x + dx1],
        ["d2dx[t−1]"],
        {"x[t]": ("d2x", ""), "dx[t]": ("d2dx[t]", "d2dx[t]"), "dx[t+1]": ("d2dx[t−1]", "")},
    ),
}


def worth(written, known):
    """Evaluate a formula of the picture."""
    plain = SIGN.sub(lambda found: f"known[{found[0]!r}]", written)
    for sign, python in (("·", "*"), ("²", "**2")):
        plain = plain.replace(sign, python)
    plain = re.sub("−(?!\\d*\\])", "-", plain)
    return eval(plain, {"known": known, "cos": math.cos})


@pytest.mark.parametrize(("name", "order"), STEPS)
def test_formulas_are_the_derivative_of_the_step(name, order):
    """Compare phase 5 and the finished step with finite differences of the step."""
    step, signals, arguments = STEPS[name, order]
    scene = phases(derivations_of(name, order)[order - 1])
    names = [*signals, *arguments, *(n for pair in arguments.values() for n in pair if n)]
    known = {one: 0.3 + 0.17 * n for n, one in enumerate(dict.fromkeys(names))}
    at = [known[one] for one in arguments]
    lines = pieces_of(scene, 5, mono=True)
    shares = by_name(lines, arguments) if len(arguments) > 1 else {next(iter(arguments)): lines[0]}
    targets = [target for target, _ in arguments.values()]
    finished = by_name(pieces_of(scene, 11, mono=True), targets, "←")
    assert set(shares) == set(arguments)
    assert set(finished) == set(targets)
    for number, (argument, (target, added)) in enumerate(arguments.items()):

        def sent(change, number=number):
            near = [value + change * (n == number) for n, value in enumerate(at)]
            return sum(known[s] * value for s, value in zip(signals, step(*near), strict=True))

        slope = (sent(1e-5) - sent(-1e-5)) / 2e-5
        assert worth(shares[argument], known) == pytest.approx(slope, rel=1e-8)
        total = slope + known.get(added, 0)
        assert worth(finished[target], known) == pytest.approx(total, rel=1e-8)


@pytest.mark.parametrize("name", ["square", "gap", "coupled", "rnn", "newton"])
def test_slots_look_as_on_tapes(name):
    """Compare the roles of all slots with the preserved and overwritten taps of each Scan."""
    for order in (1, 2, 3):
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


@pytest.mark.parametrize("name", ALL)
def test_a_phase_that_adds_nothing_says_so(name):
    """The line of the phase is muted."""
    for derivation in derivations_of(name, 2):
        said = [*sentences(derivation.record)]
        assert [line[-1] for line in said] == ["."] * 11
        for phase, line in zip(derivation.record.phases, said, strict=True):
            if all(item.verdict is Verdict.ABSENT for item in phase.items):
                assert line.startswith(NOTHING)
        pale = {s.content for s in phases(derivation).walk() if isinstance(s, Text) and s.muted}
        nothing = [line for line in said if line.startswith(NOTHING)]
        assert all(any(text.startswith(line[:40]) for text in pale) for line in nothing)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: phases(None), "derivation = None"),
        (lambda: phases(derivations_of("square", 1)[0], phase=5), "phase was removed .* print"),
        (lambda: phases(derivations_of("square", 1)[0], all=True), r"phases\.all was removed"),
    ],
)
def test_errors_name_the_argument(wrong, says):
    with pytest.raises(ArgumentError, match=says):
        wrong()


def test_a_part_of_a_gradient_has_a_note():
    """Scan 2 also reads `birth`. Therefore Scan 3 computes a part of the gradient wrt `birth`.

    The tape of a state contains the total gradient, because Scan 3 computes its initial values.
    """
    scene = visual.draw(gallery.loops["coupled"], "phases", order=2)
    told = pieces_of(scene, 11)
    (note,) = (n for n, line in enumerate(told) if line.startswith("a part"))
    assert "birth" in told[note - 1]
    first = visual.draw(gallery.loops["coupled"], "phases", order=1)
    assert not any("a part" in line for line in pieces_of(first, 11))
    assert any("from Scan 3 and later" in line for line in pieces_of(scene, 4))

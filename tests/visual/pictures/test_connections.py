"""The connections picture, against PyTensor's own gradients and connection patterns."""

from xml.etree import ElementTree

import pytensor.tensor as pt
import pytest
from pictures import cells
from pytensor.gradient import DisconnectedType, NullType, disconnected_type
from pytensor.scan.op import Scan
from strange_loops import HOSTILE, LOOPS, derivations_of, derivative_of
from twins import assert_twin

import lab
from lab.errors import GradientError
from lab.gradients.record import Verdict
from lab.loops import gallery
from lab.tape import Kind
from visual.pictures.connections import connections
from visual.scene.shapes import Box, Text
from visual.scene.theme import Role

ALL = [*gallery.loops, *LOOPS]
GRADIENT = {Verdict.CONNECTED, Verdict.ZERO}


@pytest.mark.parametrize("name", ["undefined", "walk", "lookup", "coupled"])
def test_text_twins(name):
    assert_twin(f"connections-{name}", connections(derivative_of(name, 2)))


@pytest.mark.parametrize("name", ALL)
def test_the_outcomes_are_pytensors_own(name):
    """PyTensor's pullback of the same Scan gives, or refuses, the same gradients."""
    loop = gallery.loops[name] if name in gallery.loops else LOOPS[name]
    node = loop.build().node
    names = {v.name for v in loop.states} | set(loop.outputs)
    given = [
        pt.ones_like(v)
        if str(v.type.dtype if hasattr(v.type, "dtype") else "").startswith("float") and names
        else disconnected_type()
        for v in node.outputs
    ]
    theirs = Scan.pullback(node.op, node.inputs, node.outputs, given)[1:]
    record = lab.derive(node.op, node.inputs, node.outputs, given).record
    assert len(theirs) == len(record.outcomes)
    for outcome, gradient in zip(record.outcomes, theirs, strict=True):
        if isinstance(gradient.type, DisconnectedType):
            kinds = {Verdict.DISCONNECTED}
        elif isinstance(gradient.type, NullType):
            kinds = {Verdict.UNDEFINED, Verdict.UNTRACED}
        else:
            kinds = GRADIENT
        if outcome.kind is Kind.UNTRACED:  # PyTensor may call it disconnected
            kinds = {Verdict.UNTRACED}
        assert outcome.verdict in kinds, outcome


def test_an_undefined_sequence_is_shown_although_its_derivative_is_refused():
    with pytest.raises(GradientError):
        gallery.loops["undefined"].derivative(1, "v")
    found = {key: (words, title) for key, _, words, title, _ in cells(undefined())}
    words, title = found["1 · undefined:v:order 1"]
    assert words == ["undefined"]
    assert "PyTensor has no derivative of jv with regard to its 1st argument" in title
    assert found["1 · undefined:x:order 1"][0] == ["connected", "dx[::-1]"]
    assert found["1 · undefined:number of steps:order 1"][0] == ["disconnected"]


def undefined():
    return connections(derivative_of("undefined", 1))


def test_undefinedness_spreads_through_a_state():
    """What reaches the cost only through an undefined state is undefined for the same reason."""
    loop = lab.Loop(
        lambda x, y, v: (pt.jv(x, v), x * y),
        states=(lab.State("x", 1.0), lab.State("y", 2.0)),
        sequences=(lab.Sequence("v", [0.5, 1.0, 1.5]),),
    )
    node = loop.build().node
    given = [disconnected_type(), pt.ones_like(node.outputs[1])]
    record = lab.derive(node.op, node.inputs, node.outputs, given).record
    verdicts = {o.variable: o.verdict for o in record.outcomes}
    assert verdicts == {
        "x": Verdict.UNDEFINED,
        "y": Verdict.CONNECTED,
        "v": Verdict.UNDEFINED,
    }


def test_roles_of_the_four_outcomes():
    roles = {}
    for name in ("undefined", "walk", "lookup"):
        for _, role, words, *_ in cells(connections(derivative_of(name, 1))):
            roles.setdefault(words[0], set()).add(role)
    assert set(roles) == {"connected", "disconnected", "undefined", "untraced"}
    assert all(len(found) == 1 for found in roles.values())
    assert len({role for (role,) in roles.values()}) == 4
    assert roles["connected"] == {Role.RESULT}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_every_loop_draws(name, order):
    if order == 3 and name not in gallery.loops:
        return
    scene = connections(derivative_of(name, order), all=True)
    ElementTree.fromstring(scene.svg())
    told = sum(len(d.record.outcomes) + 1 for d in derivations_of(name, order))
    assert len(cells(scene)) == len({key for key, *_ in cells(scene)}) == told
    if order <= 2:
        assert len(scene.svg()) < 100_000


def test_at_every_order_the_scan_is_differentiated_again():
    keys = {key for key, *_ in cells(connections(derivative_of("square", 3), all=True))}
    assert {f"1 · square:x:order {k}" for k in (1, 2, 3)} <= keys
    assert "2 · C back through 1:x:order 1" not in keys


@pytest.mark.parametrize("name", ["square", "coupled", "rnn"])
def test_one_scan_is_open_and_all_are_counted_in_the_strip(name):
    """The cells of the open table, and a small box for every input of every Scan in the strip."""
    derivative = derivative_of(name, 3)
    known = [d for d in derivations_of(name, 3) if d.order == 3]
    assert len(known) == 4
    for scan in (None, 2, 3, 4):
        scene = connections(derivative, scan=scan)
        assert {key.partition(" ")[0] for key, *_ in cells(scene)} == {str(scan or 1)}
        small = [s for s in scene.walk() if isinstance(s, Box) and s.width == 13]
        counts = [len(d.outcomes) + 1 for d in known]
        assert len(small) == sum(n if n <= 10 else 9 for n in counts)


@pytest.mark.filterwarnings("ignore:order 5 makes about 32 Scans")
def test_of_many_orders_the_last_ones_have_a_column():
    scene = connections(derivative_of("square", 5))
    told = [s.content for s in scene.walk() if isinstance(s, Text)]
    assert [t for t in told if t.startswith("order ")] == ["order 1", "order 4", "order 5"]
    assert "⋯ 2 more orders: all=True" in told
    assert any("16 Scans are differentiated" in t and "8 are not shown" in t for t in told)
    assert scene.width <= 840
    wide = connections(derivative_of("square", 5), all=True)
    told = [s.content for s in wide.walk() if isinstance(s, Text)]
    assert {f"order {k}" for k in range(1, 6)} <= set(told)


TOLD = {  # by hand
    ("square", 2): "x gets a gradient, the number of steps does not",
    ("lookup", 1): "x and table get a gradient, the number of steps and k do not",
    ("coupled", 1): "prey, hunters and birth get a gradient, the number of steps does not",
}


@pytest.mark.parametrize(("name", "order"), TOLD)
def test_it_is_told_by_name_which_inputs_get_a_gradient(name, order):
    scene = connections(derivative_of(name, order))
    assert TOLD[name, order] in [s.content for s in scene.walk() if isinstance(s, Text)]


def test_names_end_as_harmless_text():
    written = connections(derivative_of("hostile name", 2)).svg()
    assert "<script" not in written
    assert any(HOSTILE in (e.text or "") for e in ElementTree.fromstring(written).iter())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: connections(gallery.loops["square"].derivative(0)), "order = 0: no Scan"),
        (lambda: connections(3), "source = 3"),
        (lambda: connections(derivative_of("square", 2), scan=4), "scan = 4: .* 1 · square and 2"),
        (lambda: connections(derivative_of("square", 2), scan="a"), "scan = 'a'"),
        (lambda: connections(derivative_of("square", 2), all=1), "all = 1"),
        (lambda: connections(derivative_of("square", 1), "pink"), "theme = 'pink'"),
    ],
)
def test_bad_input_is_told(wrong, says):
    with pytest.raises(lab.LabError, match=says):
        wrong()

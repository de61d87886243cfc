"""Bad input: one clear sentence that names the argument, quotes the value, says what is allowed."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import lab
import visual
from lab import Loop, Parameter, Sequence, State
from lab.errors import ArgumentError, GradientError
from lab.loops import gallery
from lab.scans.replacing import scan_nodes


def square(**changes):
    options = {"states": (State("x", 0.95),), "n_steps": 4} | changes
    return Loop(lambda x: x**2, **options)


def user_graph():
    x0 = pt.dscalar("x0")
    xs = pytensor.scan(lambda x: x**2, outputs_info=[x0], n_steps=3, return_updates=False)
    return x0, xs


MASKED = np.ma.masked_array([1.0, 2.0, 3.0, 4.0], [False, True, False, False])


def complex_graph(ask, through=lambda values: values):
    z = pt.zscalar("z")
    values = pytensor.scan(lambda v: v * v, outputs_info=[z], n_steps=3, return_updates=False)
    return ask(through(values[-1]), z)


def derive_all(node):
    return lab.derive(node.op, node.inputs, node.outputs, [pt.ones_like(v) for v in node.outputs])


BAD = {
    "tap 0": (lambda: State("x", 1.0, taps=(0,)), ["state x", "[0]", "below 0"]),
    "positive tap": (lambda: State("x", 1.0, taps=(-1, 2)), ["state x", "[-1, 2]", "below 0"]),
    "duplicate taps": (lambda: State("x", [1.0], taps=(-1, -1)), ["state x", "only once"]),
    "empty taps": (lambda: State("x", 1.0, taps=()), ["state x", "at least one tap"]),
    "empty taps of a sequence": (lambda: Sequence("u", [1.0], taps=()), ["sequence u", "at least"]),
    "a tap that is no number": (lambda: State("x", 1.0, taps=("a",)), ["state x", "'a'"]),
    "a tap at the end of the world": (
        lambda: square().with_taps({"x": (-(10**9),)}),
        ["state x", "[-1000000000]", "at most 1,000,000 steps"],
    ),
    "too few initial values": (
        lambda: State("x", [1.0, 2.0], taps=(-3, -1)),
        ["state x", "3 initial values", "not 2"],
    ),
    "a name twice": (
        lambda: square(parameters=(Parameter("x", 1.0),)),
        ["'x'", "only once"],
    ),
    "an empty name": (lambda: square(states=(State("", 1.0),)), ["''", "not empty"]),
    "zero steps": (lambda: square(n_steps=0), ["n_steps = 0", "at least 1"]),
    "negative steps": (lambda: square(n_steps=-2), ["n_steps = -2", "at least 1"]),
    "half a step": (lambda: square(n_steps=2.5), ["n_steps = 2.5", "whole number"]),
    "no steps told": (lambda: square(n_steps=None), ["n_steps = None", "needs a number of steps"]),
    "no truncation": (lambda: square(truncate_gradient=0), ["truncate_gradient = 0", "-1"]),
    "a short sequence": (
        lambda: Loop(
            lambda x, u: x * u[0] * u[1],
            states=(State("x", 1.0),),
            sequences=(Sequence("u", [1.0, 2.0], taps=(0, 1)),),
            n_steps=3,
        ),
        ["sequence u", "2 values", "1 steps", "runs 3", "2 more"],
    ),
    "not a number": (lambda: State("x", "one"), ["state x", "'one'", "number"]),
    "a complex state": (lambda: State("x", 1 + 2j), ["state x", "(1+2j)", "real"]),
    "a complex array": (
        lambda: Sequence("u", np.array([1j, 2])),
        ["sequence u", "array([0.+1.j, 2.+0.j])", "real"],
    ),
    "a complex value": (lambda: square().trace(at={"x": 1j}), ["state x", "1j", "real"]),
    "a masked state": (lambda: State("x", np.ma.masked), ["state x", "masked", "filled"]),
    "a masked sequence": (lambda: Sequence("u", MASKED), ["sequence u", "masked_array", "filled"]),
    "a masked number in a list": (
        lambda: Parameter("w", [1.0, np.ma.masked]),
        ["parameter w", "masked", "filled"],
    ),
    "masked rows": (lambda: Parameter("w", [MASKED, MASKED]), ["parameter w", "filled"]),
    "masked weights": (lambda: square().trace(cost=[1, 2, 3, np.ma.masked]), ["cost", "filled"]),
    "a masked value of a graph": (
        lambda: (lambda g: lab.trace(g[1][-1], {g[0]: np.ma.masked}))(user_graph()),
        ["given: x0", "filled"],
    ),
    "a masked tangent": (
        lambda: lab.dot_product(square(), tangents={"x": np.ma.masked}),
        ["tangents['x']", "filled"],
    ),
    "a complex tangent": (
        lambda: lab.dot_product(square(), tangents={"x": 1j}),
        ["tangents['x']", "real"],
    ),
    "a masked array to route": (
        lambda: lab.structural.cat([MASKED, MASKED], 0),
        ["cat: inputs[0]", "filled"],
    ),
    "a masked array on the eager tape": (
        lambda: lab.eager.grad(np.sum)(MASKED),
        ["masked", "filled"],
    ),
    "a complex cost": (lambda: complex_graph(lab.derivative), ["cost", "complex128", "real"]),
    "a complex cost to explain": (lambda: complex_graph(lab.explain), ["complex128", "real"]),
    "a complex cost without a loop": (
        lambda: lab.explain(pt.zscalar("z") * 2, pt.zscalar("z")),
        ["cost", "real"],
    ),
    "a complex loop": (lambda: complex_graph(lab.derivative, abs), ["wrt = z", "complex128"]),
    "a complex Scan": (
        lambda: complex_graph(lambda cost, _: derive_all(scan_nodes([cost])[0])),
        ["step", "complex128"],
    ),
    "too many results": (
        lambda: Loop(lambda x: (x, x), states=(State("x", 1.0),), n_steps=2).build(),
        ["step", "1 value", "returned 2"],
    ),
    "a changed dtype": (
        lambda: Loop(lambda x: x * 1.5, states=(State("x", np.int64(1)),), n_steps=2).build(),
        ["step", "x comes in as int64", "float64"],
    ),
    "a changed dimension": (
        lambda: Loop(lambda x: x.sum(), states=(State("x", np.ones(2)),), n_steps=2).build(),
        ["step", "1 dimensions", "0"],
    ),
    "an unknown argument": (
        lambda: Loop(lambda x, q: x, states=(State("x", 1.0),), n_steps=2).build(),
        ["step", "'q'", "x"],
    ),
    "an unused variable": (
        lambda: Loop(
            lambda x: x, states=(State("x", 1.0),), parameters=(Parameter("w", 1),), n_steps=2
        ).build(),
        ["step", "does not take w"],
    ),
    "a step that fails": (
        lambda: Loop(lambda x: x[0] + x[1], states=(State("x", 1.0),), n_steps=2).build(),
        ["step", "x as one value", "failed"],
    ),
    "a tap count that the step cannot take": (
        lambda: gallery.loops["fibonacci"].with_taps({"x": (-3, -2, -1)}),
        ["state x", "exactly 2 taps"],
    ),
    "taps of nothing": (lambda: square().with_taps({"y": (-1,)}), ["'y'", "x"]),
    "a value of nothing": (lambda: square().with_values({"y": 1.0}), ["'y'", "x"]),
    "an unknown wrt": (lambda: square().trace(wrt="y"), ["wrt = 'y'", "x"]),
    "an unknown cost": (lambda: square().trace(cost="first"), ["cost = 'first'", "last", "sum"]),
    "an unknown state": (lambda: square().trace(of="y"), ["of = 'y'", "x"]),
    "too few weights": (lambda: square().trace(cost=[1.0, 2.0]), ["cost", "4", "got 2"]),
    "a negative order": (lambda: square().trace(order=-1), ["order = -1", "0, 1, 2"]),
    "half an order": (lambda: square().trace(order=1.5), ["order = 1.5", "0, 1, 2"]),
    "a vector as cost": (
        lambda: lab.derivative(user_graph()[1], pt.dscalar("x0")),
        ["cost", "scalar"],
    ),
    "an integer wrt": (
        lambda: lab.derivative(user_graph()[1][-1], pt.iscalar("n")),
        ["wrt = n", "real floating-point variable"],
    ),
    "a graph without Scan": (
        lambda: lab.derivative(pt.dscalar("a") ** 2, pt.dscalar("a")),
        ["no Scan"],
    ),
    "a trace without Scan": (lambda: lab.trace(pt.dscalar("a") ** 2, {}), ["no Scan"]),
    "a wrt that does not matter": (
        lambda: lab.derivative(user_graph()[1][-1], pt.dscalar("other")),
        ["wrt = other", "does not depend"],
    ),
    "a missing value": (
        lambda: lab.trace(user_graph()[1][-1], {}),
        ["given", "no value for x0"],
    ),
    "a value of a wrong type": (
        lambda: (lambda g: lab.trace(g[1][-1], {g[0]: "one"}))(user_graph()),
        ["given", "x0", "'one'"],
    ),
    "a value for a name": (
        lambda: lab.trace(user_graph()[1][-1], {"x0": 1.0}),
        ["given", "'x0'", "not a PyTensor variable"],
    ),
    "taps without a list": (lambda: State("x", 1.0, taps=-1), ["state x", "-1", "(-1,)"]),
    "a tap count for one value": (
        lambda: gallery.loops["coupled"].with_taps({"prey": (-2, -1)}),
        ["state prey", "exactly 1 tap"],
    ),
    "a window of another size": (
        lambda: gallery.loops["window"].with_taps({"u": (0,)}),
        ["sequence u", "exactly 3 taps"],
    ),
    "a missing number": (lambda: State("x", None), ["state x", "None", "number"]),
    "a missing number in a list": (lambda: Sequence("u", [1.0, None]), ["sequence u", "number"]),
    "lists of different lengths": (lambda: Sequence("u", [[1.0], [1.0, 2.0]]), ["sequence u"]),
    "part of a step": (
        lambda: square(n_steps=Parameter("n", 3.7)),
        ["n_steps = 3.7", "whole number"],
    ),
    "several step counts": (
        lambda: square(n_steps=Parameter("n", [1, 2])),
        ["n_steps", "whole number"],
    ),
    "a state without a tuple": (
        lambda: square(states=State("x", 1.0)),
        ["states", "tuple of State"],
    ),
    "outputs as one text": (lambda: square(outputs="cube"), ["outputs = 'cube'", "tuple of str"]),
    "a step that is no function": (
        lambda: Loop(3.0, states=(State("x", 1.0),), n_steps=2),
        ["step = 3.0", "function"],
    ),
    "a step that returns nothing": (
        lambda: Loop(lambda x: None, states=(State("x", 1.0),), n_steps=2).build(),
        ["step", "x", "None", "not a tensor"],
    ),
    "draw and generator swapped": (
        lambda: Loop(
            lambda x, rng: pt.random.normal(rng=rng, return_next_rng=True),
            states=(State("x", 1.0),),
            random=(lab.RandomState("rng"),),
            n_steps=2,
        ).build(),
        ["step"],
    ),
    "a bad seed": (lambda: lab.RandomState("rng", -1), ["seed", "-1"]),
    "half a step count in given": (
        lambda: (
            lambda n, x0: lab.trace(
                pytensor.scan(lambda x: x * 2, outputs_info=[x0], n_steps=n, return_updates=False),
                {n: 2.5, x0: 1.0},
            )
        )(pt.iscalar("n"), pt.dscalar("x0")),
        ["given", "n", "2.5"],
    ),
    "no values": (lambda: lab.trace(user_graph()[1], None), ["given = None", "dict"]),
    "no variable": (lambda: lab.trace(3.0, {}), ["outputs", "3.0"]),
    "a name as wrt": (
        lambda: lab.derivative(user_graph()[1][-1], "x0"),
        ["wrt = 'x0'", "PyTensor variable"],
    ),
    "a step beyond the last": (
        lambda: lab.spelled(square().trace(), 0, 99),
        ["step = 99", "0 to 3"],
    ),
    "an unknown mode": (
        lambda: square().derivative().verify(square().trace(), mode="NOPE"),
        ["mode = 'NOPE'"],
    ),
    "an index that does not exist": (
        lambda: Loop(
            lambda x, k, table: x * table[k],
            states=(State("x", 1.0),),
            sequences=(Sequence("k", np.array([0, 7])),),
            parameters=(Parameter("table", [1.0, 2.0]),),
        ).trace(order=0),
        ["scan_fn", "in its step", "IndexError"],
    ),
    "an unknown theme": (
        lambda: visual.draw(square(), theme="pink"),
        ["theme = 'pink'", "light", "dark", "print"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_told_in_one_sentence(name):
    wrong, says = BAD[name]
    with pytest.raises(lab.LabError) as caught:
        wrong()
    message = str(caught.value)
    for part in says:
        assert part in message, message
    assert "\n" not in message.strip()
    assert len(message) < 320, message


def test_an_undefined_gradient_is_one_readable_sentence():
    with pytest.raises(GradientError) as caught:
        gallery.loops["undefined"].derivative(1, "v")
    assert "wrt = v" in str(caught.value)


def test_an_unwritable_path_leaves_nothing(tmp_path):
    scene = visual.tapes(square().trace())
    with pytest.raises(ArgumentError, match="does not exist"):
        scene.save(tmp_path / "missing" / "picture.svg")
    (tmp_path / "picture.svg").mkdir()
    with pytest.raises(ArgumentError, match="cannot be written"):
        scene.save(tmp_path / "picture.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["picture.svg"]


def test_a_failed_save_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "picture.svg"
    path.write_text("old")
    scene = visual.tapes(square().trace())

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(ArgumentError, match="No space left"):
        scene.save(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["picture.svg"]

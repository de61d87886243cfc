"""A graph with each trap, and a similar graph without it: functions that return `(cost, wrt)`.

The graphs are written as users write them. The command ``scantape explain`` names them in tests.
"""

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.scan.utils import until

import lab
from graphs import scan
from lab.scans.node import LoopVariable, ScanParts, build_scan
from lab.tape import Kind, Tape


def newest_first():
    x = pt.dvector("x")
    xs = scan(
        lambda newer, older: older + 0.5 * newer,
        outputs_info=[{"initial": x, "taps": [-1, -2]}],
        n_steps=4,
    )
    return xs[-1], x


def oldest_first():
    x = pt.dvector("x")
    xs = scan(
        lambda older, newer: older + 0.5 * newer,
        outputs_info=[{"initial": x, "taps": [-2, -1]}],
        n_steps=4,
    )
    return xs[-1], x


def later_first():
    u, x0 = pt.dvector("u"), pt.dscalar("x0")
    xs = scan(
        lambda later, now, x: x + later * now**2,
        sequences=[{"input": u, "taps": [4, 0]}],
        outputs_info=[x0],
    )
    return xs[-1], u


def now_first():
    u, x0 = pt.dvector("u"), pt.dscalar("x0")
    xs = scan(
        lambda now, later, x: x + later * now**2,
        sequences=[{"input": u, "taps": [0, 4]}],
        outputs_info=[x0],
    )
    return xs[-1], u


def cut_by_hand():
    """Two sequences that the user shifts, in a known order."""
    u, x0 = pt.dvector("u"), pt.dscalar("x0")
    xs = scan(
        lambda now, before, x: x + now * before**2, sequences=[u[1:], u[:-1]], outputs_info=x0
    )
    return xs[-1], u


def small_number():
    w = pt.dscalar("w")
    _, xs = scan(lambda k: (k * 3, k * w), outputs_info=[1, None], n_steps=6)
    return xs[-1], w


def cast_down():
    x0, w = pt.fscalar("x0"), pt.dscalar("w")
    xs = scan(lambda x: (x * w).astype("float32"), outputs_info=[x0], n_steps=6)
    return xs[-1], w


def cast_up():
    x0, w = pt.dscalar("x0"), pt.fscalar("w")
    xs = scan(lambda x: x * w.astype("float64"), outputs_info=[x0], n_steps=6)
    return xs[-1], w


def of_output():
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: x**2, outputs_info=[x0], n_steps=4)
    xs.name = "xs"
    return xs[-1], xs


def of_input():
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: x**2, outputs_info=[x0], n_steps=4)
    return xs[-1], x0


def of_what_went_in():
    """The result of a loop is the input of another; differentiate the cost wrt it."""
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: x**2, outputs_info=[x0], n_steps=4)
    ys = scan(lambda x, y: y * x, sequences=[xs], outputs_info=[pt.ones(())], name="second")
    return ys[-1], xs


def truncated():
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: x**2, outputs_info=[x0], n_steps=4, truncate_gradient=2)
    return xs[-1], x0


def truncated_late():
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: x**2, outputs_info=[x0], n_steps=4, truncate_gradient=4)
    return xs[-1], x0


def draw_from(rng):
    """A draw, without the next generator."""
    return pt.random.normal(rng=rng, return_next_rng=True)[1]


def same_draws():
    x0 = pt.dscalar("x0")
    rng = pytensor.shared(np.random.default_rng(1), name="rng")
    xs = scan(lambda x: 0.9 * x + draw_from(rng), outputs_info=[x0], n_steps=4)
    return xs[-1], x0


def new_draws():
    x0 = pt.dscalar("x0")
    rng = pytensor.shared(np.random.default_rng(1), name="rng")

    def step(x, rng):
        rng, draw = pt.random.normal(rng=rng, return_next_rng=True)
        rng, again = pt.random.normal(rng=rng, return_next_rng=True)
        return 0.9 * x + draw + again, rng

    xs, _ = scan(step, outputs_info=[x0, rng], n_steps=4)
    return xs[-1], x0


def draws_of_what_is_given():
    x0 = pt.dscalar("x0")
    rng = pt.random.type.random_generator_type("rng")

    def step(x, rng):
        rng, draw = pt.random.normal(rng=rng, return_next_rng=True)
        return 0.9 * x + draw, rng

    xs, _ = scan(step, outputs_info=[x0, rng], n_steps=4)
    return xs[-1], x0


def never_above_one():
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: (pt.tanh(x), until(pt.tanh(x) > 1.0)), outputs_info=[x0], n_steps=9)
    return xs[-1], x0


def never_below_zero():
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: (x / 2, until(pt.exp(x) <= -0.5)), outputs_info=[x0], n_steps=9)
    return xs[-1], x0


def above_a_half():
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: (pt.tanh(x), until(pt.tanh(x) < 0.5)), outputs_info=[x0], n_steps=9)
    return xs[-1], x0


def until_a_parameter():
    x0, limit = pt.dscalar("x0"), pt.dscalar("limit")
    xs = scan(
        lambda x, limit: (x / 2, until(limit > 5)),
        outputs_info=[x0],
        non_sequences=[limit],
        n_steps=9,
    )
    return xs[-1], x0


def start_of_one():
    w = pt.dvector("w")
    hs = scan(lambda h, w: h + w, outputs_info=[pt.zeros(1)], non_sequences=[w], n_steps=3)
    return hs.sum(), w


def step_makes_one():
    start = pt.tensor("h0", shape=(3,), dtype="float64")
    hs = scan(lambda h: pt.sum(h, keepdims=True) / 2, outputs_info=[start], n_steps=3)
    return hs.sum(), start


def start_of_its_size():
    w = pt.tensor("w", shape=(3,), dtype="float64")
    hs = scan(lambda h, w: h + w, outputs_info=[pt.zeros(3)], non_sequences=[w], n_steps=3)
    return hs.sum(), w


def one_start_for_two_taps():
    x0 = pt.dscalar("x0")
    xs = scan(
        lambda two, one: two + one,
        outputs_info=[{"initial": pt.stack([x0]), "taps": [-2, -1]}],
        n_steps=3,
    )
    return xs[-1], x0


def two_starts_for_two_taps():
    x0 = pt.dscalar("x0")
    xs = scan(
        lambda two, one: two + one,
        outputs_info=[{"initial": pt.stack([x0, x0]), "taps": [-2, -1]}],
        n_steps=3,
    )
    return xs[-1], x0


def handed_on_unchanged():
    x0 = pt.dscalar("x0")
    rng = pytensor.shared(np.random.default_rng(1), name="rng")
    xs, _ = scan(lambda x, rng: (0.9 * x + draw_from(rng), rng), outputs_info=[x0, rng], n_steps=4)
    return xs[-1], x0


def stops_on_a_sequence():
    u, x0 = pt.dvector("u"), pt.dscalar("x0")
    xs = scan(lambda u, x: (x * u, until(x * u > 5)), sequences=[u], outputs_info=[x0])
    return xs[-1], u


def stops():
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: (x / 2, until(x < 1)), outputs_info=[x0], n_steps=9)
    return xs[-1], x0


def stops_without_state():
    u = pt.dvector("u")
    ys = scan(lambda u: (u**2, until(u > 2)), sequences=[u])
    return ys.sum(), u


def _mit_mot(tape):
    buffer, weight = pt.dvector("buf"), pt.dscalar("w")
    reads = [pt.dscalar() for _ in tape.reads]
    inner = pt.dscalar()
    parts = ScanParts(
        "by hand",
        pt.constant(np.int64(3)),
        (
            LoopVariable(Kind.MIT_MOT, "buf", tape, buffer, tuple(reads), (inner * sum(reads),)),
            LoopVariable(Kind.PARAMETER, "w", Tape((0,), ()), weight, (inner,)),
        ),
    )
    return build_scan(parts).outputs[0].sum(), weight


def on_both_sides():
    return _mit_mot(Tape((-1, 1), (0,)))


def on_one_side():
    """A backward loop, as in every gradient of a state."""
    return lab.gallery.loops["square"].derivative(1).value, pt.dscalar("other")


def never():
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: x**2, outputs_info=[x0], n_steps=0)
    return xs.sum(), x0


def backwards():
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: x**2, outputs_info=[x0], n_steps=-1)
    return xs.sum(), x0


def once():
    """With a constant n_steps of 1, PyTensor builds the step without a Scan."""
    x0 = pt.dscalar("x0")
    xs = scan(lambda x: x**2, outputs_info=[x0], n_steps=1)
    return xs[-1], x0


def untaken():
    """A where that keeps a root from being taken, but not from being differentiated."""
    x0 = pt.dscalar("x0")
    return scan(lambda x: pt.switch(x > 0, pt.sqrt(x), 0.0), outputs_info=[x0], n_steps=4)[-1], x0


def untaken_twice():
    """A where inside as well."""
    x0 = pt.dscalar("x0")

    def step(x):
        return pt.switch(x > 0, pt.sqrt(pt.switch(x > 0, x, 1.0)), 0.0)

    return scan(step, outputs_info=[x0], n_steps=4)[-1], x0

"""Graphs with a trap, and similar graphs without this trap, as users write them."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.gradient import disconnected_grad
from pytensor.scan.utils import until

import lab
from graphs import scan
from lab.scans.node import LoopVariable, ScanParts, build_scan
from lab.tape import Kind, Tape

OLD = tuple(int(n) for n in pytensor.__version__.split(".")[:3] if n.isdigit()) < (3, 1, 1)
X0, W, U, X = pt.dscalar("x0"), pt.dscalar("w"), pt.dvector("u"), pt.dvector("x")
LIMIT, WEIGHTS = pt.dscalar("limit"), pt.dvector("w")
SINGLE, SINGLE_W = pt.fscalar("x0"), pt.fscalar("w")
THREE, THREE_W = (pt.tensor(name, shape=(3,), dtype="float64") for name in ("h0", "w"))
RNG, SHARED_RNG = (
    pt.random.type.random_generator_type("rng"),
    pytensor.shared(np.random.default_rng(1), name="rng"),
)


def loop(step, start=X0, wrt=None, **arguments):
    """Return the last value of a loop of four steps, and the input to differentiate."""
    xs = scan(step, outputs_info=[start], **{"n_steps": 4, **arguments})
    return xs[-1], start if wrt is None else wrt


def square(x):
    return x**2


def two_taps(initial, wrt, *taps):
    start = {"initial": initial, "taps": [*taps]}
    return loop(lambda a, b: a + b, start, wrt, n_steps=3)


def over_sequence(*taps):
    sequences = [{"input": U, "taps": [*taps]}]
    return loop(lambda a, b, x: x + a * b**2, X0, U, sequences=sequences, n_steps=None)


def cut_by_hand():
    """Return a loop over two shifted sequences."""
    sequences = [U[1:], U[:-1]]
    return loop(lambda now, before, x: x + now * before**2, X0, U, sequences=sequences)


def small_number():
    _, xs = scan(lambda k: (k * 3, k * W), outputs_info=[1, None], n_steps=6)
    return xs[-1], W


def of_output():
    xs = scan(square, outputs_info=[X0], n_steps=4)
    xs.name = "xs"
    return xs[-1], xs


def of_sequence():
    """Return the cost of a loop over the values of another loop, and these values."""
    xs = scan(square, outputs_info=[X0], n_steps=4)
    ys = scan(lambda x, y: y * x, sequences=[xs], outputs_info=[pt.ones(())], name="second")
    return ys[-1], xs


def draw_from(rng):
    """Return a random number, but not the next generator."""
    return pt.random.normal(rng=rng, return_next_rng=True)[1]


def new_draws(x, rng):
    rng, draw = pt.random.normal(rng=rng, return_next_rng=True)
    rng, second = pt.random.normal(rng=rng, return_next_rng=True)
    return 0.9 * x + draw + second, rng


def random(step, rng):
    xs, _ = scan(step, outputs_info=[X0, rng], n_steps=4)
    return xs[-1], X0


def stops(value, condition, **arguments):
    """Return a loop that stops if its new value meets a condition."""
    return loop(lambda x, *_: (value(x), until(condition(value(x), *_))), n_steps=9, **arguments)


def sum_of(step, start, wrt, **arguments):
    hs = scan(step, outputs_info=[start], **{"n_steps": 3, **arguments})
    return hs.sum(), wrt


def mit_mot(tape):
    buffer, reads, inner = pt.dvector("buf"), [pt.dscalar() for _ in tape.reads], pt.dscalar()
    variables = (
        LoopVariable(Kind.MIT_MOT, "buf", tape, buffer, tuple(reads), (inner * sum(reads),)),
        LoopVariable(Kind.PARAMETER, "w", Tape((0,), ()), W, (inner,)),
    )
    return build_scan(ScanParts("by hand", pt.constant(np.int64(3)), variables)).outputs[0].sum(), W


def root(x):
    return pt.switch(x > 0, pt.sqrt(x), 0.0)


def safe_root(x):
    return pt.switch(x > 0, pt.sqrt(pt.switch(x > 0, x, 1.0)), 0.0)


OLD_UNTIL = ("until_in_old_pytensor", pytensor.__version__) if OLD else ()
# A graph, its trap, and words of the message; or a graph without a trap.
GRAPHS = {
    "newest first": (lambda: two_taps(X, X, -1, -2), "taps_out_of_order", "of x are −1, −2"),
    "oldest first": (lambda: two_taps(X, X, -2, -1),),
    "later first": (lambda: over_sequence(4, 0), "taps_out_of_order", "u start at rows 4, 0"),
    "now first": (lambda: over_sequence(0, 4),),
    "cut by hand": (cut_by_hand,),
    "small number": (small_number, "initial_dtype", "v is int8"),
    "cast down": (
        lambda: loop(lambda x: (x * W).astype("float32"), SINGLE, W),
        "initial_dtype", "casts it to float32",
    ),
    "cast up": (lambda: loop(lambda x: x * SINGLE_W.astype("float64"), X0, SINGLE_W),),
    "of output": (of_output, "gradient_of_output", "wrt xs, an output of this"),
    "of sequence": (of_sequence, "gradient_of_output", "wrt the values x[t] of scan_fn, an output"),
    "of input": (lambda: loop(square),),
    "truncated": (
        lambda: loop(square, truncate_gradient=2),
        "truncated_gradient", "truncate_gradient = 2, and the loop runs 4 steps",
    ),
    "truncated late": (lambda: loop(square, truncate_gradient=4),),
    "untaken": (lambda: loop(root), "untaken_branch", "after sqrt is computed"),
    "untaken twice": (lambda: loop(safe_root),),
    "same draws": (
        lambda: loop(lambda x: 0.9 * x + draw_from(SHARED_RNG)),
        "random_without_updates", "draws from rng",
    ),
    "same generator": (
        lambda: random(lambda x, rng: (0.9 * x + draw_from(rng), rng), SHARED_RNG),
        "random_without_updates", "draws from rng",
    ),
    "new draws": (
        lambda: random(new_draws, SHARED_RNG), "same_draws_every_call", "updates={rng: …}"
    ),
    "draws of an input": (lambda: random(new_draws, RNG),),
    "above a half": (lambda: stops(pt.tanh, lambda x: x < 0.5),),
    "until a parameter": (
        lambda: stops(lambda x: x / 2, lambda x, limit: limit > 5, non_sequences=[LIMIT]),
        "constant_condition", "no state and no sequence",
    ),
    "start of one": (
        lambda: sum_of(lambda h, w: h + w, pt.zeros(1), WEIGHTS, non_sequences=[WEIGHTS]),
        "broadcast_start", "v starts with the shape (1,), and the step computes",
    ),
    "step to one": (
        lambda: sum_of(lambda h: pt.sum(h, keepdims=True) / 2, THREE, THREE),
        "broadcast_start", "h starts with the shape (3,)",
    ),
    "start of three": (
        lambda: sum_of(lambda h, w: h + w, pt.zeros(3), THREE_W, non_sequences=[THREE_W]),
    ),
    "one start": (
        lambda: two_taps(pt.stack([X0]), X0, -2, -1),
        "short_start", "x 2 steps back, but only 1 of 2",
    ),
    "two starts": (lambda: two_taps(pt.stack([X0, X0]), X0, -2, -1),),
    "stops on a sequence": (
        lambda: loop(lambda u, x: (x * u, until(x * u > 5)), X0, U, sequences=[U], n_steps=None),
        *OLD_UNTIL,
    ),
    "stops": (lambda: stops(lambda x: x / 2, lambda x: 2 * x < 1),),
    "stops without state": (
        lambda: (scan(lambda u: (u**2, until(u > 2)), sequences=[U]).sum(), U),
    ),
    "on both sides": (
        lambda: mit_mot(Tape((-1, 1), (0,))), "mixed_taps", "buf has taps on both sides of 0: −1, 0"
    ),
    "cut": (lambda: loop(lambda x: disconnected_grad(x) * x), "replaced_gradient", "Disconnected"),
    "on one side": (
        lambda: (lab.gallery.loops["square"].derivative(1).value, pt.dscalar("other")),
    ),
    "never": (lambda: sum_of(square, X0, X0, n_steps=0), "no_steps", "n_steps = 0"),
    "backwards": (lambda: sum_of(square, X0, X0, n_steps=-1), "no_steps", "n_steps = −1"),
    "once": (lambda: loop(square, n_steps=1),),  # PyTensor builds the step without a Scan
}  # fmt: skip

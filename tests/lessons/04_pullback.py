from math import isclose

import numpy as np

from lab.errors import GradientError
from lab.gradients.record import Verdict


def neuron_from(h0, inputs, weight, squash=tanh):
    """The last state, by a loop of its own."""
    state = h0
    for value in inputs:
        state = squash(weight * state + value)
    return state


def wave_from(weight):
    state = 0.5
    for value in (0.1, -0.2, 0.3):
        state = weight * sin(state) + value
    return state


def rate(function, at, by=1e-6):
    return (function(at + by) - function(at - by)) / (2 * by)


assert isclose(h[-1], neuron_from(0.5, u, w), rel_tol=1e-14)
hand = {"h": 1.0, "u": du, "w": dw}
by_h = rate(lambda h0: neuron_from(h0, u, w), 0.5)
by_w = rate(lambda weight: neuron_from(0.5, u, weight), 0.9)
by_u = [
    rate(lambda value, n=n: neuron_from(0.5, [*u[:n], value, *u[n + 1 :]], w), u[n])
    for n in range(3)
]
assert np.allclose(neuron.trace().outputs[1], by_h, rtol=1e-8)
assert np.allclose(neuron.trace(wrt="w").outputs[1], by_w, rtol=1e-8)
assert np.allclose(neuron.trace(wrt="u").outputs[1], by_u, rtol=1e-8)
assert np.allclose(dw, by_w, rtol=1e-8)
assert np.allclose(du, by_u, rtol=1e-8)
kept = [0.5, *(neuron_from(0.5, u[:n], w) for n in (1, 2, 3))]
assert np.allclose(kept, h)
assert kept[2::-1] == [kept[2], kept[1], kept[0]]
assert kept[3:0:-1] == kept[:0:-1]

derivation = neuron.derivative().genealogy[1].node.op.derivation
record = derivation.record
assert [phase.number for phase in record.phases] == list(range(1, 12))


def verdicts(made, number):
    """The decisions of a phase: subject and verdict."""
    (phase,) = (phase for phase in made.record.phases if phase.number == number)
    return {(item.subject, item.verdict) for item in phase.items}


assert ("h[t]", Verdict.REUSED) in verdicts(derivation, 5)
waving = wave.derivative().genealogy[1].node.op.derivation
assert Verdict.REUSED not in {verdict for _, verdict in verdicts(waving, 5)}
(seventh,) = (phase for phase in record.phases if phase.number == 7)
slices = {item.expression for item in seventh.items}
assert {"h[2::-1]", "h[3:0:-1]"} <= slices
assert {outcome.variable for outcome in derivation.outcomes} == {"u", "h", "w"}


def outcome_of(name, variable):
    made = gallery.loops[name].derivative().genealogy[1].node.op.derivation
    return next(o.verdict for o in made.outcomes if o.variable == variable)


assert outcome_of("lookup", "k") is Verdict.DISCONNECTED
assert outcome_of("undefined", "v") is Verdict.UNDEFINED
assert outcome_of("walk", "rng") is Verdict.UNTRACED

told = ""
try:
    gallery.loops["undefined"].derivative(wrt="v")
except GradientError as error:
    told = str(error)
assert told.startswith("wrt = v: derivative 1 is undefined: PyTensor has no derivative of jv")

assert isclose(mine(0.9), rate(wave_from, 0.9), rel_tol=1e-8)
assert turn.check(mine).is_right
assert not turn.check(last_share).is_right

solve(again, 0, 3, 6, 1)
solve(once, 1, 1000, 0)

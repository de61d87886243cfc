"""What is told of a step, held against the run: numbers, who went into what, and what was replaced.

The checker reads arrays of the trace and declared taps, and nothing that the sentences are made by.
"""

import re

import numpy as np
import pytest
from oracles import half_a_unit

from lab.equations.factors import factor_of
from lab.equations.quantities import Quantities
from lab.equations.sentences import StepOf, sentences
from lab.loops import gallery
from lab.notation import Binding, Call, Leaf, Let, Named, Number, text

LOOPS = ("square", "gap", "coupled", "window", "rnn", "extra", "newton")
REACH = {"gap": {1, 3}}  # how far back the step of a loop looks; of all others, one step
NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
BELOW = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def contents(tape, step):
    """A tape after a step, from what was there and what was written."""
    held = np.array(tape.initial)
    for number in range(step + 1):
        for access in tape.writes:
            held[access.rows[number]] = access.values[number]
    return held


def tape_of(scan, name):
    """The tape that formulas call buf, or buf_dx of several."""
    tapes = [tape for tape in scan.tapes if not tape.is_total]
    found = [tape for tape in tapes if name in (f"buf_{tape.name}", "buf")]
    assert len(found) == 1
    return found[0]


def near(told, value):
    """Whether a number tells a value to as many digits as it has, but at least to four."""
    digits = len(told.partition("e")[0].replace("-", "").replace(".", "").lstrip("0"))
    return float(told) == float(f"{float(value):.{max(4, digits)}g}")


def faults(trace, number, step, sentence, reach):
    """What is not true in a sentence about a step of a derivative."""
    scan = trace.scans[number]
    for name, position, held in re.findall(rf"^(buf\w*)\[(−?\d+)\] held ({NUMBER})", sentence):
        tape = tape_of(scan, name)
        row = int(position.replace("−", "-")) - min(tape.tape.reads)
        before, after = contents(tape, step - 1)[row], contents(tape, step)[row]
        yield from origin_faults(tape, row, step, sentence)
        yield from seed_faults(trace, tape, row, sentence)
        if np.ndim(before):
            continue
        if not near(held, before):
            yield f"held {held}, not {before}"
        ((about, left),) = re.findall(rf"it leaves (about )?({NUMBER})\.$", sentence)
        if not near(left, after):
            yield f"leaves {left}, not {after}"
        added = re.search(r"The step adds (.*?)(?:, since|; it leaves)", sentence).group(1)
        pairs = re.findall(rf"\(?({NUMBER})\)?·\(?({NUMBER})\)?\)?(?:,| and|$)", added)
        parts = [float(a) * float(b) for a, b in pairs]
        sums = float(held) + sum(parts)
        allowed = 0.01 * abs(float(left)) if about else 1.001 * half_a_unit(left)
        if abs(sums - float(left)) > allowed:
            yield f"{held} and {parts} make no {left}"
    yield from reason_faults(trace, number, step, sentence, reach)
    yield from rule_faults(trace, number, step, sentence)


def origin_faults(tape, row, step, sentence):
    """How a slot is said to have got what it held."""
    writers = {k for access in tape.writes for k in range(step) if access.rows[k] == row}
    past = sentence.partition(". The step")[0]
    told = set(map(int, re.findall(r"arrived.*? at step (\d+)", past)))
    if not told <= writers:
        yield f"arrived at {told}, written at {writers}"
    if "nothing had arrived" in sentence and np.any(contents(tape, step - 1)[row]):
        yield "something had arrived"
    if "was there from the start" in sentence and not np.any(tape.initial[row]):
        yield "nothing was there from the start"


def seed_faults(trace, tape, row, sentence):
    """``came from Scan 5, Scan 6 and Scan 7``: what these put out at that time adds up to it."""
    for told in re.findall(r"came from ((?:Scan \d+(?:, | and )?)+)", sentence):
        when, found = tape.axis.index[row], 0.0
        scans = [trace.scans[int(number) - 1] for number in re.findall(r"\d+", told)]
        for output in (output for scan in scans for output in scan.outputs):
            if output.gradient_of == tape.gradient_of and when in output.axis.index:
                found = found + output.final[output.axis.index.tolist().index(when)]
        if not np.allclose(found, tape.initial[row]):
            yield f"{told} put out {found}, not {tape.initial[row]}"


def reason_faults(trace, number, step, sentence, reach):
    """``since x₂ went into x₃ at step 2 of Scan 1``."""
    for held, into, when, where in re.findall(
        r"since (\S+) went into (.+) at step (\d+) of Scan (\d+)", sentence
    ):
        parent = trace.scans[number].parent
        steps = trace.scans[parent].steps
        if int(where) != parent + 1 or int(when) != steps - 1 - step:
            yield f"step {when} of Scan {where}"
        first = int(re.findall("[₀-₉]+", held)[-1].translate(BELOW))
        for name in into.split(" and "):
            last = int(re.findall("[₀-₉]+", name)[-1].translate(BELOW))
            forward = last - first if held[0] != "d" else first - last
            made = (last if held[0] != "d" else first) - max(reach)  # by this step of the loop
            if forward not in reach or made != (
                int(when) if held[0] != "d" else steps - 1 - int(when)
            ):
                yield f"{held} went into {name}"


def rule_faults(trace, number, step, sentence):
    """``step 2 of Scan 2 replaced what stood in its buf[3]``."""
    for when, where, name, position in re.findall(
        r"step (\d+) of Scan (\d+) replaced what stood in its (buf\w*)\[(−?\d+)\]", sentence
    ):
        parent = trace.scans[number].parent
        tape = tape_of(trace.scans[parent], name)
        row = int(position.replace("−", "-")) - min(tape.tape.reads)
        rows = [{int(a.rows[int(when)]) for a in each} for each in (tape.reads, tape.writes)]
        if int(where) != parent + 1 or row not in rows[0] & rows[1]:
            yield f"step {when} of Scan {where} did not replace row {row}"


def told(name, order):
    trace = gallery.loops[name].trace(order=order)
    for number, scan in enumerate(trace.scans):
        for step in range(scan.steps):
            yield trace, number, step, sentences(Quantities(trace, number), step)


@pytest.mark.parametrize("name", LOOPS)
def test_what_is_told_is_true(name):
    for order in (1, 2):
        reach = REACH.get(name, {1})
        count = 0
        sums = [t for *_, texts in told(name, order) for t in texts if " held " in t]
        assert 20 * sum("leaves about" in t for t in sums) <= len(sums)
        for trace, number, step, texts in told(name, order):
            assert len(texts) == len(trace.scans[number].formulas)
            for sentence in texts if trace.scans[number].parent is not None else ():
                assert list(faults(trace, number, step, sentence, reach)) == [], sentence
                count += " since " in sentence or "replaced" in sentence
        assert count >= 3


def test_the_numbers_of_the_square_are_those_of_the_chain_rule():
    x = [0.95**2**k for k in range(5)]
    g = {4: 1.0}  # dC/dx
    for k in (3, 2, 1, 0):
        g[k] = g[k + 1] * 2 * x[k]
    h = {0: 1.0}  # dC′/d(dC/dx)
    for k in range(4):
        h[k + 1] = h[k] * 2 * x[k]
    direct = {k: h[k] * 2 * g[k + 1] for k in range(4)}  # ∂C′/∂x
    s = {4: 0.0}  # dC′/dx
    for k in (3, 2, 1, 0):
        s[k] = s[k + 1] * 2 * x[k] + direct[k]
    for _, number, step, (sentence, *_) in told("square", 2):
        k = 3 - step
        if number == 0:
            expected = [x[step + 1], x[step]]
        elif number == 2:
            expected = [0.0, h[step], 2 * x[step], h[step + 1]]
        else:
            all_of, old = (g, 0.0) if number == 1 else (s, direct[k])
            expected = [old, all_of[k + 1], 2 * x[k], all_of[k]]
        found = re.findall(rf"(?:held|leaves|=) ({NUMBER})|\(({NUMBER})·({NUMBER})\)", sentence)
        numbers = [float(part) for parts in found for part in parts if part]
        np.testing.assert_allclose(numbers, expected, rtol=6e-4, err_msg=sentence)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("held 8.213", "held 8.214"),
        ("leaves 57.49", "leaves 57.4"),
        ("27.30·1.805", "27.30·1.629"),
        ("from Scan 3", "from Scan 3 and arrived through x₃ at step 2"),
        ("from Scan 3", "from Scan 2"),
        ("x₁ went into x₂", "x₁ went into x₃"),
        ("at step 1 of Scan 1", "at step 2 of Scan 1"),
        ("at step 1 of Scan 1", "at step 1 of Scan 2"),
    ],
)
def test_the_checker_sees_what_is_wrong(right, wrong):
    trace = gallery.loops["square"].trace(order=2)
    sentence, *_ = sentences(Quantities(trace, 3), 2)
    assert list(faults(trace, 3, 2, sentence, {1})) == []
    assert right in sentence
    assert list(faults(trace, 3, 2, sentence.replace(right, wrong), {1}))


@pytest.mark.parametrize("wrong", ["buf[2]", "buf[1]"])
def test_the_checker_sees_a_wrong_place_of_the_rule(wrong):
    trace = gallery.loops["square"].trace(order=2)
    sentence = sentences(Quantities(trace, 2), 1)[1]
    assert "nothing is added, for step 2 of Scan 2 replaced what stood in its buf[3]" in sentence
    assert list(faults(trace, 2, 1, sentence, {1})) == []
    assert list(faults(trace, 2, 1, sentence.replace("buf[3]", wrong), {1}))


# Factors: an expression that is linear in a leaf is its factor times the leaf, and the rest.

A, B, X = Leaf("a", 0, 0), Leaf("b", 0, 1), Leaf("x", None, 2)
TWO = Number("2")


@pytest.mark.parametrize(
    ("expression", "factor"),
    [
        (A, "1"),
        (Call("Mul", (A, TWO, X)), "2·x"),
        (Call("Add", (Call("Mul", (TWO, A)), B)), "2"),
        (Call("Add", (A, Call("Mul", (X, Call("Add", (A, B)))))), "1 + x"),
        (Call("Sub", (A, Call("TrueDiv", (A, X)))), "1 − 1/x"),
        (Call("Sub", (B, Call("Mul", (A, X)))), "−x"),
        (Call("Neg", (A,)), "−1"),
        (Let((Binding("c", Call("Mul", (A, X))),), Call("Add", (Named("c"), Named("c")))), "x + x"),
        (B, None),
        (Call("Mul", (A, A)), None),
        (Call("TrueDiv", (X, A)), None),
        (Call("tanh", (A,)), None),
        (Call("Add", (A, Call("Mul", (X, Call("exp", (A,)))))), None),
    ],
)
def test_factors(expression, factor):
    found = factor_of(expression, A)
    assert (None if found is None else text(found, lambda leaf: leaf.variable)) == factor


@pytest.mark.parametrize("name", LOOPS)
def test_what_arrives_adds_up_to_what_is_written(name):
    """Factors times what they multiply, and the rest, against the number that the run made."""
    trace = gallery.loops[name].trace(order=2)
    for number, scan in enumerate(trace.scans):
        one = StepOf(Quantities(trace, number), 1)
        for formula in scan.formulas if scan.parent is not None else ():
            parts = one.arrivals(formula)
            if all(part.number is not None for part in parts):
                rest = one.rest(formula)
                whole = [part.number * float(one.value(part.read)) for part in parts]
                whole += [] if rest is None else [rest.number]
                np.testing.assert_allclose(sum(whole), one.made(formula), rtol=1e-9, atol=1e-25)

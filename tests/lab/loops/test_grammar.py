"""Steps as text compute the same numbers as Python and NumPy; invalid texts raise errors."""

import math
from functools import partial

import numpy as np
import pytest
from fuzzing.outcomes import words_test

import lab
from lab.errors import ArgumentError
from lab.loops import gallery
from lab.loops.text.grammar import Names, read_step

A, U, W = 0.7, 1.3, -0.4

# A text and the same formula in Python, with x = A, u = U, and w = W.
FORMULAS = [
    ("sin(x[t-1])*u + w*x[t-1]", lambda x, u, w: math.sin(x) * u + w * x),
    ("2**-x", lambda x, u, w: 2.0**-x),
    ("x/(u/w)", lambda x, u, w: x / (u / w)),
    ("x - (u - w) - -(x + u)*w", lambda x, u, w: x - (u - w) + (x + u) * w),
    ("(x + u)*(w - x)/(u*-x)", lambda x, u, w: (x + u) * (w - x) / (u * -x)),
    ("-x**2 - (-x)**2 + (x*u)**2", lambda x, u, w: -(x**2) - (-x) ** 2 + (x * u) ** 2),
    ("max(x - u, -(w*x), abs(w) - x)", lambda x, u, w: max(x - u, -(w * x), abs(w) - x)),
    ("x**65 + x + x + x + x + x + x + x + x + x + x", lambda x, u, w: x**65 + 10 * x),
    ("100*100*x", lambda x, u, w: 10000 * x),
    ("1/3 + x", lambda x, u, w: 1 / 3 + x),
    ("x[t] = w·x[t−1]² + u[t]", lambda x, u, w: w * x * x + u),
    ("x² − x^(-2) + 2·x¹⁰", lambda x, u, w: x * x - x**-2 + 2 * x**10),
    ("where(x ≥ u, x, w) − where(x ≤ u, x, w)", lambda x, u, w: w - x),
    ("exp(x) - log(u) + sqrt(u)", lambda x, u, w: math.exp(x) - math.log(u) + math.sqrt(u)),
    ("tan(x) + cos(u) - tanh(w)", lambda x, u, w: math.tan(x) + math.cos(u) - math.tanh(w)),
    ("arcsin(x)*arccos(x)*arctan(w)", lambda x, u, w: math.asin(x) * math.acos(x) * math.atan(w)),
    ("sigmoid(x)", lambda x, u, w: 1 / (1 + math.exp(-x))),
    ("abs(w) + min(x, u, w) - max(x, u)", lambda x, u, w: abs(w) + min(x, u, w) - max(x, u)),
    ("where(x > u and u > 0, x, w)", lambda x, u, w: x if x > u and u > 0 else w),
    ("where(x, u, w) + u*(x > w)", lambda x, u, w: u + u),
    ("where(not x >= u or u <= 0, x, w)", lambda x, u, w: x if not x >= u or u <= 0 else w),
    ("where(x == x, u, w) + where(x != x, u, w)", lambda x, u, w: u + w),
    ("(x +\n u)", lambda x, u, w: x + u),
    (" x + u ; ", lambda x, u, w: x + u),
    ("x*u  # a comment", lambda x, u, w: x * u),
]


def one_step(text):
    loop = lab.Loop.from_text(text, {"x": A}, {"u": [U]}, {"w": W})
    return float(loop.trace(order=0).outputs[0])


@pytest.mark.parametrize(("text", "python"), FORMULAS, ids=[text for text, _ in FORMULAS])
def test_a_formula_has_the_value_of_python_and_can_be_read_again(text, python):
    assert one_step(text) == pytest.approx(python(A, U, W), rel=1e-14)
    step = lab.Loop.from_text(text, {"x": A}, {"u": [U]}, {"w": W}).step
    copy = lab.Loop.from_text(str(step), {"x": A}, {"u": [U]}, {"w": W}).step
    assert (copy, hash(copy)) == (step, hash(step))
    lines = read_step(str(step), Names(("x",), ("u",), ("w",)))
    assert [line.node for line in lines] == [line.node for line in step.lines]


def test_taps_follow_from_the_text():
    loop = lab.Loop.from_text(
        "x = sin(x[t-1])*u + w*x[t-3] + u[t-2]*u[t+1]",
        {"x": [0.1, 0.2, 0.3]},
        {"u": range(6)},
        {"w": 0.5},
    )
    assert loop.states[0].taps == (-3, -1)
    assert loop.sequences[0].taps == (-2, 0, 1)
    x, u = [0.1, 0.2, 0.3], range(6)
    for s in range(2, 5):
        x.append(math.sin(x[-1]) * u[s] + 0.5 * x[-3] + u[s - 2] * u[s + 1])
    final = loop.trace(order=0).scans[0].tapes[0].final
    np.testing.assert_allclose(final, x, rtol=1e-14)


def test_a_name_without_a_tap_accepts_any_tap():
    loop = lab.Loop.from_text("2*x", {"x": 1.0}, n_steps=4).with_taps({"x": (-2,)})
    assert loop.trace(order=0).scans[0].tapes[0].final.tolist() == [1, 1, 2, 2, 4, 4]
    steps = np.int64(2)  # as np.max(…) returns it
    declared = lab.Loop.from_text("2*x", (lab.State("x", [1.0, 3.0], taps=(-2,)),), n_steps=steps)
    assert declared.trace(order=0).scans[0].tapes[0].final.tolist() == [1, 3, 2, 6]


def test_states_outputs_and_until():
    loop = lab.Loop.from_text(
        "x = y; y = x + y\nboth = x[t]*y[t]\nuntil(both[t] > 20)", {"x": 1.0, "y": 1.0}, n_steps=9
    )
    assert loop.outputs == ("both",)
    x, y, both = 1.0, 1.0, []
    while not both or both[-1] <= 20:
        x, y = y, x + y  # both read the values before the step
        both.append(x * y)
    trace = loop.trace(order=0, of="both")
    assert trace.scans[0].outputs[0].final.tolist() == both
    assert trace.scans[0].stopped_early


def test_vectors_and_matrices():
    h, v = np.array([0.1, -0.2]), np.array([[0.5, -0.3], [0.1, 0.4]])
    loop = lab.Loop.from_text("tanh(W@h) + dot(W, h)*sum(h)", {"h": h}, (), {"W": v}, n_steps=1)
    expected = np.tanh(v @ h) + v @ h * h.sum()
    np.testing.assert_allclose(loop.trace(order=0).scans[0].tapes[0].final[1], expected)


TWO_TAPS = "x[t-1] + x[t-2]"
ERRORS = [
    # The text, the quoted part, and the message.
    ("x.__class__", "x.__class__", "not part of the grammar"),
    ("__import__('os')", "__import__", "not a supported function"),
    ("t*x", "t", "only in"),  # the advice to pass a value of t would not help
    ("x + 'a'", "'a'", "not a number"),
    ("-True", "True", "not a number"),
    ("1e999*x", "1e999", "too large"),
    ("x**-1001", "x**-1001", "expected at most 1000"),
    ("x[t-99999999999999999999999]", "x[t-9", "at most 1000 steps"),
    ("[x][0]", "[x][0]", "such as x[t-1]"),
    ("x\n + x; ü + x", "ü", "not a name"),
    ("(" * 400 + "x" + ")" * 400, "(", "too many nested"),
    ("-" * 1900 + "x", "---", "cannot be read"),
    ("u\n  + (x\r\n", "(x", "never closed"),
    ("x\0", "\\x00", "cannot be read"),
    ("x if u else w", "x if u else w", "where("),
    ("x, u", "x, u", "one line"),
    ("where(x < u < w, u, w)", "x < u < w", "not part of the grammar"),
    ("x + until(x > 1)", "until(x > 1)", "separate line"),
    ("min(x)", "min(x)", "2 to 8 arguments, not 1"),
    ("sin(x=1)", "sin(x=1)", "named"),
    ("sin(*u)", "sin(*u)", "starred"),
    ("x[t+1]", "x[t+1]", "a later value of a state; write x[t-1]"),
    ("x[0]", "x[0]", "x[t-1]"),
    ("w[t]", "w[t]", "w is a parameter; write w"),
    ("v[t-1]", "v[t-1]", "a state or a sequence; expected x or u. To add a state, "),
    ("x % u", "x % u", "an operator other than + - *"),
    ("x[t]", "x[t]", "not computed yet; write x[t-1], or add 'x = …' above it"),
    ("u[2*t]", "u[2*t]", "To read every second value, pass the sequence u[::2]"),
    ("x = x; y = x[t]; z = y", "y", "y[t]"),
    ("x = x; y = x[t]; z = y[t-1]", "y[t-1]", "look back"),
    ("x = x; x = u", "x", "twice"),
    ("w = x", "w", "cannot be assigned"),
    ("x = y = u", "x = y = u", "not a formula"),
    ("x[t-1] = u", "x[t-1]", "cannot be assigned"),
]


DECLARED = {"states": {"x": A}, "sequences": {"u": [U]}, "parameters": {"w": W}}


def declare(text, arguments=None):
    lab.Loop.from_text(text, **(arguments or DECLARED))


test_other_texts_raise_errors = words_test(
    *(
        (partial(declare, text), "step, line 2: " if "\n" in text else "step: ", *words)
        for text, *words in ERRORS
    ),
    longest=320,
)
STATES = {"states": {"x": 1.0, "y": 1.0}}
READS_TWO = lab.Loop.from_text(TWO_TAPS, {"x": 1.0}, n_steps=2)
test_invalid_declarations_raise_errors = words_test(
    (partial(declare, ""), "step = ''"),
    (partial(declare, None), "step = None"),
    (partial(declare, "v[t-1]", {"states": {}}), "a state or a sequence. To add a state, "),
    (partial(declare, "x" * 2001), "at most 2000"),
    (partial(declare, "x", STATES), "not assigned to a name"),
    (partial(declare, "x = x", STATES), "assigns no value to y"),
    (partial(declare, "x\nuntil(x > 1); until(x < 0)"), "second until"),
    (partial(declare, "x", {"states": {"__import__('os')": 1.0}}), "name = \"__import__('os')\""),
    (partial(declare, "x", {"states": {"x": 1.0}, "name": "x" * 501}), "a text of 1 to 500"),
    (partial(declare, "x", {"states": {"x": 1.0}, "name": "grad_of_x"}), "'grad_of_x'", "prefix"),
    (partial(declare, "x", {"states": {"t": 1.0}}), "name = 't'"),
    (partial(declare, TWO_TAPS, {"states": (lab.State("x", 1.0),)}), "for the taps [-2, -1]"),
    *(
        (lambda taps=taps: READS_TWO.with_taps({"x": taps}), "written for the taps [-2, -1]")
        for taps in ((-3, -1), (-1, -2), (-1,))
    ),
)


PRINTED = ("square", "fibonacci", "gap", "coupled", "logistic", "rnn", "window", "extra", "delay")


@pytest.mark.parametrize("name", PRINTED)
def test_printed_equations_can_be_read(name):
    """The printed equations of a loop are a text that defines the same loop."""
    loop = gallery.loops[name]
    parsed = lab.Loop.from_text(
        "\n".join(loop.system().lines()),
        {item.name: item.initial for item in loop.states},
        {item.name: item.values for item in loop.sequences},
        {item.name: item.value for item in loop.parameters},
        n_steps=loop.steps,
    )
    actual, expected = (item.trace(order=1) for item in (parsed, loop))
    np.testing.assert_allclose(actual.outputs[1], expected.outputs[1], rtol=1e-13)
    assert parsed.system().lines() == loop.system().lines()


ALIKE = [("µ", "μ"), ("ſ", "s"), ("\u212a", "K"), ("ｘ", "x"), ("ﬁ", "fi")]


@pytest.mark.parametrize(("sign", "letter"), ALIKE)
def test_names_that_look_alike_are_equal(sign, letter):
    loop = lab.Loop.from_text(f"{sign} = {letter}*2", {sign: 1.0}, n_steps=2)
    assert list(loop.variables) == [letter] == [loop.step.results[0]]
    declared = lab.Loop(
        eval(f"lambda {sign}: {sign}*2"),  # Python normalizes the sign to the letter
        states=(lab.State(sign, 1.0, taps=(-1,)),),
        n_steps=2,
    )
    for variant in (loop, declared):
        trace = variant.trace(wrt=sign, of=sign, at={sign: 3.0})
        assert [float(value) for value in trace.outputs] == [12.0, 4.0]
        assert lab.dot_product(variant, wrt=sign, of=sign, tangents={sign: 1.0}).of == letter
        assert lab.compare(variant, wrt=sign, of=sign).agree
        assert variant.with_taps({sign: (-1,)}).variables[letter].taps == (-1,)


TWICE = [
    lambda a, b: lab.Loop.from_text(f"{a} = {a}*2; {b} = {b}*3", {a: 1.0, b: 10.0}),
    lambda a, b: lab.Loop(lambda **x: [*x.values()], (lab.State(a, 1.0), lab.State(b, 2.0))),
    lambda a, b: lab.Loop.from_text(f"{a}*2", {a: 1.0}, n_steps=2).trace(at={a: 1, b: 2}),
]


@pytest.mark.parametrize("call", TWICE)
@pytest.mark.parametrize(("sign", "letter"), ALIKE)
def test_two_names_that_look_alike_raise_an_error(call, sign, letter):
    with pytest.raises(ArgumentError, match=f"{letter}'?:?.* (once|twice)"):
        call(sign, letter)


def test_notation_is_not_part_of_a_name():
    """A step cannot contain the name x₁, and reads x² as a square."""
    with pytest.raises(ArgumentError, match="step: "):
        one_step("x₁*2")
    assert lab.State("x²", 1.0).name == "x²"


def test_the_number_of_steps_as_a_value():
    loop = lab.Loop(lambda x: x**2, states=(lab.State("x", 0.9),), n_steps=lab.Parameter("n", 4))
    assert loop.with_values({"n": 3}).steps == 3
    for value in (2.7, [2, 3], np.nan, np.inf):
        with pytest.raises(ArgumentError, match="integer"):
            loop.trace(at={"n": value})
    for name in ("", "n", "X"):
        with pytest.raises(ArgumentError, match=f"at = '{name}': the loop's variables are x"):
            lab.gallery.loops["square"].trace(at={name: 2})

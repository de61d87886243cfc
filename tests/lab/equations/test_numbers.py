"""Check that printed equations in numbers are true, and that each symbol has one value."""

import re
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction

import graphs
import numpy as np
import pytensor.tensor as pt
import pytest
from hypothesis import Phase, given, settings
from oracles import evaluate, half_a_unit, is_true, symbols_of, values_in
from random_loops import loops
from strange_loops import formulas_at

import lab
from lab.equations.notes import result_notes
from lab.equations.quantities import Quantities
from lab.loops import gallery

CERTAIN = [name for name in gallery.loops if name != "walk"]


def lines_of(trace):
    """Yield (Scan, step, formula, numbers) for every formula of every step."""
    for number, scan in enumerate(trace.scans):
        for step in range(scan.steps):
            for formula, numbers in formulas_at(trace, number, step):
                yield number, step, formula, numbers


def untrue(lines):
    """Return false lines, and the number of lines of each kind."""
    kinds, wrong = Counter(), []
    for *_, numbers in lines:
        if numbers:
            kinds["≈" if " ≈ " in numbers else "="] += 1
            if not is_true(numbers):
                wrong.append(numbers)
    return wrong, kinds


def conflicts(lines):
    """Return symbols with two values."""
    known, wrong = defaultdict(list), []
    for scan, step, formula, numbers in lines:
        pairs = []
        for symbol, value in values_in(formula, numbers) if numbers else ():
            if symbol.startswith("buf"):
                pairs.append(((scan, step, symbol), value))
            elif "[" not in symbol and symbol[-1] in "₀₁₂₃₄₅₆₇₈₉)":
                pairs.append((symbol, value))  # a step changes the value of a total
        left = next(symbols_of(formula), None)
        if numbers and left and left[1] == 0 and formula[left[2] :].startswith(" = "):
            pairs.append((left[0], float(numbers.split(" ")[0])))
        for key, value in pairs:
            others = [other for other in known[key] if not np.isclose(value, other, 1e-3, 1e-12)]
            wrong += [(key, value, other) for other in others]
            known[key].append(value)
    return wrong


@pytest.mark.parametrize("name", CERTAIN)
def test_printed_equations_are_true_and_each_symbol_has_one_value(name):
    for order in (1, 3):  # a graph of order 3 also contains the Scans of order 2
        lines = list(lines_of(gallery.loops[name].trace(order=order)))
        wrong, kinds = untrue(lines)
        assert wrong == []
        assert kinds["≈"] * 20 <= kinds["="]
        assert conflicts(lines) == []


@settings(max_examples=15, deadline=None, phases=(Phase.generate,))
@given(loop=loops())
def test_random_loops(loop):
    lines = list(lines_of(loop.trace(order=1 + loop.steps % 2)))
    assert untrue(lines)[0] == []
    assert conflicts(lines) == []


@pytest.mark.parametrize(
    "line",
    [
        "7.413 = 3.901·2·0.95 + 0",
        "1.188e-14 = 1·0.5 + 1·(-0.5)·2/(1.414·1.414) + 0",
        "2.5 = 1·2.4",
        "1.9 = 2·0.97",
        "0 = 0.333·3 - 1",
        "1 ≈ 1.02",
        "⚠ nan = where(-0.1929 > 0, 1·0.5/sqrt(-0.1929), 0) + 1",
    ],
)
def test_the_check_rejects_a_false_line(line):
    assert not is_true(line)


def test_a_difference_of_large_numbers_has_the_digits_it_needs():
    """Four digits are not enough: 1000.4 would be 1000, but 1000 − 999.4 is not 1."""
    loop = lab.Loop.from_text("x[t] = x[t-1] - 999.4", {"x": 1000.4}, n_steps=1)
    (line,) = [line for *_, line in lines_of(loop.trace(order=0))]
    assert line == "1 = -999.4 + 1000.4"


def test_lines_with_nan_are_true():
    """The gradient of sqrt is nan at −0.19, and nan stays nan in the following step."""
    loop = lab.Loop.from_text(
        "x[t] = where(x[t-1] > 0, sqrt(x[t-1]), 0) - 0.9", {"x": 0.5}, n_steps=2
    )
    lines = [line for *_, line in lines_of(loop.trace(cost="sum")) if "nan" in line]
    assert len(lines) == 2
    assert all(is_true(line) for line in lines)


def test_the_check_rejects_a_symbol_with_two_values():
    first = (0, 0, "x₁ = x₀·2", "1.9 = 0.95·2")
    assert conflicts([first]) == []
    for line in (
        (0, 1, "x₂ = x₁·2", "3.6 = 1.8·2"),
        (0, 1, "x₁ = x₀·2", "3.8 = 0.95·2"),
        (1, 0, "buf[1] ← buf[0] + buf[0]", "2 = 1 + 1.1"),
        (1, 0, "dC/dx₁ = ∂₁C/∂x₁·dC/dx₁", "2 = 1·1.1"),
    ):
        assert conflicts([first, line])


def cost_with_other_terms(order, wrt=None):
    """Trace C = a(a·x₀²)² + 5·x₀² + a; a loop computes the first term only."""
    x0, a = pt.dscalar("x0"), pt.dscalar("a")
    xs = graphs.scan(lambda x, a: a * x**2, outputs_info=[x0], non_sequences=[a], n_steps=2)
    given = {x0: 0.9, a: 0.5}
    derivative = lab.derivative(xs[-1] + 5 * x0**2 + a, a if wrt == "a" else x0, order=order)
    return lab.trace(derivative, given)


def test_a_gradient_is_a_part_if_no_scan_computes_the_rest():
    """For C = a³x₀⁴ + 5x₀² + a, Scans compute only 4a³x₀³ of dC/dx₀, and 3a²x₀⁴ of dC/da."""
    first, parameter = cost_with_other_terms(1), cost_with_other_terms(1, "a")
    assert first.outputs[1] == pytest.approx(4 * 0.5**3 * 0.9**3 + 10 * 0.9)
    assert parameter.outputs[1] == pytest.approx(3 * 0.5**2 * 0.9**4 + 1)
    quantities = Quantities(first, 1)
    tape = quantities.scan.tapes[0]
    labels = {quantities.tape_label(tape, row): value for row, value in enumerate(tape.final)}
    assert labels["∂₁C/∂x₀"] == pytest.approx(4 * 0.5**3 * 0.9**3)
    assert {"dC/dx₁", "dC/dx₂"} < set(labels)
    assert "dC/dx₀" not in labels
    (total,) = (t for t in parameter.scans[1].tapes if t.is_total)
    assert Quantities(parameter, 1).tape_label(total, None) == "∂₁C/∂a"
    assert total.final[-1] == pytest.approx(3 * 0.5**2 * 0.9**4)
    (note,) = result_notes(first)
    assert note == "C′ is the output of Scan 2 plus a value that is computed outside the Scans"
    # d²C/dx₀² = 12a³x₀² + 10, and the last tape gives the first term.
    second = cost_with_other_terms(2)
    quantities = Quantities(second, 3)
    labels = {quantities.tape_label(quantities.scan.tapes[0], row): row for row in range(3)}
    (row,) = (row for label, row in labels.items() if label.startswith("∂"))
    assert quantities.scan.tapes[0].final[row] == pytest.approx(12 * 0.5**3 * 0.9**2)
    assert second.outputs[2] == pytest.approx(12 * 0.5**3 * 0.9**2 + 10)


def test_a_note_names_all_scans_whose_outputs_are_terms():
    """The loop starts at a; d²(a⁴)/da² also contains the gradient of the initial value."""
    a = pt.dscalar("a")
    xs = graphs.scan(lambda x, a: a * x, outputs_info=[a * 1.0], non_sequences=[a], n_steps=3)
    notes = result_notes(lab.trace(lab.derivative(xs[-1], a, order=2), {a: 0.7}))
    terms = [note.split(" plus a value that is computed outside")[0] for note in notes]
    assert terms == ["C′ is the output of Scan 2", "C″ is the sum of outputs of Scans 3 and 4"]


def evaluate_line(numbers):
    """Return the exact right side of an equation, and its printed value."""
    left, right = re.split(" [=≈] ", numbers)
    exact = re.sub(r"(?<![\w.])(\d[\d.]*(?:e-?\d+)?)", r"Fraction('\1')", right)
    return evaluate(exact, {"Fraction": Fraction}), float(left)


def newton(x, a):
    """Compute a step of Newton's method. The loop stops late: at √2, ½ − 1/x² is almost 0."""
    better = (x + a / x) / 2
    return better, lab.until(abs(better - x) < 1e-9)


def test_lines_with_cancelled_digits_have_an_approximate_sign():
    trace = replace(gallery.loops["newton"], step=newton).trace(order=2)
    wrong = []
    for scan, step, _, numbers in lines_of(trace):
        exact, printed = evaluate_line(numbers)
        off = abs(float(exact - Fraction(printed)))
        if off > half_a_unit(numbers.split(" ")[0]) * 1.001:
            wrong.append((scan, step, numbers))
            assert off < abs(printed) / 100
    assert wrong
    assert all(" ≈ " in numbers for *_, numbers in wrong)
    (note,) = result_notes(trace)
    assert note.startswith(
        "cancellation: step 0 of Scan 2 writes a difference of nearly equal terms to buf[1]"
    )
    x = Fraction(float(trace.scans[0].tapes[0].final[-2]))
    written = float(trace.scans[1].tapes[0].writes[0].values[0])
    error = abs(written / float(Fraction(1, 2) - 1 / x**2) - 1)
    assert 5e-4 < error < 0.05  # the first digit is correct, the third is not
    assert "the first digit of it and of later values can be trusted" in note

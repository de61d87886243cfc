"""The machine: its numbers, sentences, places, and bad arguments, against independent oracles."""

import re
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from strange_loops import trace_of

import lab
import visual
from lab import gallery
from lab.eager import grad, recording
from lab.notation import number_text
from lab.reports.breaking.rules import EXAMPLES
from visual.pictures.machine.arrange import arrange
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.content import Ink, PartKind, key_at
from visual.pictures.machine.pair import pair_of
from visual.pictures.machine.states import states
from visual.pictures.machine.tracks import track
from visual.scene.shapes import Text
from visual.scene.theme import Role

LOOPS = {
    "square": gallery.loops["square"],
    "two taps": gallery.loops["square"].with_taps((-2, -1)),
    "gap": gallery.loops["gap"],
    "coupled": gallery.loops["coupled"],
    "newton": gallery.loops["newton"],
    "sequence": gallery.loops["sequence"],
    "window": gallery.loops["window"],
}
MOST_ORDERS = {"coupled": 2, "sequence": 1, "window": 1}
RUNS = [(name, n) for name in LOOPS for n in range(1, MOST_ORDERS.get(name, 3) + 1)]


@cache
def run(name, order):
    return LOOPS[name].trace(order=order)


@cache
def machine_at(name, order):
    return machine_of(run(name, order))


def texts(machine, moment):
    """The number in every cell at a moment, by Scan, tape, and position."""
    rows = machine.rows
    return {
        (rows[c.row].scan, rows[c.row].tape, c.position): c.at(moment).text for c in machine.cells
    }


def test_the_gradient_of_a_sum_of_squares_is_the_closed_form_at_every_moment():
    """C = Σ xₖ, so dC/dxₖ = 1 + 2·xₖ·dC/dxₖ₊₁ for 1 ≤ k < 4, and without the 1 for k = 0."""
    machine = machine_of(gallery.loops["square"].trace(cost="sum"))
    x = [0.95 ** (2**k) for k in range(5)]
    gradients = {4: 1.0}
    for k in (3, 2, 1, 0):
        gradients[k] = 2 * x[k] * gradients[k + 1] + (k > 0)
    for step, k in enumerate((3, 2, 1, 0)):
        now = texts(machine, 6 + step)
        for j in range(5):
            expected = gradients[j] if j >= k else float(j > 0)
            assert now[2, "dx", 4 - j] == number_text(expected), (step, j)
    assert machine.moments == 9


@pytest.mark.parametrize(("name", "order"), RUNS)
def test_every_number_of_every_moment_is_the_one_on_the_tape(name, order):
    trace, machine = run(name, order), machine_at(name, order)
    for moment, event in enumerate(machine.events, start=1):
        scan, now = trace.scans[event.scan - 1], texts(machine, moment)
        step = -1 if event.step is None else event.step
        for tape in scan.tapes:
            for row, value in enumerate(tape.contents(step)):
                shown = now.get((event.scan, tape.name, tape.position(row)))
                if shown:  # an empty cell holds no number yet
                    assert shown == number_text(value), (moment, tape.name, row)
    numbers = [number_text(value) for value in trace.outputs if not value.ndim]
    results = ["".join(pieces) for _, pieces in machine.results]
    assert [text for text in results if "[" not in text] == numbers
    assert number_text(trace.outputs[0]) in texts(machine, machine.moments).values()


def holds(sentence):
    """Whether an equation is true to half a unit of the last digit of its left side."""
    left, sign, right = re.fullmatch(r"(\S+) ([=≈]) (.+)", sentence).groups()
    total = Fraction(0)
    for product in right.split(" + "):
        factors = [Fraction(factor.strip("()")) for factor in product.split(" × ")]
        total += Fraction(np.prod(factors))
    digits = len(left.partition(".")[2].partition("e")[0])
    exponent = int(left.partition("e")[2] or 0)
    unit = Fraction(10) ** (exponent - digits)
    four = Fraction(10) ** (int(np.floor(np.log10(abs(float(left)) or 1))) - 3)
    return sign, abs(total - Fraction(left)) <= min(unit, four) / 2


def test_the_checker_of_equations_finds_a_wrong_one():
    assert holds("4.790 = 2.3268 × 1.6290 + 1") == ("=", True)
    assert holds("4.790 = 2.327 × 1.629 + 1") == ("=", False)
    assert holds("-2 = 2 × (-1)") == ("=", True)


@pytest.mark.parametrize(("name", "order"), RUNS)
def test_equations_say_equals_only_where_they_hold_and_arrows_sum_to_the_slot(name, order):
    """The new value of a slot is the old value plus value times factor, over all arrows."""
    sums = [part for part in machine_at(name, order).parts() if part.kind is PartKind.SUM]
    assert sums
    for part in sums:
        pieces = [piece.text for piece in part.sentence[1:]]
        sign, is_true = holds("".join(pieces))
        assert (sign == "=") == is_true, pieces
        exact = part.exact.split(" = ", 1)[1]
        assert " ≈ " in exact or holds(exact) == ("=", True), part.exact
        total = float(part.old) if part.adds and part.old else 0.0
        for term in part.terms:
            product = float(term.product)
            total += product
            if term.factor and term.value:
                assert float(term.value) * float(term.factor) == pytest.approx(product, rel=2e-3)
        assert total == pytest.approx(float(part.new), rel=2e-3, abs=1e-3)


def test_a_slot_that_is_written_back_says_so():
    machine = machine_at("square", 2)
    parts = [part for part in machine.parts() if part.kind is PartKind.RESTORED]
    assert len(parts) == 4
    assert {part.old == part.new for part in parts} == {True}
    roles = {cell.at(moment).role for cell in machine.cells for moment in range(1, 20)}
    assert {"overwritten", "preserved", "restored", "saved", "pending", "result"} <= roles


def test_a_running_total_is_complete_only_at_the_end():
    """dC/dw of x₂ = w·(w·x₀): the contributions x₁ of step 1 and w·x₀ of step 0, both 0.5·0.8."""
    loop = lab.Loop(
        lambda x, w: w * x, (lab.State("x", 0.8),), parameters=(lab.Parameter("w", 0.5),), n_steps=2
    )
    lines = visual.machine(loop.trace(wrt="w"), moment=5).text().splitlines()
    (total,) = (line for line in lines if ", dC/dw:" in line)
    assert "dC/dw so far = 0.4 (" in total
    assert "dC/dw = 0.8 (" in total
    assert any(line.startswith("dC/dw:  0.8 = 0.4 + 0.5 × 0.8") for line in lines)


def test_the_reason_has_the_local_derivative_in_symbols():
    assert "Local derivative: 2·x₁." in visual.machine(run("square", 1), moment=8).text()
    assert "Local derivative: 2·dC/dx₂." in visual.machine(run("square", 2), moment=12).text()


@pytest.mark.parametrize("width", [344, 840])
@pytest.mark.parametrize(("name", "order"), RUNS)
def test_cells_and_the_lines_between_them_are_on_the_sheet(name, order, width):
    """No two cells overlap; every line begins at its source and ends at its target."""
    arrangement = arrange(machine_at(name, order), width)
    boxes = arrangement.boxes
    for n, a in enumerate(boxes):
        assert a.left >= 0
        assert a.right <= arrangement.width
        assert a.bottom <= arrangement.height
        assert a.letters >= 11
        for b in boxes[:n]:
            assert a.right <= b.left or b.right <= a.left or a.bottom <= b.top or b.bottom <= a.top

    def near(point, number):
        box = boxes[number]
        return (
            box.left - 1 <= point[0] <= box.right + 1 and box.top - 15 <= point[1] <= box.bottom + 1
        )

    terms = [(part, term) for part in arrangement.machine.parts() for term in part.terms]
    assert terms
    for part, term in terms:
        way = track(arrangement, part, term)
        assert near(way.points[-1], part.target)
        assert term.source is None or near(way.points[0], term.source)
        assert all(near(line[0], n) for n, line in zip(term.saved, way.drops, strict=False))
        assert all(0 <= x <= arrangement.width for x, _ in way.points)
        assert all(0 <= y <= arrangement.height for _, y in way.points)


def test_a_long_loop_shows_its_ends_and_the_columns_around_a_moment():
    trace = gallery.loops["square"].with_steps(60).with_values({"x": 1.0}).trace()
    machine = machine_of(trace, around=30)
    assert [hidden for hidden in machine.columns if hidden] == [27, 25]
    positions = sorted(c.position for c in machine.cells if machine.rows[c.row].scan == 1)
    assert positions == [-1, 0, 1, 29, 30, 31, 57, 58, 59]
    ends = machine_of(trace)
    assert [hidden for hidden in ends.columns if hidden] == [53]
    assert ends.events[-1].number == 121


@pytest.mark.parametrize(
    ("name", "state", "taps", "factor"),
    [("sequence", "z", (0,), 2), ("delay", "x", (0,), 1), ("window", "x", (-1, 0, 1), 0),
     ("rnn", "h", (0,), 0)],
)  # fmt: skip
def test_each_value_of_a_sequence_has_a_cell_above_or_below_the_result_of_its_step(
    name, state, taps, factor
):
    """z·2y and x·u have the local derivatives 2y and u; those of the others are free of u."""
    loop = gallery.loops[name]
    (sequence,) = loop.sequences
    values, machine, steps = np.asarray(sequence.values), machine_of(loop.trace()), loop.steps
    rows, now = machine.rows, -min(taps)
    assert [row.tape for row in rows[:2]] == [state, sequence.name]
    numbers = {c.position: n for n, c in enumerate(machine.cells) if c.row == 1}
    columns = {c.position: c.column for c in machine.cells if c.row == 0}
    assert [*numbers] == [*range(len(values))]
    for index, n in numbers.items():
        key = machine.cells[n].at(0)
        texts = tuple(number_text(value) for value in values[index].ravel())
        assert (key.entries or (key.text,), key.role) == (texts, "input")
        if 0 <= index - now < steps:
            assert machine.cells[n].column == columns[index - now]
    for moment, event in enumerate(machine.events, start=1):
        read = set()
        if moment <= steps:
            read = {moment - 1 + now + tap for tap in taps}
        elif event.step is not None and factor:
            read = {steps - 1 - event.step}
            factors = [term.factor for part in event.groups[-1].parts for term in part.terms]
            assert factors == [number_text(factor * values[index]) for index in read]
        keys = {index: machine.cells[n].at(moment) for index, n in numbers.items()}
        assert {index for index, key in keys.items() if key.role == "read"} == read
        assert {key.role for index, key in keys.items() if index not in read} <= {"input"}
        (part,) = (part for group in event.groups[-1:] for part in group.parts[:1])
        saved = {n for term in part.terms for n in term.saved} & {*numbers.values()}
        assert saved == {numbers[index] for index in read}


def test_only_given_values_with_few_numbers_have_cells():
    """A loop of five numbers per step, and a loop that reads the outputs of another loop."""
    wide = lab.Loop(
        lambda u, x: u.sum() * x,
        (lab.State("x", 1.0),),
        sequences=(lab.Sequence("u", np.ones((3, 5))),),
        n_steps=3,
    )
    u, x0 = pt.vector("u"), pt.scalar("x0")
    squares = pytensor.scan(lambda u: u**2, sequences=[u], return_updates=False)
    last = pytensor.scan(
        lambda a, x: a * x, sequences=[squares], outputs_info=[x0], return_updates=False
    )[-1]
    chained = lab.trace(last, given={u: np.array([1.0, 2.0]), x0: 0.5})
    long = lab.Loop(
        lambda u, x: u * x,
        (lab.State("x", 1.0),),
        sequences=(lab.Sequence("u", np.linspace(0.9, 1.1, 60)),),
        n_steps=60,
    )
    shown = [
        {(row.scan, c.position) for row in [machine.rows[c.row]] if row.tape == "u"}
        for machine in map(machine_of, (wide.trace(), chained))
        for c in machine.cells
    ]
    assert {cell for cells in shown for cell in cells} == {(1, 0), (1, 1)}
    machine = machine_of(long.trace(), around=30)
    positions = [c.position for c in machine.cells if machine.rows[c.row].tape == "u"]
    assert positions == [0, 1, 29, 30, 31, 57, 58, 59]


def test_a_formula_without_a_state_gets_the_given_value_from_its_side():
    u = pt.vector("u")
    squares = pytensor.scan(lambda u: u**2, sequences=[u], return_updates=False)
    arrangement = arrange(machine_of(lab.trace(squares, given={u: np.array([1.0, 2.0])})))
    (part, _) = arrangement.machine.parts()
    (term,) = part.terms
    way, box = track(arrangement, part, term), arrangement.boxes[term.saved[0]]
    (drop,) = way.drops
    assert (term.source, term.product) == (None, "1")
    x, y = drop[0]
    assert box.left < x < box.right
    assert y in (box.top, box.bottom)
    assert drop[-1] == way.points[0]  # without a factor, the line ends where the value enters


def test_one_entry_of_a_vector_is_followed_in_numbers():
    trace = trace_of("rnn")
    norms, entries = machine_of(trace), machine_of(trace, entry=0)
    assert any("‖" in cell.at(norms.moments).text for cell in norms.cells)
    assert not any("‖" in cell.at(entries.moments).text for cell in entries.cells)
    final = trace.scans[0].tapes[0].final[-1]
    assert number_text(final[0]) in {cell.at(entries.moments).text for cell in entries.cells}


def test_a_moment_is_a_scene_with_text_and_a_film(tmp_path):
    scene = visual.machine(gallery.loops["square"].trace(cost="sum"), moment=7)
    assert "dC/dx₂ = 4.790 (overwritten)" in scene.text()
    assert "4.790 ≈ 2.327 × 1.629 + 1" in scene.text()
    assert scene.svg() == visual.machine(gallery.loops["square"].trace(cost="sum"), moment=7).svg()
    moving = scene.save(tmp_path / "film.svg", animate=True).read_text()
    assert "data-until" in moving
    assert "data-until" not in scene.svg()
    assert (scene.width, scene.height) < (841, 421)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_run_with_nan_or_inf_is_shown(value):
    trace = gallery.loops["square"].with_values({"x": value}).trace()
    machine = machine_of(trace)
    assert number_text(value) in {cell.at(0).text for cell in machine.cells}


def broken(loop, order, rule="accumulate-overwritten"):
    return lab.break_rule(loop, rule, order=order)


X = 0.95
POWER = gallery.loops["square"].with_steps(2)  # C = x⁴
DERIVATIVES = (4 * X**3, 12 * X**2, 24 * X)


def test_the_faulty_rule_triples_the_third_derivative_of_the_fourth_power():
    shown = visual.machine(broken(POWER, 3))
    machine = shown.content
    assert visual.machine(POWER.trace(order=3), rule="accumulate-overwritten").content == machine
    mistake = machine.mistake
    assert [row[1] for row in mistake.table] == [f"{value:.6g}" for value in DERIVATIVES]
    assert mistake.table[2][2] == f"{72 * X:.6g}"
    assert [row[4] for row in mistake.table] == ["1", "1", "3"]
    assert machine.title == "With the faulty rule, C‴ is 3 times its value"
    assert mistake.first_wrong < mistake.first_read
    texts = [s for s in shown.scene(machine.moments).walk() if isinstance(s, Text)]
    assert any("heavy border: a new number or a result" in text.content for text in texts)
    wrong = {text.content for text in texts if text.role is Role.WRONG}
    assert {number_text(72 * X), "✗ dC″/dx"} <= wrong
    assert number_text(24 * X) not in wrong


def test_a_rule_that_changes_no_result_says_so():
    machine = visual.machine(broken(gallery.loops["square"], 2)).content
    assert machine.title == "The faulty rule changes no derivative of this loop up to order 2"


def test_the_table_of_a_gradient_with_entries_shows_the_entry_that_differs_most():
    """x₃ = x₁²·x₀: d²/dx₀ of the sum of its gradient is 2·x₁, d²/dx₁ is 2·x₁ + 2·x₀."""
    loop = gallery.loops["square"].with_taps({"x": (-2, -1)}).with_steps(2)
    machine = visual.machine(broken(loop, 2)).content
    first, second = (row[:2] for row in machine.mistake.table)
    x0, x1 = loop.trace().scans[0].tapes[0].initial[:2]
    assert {row.scan for row in machine.rows if row.is_second} == {3, 4}  # the others are equal
    assert first == ("C′[1]", f"{2 * x1 * x0:.6g}")
    assert second == ("C″[1]", f"{2 * x1 + 2 * x0:.6g}")
    assert all(len(cell) < 12 for row in machine.mistake.table for cell in row)


@pytest.mark.parametrize(
    ("loop", "factor"),
    [("square", "multiplies by 2·x and adds"), ("walk", "multiplies by 0.9 and adds"),
     ("fibonacci", "adds to the gradients"), ("coupled", "multiplies by the local derivative")],
)  # fmt: skip
def test_the_title_names_a_common_local_derivative(loop, factor):
    assert f"Each backward step {factor}" in visual.machine(trace_of(loop)).content.title
    one_step = gallery.loops["square"].with_steps(6).trace(keep="last")
    assert "multiplies by the local derivative" in visual.machine(one_step).content.title


def test_a_cell_has_its_new_number_after_the_sum_and_other_cells_are_not_in_color():
    """Event 7 of square: dC/dx₂ = 1 + 2·x₂·dC/dx₃, which becomes 4.790 at the end of the sum."""
    machine = machine_of(gallery.loops["square"].trace(cost="sum"))
    keys = dict(zip((cell.name for cell in machine.cells), states(machine), strict=True))
    shown = {p: key_at(keys["dC/dx₂"], p) for p in (6, 6.5, 6.84, 6.86, 7)}
    assert [key.text for key in shown.values()] == ["1", "1", "1", "4.790", "4.790"]
    assert [key.role == "overwritten" for key in shown.values()] == [False, True, True, True, True]
    assert key_at(keys["dC/dx₃"], 6.5).role == "preserved"
    assert {key_at(keys["x₃"], p).role for p in (6, 6.5)} == {"saved", "result"}


def test_wrong_numbers_are_red_in_the_sentences_of_the_faulty_rule():
    """Two squarings at order 3: the first step that reads a wrong value computes 3.8·7.6."""
    machine = pair_of(broken(POWER, 3))
    event = machine.events[machine.mistake.first_read - 1]
    correct, faulty = event.groups[-1].parts
    assert [(p.text, p.ink) for p in correct.sentence if p.ink is Ink.WRONG] == []
    assert [p.text for p in faulty.sentence if p.ink is Ink.WRONG] == ["28.88", "3.8", "7.6"]
    same = (part for e in machine.events[:5] for group in e.groups for part in group.parts)
    assert not any(piece.ink is Ink.WRONG for part in same for piece in part.sentence)


@pytest.mark.parametrize("rule", lab.BROKEN)
def test_each_rule_is_shown_at_order_3_and_its_example_is_changed_by_it(rule):
    """Finite differences of x⁴ are not computed by any rule."""
    machine = visual.machine(broken(POWER, 3, rule)).content
    for row, exact in zip(machine.mistake.table, DERIVATIVES, strict=True):
        assert float(row[1]) == pytest.approx(exact, rel=1e-5)
        assert float(row[3]) == pytest.approx(exact, rel=1e-2)
    faulty = number_text(float(machine.mistake.table[-1][2]))
    last = {(c.name, c.at(machine.moments).text) for c in machine.cells if second(machine, c)}
    assert ("dC″/dx₀", faulty) in last
    example = dict(EXAMPLES[rule])
    loop = gallery.loops[example["loop"]].with_taps(example.get("taps", {}))
    loop = loop.with_steps(example.get("steps", loop.steps))
    changed = lab.break_rule(loop, rule, example["order"], cost=example.get("cost", "last"))
    assert changed.visible is not None


def second(machine, cell):
    """Whether a cell belongs to the second run."""
    return machine.rows[cell.row].is_second


def test_a_rule_that_gives_other_tapes_has_its_rows_below_the_correct_ones():
    """A number is wrong from the moment at which it differs, and not before."""
    machine = visual.machine(broken(gallery.loops["square"], 3, "swapped-taps")).content
    rows = machine.rows
    assert {row.scan for row in rows if row.is_second} == {*range(2, 9)}  # not the loop itself
    for before, row in pairwise(rows):
        assert not row.is_second or (row.scan, row.name) == (before.scan, f"✗ {before.name}")
    correct = {(c.name, rows[c.row].scan, f"✗ {rows[c.row].name}"): c for c in machine.cells}
    wrong = [c for c in machine.cells if c.wrong_from is not None]
    assert machine.mistake.first_wrong == min(c.wrong_from for c in wrong)
    for cell in wrong:
        twin = correct[cell.name, rows[cell.row].scan, rows[cell.row].name]
        same = [twin.at(m).full == cell.at(m).full for m in range(cell.wrong_from + 1)]
        assert same == [True] * cell.wrong_from + [False]


def product_gradients(x, cost):
    """dC/dx of x[k+2] = x[k]·x[k+1], by the chain rule from the last value back."""
    gradients = [cost(k) for k in range(len(x))]
    for k in range(len(x) - 1, 1, -1):
        gradients[k - 2] += gradients[k] * x[k - 1]
        gradients[k - 1] += gradients[k] * x[k - 2]
    return gradients


def test_two_loops_are_played_in_lockstep():
    square = gallery.loops["square"]
    other = square.with_taps((-2, -1))
    machine = visual.machine(square.trace(cost="sum"), other.trace(cost="sum")).content
    assert machine.title == "A: square, taps −1 · B: square, taps −2, −1"
    assert machine.moments == 9
    cells = {}
    for cell in machine.cells:
        scan = machine.scans[machine.rows[cell.row].scan - 1]
        cells[scan.label, cell.name] = cell
        assert second(machine, cell) == (scan.run == "B")
    last = {name: cell.at(9).text for name, cell in cells.items()}
    x = [0.95, 0.95]
    for k in range(4):
        x.append(x[k] * x[k + 1])
    exact = product_gradients(x, lambda k: float(k >= 2))
    for k, sign in enumerate("₀₁₂₃₄₅"):
        assert last["B1", f"x{sign}"] == number_text(x[k])
        assert last["B2", f"dC/dx{sign}"] == number_text(exact[k])
    assert last["A1", "x₄"] == number_text(0.95**16)
    wrong = product_gradients(x, lambda k: 1.0)
    assert last["B2", "dC/dx₀"] != number_text(wrong[0])  # the checker sees another cost
    assert cells["A1", "x₁"].column == cells["B1", "x₂"].column  # step 0 computes both
    for event in machine.events:
        runs = {part.is_second for group in event.groups for part in group.parts}
        assert runs == {False, True}, event.heading


def test_a_run_with_fewer_steps_rests_and_keeps_its_numbers():
    square = gallery.loops["square"]
    machine = visual.machine(square.with_steps(2).trace(), square.with_steps(5).trace()).content
    assert "2 steps" in machine.title
    first = [c for c in machine.cells if not second(machine, c)]
    touched = {"overwritten", "preserved", "restored", "written"}
    assert {c.at(2).role for c in first} & touched
    for moment in (3, 4, 5):
        assert not {c.at(moment).role for c in first} & touched
        assert [c.at(moment).text for c in first] == [c.at(2).text for c in first]
    assert number_text(0.95**4) in {c.at(machine.moments).text for c in first}


def wave(size):
    start = np.linspace(-2, 2, size)
    return lab.Loop(lambda x: pt.sin(x) * 1.3, states=(lab.State("x", start),), n_steps=3)


@pytest.mark.parametrize("size", [3, 12])
def test_the_numbers_of_a_vector_are_in_its_cell(size):
    """C = Σ xₖ,ᵢ by steps of 1.3·sin, so dC/dx₀ is the product of 1.3·cos along each entry."""
    machine = machine_of(wave(size).trace())
    x, product = np.linspace(-2, 2, size), np.ones(size)
    for _ in range(3):
        product *= 1.3 * np.cos(x)
        x = 1.3 * np.sin(x)
    last = {cell.name: cell.at(machine.moments).entries for cell in machine.cells}
    assert last["x₃"] == tuple(map(number_text, x))
    assert last["dC/dx₀"] == tuple(map(number_text, product))
    assert last["dC/dx₀"] != tuple(map(number_text, product[::-1] + 1e-2))
    sentences = [part.by_entry for part in machine.parts() if part.kind is PartKind.SUM]
    for by_entry in sentences:
        assert len(by_entry) == (size if size <= 4 else 0)
        for pieces in by_entry:
            sign, is_true = holds("".join(piece.text for piece in pieces[1:]))
            assert (sign == "=") == is_true, pieces


def test_an_entry_of_a_product_of_matrices_is_not_shown_as_a_product():
    machine = machine_of(trace_of("rnn"))
    terms = [t for part in machine.parts() for t in part.terms if part.kind is PartKind.SUM]
    assert not any(term.factor for term in terms)
    lines = [line for part in machine.parts() for line in part.by_entry]
    assert any("is entry 2 of" in "".join(p.text for p in line) for line in lines)


# Eager recordings


def jump(x):
    """(x + 2)⁴ at 2.5."""
    while x < 100:
        x = x * x if x > 3 else x + 2
    return x


def at_end(machine, row):
    """The last number of each cell of a row, by the name of the cell."""
    return {c.name: c.at(machine.moments).full for c in machine.cells if c.row == row}


def test_a_recording_is_a_machine_with_the_derivatives_of_each_node():
    """The result is y⁴ with y = x + 2 = 4.5, so its derivative is 4·y³ wrt x and y, 2·y² wrt y²."""
    shown = visual.machine(recording(grad(jump), 2.5))
    machine, y = shown.content, 4.5
    values, gradients = at_end(machine, 0), at_end(machine, 1)
    assert [float(text) for text in values.values()] == pytest.approx([2.5, y, y**2, y**4])
    assert float(gradients["∇n₀"]) == float(gradients["∇n₁"]) == pytest.approx(4 * y**3)
    assert float(gradients["∇n₂"]) == pytest.approx(2 * y**2)
    assert float(gradients["∇n₃"]) == 1
    assert machine.results == (("result", ("364.5",)),)
    added = [part.target for part in machine.parts() if part.adds]
    assert [machine.cells[n].name for n in added] == ["∇n₂", "∇n₁"]  # each used twice by a product
    assert shown.scene(9).text().count("364.5 = 40.5 × 4.5 + 182.2") == 1


def test_a_derivative_of_a_derivative_has_a_tape_for_each():
    """The second derivative of (x + 2)⁴ is 12·(x + 2)²."""
    machine = visual.machine(recording(grad(grad(jump)), 2.5)).content
    assert [row.name for row in machine.rows] == ["values", "values", "gradients", "gradients"]
    assert float(at_end(machine, 3)["∇n₀"]) == pytest.approx(12 * 4.5**2)
    spans = [scan.events for scan in machine.scans]
    assert [*spans[0], *spans[1], *spans[2], *spans[3]] == list(range(machine.moments))


def test_a_recording_of_arrays_lists_their_entries():
    """The gradient of the sum of x² is 2·x."""
    shown = visual.machine(recording(grad(lambda x: (x * x).sum()), np.array([1.5, -2.0])))
    (first,) = (c for c in shown.content.cells if c.name == "∇n₀")
    assert first.at(shown.content.moments).entries == ("3", "-4")
    assert "∇n₀" in shown.scene(shown.content.moments).text()

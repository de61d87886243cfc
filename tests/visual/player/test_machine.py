"""Compare numbers, sentences, and positions of the machine with independent calculations."""

import re
from functools import cache
from itertools import chain, pairwise

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from eager.programs import jump
from graphs import scan
from oracles import is_true
from pytensor.scan.op import Scan
from strange_loops import loop_of, trace_of
from twins import assert_twin

import lab
import visual
from lab import gallery
from lab.eager import grad, primitive, recording
from lab.notation import number_text
from lab.reports.breaking.rules import EXAMPLES
from visual.layout.columns import Gap
from visual.pictures.machine.arrange import arrange
from visual.pictures.machine.build import machine_of
from visual.pictures.machine.content import Ink, PartKind, Phrase
from visual.pictures.machine.pair import pair_of
from visual.pictures.machine.states import locate
from visual.pictures.machine.tracks import part_layouts, pill
from visual.scene.combinators import Envelope, envelope_of
from visual.scene.fonts import text_width
from visual.scene.shapes import Box, Polyline, Text, walk
from visual.scene.theme import Role

SQUARE = gallery.loops["square"]
TWO_TAPS = SQUARE.with_taps((-2, -1))
NAMES = ("square", "gap", "coupled", "newton", "sequence", "window")
LOOPS = {"two taps": TWO_TAPS, **{name: gallery.loops[name] for name in NAMES}}
MOST_ORDERS = {"coupled": 2, "sequence": 1, "window": 1}
RUNS = [(name, n) for name in LOOPS for n in range(1, MOST_ORDERS.get(name, 3) + 1)]


@cache
def run(name, order, cost="last"):
    return LOOPS[name].trace(order=order, cost=cost)


@cache
def machine_at(name, order, cost="last"):
    return machine_of(run(name, order, cost))


def texts(machine, moment):
    """Return the number in every cell at a moment, by Scan, tape, and position."""
    rows = machine.rows
    return {
        (rows[c.row].scan, rows[c.row].tape, c.position): c.at(moment).text for c in machine.cells
    }


WEIGHTED = lab.Loop.from_text("w*x", {"x": 0.8}, {}, {"w": 0.5}, n_steps=2)


def run_of(n_steps, name="square", **options):
    return {**gallery.loops, **LOOPS}[name].with_steps(n_steps).trace(**options)


AT_ALL_MOMENTS = {
    "sum": lambda: visual.machine(run_of(3, cost="sum")),
    "order-2": lambda: visual.machine(run_of(2, order=2)),
    "total": lambda: visual.machine(WEIGHTED.trace(wrt="w")),
    "two-taps": lambda: visual.machine(run_of(3, cost="sum"), run_of(3, "two taps", cost="sum")),
    "two-lengths": lambda: visual.machine(run_of(2), run_of(3)),
    "sequence": lambda: visual.machine(run_of(2, "sequence")),
    "window": lambda: visual.machine(run_of(2, "window")),
    "delay": lambda: visual.machine(run_of(4, "delay")),
    "eager": lambda: visual.machine(recording(grad(jump), 2.5)),
    "eager-array": lambda: visual.machine(
        recording(grad(lambda x: (x * x).sum()), np.array([1.5, -2.0]))
    ),
}
AT_THE_END = {
    "entry": lambda: visual.machine(trace_of("rnn"), entry=0),
    "walk": lambda: visual.machine(trace_of("walk")),
    "fibonacci": lambda: visual.machine(trace_of("fibonacci")),
    "coupled": lambda: visual.machine(trace_of("coupled")),
    "one-step": lambda: visual.machine(SQUARE.with_steps(6).trace(keep="last")),
    "faulty": lambda: visual.machine(broken(POWER, 3)),
    "unchanged": lambda: visual.machine(broken(POWER, 2)),
    "faulty-entry": lambda: visual.machine(broken(TWO_TAPS.with_steps(2), 2)),
    "eager-2": lambda: visual.machine(recording(grad(grad(jump)), 2.5)),
}


def moments_as_text(machine):
    """Return the title of a machine, and its text at each moment without unchanged rows."""
    titles, lines, before = set(), [], []
    for moment in range(1, machine.content.moments + 1):
        heading, rows, sentences = machine.scene(moment).text().rstrip("\n").split("\n\n")
        title, name = heading.split("\n")
        rows = rows.split("\n")
        titles.add(title)
        lines += [name, *(row for row in rows if row not in before), sentences, ""]
        before = rows
    (title,) = titles
    return "\n".join((title, *lines))


@pytest.mark.parametrize("name", AT_ALL_MOMENTS | AT_THE_END)
def test_text_twins(name, fast_compile):
    machine = (AT_ALL_MOMENTS | AT_THE_END)[name]()
    last = machine.scene(machine.content.moments).text()
    assert_twin(f"machine-{name}", moments_as_text(machine) if name in AT_ALL_MOMENTS else last)


@pytest.mark.parametrize(("name", "order"), RUNS)
def test_every_number_of_every_moment_is_on_the_tape(name, order):
    trace, machine = run(name, order), machine_at(name, order)
    for moment, event in enumerate(machine.events, start=1):
        scan, now = trace.scans[event.scan], texts(machine, moment)
        step = -1 if event.step is None else event.step
        for tape in scan.tapes:
            for row, value in enumerate(tape.contents(step)):
                shown = now.get((event.scan, tape.name, tape.position(row)))
                if shown:  # an empty cell has no number yet
                    assert shown == number_text(value), (moment, tape.name, row)
    numbers = [number_text(value) for value in trace.outputs if not value.ndim]
    results = ["".join(pieces) for _, pieces in machine.results]
    assert [text for text in results if "[" not in text] == numbers
    assert number_text(trace.outputs[0]) in texts(machine, machine.moments).values()


def check_equation(sentence):
    """Return the sign of an equation, and whether it is true to half a unit of its last digit."""
    return sentence.split()[1], is_true(sentence.replace("≈", "=").replace("×", "·"))


def test_the_check_of_equations_detects_a_wrong_equation():
    assert check_equation("4.790 = 2.3268 × 1.6290 + 1") == ("=", True)
    assert check_equation("4.790 = 2.327 × 1.629 + 1") == ("=", False)
    assert check_equation("-2 = 2 × (-1)") == ("=", True)


def test_each_sum_of_a_group_has_its_own_reason():
    machine = machine_at("two taps", 2, "sum")
    (group,) = machine.events[15].groups[:1]  # two sums of the gradients of x₅ = x₃·x₄
    reasons = {machine.cells[part.target].name: part.reason for part in group.parts}
    assert {name: reason[-3:] for name, reason in reasons.items()} == {
        "dC′/dx₃": "x₄.",
        "dC′/dx₄": "x₃.",
    }
    assert group.reasons == "  ".join(reasons.values())
    (part, *_) = (p for p in machine_at("gap", 3).parts() if len(p.terms) == 3)
    assert part.reason.endswith("derivatives: cos(x₄) + x₆, (-1)·dC/dx₇·sin(x₄), dC/dx₇.")


@pytest.mark.parametrize(("name", "order"), RUNS)
def test_equations_with_an_equals_sign_are_true_and_arrows_add_up_to_the_slot(name, order):
    """The new value of a slot is the old value plus the sum of value times factor of all arrows."""
    sums = [part for part in machine_at(name, order).parts() if part.kind is PartKind.SUM]
    assert sums
    for part in sums:
        pieces = [piece.text for piece in part.sentence[1:]]
        sign, is_exact = check_equation("".join(pieces))
        assert (sign == "=") == is_exact, pieces
        exact = "".join(piece.text for piece in part.exact[1:])
        assert " ≈ " in exact or check_equation(exact) == ("=", True), part.exact
        total = float(part.old) if part.adds and part.old else 0.0
        for term in part.terms:
            product = float(term.product)
            total += product
            if term.factor and term.value:
                assert float(term.value) * float(term.factor) == pytest.approx(product, rel=2e-3)
        assert total == pytest.approx(float(part.new), rel=2e-3, abs=1e-3)


def test_an_equation_that_cannot_be_computed_has_the_digits_of_the_cells():
    def step(x):
        return scan(lambda a: a * x, outputs_info=[x], n_steps=2)[-1]

    machine = machine_of(lab.Loop(step, (lab.State("x", 0.3),), n_steps=2).trace(order=0))
    assert machine.events[0].parts[0].exact[-2].text == "0.3"


def test_a_small_error_of_a_faulty_rule_has_enough_digits():
    """For C = 10⁻⁷·x₁ + x₄, never-accumulate drops the first of the terms of C′."""
    x, rule = SQUARE.states[0].initial, "never-accumulate"
    machine = pair_of(lab.break_rule(SQUARE, rule, 1, cost=[1e-7, 0, 0, 1]))
    (row,) = machine.mistake.table
    assert float(row.correct) - float(row.faulty) == pytest.approx(2e-7 * x, rel=0.1)
    assert float(row.ratio) - 1 == pytest.approx(-2e-7 * x / (16 * x**15), rel=0.01)
    assert row.ratio in machine.title


def layouts(arrangement):
    """Return each part with its layout."""
    groups = (group for event in arrangement.machine.events for group in event.groups)
    pairs = (zip(group.parts, part_layouts(arrangement, group), strict=True) for group in groups)
    return [*chain.from_iterable(pairs)]


def tracks(arrangement):
    """Return each part with each of its terms and the track of the term."""
    pairs = layouts(arrangement)
    return [(p, *each) for p, part in pairs for each in zip(p.terms, part.tracks, strict=True)]


def factors_of(arrangement):
    """Return the rectangle of each factor."""
    shown = [(way.chip, term.label) for _, term, way in tracks(arrangement)]
    return [envelope_of(pill(*at, arrangement.density, Role.READ)[0]) for at in shown if all(at)]


def are_apart(a, b):
    """Return whether two rectangles do not overlap."""
    return a.right <= b.left or b.right <= a.left or a.bottom <= b.top or b.bottom <= a.top


@pytest.mark.parametrize("width", [344, 840])
@pytest.mark.parametrize(("name", "order"), RUNS)
def test_cells_and_the_lines_between_them_are_on_the_sheet(name, order, width):
    """No two cells overlap; every line begins at its source and ends at its target."""
    arrangement = arrange(machine_at(name, order), width)
    assert min(box.letters for box in arrangement.boxes) >= 11
    boxes = [box.area for box in arrangement.boxes]
    for n, a in enumerate(boxes):
        assert 0 <= a.left < a.right <= arrangement.width
        assert a.bottom <= arrangement.height
        assert all(are_apart(a, b) for b in boxes[:n])

    def near(point, number):
        (x, y), box = point, boxes[number]
        return box.left - 1 <= x <= box.right + 1 and box.top - 15 <= y <= box.bottom + 1

    assert tracks(arrangement)
    for part, term, path in tracks(arrangement):
        assert near(path.points[-1], part.target)
        assert term.source is None or near(path.points[0], term.source)
        assert all(near(end[0], n) for n, end in zip(term.saved, path.drops, strict=False))
        assert all(0 <= x <= arrangement.width for x, _ in path.points)
        assert all(0 <= y + path.shift + 7 <= arrangement.height for _, y in path.points)


@pytest.mark.parametrize(("name", "order"), RUNS)
def test_at_most_eight_lines_appear_together_and_each_term_once(name, order):
    writes = {event.number: event.writes for event in lab.events(run(name, order))}
    for event in machine_at(name, order).events:
        drawn = 0
        for group in event.groups:
            terms = [term for part in group.parts for term in part.terms]
            saved = 0 if group.hides_factors else sum(len(term.saved) for term in terms)
            assert len(terms) + saved <= 8, event.heading
            drawn += len(terms)
        if event.step is None:
            assert drawn == sum(len(write.terms) for write in writes[event.number])


@pytest.mark.parametrize("width", [800, 840])
@pytest.mark.parametrize(("name", "order"), [("newton", 1), ("newton", 2), ("coupled", 2)])
def test_no_factor_covers_a_cell(name, order, width):
    arrangement = arrange(machine_at(name, order), width)
    factors = [factor.padded(-1, 1) for factor in factors_of(arrangement)]
    assert len(factors) >= 3
    assert all(are_apart(factor, box.area) for factor in factors for box in arrangement.boxes)


@pytest.mark.parametrize("width", [344, 840])
@pytest.mark.parametrize(("name", "order"), RUNS)
def test_no_addition_covers_a_cell_of_another_row(name, order, width):
    arrangement = arrange(machine_at(name, order, "sum"), width)
    boxes = [
        (envelope_of(shape), arrangement.boxes[part.target].row)
        for part, layout in layouts(arrangement)
        for shape in (*layout.summands, *layout.total)
        if isinstance(shape, Box)
    ]
    assert boxes or name == "coupled"  # its sums have too many terms
    for area, row in boxes:
        assert all(are_apart(area, cell.area) for cell in arrangement.boxes if cell.row != row)


BUFFERS = [("square", 1), ("square", 3), ("gap", 2), ("coupled", 2), ("rnn", 1), ("window", 1)]


@pytest.mark.parametrize(("name", "order"), BUFFERS)
def test_pytensor_prints_the_scans_and_evaluates_the_buffers_of_contributors(name, order):
    derived, ids, buffers = gallery.loops[name].derivative(order=order), {}, {}
    printed = re.sub(r"}\.\d+ ", "} ", pytensor.dprint([*derived.values], file="str", used_ids=ids))
    scans = {f"{n.op} {i}": n for n, i in ids.items() if isinstance(getattr(n, "op", 0), Scan)}
    assert all(label in printed for label in scans)  # without the numbers of outputs
    machine, given = machine_of(lab.trace(derived)), {v.name: n for v, n in derived.given.items()}
    assert len(machine.scans) == len(scans)
    for number, each in enumerate(machine.scans, start=1):
        about, _, slices = each.about.partition(" · sequences: ")
        node, info = scans[about], scans[about].op.info
        count, inputs = 1 + info.n_seqs, [*derived.given]
        run = pytensor.function(inputs, [*node.inputs[1:count], *node.outputs], mode="FAST_COMPILE")
        values = run(*given.values())
        taps = [*zip(info.mit_mot_in_slices, info.mit_mot_out_slices, strict=True)]
        taps = taps or [(reads, (0,)) for reads in info.mit_sot_in_slices + info.sit_sot_in_slices]
        own, rows = {}, ((n, row) for n, row in enumerate(machine.rows) if row.scan == number - 1)
        for (n, row), value, each in zip(rows, values[count - 1 :], taps, strict=False):
            buffer, *accesses = row.access.removeprefix("= ").split(" · ")
            steps = [", ".join(f"t{tap:+}".replace("+0", "") for tap in taps) for taps in each]
            assert accesses == "reads {}; writes {}".format(*steps).replace("-", "−").split("; ")
            own |= {row.tape: value, buffer.partition("[")[0]: value}
            cells = sorted((c for c in machine.cells if c.row == n), key=lambda c: c.column)
            np.testing.assert_allclose(eval(buffer, {}, own), [c.keys[-1].array for c in cells])
        buffers[f"{number}"] = own
        groups = (group.partition(" of Scan ") for group in slices.split("; ") if group)
        names = [(each, buffers.get(n, given)) for g, _, n in groups for each in g.split(", ")]
        shown = [eval(each, {}, known) for each, known in names]
        assert all(any(np.array_equal(v, each) for each in shown) for v in values[: count - 1])


@pytest.mark.parametrize("width", [320, 344, 800, 840])
@pytest.mark.parametrize(("name", "order"), BUFFERS)
def test_no_text_of_contributors_is_behind_a_line_a_factor_or_a_cell(name, order, width):
    sheet = arrange(machine_of(gallery.loops[name].trace(order=order)), width, contributor=True)
    labels = [heading.label for heading in sheet.headings]  # on strips, which cover lines
    for box in sheet.boxes:
        (x, y), text = box.anchors["position"], str(box.position)
        labels.append(Text(box.x + x, box.y + y, text, 11, "middle"))
        assert (x, y > box.height / 2) == (0, True)
    areas = [Envelope(t.left, t.y - 0.74 * t.size, t.left + t.width, t.y + 2) for t in labels]
    factors = [factor.padded(-1, 0) for factor in factors_of(sheet)]
    for n, area in enumerate(areas):
        assert 0 <= area.left < area.right <= sheet.width
        others = *areas[:n], *factors, *(box.area for box in sheet.boxes)
        assert all(are_apart(area, other) for other in others)
    for line in chain.from_iterable((way.points, *way.drops) for *_, way in tracks(sheet)):
        for points in (np.linspace(*ends, 99) for ends in pairwise(line)):
            dots = [Envelope(x - 1, y - 1, x + 1, y + 1) for x, y in points]
            below = areas[len(sheet.headings) :]
            assert all(are_apart(area, dot) for dot in dots for area in below)


@pytest.mark.parametrize("width", [320, 344, 840])
def test_all_cells_of_a_row_of_vectors_list_their_numbers_or_none_does(width):
    """The gradients of rnn have the longest numbers, such as -0.06271, which need 55 pixels."""
    arrangement = arrange(machine_of(trace_of("rnn")), width)
    machine, rows = arrangement.machine, {}
    for box in arrangement.boxes:
        texts = [text for key in box.keys for text in key.entries]
        widest = max((text_width(text, 11, bold=True) for text in texts), default=0.0)
        rows.setdefault(machine.rows[box.row].name, []).append((box, widest))
    for name, cells in rows.items():
        fits = all(widest <= box.width - 2 for box, widest in cells)
        assert {box.is_listed for box, _ in cells} == {fits}, name
        assert fits == (width > 320 or name != "dC/dh"), name


def test_a_long_loop_shows_its_ends_and_the_columns_around_a_moment():
    trace = lab.Loop.from_text("u*x", {"x": 1.0}, {"u": np.linspace(0.9, 1.1, 60)}).trace()
    machine = machine_of(trace, around=30)
    assert [time.hidden for time in machine.times if isinstance(time, Gap)] == [27, 25]
    for name, first in (("x", [-1]), ("u", [])):
        positions = [c.position for c in machine.cells if machine.rows[c.row].tape == name]
        assert sorted(positions) == [*first, 0, 1, 29, 30, 31, 57, 58, 59]
    ends = machine_of(trace)
    assert [time.hidden for time in ends.times if isinstance(time, Gap)] == [53]
    assert ends.events[-1].number == 121


@pytest.mark.parametrize(("name", "first"), [("sequence", 0), ("delay", 0), ("window", 1)])
def test_the_value_of_a_sequence_is_above_the_result_of_its_step_and_saved(name, first):
    """Step t of window reads u[t], u[t+1], and u[t+2]; the value now is u[t+1]."""
    machine, steps = machine_of(gallery.loops[name].trace()), gallery.loops[name].steps
    given = [n for n, cell in enumerate(machine.cells) if cell.row == 1]
    columns = {c.position: c.column for c in machine.cells if c.row == 0}
    for step in range(steps):
        assert machine.cells[given[first + step]].column == columns[step]
        (part, *_) = machine.events[step].groups[-1].parts
        saved = {n for term in part.terms for n in term.saved} & {*given}
        assert saved == {given[step + tap] for tap in range(2 * first + 1)}


@pytest.mark.parametrize(("cost", "gradients"), [("sum", "1111"), ("last", "0001")])
def test_the_gradient_of_the_cost_with_respect_to_an_output_is_below_the_output(cost, gradients):
    """The cost is Σ cubeₜ, or the last cubeₜ."""
    machine = machine_of(gallery.loops["extra"].trace(of="cube", cost=cost))
    cells = {cell.name: cell for cell in machine.cells}
    for n, gradient in zip("₀₁₂₃", gradients, strict=True):
        assert cells[f"dC/dcube{n}"].at(0).text == gradient
        assert cells[f"dC/dcube{n}"].column == cells[f"cube{n}"].column


def test_only_values_with_few_numbers_outside_of_slots_have_cells_of_sequences():
    """A loop of five numbers per step, and a loop that reads outputs f of a loop, and exp(f)."""
    wide = lab.Loop.from_text("sum(u)*x", {"x": 1.0}, {"u": np.ones((3, 5))})
    u, x0 = pt.vector("u"), pt.scalar("x0")
    fs = scan(lambda u: u**2, sequences=[u])
    last = scan(lambda a, b, x: a * b * x, sequences=[fs, pt.exp(fs)], outputs_info=[x0])[-1]
    trace = lab.trace(last, given={u: np.array([0.0, 1.0]), x0: 0.5})
    cells = [(m.rows[c.row], c) for m in map(machine_of, (wide.trace(), trace)) for c in m.cells]
    given = {c.name: [*(c.at(n).text for n in (1, 2)), c.at(2).role] for r, c in cells if r.taps}
    computed = {"s2₀": ["", "1", "intermediate"], "s2₁": ["", "2.718", "intermediate"]}
    assert given == {"u₀": ["0", "0", "input"], "u₁": ["1", "1", "read"]} | computed


def test_a_formula_without_a_state_reads_its_value_from_the_side():
    u = pt.vector("u")
    squares = scan(lambda u: u**2, sequences=[u])
    arrangement = arrange(machine_of(lab.trace(squares, given={u: np.array([1.0, 2.0])})))
    (_, term, path), _ = tracks(arrangement)
    box = arrangement.boxes[term.saved[0]].area
    (drop,) = path.drops
    assert (term.source, term.product) == (None, "1")
    x, y = drop[0]
    assert box.left < x < box.right
    assert y in (box.top, box.bottom)
    assert drop[-1] == path.points[0]  # without a factor, the line ends at the start of the path


VALUES = [  # a value, its text in a cell, and the heights of its bars
    *((value, number_text(value), []) for value in (np.nan, np.inf, 0.5 + 1j)),
    ([np.nan, np.inf, -np.inf, 2.0, -1.0], "‖⚠ nan‖", [0, 1, -1, 1, -0.5]),
    ([False, True, False, True, True], "‖1.73‖", [0, 1, 0, 1, 1]),
    ([3j, 4.0, 0j, 0j, 0j], "‖5‖", [0] * 5),
]


@pytest.mark.parametrize(("value", "text", "heights"), VALUES)
def test_values_that_are_not_finite_or_not_real_are_shown(value, text, heights):
    x0 = pt.as_tensor(np.asarray(value)).type("x")
    trace = lab.trace([scan(lambda x: x, outputs_info=[x0], n_steps=2)], {x0: value})
    scene = visual.machine(trace, moment=1)
    assert f"x₀ = {text} (preserved); x₁ = {text} (written)" in scene.text()
    lines = [s for s in walk(scene.shapes) if isinstance(s, Polyline) and len(s.points) == 2]
    bars = [a[1] - b[1] for a, b in (s.points for s in lines) if a[0] == b[0]][: len(heights)]
    assert bars == pytest.approx(np.multiply(heights, max(bars, default=0) or 1))


def broken(loop, order, rule="accumulate-overwritten"):
    return lab.break_rule(loop, rule, order=order)


X = 0.95
POWER = SQUARE.with_steps(2)  # C = x⁴
DERIVATIVES = (4 * X**3, 12 * X**2, 24 * X)


def test_the_faulty_rule_triples_the_third_derivative_of_the_fourth_power():
    widget = visual.machine(broken(POWER, 3))
    machine = widget.content
    again = visual.machine(POWER.trace(order=3), rule="accumulate-overwritten")
    assert vars(again.content) == vars(machine)
    mistake = machine.mistake
    assert mistake.first_wrong < mistake.first_read
    texts = [s for s in widget.scene(machine.moments).walk() if isinstance(s, Text)]
    assert any(text.content == Role.NEW for text in texts)  # in the legend
    wrong = {text.content for text in texts if text.role is Role.WRONG}
    assert {number_text(72 * X), "✗ dC″/dx"} <= wrong
    assert number_text(24 * X) not in wrong


def test_a_cell_has_its_new_number_after_the_sum_and_other_cells_are_not_in_color():
    """Event 7 of square: dC/dx₂ = 1 + 2·x₂·dC/dx₃, which becomes 4.790 at the end of the sum."""
    machine = machine_of(SQUARE.trace(cost="sum"))
    cells = {box.name: box for box in arrange(machine).boxes}
    shown = {p: cells["dC/dx₂"].at(p) for p in (6, 6.5, 6.84, 6.86, 7)}
    assert [key.text for key in shown.values()] == ["1", "1", "1", "4.790", "4.790"]
    assert [key.role == "overwritten" for key in shown.values()] == [False, True, True, True, True]
    assert cells["dC/dx₃"].at(6.5).role == "preserved"
    assert {cells["x₃"].at(p).role for p in (6, 6.5)} == {"saved", "result"}
    # The cost contains x₁. Event 12 of order 2 reads x₁ in its first sum.
    cells = {box.name: box for box in arrange(machine_at("square", 2, "sum")).boxes}
    assert [cells["x₁"].at(p).role for p in (11, 11.4, 11.7, 12)] == ["result", "saved"] * 2


def test_wrong_numbers_are_red_in_the_sentences_of_the_faulty_rule():
    """Two squarings at order 3: the first step that reads a wrong value computes 3.8·7.6."""
    machine = pair_of(broken(POWER, 3))
    event = machine.events[machine.mistake.first_read - 1]
    correct, faulty = event.groups[-1].parts
    assert [(p.text, p.ink) for p in correct.sentence if p.ink is Ink.WRONG] == []
    assert [p.text for p in faulty.sentence if p.ink is Ink.WRONG] == ["28.88", "3.8", "7.6"]
    same = (part for e in machine.events[:5] for group in e.groups for part in group.parts)
    assert not any(piece.ink is Ink.WRONG for part in same for piece in part.sentence)
    # Step 0 of the gradient adds a wrong product to dC/dx₁; step 1 adds dC/dx₂ to the wrong sum.
    loop = lab.Loop.from_text("u*x[t-2] + x[t-1]", {"x": [0.3, 0.5]}, {"u": [2.0, 3.0]})
    mistake = pair_of(broken(loop, 1, "unreversed-sequences")).mistake
    assert (mistake.first_wrong, mistake.first_read) == (4, 5)
    # Event 7 multiplies 0 by 2·x₄ instead of 2·x₂; event 8 computes the first wrong gradient.
    machine = pair_of(broken(SQUARE.with_taps((-2,)).with_steps(4), 1, "shortened-buffer"))
    assert machine.mistake.first_wrong == 7


def test_a_title_contains_a_variable_whose_name_ends_with_an_index():
    machine = machine_of(loop_of("x₁", 0.9, lambda x: x**2).trace())
    assert machine.title == "Each backward step multiplies by 2·x₁ and adds"


def test_an_operation_can_have_the_name_of_a_node():
    double = primitive(lambda x: 2 * x, lambda z, x: [lambda g: 2 * g], "n₇")
    _, event, *_ = visual.machine(recording(grad(double), 2.5)).content.events
    pieces = [(piece.text, piece.ink) for piece in event.parts[0].sentence[3:]]
    assert pieces == [("n₇(", Ink.PLAIN), ("2.5", Ink.PRESERVED), (")", Ink.PLAIN)]


COUPLED = gallery.loops["coupled"], "unreversed-sequences", 2
ARRAY = loop_of("x", [X, 0.0], lambda x: x * x, n_steps=2), "accumulate-overwritten", 3


@pytest.mark.parametrize(("arguments", "hidden", "has_red_0"), [(COUPLED, 2, 1), (ARRAY, 0, 0)])
def test_a_number_is_red_if_it_differs_from_the_correct_number(arguments, hidden, has_red_0):
    """Compare all digits, for each entry. The factors 0.11797 and 0.118 print the same product."""
    machine, reds = pair_of(lab.break_rule(*arguments)), []
    for moment, event in enumerate(machine.events, start=1):
        for group in event.groups:
            cells = [(machine.cells[part.target], part) for part in group.parts]
            first = {cell.name: (cell, part) for cell, part in cells if not part.is_second}
            for cell, part in ((c, p) for c, p in cells if p.is_second and c.name in first):
                twin, correct = first[cell.name]
                values = (np.ravel(each.at(event.number).array) for each in (twin, cell))
                lines = (each.by_entry or [each] for each in (correct, part))
                for true, faulty, right, line in zip(*values, *lines, strict=True):
                    is_red = line.sentence[2].ink is Ink.WRONG
                    assert is_red == (not np.isclose(true, faulty, 1e-9, 0)), part.formula
                    hidden -= is_red and line.sentence[2].text == right.sentence[2].text
                    reds += [piece.text for piece in line.sentence if piece.ink is Ink.WRONG]
        for part in event.parts:  # also without a correct sum in the same event
            if part.is_second and machine.cells[part.target].wrong_from == moment:
                assert any(piece.ink is Ink.WRONG for piece in part.sentence), part.formula
    assert (hidden, "0" in reds) == (0, has_red_0)


ASSIGNMENTS = {
    "accumulate-overwritten": (
        "a value that the differentiated Scan replaces: s[k] ← g",
        "s[k] ← g + s[k]",
    ),
    "never-accumulate": ("a preserved value: s[k] ← g + s[k]", "s[k] ← g"),
    "unreversed-sequences": ("forward values: v ← f[n−1−t]", "v ← f[t]"),
    "shortened-buffer": ("forward values: v ← buf[k]", "v ← buf[k mod m]"),
    "swapped-taps": ("two slots: v, w ← s[j], s[k]", "v, w ← s[k], s[j]"),
}


@pytest.mark.parametrize("rule", lab.BROKEN)
def test_each_rule_is_shown_at_order_3_and_its_example_is_changed_by_it(rule):
    """Compare each derivative with finite differences of x⁴, which use no rule."""
    widget = visual.machine(broken(POWER, 3, rule))
    machine = widget.content
    for row, exact in zip(machine.mistake.table, DERIVATIVES, strict=True):
        assert float(row.correct) == pytest.approx(exact, rel=1e-5)
        assert float(row.differences) == pytest.approx(exact, rel=1e-2)
    faulty = number_text(float(machine.mistake.table[-1].faulty))
    last = {(c.name, c.at(machine.moments).text) for c in machine.cells if second(machine, c)}
    assert ("dC″/dx₀", faulty) in last
    shown = {shape.content for shape in widget.scene(0).walk() if isinstance(shape, Text)}
    correct, wrong = ASSIGNMENTS[rule]
    assert {f"✓ correct rule for {correct}", f"✗ {rule}: {wrong}"} <= shown
    example = dict(EXAMPLES[rule])
    loop = gallery.loops[example["loop"]].with_taps(example.get("taps", {}))
    loop = loop.with_steps(example.get("steps", loop.steps))
    changed = lab.break_rule(loop, rule, example["order"], cost=example.get("cost", "last"))
    assert changed.visible is not None


def second(machine, cell):
    """Return whether a cell belongs to the second run."""
    return machine.rows[cell.row].is_second


def test_rows_of_a_faulty_rule_are_below_the_correct_rows():
    """A number is marked as wrong at the first moment when it differs, and not before."""
    machine = visual.machine(broken(SQUARE, 3, "swapped-taps")).content
    rows = machine.rows
    assert {row.scan for row in rows if row.is_second} == {*range(1, 8)}  # not the loop itself
    for before, row in pairwise(rows):
        assert not row.is_second or (row.scan, row.name) == (before.scan, f"✗ {before.name}")
    correct = {(c.name, rows[c.row].scan, f"✗ {rows[c.row].name}"): c for c in machine.cells}
    wrong = [c for c in machine.cells if c.wrong_from is not None]
    assert machine.mistake.first_wrong == min(c.wrong_from for c in wrong)
    for cell in wrong:
        twin = correct[cell.name, rows[cell.row].scan, rows[cell.row].name]
        same = [twin.at(m).full == cell.at(m).full for m in range(cell.wrong_from + 1)]
        assert same == [True] * cell.wrong_from + [False]


def test_two_loops_share_columns_and_their_sums_have_the_cells_of_their_loop():
    """Step 0 computes x₁ of the first loop and x₂ of the second, which reads two values."""
    machine = visual.machine(SQUARE.trace(), TWO_TAPS.trace()).content
    columns = {(second(machine, c), c.name): c.column for c in machine.cells}
    assert columns[False, "x₁"] == columns[True, "x₂"]
    for event in machine.events:
        for part in (part for group in event.groups for part in group.parts):
            cell = machine.cells[part.target]
            actual = second(machine, cell), cell.at(event.number).text
            assert actual == (part.is_second, part.new), event.heading


@pytest.mark.parametrize("size", [3, 12])
def test_the_numbers_of_a_vector_are_in_its_cell(size):
    """For x ← 1.3·sin(x), each entry of dC/dx₀ is the product of 1.3·cos(x) over the steps."""
    x, product = np.linspace(-2, 2, size), np.ones(size)
    machine = machine_of(loop_of("x", x, lambda x: pt.sin(x) * 1.3, n_steps=3).trace())
    for _ in range(3):
        product *= 1.3 * np.cos(x)
        x = 1.3 * np.sin(x)
    last = {cell.name: cell.at(machine.moments).entries for cell in machine.cells}
    assert last["x₃"] == tuple(map(number_text, x))
    assert last["dC/dx₀"] == tuple(map(number_text, product))
    sentences = [part.by_entry for part in machine.parts() if part.kind is PartKind.SUM]
    for by_entry in sentences:
        assert len(by_entry) == (size if size <= 4 else 0)
        for n, equation in enumerate(by_entry):
            assert f"[{n}]:" in equation.sentence[0].text
            sign, is_exact = check_equation("".join(p.text for p in equation.sentence[1:]))
            assert (sign == "=") == is_exact, equation


def test_an_entry_of_a_product_of_matrices_is_not_shown_as_a_product():
    machine = machine_of(trace_of("rnn"))
    terms = [t for part in machine.parts() for t in part.terms if part.kind is PartKind.SUM]
    assert not any(term.factor for term in terms)
    lines = [line.sentence for part in machine.parts() for line in part.by_entry]
    assert any(line[0].text == "dC/dh₃[1]:  " and line[-1].text.endswith(")[1]") for line in lines)


def test_reasons_name_the_values_of_an_initial_gradient_and_a_total_once():
    """The cost is x₃². Its gradient with respect to x₃ is 2·x₃."""
    x, a = pt.dscalar("x"), pt.dscalar("a")
    cost = scan(lambda x, a: a * x**2, outputs_info=[x], non_sequences=[a], n_steps=3)[-1] ** 2
    machine = machine_of(lab.trace(lab.derivative(cost, a, 2), {x: 0.9, a: 1.1}))
    reasons = {group.reasons for event in machine.events for group in event.groups}
    gradient = "Initial gradients: direct gradient of the cost C = your cost (computed from x₃)."
    total = "Step 2 of Scan 2 adds to dC/da. The old value is 0. Local derivative: 1."
    assert {gradient, total} <= reasons


def test_a_sum_with_a_term_without_a_factor_has_no_local_derivative():
    """v₁ = sum(x₁·b)² + x₁ has the local derivative 2·sum(b)²·x₁ + 1, not 1."""
    x = pt.dscalar("x")
    b = np.array([0.5, 0.7])
    xs = scan(lambda x: pt.sum(x * b) ** 2 + x, outputs_info=[x], n_steps=2)
    machine = machine_of(lab.trace(lab.derivative(xs[-1], x), {x: 0.9}))
    groups = [group for event in machine.events[-2:] for group in event.groups]
    assert not any("Local derivative" in group.reasons for group in groups)
    (part, *_) = groups[-1].parts
    assert Ink.SAVED not in {phrase.ink for phrase in part.sentence}  # no saved value is shown


def test_the_gradients_of_one_sequence_at_several_taps_have_distinct_buffers():
    u, h = pt.dvector("u"), pt.dscalar("h")
    sequence = {"input": u, "taps": [-1, 0]}
    hs = scan(lambda a, b, h: a * h + b, sequences=[sequence], outputs_info=[h])
    trace = lab.trace(lab.derivative(hs[-1], u), {u: [0.1, 0.4, -0.2], h: 0.6})
    written = [write.in_buffers.split("[")[0] for write in lab.events(trace)[-1].writes]
    assert len(written) == len({*written}) == 3


def test_a_sum_shows_at_most_eight_terms():
    x = pt.dscalar("x")
    xs = scan(lambda x, *_: [n * x for n in range(1, 11)], outputs_info=[x] * 10, n_steps=2)
    trace = lab.trace(lab.derivative(sum(y[-1] for y in xs), x), {x: 0.5})
    longest = max(machine_of(trace).parts(), key=lambda part: len(part.terms))
    assert [term.product for term in longest.terms][7:] == ["… 3 more terms"]
    assert len({*longest.reads}) == 1 + 10  # the target, and the gradients that the sum reads
    assert [line.count(Phrase(" × ")) for line in (longest.sentence, longest.exact)] == [6, 9]
    assert "".join(phrase.text for phrase in longest.sentence).endswith("+ … 3 more terms + 0")


def test_the_initial_gradient_of_a_hidden_slot_is_the_origin_of_a_filled_tape():
    trace = gallery.loops["square"].with_steps(40).trace(cost=[0] * 19 + [1] + [0] * 20)
    (filled,) = (event for event in machine_of(trace).events if event.step is None)
    assert filled.groups[0].reasons.startswith("Initial gradients: direct gradient")


def test_only_cells_of_other_sums_are_paler():
    """The legend explains the paler cells of a picture, and only if there are any."""
    rule = pair_of(lab.break_rule(SQUARE, "accumulate-overwritten", order=3))
    for machine in (rule, machine_at("gap", 2)):
        sheet = arrange(machine)
        for p in np.arange(0, machine.moments + 0.1, 0.25):
            group = locate(machine, p).group
            used = {n for part in group.parts for n in (part.target, *part.reads)} if group else ()
            assert not any(sheet.boxes[n].at(p).is_past for n in used)
    for moment in (1, 9):  # a step of the loop, and a backward step with two sums
        drawn = visual.machine(run("gap", 2), moment=moment)
        past = any(shape.past for shape in walk(drawn.shapes) if isinstance(shape, Box))
        assert past == ("other sum: paler" in drawn.svg()) == (moment == 9)

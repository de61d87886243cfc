"""The equations picture: its own numbers fulfil its own equations, and its cells are linked."""

import re

import numpy as np
import pytest
from oracles import computed
from twins import assert_twin

import lab
import visual
from lab.errors import ArgumentError
from lab.loops import gallery
from lab.scans.replacing import scan_nodes
from visual.pictures.equations import SIGN
from visual.scene.shapes import Group, Text

SCALAR = [n for n, loop in gallery.loops.items() if n not in ("rnn", "walk", "lookup")]


def drawn(name, order=1, **options):
    return visual.draw(gallery.loops[name], "equations", order=order, **options)


def numbers(scene):
    """The equations of a picture with the numbers of its own cells, as pairs of text."""
    line, lines, top = "", [], None
    head = next(n for n, s in enumerate(scene.shapes) if isinstance(s, Text) and s.size == 16)
    for shape in scene.shapes[head:]:  # below the small tapes
        if isinstance(shape, Group):
            box = shape.shapes[0]
            if top is not None and box.y > top + 80:
                break  # the tapes
            value = shape.title.split(" = ", 1)[1].split(" (before")[0]
            line += f"({value})"
            top = box.y
        elif isinstance(shape, Text) and shape.size == SIGN:
            if shape.content in ("=", "←"):
                head, _, last = line.rpartition("(")
                if head:
                    lines.append(head)
                line = f"({last}"
            line += f" {shape.content} "
    lines.append(line)
    return [re.split(" = | ← ", found, maxsplit=1) for found in lines if found]


def wrong_numbers(scene):
    for left, right in numbers(scene):
        found = computed(right, {"inf": np.inf})
        if not np.isclose(found, eval(left), rtol=1e-9, atol=1e-12):
            yield left, right


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", SCALAR)
def test_the_numbers_fulfil_the_equations(name, order):
    scans = len(gallery.loops[name].trace(order=order).scans)
    for scan in range(scans) if order == 1 else (scans - 1,):
        scene = drawn(name, order, scan=scan + 1, step=1)
        assert len(numbers(scene)) >= 1
        assert list(wrong_numbers(scene)) == []


def test_below_an_equation_stand_digits_enough_for_its_result():
    """By hand: 0.5112·0.9 + 2.057 is 2.517, and 0.5112·cos(0.9) + 0.5112·0.904 is 0.7799."""
    words = visual.draw(gallery.loops["gap"], "equations", order=1).text()
    assert "2.518 = 0.511205·0.9 + 2.05743" in words
    assert "0.7799 = 0.5112·cos(0.9) + 0.5112·0.9040 + 0" in words
    assert abs(0.511205 * 0.9 + 2.05743 - 2.518) < 0.0005


def test_the_reader_sees_wrong_numbers():
    system = gallery.loops["gap"].system()
    trace = gallery.loops["fibonacci"].trace(order=0)
    other = gallery.loops["fibonacci"].system()
    assert list(wrong_numbers(visual.equations(trace, other))) == []
    assert list(wrong_numbers(visual.equations(gallery.loops["gap"].trace(order=0), system))) == []
    square = gallery.loops["square"]
    cubes = lab.Loop(lambda x: x**3, states=square.states, n_steps=4).system()
    assert list(wrong_numbers(visual.equations(square.trace(order=0), cubes)))


def keys(scene):
    return set(re.findall(r'data-cell="([^"]*)"', scene.svg()))


@pytest.mark.parametrize("name", ["square", "gap", "coupled", "window", "extra"])
def test_terms_are_linked_with_the_tapes_and_with_other_pictures(name):
    loop = gallery.loops[name]
    trace = loop.trace(order=1)
    for scan in range(2):
        scene = drawn(name, scan=scan + 1, step=1)
        terms = {s.cell for s in scene.shapes if isinstance(s, Group)}
        assert terms == keys(scene)
        unrolled = keys(visual.unrolled(trace, all_direct=True))
        tapes = {key for key in terms if ":w" not in key and ":birth" not in key}
        assert tapes & unrolled
    first = drawn(name, scan=1, step=1)
    assert {k for k in keys(first) if not k.endswith("row 0")} <= keys(visual.unrolled(trace)) | {
        key for key in keys(first) if key.split(":")[1] in ("birth", "w")
    }


def test_twins():
    assert_twin("equations-gap", drawn("gap", 0, step=1))
    assert_twin("equations-square-1", drawn("square", 1, scan=2, step=1))
    assert_twin("equations-extra-1", drawn("extra", 1, scan=2, step=2))


def test_long_loops_and_long_equations_keep_their_size():
    short = drawn("square", steps=20, step=10)
    long = drawn("square", steps=2000, step=1000)
    assert abs(short.width - long.width) < 5

    def step(x, **others):
        return x + sum(p * x**i for i, p in enumerate(others.values()))

    parameters = tuple(lab.Parameter(f"p{i}", 0.1) for i in range(30))
    wide = lab.Loop(step, states=(lab.State("x", 0.1),), parameters=parameters, n_steps=2)
    scene = visual.draw(wide, "equations", order=0)
    assert scene.width < 1250
    assert "x[t−1]" in scene.text()


def test_what_is_refused():
    with pytest.raises(ArgumentError, match="scan = 7"):
        drawn("square", scan=7)
    with pytest.raises(ArgumentError, match="step = 9"):
        drawn("square", step=9)


def test_a_graph_of_ones_own():
    loop = gallery.loops["rnn"]
    graph = loop.build()
    made = loop.derivative(1, graph=graph)
    trace = lab.trace(made.values, graph.given)
    for number, node in enumerate(scan_nodes(list(made.values))):
        scene = visual.equations(trace, lab.system(node), "print", number + 1, 2)
        assert "tanh" in scene.text() or "1 −" in scene.text()

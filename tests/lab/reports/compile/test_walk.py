"""The walk through rewrites: its ends against PyTensor's own graphs, its steps by example."""

import re
from dataclasses import replace

import pytensor
import pytensor.tensor as pt
import pytest
import twins
from graphs import scan
from pictures import stands_alone
from pytensor.compile import Mode
from pytensor.gradient import NullTypeGradError
from pytensor.graph.replace import clone_replace
from pytensor.graph.rewriting.basic import graph_rewriter

import lab
import visual
from lab.errors import ArgumentError, GraphError, LabError
from lab.loops import gallery
from lab.reports.compile.circular_buffers import Rows
from lab.reports.compile.rewriting import known, rewritten
from lab.reports.compile.walk import Argument, Side, Step, Walk
from lab.reports.compile.walking import rewrites
from lab.scans.node import is_scan
from visual.cli.main import main
from visual.scene.shapes import Text


@pytest.fixture(scope="module")
def pushed():
    """A product that needs no state, one that is the same at every step, and a long buffer."""
    u, x0, a = pt.dvector("u"), pt.dscalar("x0"), pt.dscalar("a")
    xs = scan(
        lambda u, x, a: x * pt.sqrt(a) + pt.exp(u),
        sequences=[u],
        outputs_info=[x0],
        non_sequences=[a],
        n_steps=6,
        name="pushed",
    )
    return rewrites(xs[-1])


def changes(walk, part):
    """What the steps of rewrites with a name that has this part tell."""
    return [change for step in walk.steps if part in step.rewrite for change in step.changes]


def test_operations_are_pushed_out(pushed):
    assert "out of the step: Sqrt" in changes(pushed, "push_out_non_seq")
    assert "out of the step: Exp" in changes(pushed, "push_out_seq")
    assert not any("Mul" in change for change in changes(pushed, "push_out"))


def test_the_buffer_becomes_shorter():
    """Of square all 5 rows are allocated, of which 1 is left if only the last value is read."""
    loop = gallery.loops["square"]
    graph = loop.build()
    walk = lab.rewrites(loop.cost(graph))
    found = [c for step in walk.steps for c in step.changes if c.startswith("rows")]
    assert found[0].startswith("rows of the buffers: x: sit-sot (−1 → 0), 5 rows → ")
    with_gradient = lab.rewrites(loop.cost(graph), graph.inputs["x"])
    assert not [c for s in with_gradient.steps for c in s.changes if c.startswith("rows")]


def test_two_loops_become_one():
    x0, y0 = pt.dscalar("x0"), pt.dscalar("y0")
    loops = [
        scan(lambda x: pt.sin(x), outputs_info=[v], n_steps=4, name=n)[-1]
        for v, n in ((x0, "one"), (y0, "two"))
    ]
    walk = rewrites(loops[0] + loops[1])
    (merged,) = (step for step in walk.steps if len(step.before) > 1)
    assert {side.name for side in merged.before} == {"one", "two"}
    assert merged.after.operations == ("Sin", "Sin")
    (left,) = lab.compiled(loops[0] + loops[1], mode="FAST_RUN").after
    assert left.name == walk.steps[-1].after.name


def test_it_can_be_searched(pushed):
    found = pushed.named("Exp")
    assert 0 < len(found.steps) < len(pushed.steps)
    assert all("Exp" in str(step) for step in found.steps)
    assert str(Walk(())) == "No rewrite to tell of puts anything in the place of a Scan."


def test_operations_and_bytes_are_those_that_one_counts(pushed):
    """A step of x·√a + eᵘ has four operations, of which √ and e need no state: two are left."""
    (first, *_) = (s for s in pushed.steps if "push_out" in s.rewrite)
    last = [step for step in pushed.steps if "push_out" in step.rewrite][-1]
    assert len(first.before[0].operations) == 4
    assert sorted(last.after.operations) == ["Add", "Mul"]
    graph = gallery.loops["square"].build()
    walk = rewrites(graph.node.outputs[0][-1], given=graph.given, mode="NUMBA")
    (shorter,) = (
        step for step in walk.steps if "reduce_trace" in step.rewrite or "save" in step.rewrite
    )
    assert shorter.bytes == (5 * 8, 8)  # x₀ to x₄, of which the last is read
    assert all(step.difference == 0 for step in walk.steps)


def test_what_stays_keeps_its_name():
    """Of two reads of h the cost of h₀ needs h₄₋ₖ; PyTensor's own Scans have lost the names."""
    graph = gallery.loops["rnn"].build()
    walk = rewrites(gallery.loops["rnn"].cost(graph), graph.inputs["h"], mode="NUMBA")
    (first, *_) = walk.steps
    names = [one.name for one in first.before[0].arguments]
    assert {"h₃₋ₖ", "h₄₋ₖ", "dh", "dW", "W"} <= set(names)
    assert {"h₄₋ₖ", "dh", "W"} <= {one.name for one in first.after.arguments} < set(names)
    assert first.after.equations == first.before[0].equations[:1]


def test_a_rewrite_that_changes_numbers_is_found():
    """One of our own puts the loop of 4 steps in the place of that of 3."""
    x = pt.dscalar("x")
    short, long = (
        scan(lambda x: x * 0.5, outputs_info=[x], n_steps=n, name="halved") for n in (3, 4)
    )

    @graph_rewriter
    def scan_longer(graph):
        (node,) = (n for n in graph.apply_nodes if is_scan(n))
        copy = clone_replace(long.owner.inputs[0], {x: graph.inputs[0]})
        graph.replace(node.outputs[0], copy, reason="scan_longer")

    (step,) = rewrites(short[-1], mode=Mode("py", scan_longer), given={x: 1.0}).steps
    assert step.rewrite == "scan_longer"
    assert not step.known.purpose
    assert step.difference == float("inf")  # there is a row more
    (step,) = rewrites(short[-1], mode=Mode("py", scan_longer)).steps
    assert step.difference is None


@pytest.mark.parametrize("tag", ["scan_sit_sot_to_untraced", "scan_inner_graph"])
def test_what_a_rewrite_goes_badly_with(tag, pushed):
    """What it says of gradients: of a graph that this rewrite has changed there is none."""
    others = {"scan_sit_sot_to_untraced", "scan_inner_graph"} - {tag}
    graph = gallery.loops["rnn"].build()
    cost = gallery.loops["rnn"].cost(graph)
    made = rewritten([cost], "NUMBA", ["inplace", *others])
    if not any(tag.removeprefix("scan_") in r.reason for r in made.history.replacements):
        pytest.skip("this version of PyTensor has no such rewrite")
    wrt = dict(made.inputs)[graph.inputs["h"]]
    with pytest.raises((NotImplementedError, NullTypeGradError, TypeError, LabError)):
        pytensor.grad(made.graph.outputs[0], wrt)
    assert "Take it first" in known(tag).beware
    pytensor.grad(cost, graph.inputs["h"])


def test_what_is_measured_only_if_asked(pushed):
    assert not any(step.seconds for step in pushed.steps)
    graph = gallery.loops["square"].build()
    with pytensor.config.change_flags(cxx=""):
        walk = rewrites(graph.node.outputs[0][-1], mode="CVM", given=graph.given, timed=True)
    timed = [step for step in walk.steps if step.seconds]
    assert timed
    assert all(0 < seconds < 1 for step in timed for seconds in step.seconds)
    assert "µs a call" in str(timed[0])


def test_what_is_refused():
    x = pt.dscalar("x")
    with pytest.raises(GraphError, match="no Scan"):
        rewrites(x**2)
    xs = scan(lambda x: x**2, outputs_info=[x], n_steps=3)
    with pytest.raises(ArgumentError, match="a gradient is taken of a scalar"):
        rewrites(xs, x)
    with pytest.raises(ArgumentError, match="mode = 'nope'"):
        rewrites(xs[-1], mode="nope")
    with pytest.raises(ArgumentError, match="cost = 3"):
        rewrites(3)
    with pytest.raises(ArgumentError, match="a graph needs a value for x"):
        rewrites(xs[-1], timed=True)
    with pytest.raises(ArgumentError, match="timed = 1"):
        rewrites(xs[-1], timed=1)


def test_the_command(capsys, tmp_path):
    assert main(["rewrites", "square", "--find", "inplace"]) == 0
    assert "It lets the loop write into the buffers" in capsys.readouterr().out
    for name in ("walk.html", "walk.txt", "walk.svg"):
        assert main(["rewrites", "square", "--rewrite", "2", "-o", str(tmp_path / name)]) == 0
    page = (tmp_path / "walk.html").read_text(encoding="utf-8")
    words = (tmp_path / "walk.txt").read_text(encoding="utf-8")
    assert page.count("<section>") == len(re.findall(r"^\d+ · ", words, re.M)) > 2
    assert main(["rewrites", "square", "--rewrite", "99", "-o", str(tmp_path / "no.svg")]) == 2
    assert "there are" in capsys.readouterr().err


def side(*arguments, steps=3, operations=("Mul",), around=2, in_place=0):
    equation = f"x[t] = {' '.join(operations)}"
    return Side(
        "loop", Rows(str(steps), steps), arguments, (equation,), operations, around, in_place
    )


def fits(scene):
    """Whether a picture is as large as a screen, and nothing leaves it or is too small to read."""
    texts = [shape for shape in scene.walk() if isinstance(shape, Text)]
    inside = all(t.left >= 0 and t.left + t.width <= scene.width for t in texts)
    return (
        inside and scene.width <= 840 and scene.height <= 1200 and min(t.size for t in texts) >= 11
    )


X, U = Argument("x", "sit-sot (−1 → 0)", Rows("4", 4), 32), Argument("u", "sequence", None, 24)
WALK = Walk(
    (
        Step("scan_push_out_seq", (side(X, operations=("Exp", "Mul")),), side(X, U, around=3), 0.0),
        Step("scan_reduce_trace", (side(X, U),), side(replace(X, rows=Rows("1", 1), bytes=8), U)),
        Step(
            "scan_merge",
            (side(X), side(U)),
            side(X, U, operations=("Mul", "Mul")),
            1e-16,
            (3e-5, 2e-5),
        ),
        Step("a_new_one", (side(X),), Side("no Scan", None, (), (), (), 4)),
        *(Step(f"scan_make_inplace_{n}", (side(X),), side(X, in_place=1)) for n in range(20)),
    ),
    "py",
    ("scan_make_inplace",) * 2,
)


def test_the_picture_and_its_text_twin():
    for number in (1, 3, 12):
        twins.assert_twin(f"rewrites-{number}", visual.compiled(WALK, rewrite=number))
    for theme in ("light", "dark", "print"):
        for number in (1, 2, 3, 4, 12):
            scene = visual.compiled(WALK, theme, rewrite=number)
            assert fits(scene)
            assert stands_alone(scene.svg()) == []
    assert not fits(replace(visual.compiled(WALK), height=1201))
    assert visual.compiled(Walk(())).height < 200
    with pytest.raises(ArgumentError, match="rewrite = 99: there are 24 rewrites"):
        visual.compiled(WALK, rewrite=99)
    with pytest.raises(ArgumentError, match="scan = 1: a walk has rewrites"):
        visual.compiled(WALK, scan=1)
    with pytest.raises(ArgumentError, match="rewrite = 1: these belong"):
        visual.compiled(lab.compiled(gallery.loops["square"]), rewrite=1)


@pytest.mark.parametrize("name", ["rnn", "coupled", "gap", "extra"])
def test_pictures_of_walks_fit(name):
    graph = gallery.loops[name].build()
    wrt = next(iter(graph.inputs.values()))
    walk = rewrites(gallery.loops[name].cost(graph), wrt, given=graph.given)
    for number in range(1, len(walk.steps) + 1):
        assert fits(visual.compiled(walk, rewrite=number))
    assert all(step.difference in (None, 0) or step.difference < 1e-12 for step in walk.steps)

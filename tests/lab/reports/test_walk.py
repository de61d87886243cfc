"""The walk through rewrites: its ends against PyTensor's own graphs, its steps by example."""

import pytensor.tensor as pt
import pytest
from graphs import scan

import lab
from lab.errors import ArgumentError, GraphError
from lab.loops import gallery
from lab.reports.compile.walk import Walk, rewrites
from visual.cli.main import main


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
    assert found[0].startswith("rows of the buffers: x 5 become x")
    with_gradient = lab.rewrites(loop.cost(graph), graph.inputs["x"])
    assert not [c for s in with_gradient.steps for c in s.changes if "x 5 become" in c]


def test_two_loops_become_one():
    x0, y0 = pt.dscalar("x0"), pt.dscalar("y0")
    loops = [
        scan(lambda x: pt.sin(x), outputs_info=[v], n_steps=4, name=n)[-1]
        for v, n in ((x0, "one"), (y0, "two"))
    ]
    walk = rewrites(loops[0] + loops[1])
    merged = [step for step in walk.steps if "&" in step.after or "_" in step.after]
    assert any("now: sit-sot" in " ".join(step.changes) for step in merged)
    assert lab.compiled(loops[0] + loops[1], mode="FAST_RUN").after[0].name == walk.steps[-1].after


def test_it_can_be_searched(pushed):
    found = pushed.named("Exp")
    assert 0 < len(found.steps) < len(pushed.steps)
    assert all("Exp" in str(step) for step in found.steps)
    assert str(Walk(())) == "No rewrite puts another Scan in the place of one."


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


def test_the_command(capsys):
    assert main(["rewrites", "square", "--find", "inplace"]) == 0
    assert "It lets the loop write into the buffers" in capsys.readouterr().out

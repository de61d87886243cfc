import sys
import tempfile
from math import isclose, tanh
from pathlib import Path

from lab.checks import check
from visual.cli.main import main


def by_hand(weight, start=0.1):
    state, total, states = start, 0.0, []
    for value in (0.2, -0.4, 0.3, 0.5):
        state = tanh(weight * state + value)
        states.append(state)
        total += (state - 0.5) ** 2
    return total, states


total, states = by_hand(0.8)
slope = (by_hand(0.8 + 1e-6)[0] - by_hand(0.8 - 1e-6)[0]) / 2e-6
assert isclose(float(trace.outputs[0]), total, rel_tol=1e-13)
assert isclose(float(trace.outputs[1]), slope, rel_tol=1e-8)
assert derivative.verify(trace) < 1e-12
told = str(lab.compare(cost, w, given=given))
assert "Both pullbacks compute the same gradients" in told
assert "None: the steps of both write the same" in told
told = str(explained)
assert "every backward step reads h[t−1] and h[t]" in told
assert "Known traps: none." in " ".join(told.split())
assert "for steps 0 to n−1" in told
check.compare(by_states.eval({x: 0.95}, mode="FAST_COMPILE"), [0.0, 0.0, 0.0, 1.0], 1e-15)
assert [type(trap).__name__ for trap in lab.explain(xs[-1], xs).traps] == ["GradientOfOutput"]

folder = Path(tempfile.mkdtemp())
for ending, start in (("pdf", b"%PDF"), ("svg", b"<svg"), ("png", b"\x89PNG")):
    visual.tapes(trace).save(folder / f"tapes.{ending}")
    assert (folder / f"tapes.{ending}").read_bytes().startswith(start)
visual.tapes(trace).save(folder / "tapes.txt")
assert f"{states[0]:.4g}" in (folder / "tapes.txt").read_text(encoding="utf-8")
visual.machine(trace).save(folder / "tapes.html")
assert "https://" not in (folder / "tapes.html").read_text(encoding="utf-8")
(folder / "mine.py").write_text(
    """import pytensor.tensor as pt, pytensor
def graph():
    w = pt.dscalar("w")
    xs = pytensor.scan(lambda x: w * x, outputs_info=[pt.constant(1.0, dtype="float64")], n_steps=3,
                       return_updates=False)
    return xs[-1], w
""",
    encoding="utf-8",
)
sys.path.insert(0, str(folder))
assert not main(["explain", "mine:graph", "-o", str(folder / "mine.html")])
assert (folder / "mine.html").read_text(encoding="utf-8").count("<table>") >= 3

# The gradient that each backward step leaves for the state before it, by the chain rule.
back = [2 * (states[3] - 0.5)]
for place in (3, 2, 1):
    own = 2 * (states[place - 1] - 0.5)
    back.append(back[-1] * 0.8 * (1 - states[place] ** 2) + own)
back.append(back[-1] * 0.8 * (1 - states[0] ** 2))


def last(rate):
    value = 0.2
    for _ in range(5):
        value = rate * value * (1 - value)
    return value


second = (last(3.1 + 1e-4) - 2 * last(3.1) + last(3.1 - 1e-4)) / 1e-8
assert isclose(float(run(0.2, 3.1)), second, rel_tol=1e-4)
assert turn.check(run).is_right
assert "first derivative" in turn.check(of_order(1)).reason

step = int(written.question.split("step ")[1][0])
solve(written, back[step + 1], -back[step + 1], back[step])
solve(chain, "[0, 0, 0, 1]", "[3.90, 2.16, 1.33, 1]", "[0, 0, 1.33, 1]")

from math import tanh

import pytest
from pytensor.gradient import DisconnectedInputError, NullTypeGradError


def by_hand(weight, start=0.1):
    state, total = start, 0.0
    for value in (0.2, -0.4, 0.3, 0.5):
        state = tanh(weight * state + value)
        total += (state - 0.5) ** 2
    return total


assert isclose(float(trace.outputs[0]), by_hand(0.8), rel_tol=1e-13)
assert isclose(float(trace.outputs[1]), rates(by_hand, 0.8), rel_tol=1e-8)
report = str(lab.compare(cost, w, given=given))
assert "Both pullbacks compute the same gradients" in report
assert "none: the steps of both runs write the same" in report
assert "for steps 0 to n−1" in str(explained)
words = " ".join(str(explained).split())
assert "the backward step for step t reads h[t−1] and h[t]" in words
assert "Known traps: none." in words
check.compare(gradient.eval({x: 0.95}, mode="FAST_COMPILE"), [0.0, 0.0, 0.0, 1.0], 1e-15)
assert [trap.name for trap in lab.explain(xs[-1], xs).traps] == ["gradient_of_output"]

# The four reasons, each as PyTensor reports it.
assert str(lab.explain(cost, unrelated).status).startswith("disconnected")


for name, variable, error in (
    ("lookup", "k", DisconnectedInputError),
    ("undefined", "v", NullTypeGradError),
    ("walk", "rng", NullTypeGradError),
):
    graph = gallery.loops[name].build()
    with pytest.raises(error):
        pytensor.grad(graph.node.outputs[0][-1], graph.inputs[variable])
with pytest.raises(DisconnectedInputError):
    pytensor.grad(cost, unrelated)
ignored = pytensor.grad(cost, unrelated, disconnected_inputs="ignore")
assert float(ignored.eval({unrelated: 1.0}, mode="FAST_COMPILE")) == 0


def last(rate):
    value = 0.2
    for _ in range(5):
        value = rate * value * (1 - value)
    return value


second = (last(3.1 + 1e-4) - 2 * last(3.1) + last(3.1 - 1e-4)) / 1e-8
assert isclose(float(run(0.2, 3.1)), second, rel_tol=1e-4)
assert turn.check(run).is_right
assert "first derivative" in turn.check(of_order(1)).reason

solve(
    silent,
    "none: the derivative exists, but PyTensor has no rule for it",
    "0, as for an integer",
    "1, as for the cost",
)
solve(chain, "[0, 0, 0, 1]", "[3.90, 2.16, 1.33, 1]", "[0, 0, 1.33, 1]")

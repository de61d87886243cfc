"""What people call Scans and derivatives, against names written by hand."""

import pytensor.tensor as pt
import pytest

import lab
from lab.loops import gallery
from lab.notation import primes
from lab.scans.names import readable
from lab.scans.replacing import scan_nodes


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("square", "square"),
        ("grad_of_square", "gradient of square"),
        ("grad_of_grad_of_square", "gradient of the gradient of square"),
        ("grad_of_grad_of_grad_of_square", "3-fold gradient of square"),
        ("grad_of_" * 12 + "square", "12-fold gradient of square"),
        ("grad_of_replay_of_gap", "gradient of the replay of gap"),
        ("tangent_of_gap", "tangent of gap"),
        ("grad_of_", "grad_of_"),  # a user's name that would become empty
        ("graduate", "graduate"),
    ],
)
def test_readable_names(name, called):
    assert readable(name) == called


def test_operations_keep_pytensors_kind_of_name():
    derivative = gallery.loops["square"].derivative(2)
    nodes = scan_nodes(derivative.values)
    names = ["square", "grad_of_square", "grad_of_grad_of_square", "grad_of_square"]
    assert [node.op.name for node in nodes] == names
    assert [scan.name for scan in lab.trace(derivative).scans] == list(map(readable, names))


def test_pytensors_own_gradients_are_called_alike():
    graph = gallery.loops["square"].build()
    cost = pt.sum(graph.node.outputs[0][-1])
    own = pt.grad(cost, graph.inputs["x"])
    (_, backward) = lab.trace(own, graph.given).scans
    assert backward.name == "gradient of square"


def test_primes_of_derivatives():
    assert [primes(order) for order in (0, 1, 4, 5, 12)] == ["", "′", "⁗", "⁽⁵⁾", "⁽¹²⁾"]

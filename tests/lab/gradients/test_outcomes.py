"""The kind of gradient of each input of a Scan, compared with PyTensor's pullback."""

import pytensor.tensor as pt
import pytest
from pytensor.gradient import DisconnectedType, NullType, disconnected_type
from pytensor.scan.op import Scan
from strange_loops import LOOPS

import lab
from lab.gradients.record import Verdict
from lab.loops import gallery
from lab.tape import Kind

ALL = [*gallery.loops, *LOOPS]
GRADIENT = {Verdict.CONNECTED, Verdict.ZERO}


@pytest.mark.parametrize("name", ALL)
def test_the_outcomes_are_pytensors_own(name):
    """Compare connected, disconnected, and undefined gradients with PyTensor's pullback."""
    loop = gallery.loops[name] if name in gallery.loops else LOOPS[name]
    node = loop.build().node
    names = {v.name for v in loop.states} | set(loop.outputs)
    given = [
        pt.ones_like(v)
        if str(v.type.dtype if hasattr(v.type, "dtype") else "").startswith("float") and names
        else disconnected_type()
        for v in node.outputs
    ]
    theirs = Scan.pullback(node.op, node.inputs, node.outputs, given)[1:]
    record = lab.derive(node.op, node.inputs, node.outputs, given).record
    assert len(theirs) == len(record.outcomes)
    for outcome, gradient in zip(record.outcomes, theirs, strict=True):
        if isinstance(gradient.type, DisconnectedType):
            kinds = {Verdict.DISCONNECTED}
        elif isinstance(gradient.type, NullType):
            kinds = {Verdict.UNDEFINED, Verdict.UNTRACED}
        else:
            kinds = GRADIENT
        if outcome.kind is Kind.UNTRACED:  # PyTensor may call it disconnected
            kinds = {Verdict.UNTRACED}
        assert outcome.verdict in kinds, outcome

"""What a page is told of its numbers; what it makes of that is in tests/browser/test_live.py."""

from itertools import pairwise

import pytest

from lab.loops import gallery
from visual.atlas.grid import Combination, own
from visual.atlas.live import live


@pytest.mark.parametrize(("name", "order"), [("coupled", 1), ("square", 2), ("gap", 2)])
def test_in_a_sentence_a_number_behind_a_dot_gets_parentheses_and_no_other(name, order):
    loop = gallery.loops[name]
    at = Combination(loop, own(loop), order, "last")
    equations = live(at, "tapes", at.picture("tapes", "light"))["equations"]
    told = [right for _, _, right, _, is_told in equations if is_told]
    slots = [pair for right in told for pair in pairwise(right) if not isinstance(pair[1], str)]
    assert slots
    for before, (_, gets_parentheses) in slots:
        assert gets_parentheses == before.endswith("·")

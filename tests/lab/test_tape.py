"""Compare the reverse of tapes with PyTensor's document on the eleven phases of a pullback."""

import pytest
from fuzzing.outcomes import error_test

from lab.tape import Kind, Tape

# Forward reads and writes and their kind; backward reads, writes, overwritten and preserved taps.
TABLE = [
    ((0,), (), Kind.SEQUENCE, (), (0,), set(), set()),
    ((), (0,), Kind.NIT_SOT, (0,), (), set(), {0}),
    ((-1,), (0,), Kind.SIT_SOT, (0, 1), (1,), {1}, {0}),
    ((-2,), (0,), Kind.MIT_SOT, (0, 2), (2,), {2}, {0}),
    ((-2, -1), (0,), Kind.MIT_SOT, (0, 2, 1), (2, 1), {1, 2}, {0}),
    ((0, 1), (1,), Kind.MIT_MOT, (-1, 0), (0, -1), {-1, 0}, set()),
    ((-1, 0), (0, -1), Kind.MIT_MOT, (0, 1), (1, 0), {0, 1}, set()),
    ((-3, -1), (0,), Kind.MIT_SOT, (0, 3, 1), (3, 1), {3, 1}, {0}),
]


@pytest.mark.parametrize(
    ("reads", "writes", "kind", "back", "to", "overwritten", "preserved"), TABLE
)
def test_kinds_and_reverses_follow_the_table(reads, writes, kind, back, to, overwritten, preserved):
    reverse = Tape(reads, writes).reverse()
    assert Tape(reads, writes).kind is kind
    assert (reverse.reads, reverse.writes) == (back, to)
    assert set(reverse.overwritten) == overwritten
    assert set(reverse.preserved) == preserved


test_errors = error_test(
    (lambda: Tape((-1, -1), (0,)), "only once"),
    (lambda: Tape((), ()), "at least one tap"),
    (lambda: Tape((0.5,), (1,)), "integer"),
    (lambda: Tape((True,), (1,)), "integer"),
)

"""Which Scan's results a value is made of, with no other Scan in between.

Only numbers count: a Scan whose result merely tells how long a buffer must be feeds nothing.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from pytensor.graph.basic import Variable

from lab.operations import plain_name
from lab.trace import Feed

# How many inputs of an operation, from which one on, hold numbers that its result depends on.
NUMBERS = {
    "Shape": slice(0),
    "Shape_i": slice(0),
    "AllocEmpty": slice(0),
    "Alloc": slice(0, 1),
    "Second": slice(1, None),
}


def feeds(
    made: Iterable[tuple[int, Variable]], filled: Mapping[Variable, tuple[int, int]]
) -> tuple[Feed, ...]:
    """What the numbered variables `made` are computed from.

    `filled` has, for the outputs of Scans, the number of the Scan and of its variable.
    """
    found = (
        Feed(into, *filled[source])
        for into, variable in made
        for source in sources(variable, filled)
    )
    return tuple(sorted(found, key=lambda feed: (feed.into, feed.scan, feed.variable)))


def sources(variable: Variable, filled: Container[Variable]) -> Iterator[Variable]:
    """Those of `filled` that `variable` is computed from, the nearest on every way."""
    seen, waiting = {variable}, [variable]
    while waiting:
        found = waiting.pop()
        if found in filled:
            yield found
            continue
        more = [v for v in _number_inputs(found) if v not in seen]
        seen.update(more)
        waiting += more


def _number_inputs(variable: Variable) -> Sequence[Variable]:
    if variable.owner is None:
        return ()
    used = NUMBERS.get(plain_name(variable.owner), slice(None))
    return variable.owner.inputs[used]

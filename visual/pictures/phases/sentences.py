"""Why each of the eleven phases is there, in a line with the derivative's own names."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from re import findall

from lab.gradients.record import DerivationRecord, Item, Verdict
from lab.tape import Tape

NOTHING = "nothing to do"
NONE = (Verdict.DISCONNECTED, Verdict.UNTRACED, Verdict.UNDEFINED)


@dataclass(frozen=True)
class State:
    """The tape of a gradient, and that of the state whose gradient it is."""

    name: str
    forward: Tape
    backward: Tape


def states_of(record: DerivationRecord) -> list[State]:
    """All states that a derivation gives a tape to."""
    found = []
    for item in record.phases[7].items:
        forward, becomes, backward = item.decision.partition(" becomes mit-mot ")
        if becomes:
            taps = ([_numbers(t) for t in told.split(" → ")] for told in (forward, backward))
            found.append(State(item.subject, *(Tape(*pair) for pair in taps)))
    return found


def _numbers(told: str) -> tuple[int, ...]:
    return tuple(map(int, findall(r"-?\d+", told)))


def sentences(record: DerivationRecord, first: str = "the cost") -> Iterator[str]:
    """Why there is every phase; a line that begins with `NOTHING` where one adds nothing.

    `first` is what gave gradients before the backward Scan runs.
    """
    decided = [
        [item for item in phase.items if item.verdict is not Verdict.ABSENT]
        for phase in record.phases
    ]
    steps, inputs, _, signals, shares, fates, reads, tapes, sums, variables, answers = decided
    known = "the last one goes first" if steps[-1].expression != "n" else "only the run tells it"
    yield f"As many as the loop made; {known}."
    yield _inputs({item.verdict in NONE for item in inputs})
    yield "Not the whole loop is differentiated: one step is."
    yield _one_or_more(
        [item for item in signals if item.verdict is Verdict.NOTED],
        "no result of the step has a gradient",
        f"The gradient of {{}}, from {first} and later steps",
        f"Gradients of the results, from {first} and later steps",
    )
    yield _one_or_more(
        [item for item in shares if item.expression],
        "no argument of the step has a gradient",
        "What this step gives to the gradient of {}",
        "What this step gives to each argument's gradient",
    )
    yield _fates({item.verdict for item in fates})
    yield _one_or_more(
        reads,
        "the formulas read no forward value",
        "The formula reads it: recorded as the loop ran",
        "The formulas read them: recorded as the loop ran",
    )
    yield _tapes(fates, tapes)
    yield _sums({item.verdict for item in sums})
    yield (
        f"All of this makes one Scan, of {len(variables)} variables."
        if variables
        else f"{NOTHING}: no gradient depends on the steps."
    )
    ends = {item.expression.rpartition("[")[2] for item in answers}
    told = {"::-1]": "[::-1] reads a tape from its end", "-1]": "[-1] its last row"}
    found = ", ".join(words for end, words in told.items() if end in ends)
    yield f"{found[:1].upper()}{found[1:]}." if found else "What every input gets."


def _one_or_more(found: Sequence[Item], none: str, one: str, more: str) -> str:
    if not found:
        return f"{NOTHING}: {none}."
    return f"{(more if found[1:] else one).format(found[0].subject)}."


def _inputs(without: AbstractSet[bool]) -> str:
    if without == {False}:
        return "The inputs that can have a gradient."
    if without == {False, True}:
        return "Inputs that can have a gradient, and that cannot."
    return f"{NOTHING}: no input can have a gradient."


def _fates(found: AbstractSet[Verdict]) -> str:
    if not found:
        return f"{NOTHING}: there is no tape."
    if found == {Verdict.ACCUMULATED}:
        return "The cost or other steps may use it, too: add."
    if found == {Verdict.OVERWRITTEN}:
        return "It is gone after the step: set it, add nothing."
    return "What others may use is added to; what is gone is set."


def written_slots(tapes: Sequence[Item]) -> list[str]:
    """The slots that a step writes: of every decision of phase 6, in their order."""
    return [item.subject for item in tapes if item.decision == "is written"]


def _tapes(fates: Sequence[Item], tapes: Sequence[Item]) -> str:
    """Whose gradient a slot holds, told of one whose tap is another than that of its variable."""
    if not tapes:
        return f"{NOTHING}: no state has a gradient."
    for fate, slot in zip(fates, written_slots(tapes), strict=False):
        place = fate.subject.rpartition(", ")[0]
        if place.partition("[")[2] != slot.partition("[")[2]:
            return f"{slot} is {place}'s gradient: steps go the other way."
    return "The slots of its tape."


def _sums(found: AbstractSet[Verdict]) -> str:
    if found == {Verdict.SUMMED}:
        return "A parameter is the same at every step: summed."
    if found == {Verdict.PER_STEP}:
        return "Every step has its own: nothing to sum."
    if found >= {Verdict.SUMMED, Verdict.PER_STEP}:
        return "Parameters: summed; sequences: one a step."
    if found:
        return "Left out: without a gradient."
    return f"{NOTHING}: no parameters, no sequences."

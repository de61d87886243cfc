"""What each of the eleven phases adds to a derivative, in a sentence with its own names."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from re import findall

from lab.errors import listing
from lab.gradients.record import DerivationRecord, Item, Verdict
from lab.notation import tapped
from lab.tape import Tape

NOTHING = "nothing to do"
NONE = (Verdict.DISCONNECTED, Verdict.UNTRACED, Verdict.UNDEFINED)
FATES = {
    Verdict.ACCUMULATED: (
        "is preserved: others may have read it, too, and what they left in its slot is added",
        "are preserved: others may have read them, too, and what they left in their slots is added",
    ),
    Verdict.OVERWRITTEN: (
        "is overwritten: no later step reads what stood there, so nothing is added",
        "are overwritten: no later step reads what stood there, so nothing is added",
    ),
    Verdict.CLEARED: (
        "was written unread: its slot is cleared",
        "were written unread: their slots are cleared",
    ),
}


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


def sentences(record: DerivationRecord) -> Iterator[str]:
    """A sentence for every phase; it begins with `NOTHING` where a phase adds nothing."""
    of = record.forward
    decided = {
        phase.number: [item for item in phase.items if item.verdict is not Verdict.ABSENT]
        for phase in record.phases
    }
    steps, back = decided[1][-1].expression, "go back, the last one first"
    if steps == "n":
        yield f"Only the run of {of} tells how many steps it makes: n. As many {back}."
    else:
        yield f"{of} made {steps} steps, so {steps} steps {back}."
    left = [item.subject for item in decided[2] if item.verdict in NONE]
    found = [item.subject for item in decided[2] if item.subject not in left]
    told = f"{listing(found)} can receive a gradient" if found else f"{NOTHING}: there is none"
    yield f"{told}; {listing(left)} cannot." if left else f"{told}."
    about = {item.subject: item.decision for item in decided[3]}
    results, arguments = about["results"], about["arguments"]
    yield f"Not the loop, but one step of it is differentiated: {results} by {arguments}."
    signals = [item for item in decided[4] if item.verdict is Verdict.NOTED]
    names, called = listing(i.subject for i in signals), listing(i.expression for i in signals)
    yield (
        f"Later steps tell what gradient {names} {'have' if signals[1:] else 'has'}: "
        f"call it {called}."
        if signals
        else f"{NOTHING}: no result of the step has a gradient."
    )
    yield _chain_rule(signals, [item.subject for item in decided[5] if item.expression])
    yield _fates(of, decided[6])
    read = [item.subject for item in decided[7]]
    yield (
        f"The formulas read {listing(read)}, recorded when {of} ran: the last step's first."
        if read
        else f"{NOTHING}: the formulas read no forward value."
    )
    yield _tapes(states_of(record))
    yield _totals(of, decided[9])
    yield (
        f"All this becomes one Scan, {record.backward}, with {len(decided[10])} variables."
        if decided[10]
        else f"{NOTHING}: no gradient depends on the steps."
    )
    yield f"Each input of {of} gets its gradient; [::-1] turns it into the order of {of}'s steps."


def _chain_rule(results: Sequence[Item], arguments: Sequence[str]) -> str:
    if not arguments:
        return f"{NOTHING}: no argument of the step has a gradient."
    one = arguments[0] if len(arguments) == 1 else "argument"
    products = [f"{item.expression}·∂{item.subject}/∂{one}" for item in results[:2]]
    products += ["and so on"] if results[2:] else []
    return f"{'Every ' if arguments[1:] else ''}{one} gets {' + '.join(products)}."


def _fates(of: str, items: Sequence[Item]) -> str:
    said = []
    for verdict, fate in FATES.items():
        found = [i.subject.rpartition(", ")[0] or i.subject for i in items if i.verdict is verdict]
        if found:
            said.append(f"{listing(found)} {fate[len(found) > 1]}.")
    if said and Verdict.OVERWRITTEN not in {item.verdict for item in items}:
        it = "them" if len(items) > 1 else "it"
        said.append(f"Had {of} overwritten {it}, nothing would be added.")
    return " ".join(said) or f"{NOTHING}: there is no tape."


def _tapes(states: Sequence[State]) -> str:
    if not states:
        return f"{NOTHING}: no state has a gradient."
    first, *others = states
    reads, writes = (
        listing(tapped(first.name, tap) for tap in taps)
        for taps in (first.backward.reads, first.backward.writes)
    )
    more = f", and so on for {listing(s.name for s in others)}" if others else ""
    read = max(first.forward.reads, key=abs)
    return (
        f"The gradients of a state share one tape, a mit-mot: several slots are read, one or more "
        f"written. A step reads {reads} and writes {writes}{more}. Taps change their sign: "
        f"{tapped(first.name, -read)} is the gradient by the value at {tapped('', read)[1:-1]}."
    )


def _totals(of: str, items: Sequence[Item]) -> str:
    said = []
    for verdicts, told in (
        ((Verdict.SUMMED,), "summed up over the steps"),
        ((Verdict.PER_STEP,), "one value for every step"),
        (NONE, "without a gradient"),
    ):
        if found := [item.subject for item in items if item.verdict in verdicts]:
            said.append(f"{listing(found)}: {told}")
    if not said:
        return f"{NOTHING}: {of} has no sequences and no parameters."
    return f"{'; '.join(said)}."

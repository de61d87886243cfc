"""The report on a graph: its Scans, their gradient, what it costs, its traps; and its words."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lab.equations.system import Quantity, Role, System, Writer
from lab.errors import listing, printable
from lab.gradients.record import Outcome
from lab.gradients.status import Connected, Disconnected, Status, ThroughUntraced, Undefined
from lab.notation import Leaf, signed
from lab.reports.explain.memory import Stored
from lab.reports.explain.timing import StepTime
from lab.reports.explain.traps import Trap
from lab.reports.tables import WIDTH, paragraph
from lab.scans.disguised import SINGLE
from lab.scans.printed import Place
from lab.tape import Kind

ORDERS = (1, 2, 3, 4)


@dataclass(frozen=True)
class Stand:
    """A Scan: what it is called, its id in what is `printed`, its line, and its variables'."""

    scan: str
    printed: str
    id: str
    line: str
    places: tuple[Place, ...]

    @property
    def told(self) -> list[str]:
        """Where it stands, and where each of its variables does."""
        line = f", made by {self.line}" if self.line else ""
        return [
            f"{self.scan}: {self.id} in {self.printed}{line}.",
            *(f"· {place.name}: {place}" for place in self.places),
        ]


@dataclass(frozen=True)
class ScanReport:
    """What there is to know of one Scan.

    `inside` names the Scan in whose step this one is, if any.  `outcomes` tell what becomes of
    the gradient of each of its inputs, and `stored` what its gradient keeps; both are empty
    where the derivative does not go through this Scan.  `stands` tell where it and its gradient
    are in PyTensor's print and in a person's code.
    """

    number: int
    name: str
    system: System
    inside: str = ""
    outcomes: tuple[Outcome, ...] = ()
    stored: tuple[Stored, ...] = ()
    traps: tuple[Trap, ...] = ()
    stands: tuple[Stand, ...] = ()

    def __str__(self) -> str:
        where = f", inside the step of {self.inside}" if self.inside else ""
        head, *rest = str(self.system).splitlines()
        title = f"Scan {self.number}: {head}{where}"
        lines = [title, "─" * min(len(title), WIDTH), *rest[1:]]
        for heading, items in (
            ("What the states are", list(states(self))),
            ("What becomes of the gradient of its inputs", list(fates(self))),
            ("What the gradient keeps", [f"{item}." for item in self.stored]),
            ("Where it stands", [line for stand in self.stands for line in stand.told]),
        ):
            if items:
                lines += ["", heading]
                lines += [line for item in items for line in paragraph(item, "  ", "    ")]
        if not self.outcomes:
            lines += ["", "The gradient does not go through this Scan."]
        if self.traps:
            lines += ["", *_trap_lines(self.traps)]
        return "\n".join(map(printable, "\n".join(lines).splitlines()))


@dataclass(frozen=True)
class Explanation:
    """The report on a graph: its Scans one by one, and what its derivatives need.

    `status` tells whether the cost has a gradient with regard to `wrt`, and if not, why; of
    several variables, `lacking` are those without one.  `orders` tells how many Scans the
    derivatives of order 1, 2, 3 and 4 hold, where there are any, `times` how long they took.
    """

    cost: str
    wrt: str
    status: Status
    lacking: tuple[tuple[str, Status], ...]
    scans: tuple[ScanReport, ...]
    orders: tuple[int, ...]
    times: tuple[StepTime, ...] = ()

    @property
    def traps(self) -> tuple[Trap, ...]:
        """The traps of all Scans."""
        return tuple(trap for scan in self.scans for trap in scan.traps)

    def __str__(self) -> str:
        lines = [*paragraph(summary(self)), ""]
        if len(self.scans) <= FEW:
            for scan in self.scans:
                lines += [str(scan), ""]
        else:
            for scan in self.scans:
                head = str(scan.system).splitlines()[0]
                count = f"  {len(scan.traps)} traps" if scan.traps else ""
                inside = f"  inside {scan.inside}" if scan.inside else ""
                lines.append(f"{scan.number:>3}  {head}{inside}{count}")
            lines += ["", "To read about one of them: print(explanation.scans[0])", ""]
            lines += [*_trap_lines(self.traps), ""] if self.traps else []
        for told in costs(self):
            lines += paragraph(told)
        return "\n".join(map(printable, "\n".join(lines).splitlines())).rstrip()


FEW = 3


def summary(explanation: Explanation) -> str:
    """In a few sentences what there is, and whether it can be differentiated."""
    cost, wrt, scans = explanation.cost, explanation.wrt, explanation.scans
    told = f"The gradient of {cost} wrt {wrt}. "
    if not scans:
        told += (
            "There is no Scan in this graph, and no call of pytensor.scan is known that made it. "
            "A lab.Loop always builds a Scan. "
        )
    else:
        loops = "one Scan" if len(scans) == 1 else f"{len(scans)} Scans"
        told += f"The graph holds {loops}: {listing(scan.name for scan in scans[:6])}"
        told += " and others. " if len(scans) > 6 else ". "
    if scans and scans[0].name == SINGLE:
        told += (
            "PyTensor makes no Scan of a constant n_steps of 1: the step stands in its graph as it "
            "is. Here it is a loop of one step, and what it starts from a parameter. "
        )
    if isinstance(explanation.status, Connected):
        told += "There is a gradient. "
    elif isinstance(explanation.status, Disconnected):
        told += f"There is no gradient: the cost does not depend on {wrt}. "
    else:
        found = explanation.status
        reason = str(found) if isinstance(found, ThroughUntraced) else found.reason
        told += f"There is no gradient: {reason.rstrip('.')}. "
    for name, status in explanation.lacking:
        why = f": {status.reason.rstrip('.')}" if isinstance(status, Undefined) else ""
        told += f"There is none wrt {name}{why or ', on which it does not depend'}. "
    count = len(explanation.traps)
    known = f"{count} {'trap' if count == 1 else 'traps'}" if count else "No known trap"
    return f"{told}{known} found."


def states(scan: ScanReport) -> Iterator[str]:
    """What every variable that has a tape is, and what it becomes in the gradient."""
    for quantity in scan.system.of_role(Role.STATE, Role.OUTPUT, Role.NON_NUMERIC):
        yield f"{quantity.symbol} is {_kind(quantity)}"


def _kind(quantity: Quantity) -> str:
    tape, kind = quantity.tape, quantity.kind
    reads, writes = _taps(tape.reads), _taps(tape.writes)
    if kind is Kind.UNTRACED:
        return "an untraced state: replaced at every step, without a record; it has no gradient."
    if kind is Kind.NIT_SOT:
        return (
            "a nit-sot, an output that feeds nothing back; its gradient is a sequence that the "
            "backward loop reads."
        )
    if quantity.dtype[0] not in "fc":
        return f"a {kind} of whole numbers, through which no gradient goes."
    back = tape.reverse()
    told = f"a {kind}: every step reads tap {reads} and writes tap {writes}. "
    told += f"Its gradient is a mit-mot that reads {_taps(back.reads)}, writes {_taps(back.writes)}"
    told += f", overwrites {_taps(back.overwritten)}"
    return f"{told} and preserves {_taps(back.preserved)}."


def _taps(taps: tuple[int, ...]) -> str:
    return listing(map(signed, taps)) if taps else "nothing"


def fates(scan: ScanReport) -> Iterator[str]:
    """What becomes of the gradient of every input, and why."""
    writer = Writer(scan.system)
    for outcome, quantity in zip(scan.outcomes, scan.system.quantities, strict=False):
        if outcome.kind is not Kind.NIT_SOT:
            is_input = quantity.role is Role.INPUT
            leaf = Leaf(quantity.symbol, None, quantity.argument)
            name = writer.term(leaf) if is_input else quantity.symbol
            yield f"{name}: {outcome.verdict}; {outcome.reason.rstrip('.')}."


def _trap_lines(traps: Iterable[Trap]) -> list[str]:
    lines = ["Traps"]
    for trap in traps:
        lines += paragraph(f"⚠ {trap}", "  ", "    ")
    return lines


def costs(explanation: Explanation) -> list[str]:
    """What the order of the derivative costs, in a sentence, and how long its steps took."""
    if not explanation.orders:
        return []
    counts = ", ".join(f"{count:,}" for count in explanation.orders)
    return [
        *map(str, explanation.times),
        f"What the order costs: derivatives of order 1, 2, 3 and 4 hold {counts} Scans: every "
        "order differentiates all through which the last one went.",
    ]

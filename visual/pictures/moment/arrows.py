"""What goes from slot to slot in a step, with the factor that multiplies it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_lowercase

from lab.equations.sentences import Arrival, StepOf, by_rank
from lab.notation import Leaf, number_text, text
from lab.records import cached_property
from lab.traces.trace import Formula
from visual.layout.names import counted
from visual.pictures.moment.slots import NARROWEST, PLAIN, SIDE, SMALL, at
from visual.scene.combinators import Envelope, Piece, above, framed, over, piece, shifted, words
from visual.scene.shapes import Arrow, folded, shortened
from visual.scene.theme import Role

PITCH, EDGE = 27.0, 9.0  # from lane to lane, and from them to the slots
PORTS = 14.0, 22.0  # between arrows that leave a slot, and that come into one
NEAR, ON = 5.0, 8.0  # from a factor to what is not its own, and how much of its arrow it covers
MORE = 6.0  # from one factor to another, so that two are not read as one
SEEN = 10.0  # of an arrow's way across, beside its factor
FEWEST, SHORT = 2, 12  # lanes, and letters of what is not told elsewhere

Span = tuple[float, float]


@dataclass(frozen=True)
class Way:
    """From which slot to which, by their names, in the main formula or not, and with what.

    `source` is empty for what comes from no slot, and for so many arrows that are `hidden`.
    """

    source: str
    target: str
    is_main: bool
    label: str
    hidden: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether it is all that a step makes of what it reads, and no product or summand."""
        return not self.source and not self.label.startswith(("+ ", "= "))


def ways_of(one: StepOf) -> list[Way]:
    """All that a step brings from slot to slot, first what comes to the main one."""
    return [way for formula in by_rank(one) for way in _ways(one, formula)]


def shortened_ways(one: StepOf, ways: Sequence[Way], terms: bool) -> list[Way]:
    """What comes to the main slot, and to every other one all that is added to it, as one way.

    A number is told with its `terms`, or alone.
    """
    scan, short = one.named.scan, [way for way in ways if way.is_main]
    for formula in scan.formulas:
        target = at("after", one.tape(formula.target), one.row(formula.target))
        parts = [way for way in ways if way.target == target and not way.is_main]
        if not parts:
            continue
        if scan.parent is None:  # it keeps nothing
            read = [way for way in parts if not way.is_whole]
            label = f"of {counted(len(read), 'value')}"
        else:
            label = _added(one, formula, terms)
        whence = target.replace("after", "before", 1) if one.keeps(formula) else ""
        short.append(Way(whence, target, False, label, len(parts)))
    return short


def _added(one: StepOf, formula: Formula, terms: bool) -> str:
    """``+ buf[0]·x₃ = 0.25``: what a formula adds; ``= old`` where that is nothing."""
    told, keeps = one.added(formula), one.keeps(formula)
    if not told:
        return "= old"
    number, sign = one.worth_added(formula), "+" if keeps else "="
    if number is None:
        return f"{sign} {told}"
    return f"{sign} {told} = {number_text(number)}" if terms else f"{sign} {number_text(number)}"


def _ways(one: StepOf, formula: Formula) -> Iterator[Way]:
    def place(when: str, leaf: Leaf) -> str:
        return at(when, one.tape(leaf), one.row(leaf))

    target, is_main = place("after", formula.target), formula is one.main
    arrivals, in_loop = one.arrivals(formula), one.named.scan.parent is None
    for arrival in arrivals:
        label = "" if in_loop else _factor(one, formula, arrival)
        yield Way(place("before", arrival.read), target, is_main, label)
    rest = one.rest(formula)
    if in_loop and arrivals:  # it may do anything with what it reads
        whole = text(formula.expression, lambda leaf: one.spell.position(leaf, one.step))
        yield Way("", target, is_main, whole)
    elif rest is not None:
        number = "" if rest.number is None else f" = {number_text(rest.number)}"
        yield Way("", target, is_main, f"+ {rest.written}{number}")


def _factor(one: StepOf, formula: Formula, arrival: Arrival) -> str:
    """``· 2·x₁ = 1.805``; of arrays what becomes of ▢, which the arrow brings."""
    if arrival.number is not None:
        told, number = one.factor(arrival), number_text(arrival.number)
        return f"· {told}" if told == number else f"· {told} = {number}"

    told = one.becomes(formula, arrival.read)
    return "· 1" if told == "▢" else told


def joined(
    upper: Piece,
    lower: Piece,
    ways: Sequence[Way],
    width: float,
    spare: int = 0,
    tells: bool = True,
) -> Piece:
    """Slots before a step above those after it, and arrows with factors between them.

    A factor lies on its own arrow and touches no other; one that finds no room is only a number
    or a letter there, and is told below if that `tells`.  `spare` lanes may be added for more room.
    """
    places = {**upper.anchors, **lower.anchors}
    ways = [way for way in ways if {way.source or way.target, way.target} <= places.keys()]
    if any(way.is_whole for way in ways):
        upper, lower = _apart(upper, lower, FEWEST)
        return over(upper, lower, *_through_boxes({**upper.anchors, **lower.anchors}, ways, width))
    whole = [way for way in ways if not way.hidden]
    for some, more in ((ways, MORE), (ways, 0.0), (whole, MORE), (whole, 0.0)):
        best = _best(places, some, width, more, spare)
        if not best.faults[0]:
            break
    upper, lower = _apart(upper, lower, best.count)
    short = sorted(best.short) if tells else []
    said = [_brief(some[n], best.rank(n))[1] for n in short]
    hidden = sum(way.hidden for way in ways if way not in some)
    said += [f"{counted(hidden, 'arrow')} not drawn"] if hidden else []
    told = "; ".join(filter(None, said))
    notes = (words(line, SMALL, muted=True) for line in folded(told, width, SMALL) if line)
    drawn = best.drawn({**upper.anchors, **lower.anchors}, upper.envelope.bottom + EDGE)
    return above(over(upper, lower, *drawn), *notes, apart=4)


def _best(
    places: Mapping[str, Envelope], ways: Sequence[Way], width: float, more: float, spare: int
) -> "_Lanes":
    """The arrows in an order in which few of them cross, and factors have room."""
    runs = _runs(places, ways)
    chips = [
        (_chip(way.label, way.is_main), _chip(_brief(way, n)[0], way.is_main))
        for n, way in enumerate(ways)
    ]
    keys = (lambda n: abs(runs[n][1] - runs[n][0]), lambda n: runs[n][0], lambda n: runs[n][1])
    orders = (sorted(range(len(ways)), key=k, reverse=r) for k in keys for r in (False, True))
    tried = (
        _Lanes(ways, runs, tuple(order), chips, width, more, least)
        for order in orders
        for least in range(FEWEST, FEWEST + spare + 1)
    )
    return min(tried, key=lambda lanes: lanes.faults)


def _apart(upper: Piece, lower: Piece, lanes: int) -> tuple[Piece, Piece]:
    """The slots, with so many lanes between them."""
    down = upper.envelope.bottom + 2 * EDGE + PITCH * lanes - lower.envelope.top
    return upper, shifted(lower, 0, down)


def _chip(label: str, is_main: bool) -> Piece:
    size = PLAIN if is_main else SMALL
    return framed(words(label, size, mono=True, bold=is_main), Role.PANEL, 3)


def _brief(way: Way, number: int) -> tuple[str, str]:
    """A factor in short, its number or else a letter, and what is to be told elsewhere."""
    told, equals, value = way.label.rpartition(" = ")
    if equals:
        return f"{told[:2]}{value}", f"{value} = {told[2:]}"
    if len(way.label) <= SHORT:
        return way.label, ""
    letter = ascii_lowercase[number % len(ascii_lowercase)]
    sign = way.label[:2] if way.label[:2] in ("+ ", "= ") else ""
    return (
        f"{sign}({letter})",
        f"({letter}) = {way.label[2:]}" if sign else f"({letter}) {way.label}",
    )


def _runs(places: Mapping[str, Envelope], ways: Sequence[Way]) -> list[Span]:
    """How far across every arrow goes, from a port of its own to another; straight down it can."""
    columns = [
        tuple(places[end or way.target].place(0.5, 0)[0] for end in (way.source, way.target))
        for way in ways
    ]

    def port(number: int, end: int) -> float:
        name = (ways[number].source, ways[number].target)[end] or f"none {number}"
        here = columns[number][end]
        both = [n for n, way in enumerate(ways) if (way.source, way.target)[end] == name] or [
            number
        ]
        both.sort(key=lambda n: (not ways[n].source, columns[n][1 - end]))
        down = [n for n in both if columns[n][0] == columns[n][1]]
        middle = both.index(down[0]) if down else (len(both) - 1) / 2
        furthest = max(middle, len(both) - 1 - middle, 1)
        pitch = min(PORTS[end], (NARROWEST / 2 - ON) / furthest)
        return here + pitch * (both.index(number) - middle)

    return [(port(n, 0) if way.source else port(n, 1), port(n, 1)) for n, way in enumerate(ways)]


@dataclass(frozen=True, eq=False)
class _Lanes:
    """Arrows that go down, along a lane and down again; those first in `order` have the first."""

    ways: Sequence[Way]
    runs: Sequence[Span]
    order: tuple[int, ...]
    chips: Sequence[tuple[Piece, Piece]]
    width: float
    more: float
    least: int

    @cached_property
    def lane(self) -> dict[int, int]:
        """The lane of every arrow; what goes straight down needs none, and has the first."""
        taken: list[list[Span]] = []
        found: dict[int, int] = {}
        for number in self.order:
            low, high = sorted(self.runs[number])
            if self._is_straight(number):
                found[number] = 0
                continue
            span = low - PORTS[1], high + PORTS[1]
            free = (n for n, held in enumerate(taken) if not _meets(held, span))
            found[number] = next(free, len(taken))
            if found[number] == len(taken):
                taken.append([])
            taken[found[number]].append(span)
        return found

    def _is_straight(self, number: int) -> bool:
        """Whether it goes down from a slot, or is all that comes to one: so it takes no lane."""
        start, end = self.runs[number]
        return start == end and bool(self.ways[number].source or self.ways[number].hidden)

    @cached_property
    def count(self) -> int:
        """How many lanes there are."""
        return max([self.least, *(lane + 1 for lane in self.lane.values())])

    def _ink(self, number: int, lane: int) -> Span | None:
        """From where to where an arrow is in a lane."""
        start, end = self.runs[number]
        if lane < self.lane[number]:
            return (start, start) if self.ways[number].source else None
        return (min(start, end), max(start, end)) if lane == self.lane[number] else (end, end)

    @cached_property
    def _put(self) -> tuple[dict[int, tuple[int, float]], frozenset[int]]:
        """Lane and left edge of every factor, and which are in short."""
        short = frozenset[int]()
        while True:
            put: dict[int, tuple[int, float]] = {}
            for number in range(len(self.ways)):
                place = self._place(number, number in short, put, short)
                if place is not None:
                    put[number] = place
            failed = frozenset(range(len(self.ways))) - put.keys()
            if failed <= short:
                return put, short
            short |= failed

    def _place(
        self,
        number: int,
        is_short: bool,
        put: Mapping[int, tuple[int, float]],
        short: Collection[int],
    ) -> tuple[int, float] | None:
        """Where a factor touches its own arrow and nothing else, as near its middle as can be.

        It does not cover all of the way across.
        """
        wide, own = self.chips[number][is_short].envelope.width, self.lane[number]
        lanes = [own, *range(own + 1, self.count), *range(own - 1, -1, -1)]
        for lane in lanes if self._is_straight(number) or self.ways[number].source else [own]:
            low, high = self._ink(number, lane) or (0.0, 0.0)
            others = [self._ink(n, lane) for n in range(len(self.ways)) if n != number]
            others += [
                (left - self.more, left + self.chips[n][n in short].envelope.width + self.more)
                for n, (at_lane, left) in put.items()
                if at_lane == lane
            ]
            edges = [(0.0, SIDE - NEAR), *sorted(filter(None, others)), (self.width + NEAR, 0.0)]
            held, places = 0.0, list[float]()
            for first, last in edges:
                least, most = held + NEAR, first - NEAR - wide
                on = min(ON, (high - low) / 2)
                least, most = max(least, low + on - wide), min(most, high - on)
                sides = ((max(least, low + SEEN), most), (least, min(most, high - SEEN - wide)))
                for start, end in sides if high - low > 2 * SEEN else ((least, most),):
                    if start <= end:
                        places.append(min(max((low + high - wide) / 2, start), end))
                held = max(held, last)
            if places:
                return lane, min(places, key=lambda left: abs(2 * left + wide - low - high))
        return None

    def rank(self, number: int) -> int:
        """How many of the factors that a letter stands for come before one."""
        return sum(n < number and " = " not in self.ways[n].label for n in self.short)

    @property
    def short(self) -> frozenset[int]:
        """The factors that are in short."""
        return self._put[1]

    @property
    def faults(self) -> tuple[int, int, int]:
        """Factors without a place, arrows that cross one another and factors in short, lanes."""
        put, short = self._put
        crossed = sum(
            low < ink[0] < high
            for number, lane in self.lane.items()
            for low, high in [sorted(self.runs[number])]
            for other in self.lane
            for ink in [self._ink(other, lane)]
            if other != number and ink is not None
        )
        return len(self.ways) - len(put), crossed + 2 * len(short), self.count

    def drawn(self, places: Mapping[str, Envelope], top: float) -> Iterator[Piece]:
        """The arrows, and over them the factors; the first lane begins at a height."""

        def level(lane: int) -> float:
            return top + PITCH * (lane + 0.5)

        put, short = self._put
        for number, way in enumerate(self.ways):
            is_put = way.hidden and not way.source and number in put
            lane = put[number][0] if is_put else self.lane[number]
            (start, end), y = self.runs[number], level(lane)
            last = end, places[way.target].top - 3
            first = (start, places[way.source].bottom + 2 if way.source else y)
            bent = (first, (start, y), (end, y), last) if start != end else (first, last)
            look = {"accent": way.is_main, "faint": not way.is_main, "straight": True}
            yield piece(Arrow(bent, **look))
        for number, (lane, left) in put.items():
            chip, way = self.chips[number][number in short], self.ways[number]
            if number in short:  # all letters are as wide
                chip = _chip(_brief(way, self.rank(number))[0], way.is_main)
            down = level(lane) - chip.envelope.height / 2 - chip.envelope.top
            yield shifted(chip, left - chip.envelope.left, down)


def _meets(held: Iterable[Span], span: Span) -> bool:
    return any(low <= span[1] and span[0] <= high for low, high in held)


def _through_boxes(
    places: Mapping[str, Envelope], ways: Sequence[Way], width: float
) -> Iterator[Piece]:
    """What a loop's step makes of what it reads: a box for each slot that it writes, in a row."""
    whole = sorted((way for way in ways if way.is_whole), key=lambda way: places[way.target].left)
    middles = [places[way.target].place(0.5, 0)[0] for way in whole]
    boxes = _beside([_chip(way.label, way.is_main) for way in whole], middles, width)
    if boxes is None:
        between = [(one + other) / 2 for one, other in pairwise(middles)]
        rooms = zip([SIDE, *between], [*between, width], strict=True)
        boxes = []
        for way, middle, (low, high) in zip(whole, middles, rooms, strict=True):
            label = shortened(way.label, high - low - 3 * NEAR, PLAIN, mono=True, bold=way.is_main)
            boxes += _beside([_chip(label, way.is_main)], [middle], high - NEAR, low) or []
    for way, middle, box in zip(whole, middles, boxes, strict=True):
        target = places[way.target]
        y = target.top - EDGE - PITCH
        box = shifted(box, 0, y - box.envelope.place(0, 0.5)[1])
        coming = sorted(
            (one for one in ways if one.source and one.target == way.target),
            key=lambda one: places[one.source].left,
        )
        look = {"accent": way.is_main, "faint": not way.is_main}
        for number, one in enumerate(coming, start=1):
            x0, y0 = places[one.source].place(0.5, 1)
            x1, y1 = box.envelope.place(number / (len(coming) + 1), 0)
            half = (y0 + y1) / 2
            yield piece(Arrow(((x0, y0 + 2), (x0, half), (x1, half), (x1, y1)), **look))
        yield box
        yield piece(Arrow(((middle, box.envelope.bottom), (middle, target.top - 3)), **look))


def _beside(
    boxes: Sequence[Piece], middles: Sequence[float], end: float, start: float = SIDE
) -> list[Piece] | None:
    """Boxes in a row, each above its middle, or None where there is no room for that."""
    wide = [box.envelope.width for box in boxes]
    lefts = list[float]()
    for middle, width in zip(middles, wide, strict=True):
        lefts.append(max(start, middle - width / 2))
        start = lefts[-1] + width + NEAR
    for number in reversed(range(len(boxes))):
        lefts[number] = min(lefts[number], end - wide[number])
        end = lefts[number] - NEAR
    over_all = all(a + ON <= m <= a + w - ON for a, m, w in zip(lefts, middles, wide, strict=True))
    if not over_all or (lefts and lefts[0] < SIDE):
        return None
    return [shifted(b, a - b.envelope.left, 0) for b, a in zip(boxes, lefts, strict=True)]

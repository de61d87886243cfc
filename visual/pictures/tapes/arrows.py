"""Arrows between the slots of a tape, and what happens to a value on its way."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from weakref import WeakKeyDictionary

from lab.equations.events.events import Events, events
from lab.equations.events.records import Write
from lab.equations.spelling import Speller
from lab.notation import Leaf, leaves_of, number_text, summands_of
from lab.traces.trace import Formula, TapeTrace
from visual.layout.cells import value_within
from visual.layout.detours import Detours, Point, meets
from visual.scene.combinators import Envelope, envelope_of
from visual.scene.fonts import text_width
from visual.scene.shapes import Arrow, Box, Group, Polyline, Shape, Text, fitted
from visual.scene.theme import Role

DEPTH, LETTERS = 14, 11  # of the points that bend a curve; of a label
NEXT, FINE = 4, 32  # from factor to factor; points of an arrow
ASIDE = 0.3  # of a slot, from its middle to where arrows from several tapes come to it
Places = dict[tuple[int, int], Box]  # the slots of tapes, by argument and row


def step_arrows(spell: Speller, step: int, places: Places) -> Iterator[Shape]:
    """From every slot that a step reads to the slots that it writes, and over them factors."""
    ways = Detours(places.values())
    drawn = [
        found
        for formula in spell.scan.formulas
        for found in _formula_arrows(formula, spell, step, places, ways)
    ]
    heads = [Polyline(arrow.head) for arrow, _, _ in drawn]
    labels = [label for _, told, _ in drawn for label in told]
    shapes: list[Shape] = [*places.values(), *heads, *labels]
    held = [envelope_of(shape) for shape in shapes]
    yield from (arrow for arrow, _, _ in drawn)
    yield from labels
    told = any(factor for _, _, factor in drawn)
    ways_taken = [_path(arrow, 1) for arrow, _, _ in drawn] if told else []
    for number, (arrow, _, factor) in enumerate(drawn):
        others = [*ways_taken[:number], *ways_taken[number + 1 :]]
        chip = _on(_path(arrow), factor, others, held) if factor else None
        if chip is not None:  # what has no room stands in the formula alone
            held.append(envelope_of(chip).padded(NEXT, NEXT / 2))
            yield chip


def _formula_arrows(
    formula: Formula, spell: Speller, step: int, places: Places, ways: Detours
) -> Iterator[tuple[Arrow, list[Text], str]]:
    """From every slot that a formula reads to the slot that it writes, itself excepted.

    With each arrow comes the factor that is to lie on it, if there is one.
    """

    def place(leaf: Leaf) -> Box | None:
        tape = spell.scan.variable(leaf)
        if not isinstance(tape, TapeTrace) or leaf.tap is None:
            return None
        return places.get((leaf.argument, tape.tape.row(step, leaf.tap)))

    target = place(formula.target)
    if target is None:
        return
    leaves = leaves_of(formula.expression)
    slot = (formula.target.argument, formula.target.tap)
    old = next((leaf for leaf in leaves if (leaf.argument, leaf.tap) == slot), None)
    found = [(leaf, place(leaf)) for leaf in leaves if leaf != old]
    sources = [(leaf, source) for leaf, source in found if source is not None]
    tape = spell.scan.variable(formula.target)
    if isinstance(tape, TapeTrace) and tape.is_total:
        nth = [t.argument for t in spell.scan.tapes if t.is_total].index(tape.argument)
        for leaf, source in sources:
            depth, factor = DEPTH + 3 * nth, _number(spell, step, formula, leaf)
            arrow = tape_arrow(source, target, "", ways, depth=depth, faint=True)
            yield *arrow, factor
        return
    for leaf, source in sources:
        if len(sources) == 1:
            label = _label(spell, step, formula, leaf, _room(target))
            yield *tape_arrow(source, target, label, ways), ""
        else:  # there is only room for numbers
            alike = sum(one.y == source.y for _, one in sources)
            factor = _number(spell, step, formula, leaf) if alike == 1 else ""
            aside = ASIDE if len({one.y for _, one in sources}) > 1 else 0.0
            yield *tape_arrow(source, target, "", ways, aside=aside), factor


def _number(spell: Speller, step: int, formula: Formula, read: Leaf) -> str:
    """Return the factor of `read` as a number; empty if it is no number."""
    term = _write(spell, step, formula).term(read.argument, read.tap)
    is_number = term is not None and term.factor is not None and not term.value.ndim
    return f"·{number_text(term.factor)}" if term is not None and is_number else ""


# One sequence of events for all arrows of a Scan.
_EVENTS: WeakKeyDictionary[Speller, Events] = WeakKeyDictionary()


def _write(spell: Speller, step: int, formula: Formula) -> Write:
    """Return the write of a formula at a step."""
    if spell not in _EVENTS:
        _EVENTS[spell] = events(spell.named.trace)
    event = _EVENTS[spell].step(spell.named.number, step)
    return event.write(formula.target.argument, formula.target.tap)


def _on(
    path: Sequence[Point], factor: str, others: Iterable[Sequence[Point]], held: Iterable[Envelope]
) -> Group | None:
    """A factor on the path of its arrow, as near its middle as it touches nothing else."""
    half, middle = text_width(factor, LETTERS, mono=True) / 2 + 3, len(path) // 2
    pieces = [piece for other in others for piece in pairwise(other)]
    for number in sorted(range(len(path)), key=lambda n: abs(n - middle)):
        x, y = path[number]
        for aside in (0.0, half / 2, -half / 2):
            chip = Box(x + aside - half, y - 6.5, 2 * half, 13, Role.PANEL)
            room = envelope_of(chip).padded(1, 1)
            free = not any(room.meets(other) for other in held)
            if free and not any(meets(*piece, chip) for piece in [(path[0], path[0]), *pieces]):
                told = Text(x + aside, y + 4, factor, LETTERS, "middle", mono=True)
                return Group((chip, told))
    return None


def _path(arrow: Arrow, straight: int = FINE) -> list[Point]:
    """Points along an arrow, from its start to its end, so many on a `straight` piece of it."""
    if not arrow.is_curve:
        return [
            (x0 + (x1 - x0) * n / straight, y0 + (y1 - y0) * n / straight)
            for (x0, y0), (x1, y1) in pairwise(arrow.points)
            for n in range(straight + 1)
        ]
    shares = [n / FINE for n in range(FINE + 1)]
    weights = [((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3) for t in shares]
    return [
        (sum(w * x for w, (x, _) in pairs), sum(w * y for w, (_, y) in pairs))
        for each in weights
        for pairs in [[*zip(each, arrow.points, strict=True)]]
    ]


def _label(spell: Speller, step: int, formula: Formula, read: Leaf, room: float) -> str:
    """Return the change of `read` on its way into a slot: ``·2·x₃ + old``.

    The label is empty without a factor.  The factor is a number if its formula does not fit.
    """
    write = _write(spell, step, formula)
    term = write.term(read.argument, read.tap)
    if term is None or term.factor is None or term.source is None:
        return ""
    own = [part for part in summands_of(formula.expression) if read in leaves_of(part)]
    is_all = all(part == read or read in getattr(part, "arguments", ()) for part in own)
    plus = " + old" if is_all and write.adds_old and len(write.terms) == 1 else ""
    if term.symbols == "1":
        return plus.strip()
    label = term.text.removeprefix(term.source.name) + plus
    if term.value.ndim or text_width(label, LETTERS, mono=True) <= room:
        return label
    number = value_within(term.factor, room - text_width("·", LETTERS, True), LETTERS)
    return f"·{number}{plus}"


def tape_arrow(
    source: Box,
    target: Box,
    label: str,
    ways: Detours,
    depth: float = DEPTH,
    faint: bool = False,
    aside: float = 0.0,
) -> tuple[Arrow, list[Text]]:
    """A curve below the cells from one slot to another, or straight or around to another tape.

    They keep so much of a slot `aside` from one another, so that factors on them have room.
    """
    look = {"accent": not faint, "faint": faint}
    x0, y0, x1, y1, height = source.x, source.y, target.x, target.y, source.height
    out, into, bottom = x0 + source.width / 2, x1 + target.width / 2, y0 + height
    aside *= target.width if x0 > x1 else -target.width
    if y1 > y0:
        ends = (out, bottom), (into - aside if aside else into + 8, y1 - 1)
        return ways.arrow(ends, source, target, **look), []
    if y1 < y0:
        ends = (out + aside, y0), (into + (aside or 8), y1 + height + 1)
        return ways.arrow(ends, source, target, **look), []
    into -= aside
    low = bottom + 2 + depth
    arrow = Arrow(((out, bottom + 2), (out, low), (into, low), (into, bottom + 2)), **look)
    if not label:
        return arrow, []
    room = _room(target)  # under the slot that is written, where no other arrow's label stands
    if text_width(label, LETTERS, mono=True) > room:  # the curve ends where the old value is
        label = label.removesuffix(" + old")
    at = (into, bottom + 24)
    return arrow, [fitted(*at, label, room, LETTERS, "middle", mono=True, muted=True)]


def _room(target: Box) -> float:
    """That of a label under a slot."""
    return target.width + 14

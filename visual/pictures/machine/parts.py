"""Build the keys of cells (role and number from a moment on) and the parts of events."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from lab.equations.events.records import Event, Read, SlotRole, Term, Write
from lab.equations.factors import ONE
from visual.layout.cells import full_text
from visual.pictures.machine.content import LISTED, MOST_LINES, Key, Movement, Part, PartKind
from visual.pictures.machine.wording import Wording

# A state of a slot: its first moment, its role, its resting role, and the value in the slot.
State = tuple[int, SlotRole, SlotRole, np.ndarray | None]


def keys_of(wording: Wording, states: Iterable[State]) -> tuple[Key, ...]:
    """Return the keys of a cell. A state equal to the previous state has no key.

    In a page, equal numbers of different instructions have separate keys.
    """
    keys, look = list[Key](), tuple[object, ...]()
    for moment, role, resting, value in states:
        texts = wording.number(value), *(each.number(value) for each in wording.each(value))
        data = None if value is None else value.tobytes()
        before, look = look, (role, resting, texts, data)
        if look != before:
            full = "" if value is None else full_text(value)
            keys.append(Key(moment, role, resting, texts[0], full, texts[1:], value))
    return tuple(keys)


CellOf = Callable[[Read], int | None]  # returns the index of the cell of a read value, or None


def part_of(wording: Wording, cell_of: CellOf, event: Event, write: Write, target: int) -> Part:
    """Return the `Part` that shows a write to the cell `target`.

    `cell_of` returns the index of the cell of a read value, or None for a value without a cell.
    """
    kind = PartKind.SUM if write.terms else PartKind.FORMULA
    if write.role is SlotRole.RESTORED:
        kind = PartKind.RESTORED
    if event.step is None:
        kind = PartKind.FILL
    terms = () if kind is PartKind.RESTORED else tuple(_terms(wording, cell_of, write, target))
    adds = write.adds_old and write.old is not None
    old, *products = map(wording.scalar, (write.old, *(term.value for term in write.terms)))
    return Part(
        **vars(wording.equation(event, write)),
        kind=kind,
        target=target,
        old=wording.number(write.old),
        new=wording.number(write.new),
        adds=adds,
        replaces=write.role is SlotRole.OVERWRITTEN,
        is_addition=kind is PartKind.SUM and adds and bool(old) and any(products),
        terms=terms,
        formula=write.in_buffers,
        by_entry=tuple(each.equation(event, write) for each in wording.each(write.new, LISTED)),
        reason=wording.reason(event, write),
    )


def _terms(wording: Wording, cell_of: CellOf, write: Write, target: int) -> Iterator[Movement]:
    """Yield a `Movement` for each term of a sum, or for each slot that a formula reads.

    A `Movement` of a formula has no factor and does not start in the target cell. The first
    `Movement` of a formula contains the cells of the given values that the formula reads.
    """
    terms, count = [_term(wording, cell_of, term) for term in write.terms], len(write.terms)
    shown = MOST_LINES - 1 if count > MOST_LINES else MOST_LINES
    yield from terms[:shown]
    if rest := terms[shown:]:  # without lines from the cells that these terms read
        cells = dict.fromkeys(n for term in rest for n in (term.source, *term.saved))
        saved = tuple(n for n in cells if n is not None)
        yield Movement(None, "", product=f"… {len(rest)} more terms", saved=saved)
    if terms:
        return
    reads = {read: n for read in write.reads if (n := cell_of(read)) not in (None, target)}
    saved = tuple(dict.fromkeys(n for read, n in reads.items() if read.slot is None))
    product = wording.number(write.new)
    for read, cell in reads.items():
        if read.slot is not None:
            yield Movement(cell, wording.number(read.value), product=product, saved=saved)
            saved = ()
    if saved:
        yield Movement(None, "", product=product, saved=saved)


def _term(wording: Wording, cell_of: CellOf, term: Term) -> Movement:
    source, factor = term.source, term.factor
    cell = None if source is None else cell_of(source)
    if source is None or factor is None or np.shape(factor) not in ((), np.shape(source.value)):
        factor = None
    has_factor = wording.scalar(factor) is not None
    reads = (read for read in term.reads if read is not source)
    saved = dict.fromkeys(n for n in map(cell_of, reads) if n is not None)
    return Movement(
        cell,
        wording.number(source.value) if source is not None and cell is not None else "",
        wording.number(factor) if has_factor else "",
        term.symbols if has_factor or cell is None else "",
        wording.number(term.value),
        tuple(saved),
        has_factor and term.expression == ONE,
    )

"""The words of the event that fills a tape of gradients before its Scan runs."""

import numpy as np

from lab.equations.events.records import Event
from visual.pictures.machine.content import LISTED, Ink, Phrase
from visual.pictures.machine.wording import Wording


def filling(wording: Wording, event: Event) -> tuple[Phrase, ...]:
    """Return the sentence of a filling: the nonzero initial gradients."""
    known = [w for w in event.writes if np.any(w.new)]
    pieces = [Phrase(f"Tape of Scan {event.scan + 1}:  ", Ink.NAME)]
    for n, write in enumerate(known[:3]):
        pieces.append(Phrase(", " if n else ""))
        pieces.append(Phrase(f"{write.slot.quantity} = ", Ink.NAME))
        entries = wording.entries(write.new)
        is_short = 0 < len(entries) <= LISTED
        for k, number in enumerate(entries if is_short else [wording.number(write.new)]):
            pieces.append(Phrase(("[" if is_short else "") if k == 0 else ", "))
            pieces.append(Phrase(number, Ink.OLD))
        pieces.append(Phrase("]" if is_short else ""))
    if not known:
        return (*pieces, Phrase("all slots start at 0"))
    rest = f" and {len(known) - 3} more" if len(known) > 3 else ""
    zeros = len(known) < len(event.writes)
    return (*pieces, Phrase(rest + ("; all other slots start at 0" if zeros else "")))


def filling_reason(event: Event) -> str:
    """Return where the initial gradients of a tape come from."""
    sources = {
        term.source.slot.scan + 1
        for write in event.writes
        for term in write.terms
        if term.source is not None and term.source.slot is not None
    }
    direct = any(t.source is None for w in event.writes for t in w.terms)
    told = [f"output of Scan {', '.join(map(str, sorted(sources)))}"] if sources else []
    told += ["the cost itself"] if direct else []
    return f"Initial gradients: {' and '.join(told)}." if told else ""

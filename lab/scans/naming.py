"""Name the parts that an expression uses more than once.

Operations refer to their arguments as objects: a shared result is a single object.  Without names,
it would be written once for each use, and its own arguments even more often.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count

from lab.notation import (
    Binding,
    Call,
    Expression,
    Leaf,
    Let,
    Number,
    SharedTerm,
    Slice,
    Term,
    body_of,
    leaves_of,
)

MAX_DEPTH = 24  # levels of nested operations; a deeper part receives a name
MENTION = 8  # letters of a definition: ``; a := `` and the name
INDEX = 3  # letters of a typical index
LETTERS = "abcdfghjmpqrsuvwxyz"  # without step counters and easily confused letters


def shared_by(expressions: Iterable[Expression], always: Collection[str] = ()) -> Let:
    """Return several expressions as arguments of a single call, with common names for shared parts.

    Operations in `always` have a name even if they are used once.
    """
    known: dict[object, Term] = {}

    def whole(term: Term, named: Mapping[str, Term]) -> Term:
        """Return the term without names; equal parts are the same object."""
        if isinstance(term, SharedTerm):
            return named[term.name]
        inside = [whole(part, named) for part in _parts(term)]
        if inside:
            term = _rebuilt(term, dict(zip(map(id, _parts(term)), inside, strict=True)))
        name: object = term.name if isinstance(term, Call) else ()
        if isinstance(term, Slice):
            name = term.start is None, term.stop is None
        return known.setdefault((name, *map(id, inside)) if inside else term, term)

    found, taken = list[Term](), set[str]()
    for one in expressions:
        named: dict[str, Term] = {}
        for binding in reversed(one.bindings) if isinstance(one, Let) else ():
            named[binding.name] = whole(binding.term, named)
        found.append(whole(body_of(one), named))
        taken |= {leaf.variable for leaf in leaves_of(one)}
    made = shared(Call("", tuple(found)), taken, always)
    return made if isinstance(made, Let) else Let((), made)


def shared(term: Term, taken: Collection[str] = (), always: Collection[str] = ()) -> Expression:
    """Return `term` with names for the parts that it uses twice and that are long to write.

    No name is in `taken`.  Operations in `always` have a name even if they are used once.
    """
    order = list(_upwards(term))
    uses = dict.fromkeys(map(id, order), 0)
    for user in order:
        for part in _parts(user):
            uses[id(part)] += 1
    letters: dict[int, int] = {}  # of each part, with names written for named parts
    levels: dict[int, int] = {}
    named: list[Term] = []
    for part in order:
        inside = _parts(part)
        length = _own_letters(part) + sum(letters[id(p)] for p in inside)
        level = 1 + max((levels[id(p)] for p in inside), default=0)
        many = uses[id(part)] - 1
        needed = many * (length - 1) > MENTION or level > MAX_DEPTH
        if isinstance(part, Call) and part is not term and (needed or part.name in always):
            named.append(part)
            length, level = 1, 0
        letters[id(part)], levels[id(part)] = length, level
    if not named:
        return term
    names = dict(zip((id(part) for part in reversed(named)), _names(taken), strict=False))
    written: dict[int, Term] = {}  # the term to write for each part
    bound: list[Binding] = []
    for part in order:
        tree = _rebuilt(part, written)
        name = names.get(id(part))
        if name is not None:
            bound.append(Binding(name, tree))
        written[id(part)] = tree if name is None else SharedTerm(name)
    return Let(tuple(reversed(bound)), tree)


def _parts(term: Term) -> tuple[Term, ...]:
    if isinstance(term, Call):
        return term.arguments
    if isinstance(term, Slice):
        return tuple(end for end in (term.start, term.stop, term.step) if end is not None)
    return ()


def _upwards(term: Term) -> Iterator[Term]:
    """Yield every object in `term` once, after its parts."""
    seen, done, waiting = set[int](), set[int](), [term]
    while waiting:
        part = waiting[-1]
        if id(part) not in seen:
            seen.add(id(part))
            waiting += reversed(_parts(part))
            continue
        waiting.pop()
        if id(part) not in done:
            done.add(id(part))
            yield part


def _own_letters(term: Term) -> int:
    """Estimate the number of letters of a part, without its own parts."""
    if isinstance(term, Leaf):
        return len(term.variable) + INDEX
    if isinstance(term, Number):
        return len(term.written)
    return len(term.name) + 2 * len(term.arguments) if isinstance(term, Call) else 2


def _rebuilt(term: Term, written: dict[int, Term]) -> Term:
    """Return a term with its parts replaced by `written`; the same object if nothing changes."""
    inside = tuple(written[id(part)] for part in _parts(term))
    if all(new is old for new, old in zip(inside, _parts(term), strict=True)):
        return term
    if isinstance(term, Call):
        return replace(term, arguments=inside)
    assert isinstance(term, Slice)
    ends = term.start, term.stop, term.step
    return Slice(*(None if end is None else written[id(end)] for end in ends))


def _names(taken: Collection[str]) -> Iterator[str]:
    """Yield ``a``, ``b``, …, ``z``, ``a2``, … without names in `taken`."""
    for number in count(1):
        for letter in LETTERS:
            name = f"{letter}{number if number > 1 else ''}"
            if name not in taken:
                yield name

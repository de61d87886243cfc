"""Name the parts that an expression uses more than once.

A result that several operations use is a single object in all of them.  Without a name, a formula
would contain the text of this result once for each use, and the text of its arguments even more
often.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import count

from lab.notation import (
    SLICE,
    Call,
    Expression,
    Leaf,
    Let,
    Number,
    SharedTerm,
    Term,
    fold,
    leaves_of,
    operands_of,
)

MAX_DEPTH = 24  # largest number of nested operations without a name
MENTION = 8  # letters of a definition ``; a := `` and of the name
INDEX = 3  # letters of a typical index
LETTERS = "abcdfghjmpqrsuvwxyz"  # excludes step counters and letters that look like digits


def name_common_parts(expressions: Iterable[Expression], always: Collection[str] = ()) -> Let:
    """Return one call whose arguments are the `expressions`, with names for their common parts.

    An operation in `always` receives a name even if it is used once.
    """
    known: dict[object, Term] = {}

    def operand(term: Term) -> Term:
        """Return a single object for all equal operands."""
        return known.setdefault(term, term)

    def operation(name: str, parts: list[Term]) -> Term:
        """Return a single object for all equal operations."""
        return known.setdefault((name, *map(id, parts)), Call(name, tuple(parts)))

    bodies, taken = list[Term](), set[str]()
    for expression in expressions:
        bodies.append(fold(expression, operand, operand, operation))
        taken |= {leaf.variable for leaf in leaves_of(expression)}
    call = name_parts(Call("", tuple(bodies)), taken, always)
    return call if isinstance(call, Let) else Let((), call)


def name_parts(term: Term, taken: Collection[str] = (), always: Collection[str] = ()) -> Expression:
    """Return `term` with names for repeated parts if this shortens the text.

    The names differ from the names in `taken`.  A part with more than `MAX_DEPTH` nested operations
    and an operation in `always` receive a name even if they are used once.
    """
    order = list(_parts_first(term))
    uses = dict.fromkeys(map(id, order), 0)
    for user in order:
        for part in operands_of(user):
            uses[id(part)] += 1
    letters: dict[int, int] = {}  # the length of each part, written with names
    levels: dict[int, int] = {}
    named: list[Term] = []
    for part in order:
        inside = operands_of(part)
        length = _own_letters(part) + sum(letters[id(p)] for p in inside)
        level = 1 + max((levels[id(p)] for p in inside), default=0)
        many = uses[id(part)] - 1
        needed = many * (length - 1) > MENTION or level > MAX_DEPTH
        operation = part.name if isinstance(part, Call) and part is not term else SLICE
        if operation != SLICE and (needed or operation in always):
            named.append(part)
            length, level = 1, 0
        letters[id(part)], levels[id(part)] = length, level
    if not named:
        return term
    letters_and_numbers = (f"{x}{n if n > 1 else ''}" for n in count(1) for x in LETTERS)
    free = (name for name in letters_and_numbers if name not in taken)  # the letters, then a2, …
    names = dict(zip((id(part) for part in reversed(named)), free, strict=False))
    replacements: dict[int, Term] = {}  # the name, or the part in terms of names, by id
    bound: list[tuple[str, Term]] = []
    for part in order:
        tree = _with_parts(part, replacements)
        name = names.get(id(part))
        if name is not None:
            bound.append((name, tree))
        replacements[id(part)] = tree if name is None else SharedTerm(name)
    return Let(tuple(reversed(bound)), tree)


def _parts_first(term: Term) -> Iterator[Term]:
    """Yield every object in `term` once, after its parts."""
    seen, done, waiting = set[int](), set[int](), [term]
    while waiting:
        part = waiting[-1]
        if id(part) not in seen:
            seen.add(id(part))
            waiting += reversed(operands_of(part))
            continue
        waiting.pop()
        if id(part) not in done:
            done.add(id(part))
            yield part


def _own_letters(term: Term) -> int:
    """Estimate the number of letters of a term, without the letters of its parts."""
    if isinstance(term, Leaf):
        return len(term.variable) + INDEX
    if isinstance(term, Number):
        return len(term.written)
    return 2 if term.name == SLICE else len(term.name) + 2 * len(operands_of(term))


def _with_parts(term: Term, replacements: dict[int, Term]) -> Term:
    """Return `term` with new parts; `replacements` maps the ids of old parts to new parts."""
    inside = tuple(replacements[id(part)] for part in operands_of(term))
    if all(new is old for new, old in zip(inside, operands_of(term), strict=True)):
        return term
    assert isinstance(term, Call), "operands have no parts"
    return replace(term, arguments=inside)

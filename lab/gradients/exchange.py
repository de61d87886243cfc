"""Another pullback of Scan in the place of PyTensor's own, for a while, and in one thread.

>>> with lab.our_pullback():
...     gradient = pytensor.grad(cost, wrt)  # of any graph
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from types import MappingProxyType
from typing import ParamSpec

from pytensor.graph.basic import Apply, Variable
from pytensor.scan.op import Scan

from lab.gradients.pullback import pullback
from lab.progress import set_context
from lab.scans.node import Pullback, with_initial_values

P = ParamSpec("P")
Pattern = list[list[bool]]


@dataclass(frozen=True)
class Exchange:
    """What takes the place of two methods of a Scan; each is given the original one first."""

    pullback: Callable[
        [Pullback, Scan, Sequence[Variable], Sequence[Variable], Sequence[Variable]], list[Variable]
    ]
    connection_pattern: Callable[[Callable[[Scan, Apply], Pattern], Scan, Apply], Pattern] = (
        lambda original, op, node: original(op, node)
    )


METHODS = ("pullback", "connection_pattern")
_NONE: Mapping[type[Scan], Exchange] = MappingProxyType({})
_CHOSEN: ContextVar[Mapping[type[Scan], Exchange]] = ContextVar("exchanged", default=_NONE)
_LOCK = Lock()  # a class is one for all threads: who comes first exchanges, who is last restores
_USERS: Counter[type[Scan]] = Counter()
_OWN: dict[type[Scan], Mapping[str, object]] = {}  # the methods that a class has itself


@contextmanager
def exchanged(kind: type[Scan], exchange: Exchange) -> Iterator[None]:
    """While it lasts, Scans of a `kind` are differentiated otherwise in this thread."""
    with _LOCK:
        _USERS[kind] += 1
        if _USERS[kind] == 1:
            _OWN[kind] = {name: vars(kind)[name] for name in METHODS if name in vars(kind)}
            for name in METHODS:
                type.__setattr__(kind, name, _chosen(kind, name, getattr(kind, name)))
    try:
        with set_context(_CHOSEN, {**_CHOSEN.get(), kind: exchange}):
            yield
    finally:
        with _LOCK:
            _USERS[kind] -= 1
            if not _USERS[kind]:
                for name in METHODS:
                    type.__delattr__(kind, name)
                for name, method in _OWN.pop(kind).items():
                    type.__setattr__(kind, name, method)


def _chosen(kind: type[Scan], name: str, original: Callable[P, object]) -> Callable[P, object]:
    """A method that does what the thread has chosen: its exchange, or the `original`."""

    def method(*arguments: P.args, **named: P.kwargs) -> object:
        exchange = _CHOSEN.get().get(kind)
        if exchange is None:
            return original(*arguments, **named)
        return getattr(exchange, name)(original, *arguments, **named)

    return method


OURS = Exchange(
    lambda _, *arguments: pullback(*arguments),
    lambda original, op, node: with_initial_values(op, original(op, node)),
)


@contextmanager
def our_pullback() -> Iterator[None]:
    """While it lasts, PyTensor's own Scans are differentiated by our pullback in this thread.

    ``pytensor.grad``, and whatever calls it, then builds `TapeScan`s with their `derivation`,
    whose own gradients stay ours.  Other threads keep PyTensor's pullback, and so does this one
    afterwards, whatever happens.  An OpFromGraph remembers how it was differentiated first.
    """
    with exchanged(Scan, OURS):
        yield

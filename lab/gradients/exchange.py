"""Replace PyTensor's pullback of Scan in a context, for the current thread only.

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
    """Replacements for two methods of a Scan; each receives the original method first."""

    pullback: Callable[
        [Pullback, Scan, Sequence[Variable], Sequence[Variable], Sequence[Variable]], list[Variable]
    ]
    connection_pattern: Callable[[Callable[[Scan, Apply], Pattern], Scan, Apply], Pattern] = (
        lambda original, op, node: original(op, node)
    )


METHODS = ("pullback", "connection_pattern")
_NONE: Mapping[type[Scan], Exchange] = MappingProxyType({})
_CHOSEN: ContextVar[Mapping[type[Scan], Exchange]] = ContextVar("exchanged", default=_NONE)
_LOCK = Lock()  # classes are shared: the first thread replaces methods, the last one restores them
_USERS: Counter[type[Scan]] = Counter()
_OWN: dict[
    type[Scan], Mapping[str, object]
] = {}  # methods defined by the class itself, not inherited


@contextmanager
def exchanged(kind: type[Scan], exchange: Exchange) -> Iterator[None]:
    """Context manager: replace methods of the Scan class `kind` in this thread."""
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
    """Return a method that calls this thread's replacement, or else the `original`."""

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
    """Context manager: differentiate PyTensor's Scans by `lab.pullback` in this thread.

    ``pytensor.grad``, and every function that calls it, then builds `TapeScan`s with a
    `derivation`. Their gradients use `lab.pullback` even after the context ends.  Other threads are
    not affected, and an exception restores PyTensor's pullback.  An OpFromGraph caches its first
    derivative.
    """
    with exchanged(Scan, OURS):
        yield

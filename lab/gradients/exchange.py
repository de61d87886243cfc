"""Replace PyTensor's pullback of Scan in a context, for the current thread only.

>>> with lab.our_pullback():
...     gradient = pytensor.grad(cost, wrt)  # of any graph
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from types import MappingProxyType
from typing import Any

from pytensor.scan.op import Scan

from lab.gradients.pullback import pullback
from lab.progress import set_context
from lab.scans.node import with_initial_values

Replacement = Callable[..., Any]  # receives the original method, then its arguments
_NONE: Mapping[type[Scan], Mapping[str, Replacement]] = MappingProxyType({})
_CHOSEN = ContextVar("exchanged", default=_NONE)
_LOCK = Lock()  # the first thread replaces methods of the class, the last restores them
_USERS: Counter[type[Scan]] = Counter()
_OWN: dict[type[Scan], Mapping[str, object]] = {}  # methods that the class does not inherit
METHODS = ("pullback", "connection_pattern")


@contextmanager
def replace_methods(kind: type[Scan], **replacements: Replacement) -> Iterator[None]:
    """Context manager: replace `METHODS` of the Scan class `kind` in this thread."""
    with _LOCK:
        _USERS[kind] += 1
        if _USERS[kind] == 1:
            _OWN[kind] = {name: vars(kind)[name] for name in METHODS if name in vars(kind)}
            for name in METHODS:
                type.__setattr__(kind, name, _chosen(kind, name, getattr(kind, name)))
    try:
        with set_context(_CHOSEN, {**_CHOSEN.get(), kind: replacements}):
            yield
    finally:
        with _LOCK:
            _USERS[kind] -= 1
            if not _USERS[kind]:
                for name in METHODS:
                    type.__delattr__(kind, name)
                for name, method in _OWN.pop(kind).items():
                    type.__setattr__(kind, name, method)


def _chosen(kind: type[Scan], name: str, original: Replacement) -> Replacement:
    """Return a method that calls this thread's replacement, or else the `original`."""

    def method(*arguments: object) -> object:
        replacement = _CHOSEN.get().get(kind, {}).get(name)
        return original(*arguments) if replacement is None else replacement(original, *arguments)

    return method


@contextmanager
def our_pullback() -> Iterator[None]:
    """Context manager: differentiate PyTensor's Scans by `lab.pullback` in this thread.

    In the context, ``pytensor.grad`` and every function that calls it build `TapeScan`s with a
    `derivation`.  Gradients of these Scans use `lab.pullback` even after the context ends.  Other
    threads are not affected, and an exception restores PyTensor's pullback.  An OpFromGraph keeps
    its first derivative, which may be PyTensor's.
    """
    with replace_methods(
        Scan,
        pullback=lambda _, *arguments: pullback(*arguments),
        connection_pattern=lambda original, op, node: with_initial_values(op, original(op, node)),
    ):
        yield

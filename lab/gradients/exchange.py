"""Replace the pullback of PyTensor's Scan during a context, for the current thread only.

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
_REPLACEMENTS = ContextVar("replacements", default=_NONE)
_LOCK = Lock()  # the first thread replaces the methods, and the last thread restores them
_USERS: Counter[type[Scan]] = Counter()
_OWN: dict[type[Scan], Mapping[str, object]] = {}  # methods that the class does not inherit
METHODS = ("pullback", "connection_pattern")


@contextmanager
def replace_methods(kind: type[Scan], **replacements: Replacement) -> Iterator[None]:
    """Replace methods of the Scan class `kind` during a context, for the current thread only.

    The keywords are names in `METHODS`.
    """
    with _LOCK:
        _USERS[kind] += 1
        if _USERS[kind] == 1:
            _OWN[kind] = {name: vars(kind)[name] for name in METHODS if name in vars(kind)}
            for name in METHODS:
                type.__setattr__(kind, name, _dispatch(kind, name, getattr(kind, name)))
    try:
        with set_context(_REPLACEMENTS, {**_REPLACEMENTS.get(), kind: replacements}):
            yield
    finally:
        with _LOCK:
            _USERS[kind] -= 1
            if not _USERS[kind]:
                for name in METHODS:
                    type.__delattr__(kind, name)
                for name, method in _OWN.pop(kind).items():
                    type.__setattr__(kind, name, method)


def _dispatch(kind: type[Scan], name: str, original: Replacement) -> Replacement:
    """Return a method that calls the replacement of the current thread, or else the `original`."""

    def method(*arguments: object) -> object:
        replacement = _REPLACEMENTS.get().get(kind, {}).get(name)
        return original(*arguments) if replacement is None else replacement(original, *arguments)

    return method


@contextmanager
def our_pullback() -> Iterator[None]:
    """Differentiate PyTensor's Scans by `lab.pullback` during a context, in the current thread.

    In the context, ``pytensor.grad`` and every function that calls it build `TapeScan`s with a
    `derivation`.  Gradients of these Scans use `lab.pullback` even after the context ends.  Other
    threads are not affected, and an exception restores PyTensor's pullback.  An OpFromGraph
    caches its first derivative: if PyTensor's pullback built it earlier, the cached graph stays.
    """
    with replace_methods(
        Scan,
        pullback=lambda _, *arguments: pullback(*arguments),
        connection_pattern=lambda original, op, node: with_initial_values(op, original(op, node)),
    ):
        yield

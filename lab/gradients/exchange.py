"""Replace the pullback of PyTensor's Scan during a context, for the current thread only.

>>> with lab.our_pullback():
...     gradient = pytensor.grad(cost, wrt)  # of any graph
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

from pytensor.scan.op import Scan

from lab.gradients.pullback import pullback
from lab.progress import set_context
from lab.scans.node import with_initial_values

# Replacements of methods of Scan.  Their arguments are the original method and its arguments.
METHODS: Mapping[str, Callable[..., Any]] = {
    "pullback": lambda _, *arguments: pullback(*arguments),
    "connection_pattern": lambda original, op, node: with_initial_values(op, original(op, node)),
}
_IS_REPLACED = ContextVar("is_replaced", default=False)
_LOCK = Lock()  # the first context replaces the methods, and the last context restores them
_OPEN: list[object] = []  # an entry for each open context of all threads
_OWN: dict[str, object] = {}  # the original methods that Scan itself defines


@contextmanager
def our_pullback() -> Iterator[None]:
    """Differentiate PyTensor's Scans by `lab.pullback` during a context, in the current thread.

    In the context, ``pytensor.grad`` and every function that calls it build `TapeScan`s with a
    `derivation`.  Gradients of these Scans use `lab.pullback` even after the context ends.  Other
    threads are not affected, and an exception restores PyTensor's pullback.  An OpFromGraph
    caches its first derivative: if PyTensor's pullback built it earlier, the cached graph stays.
    """
    with _LOCK:
        if not _OPEN:
            _OWN.update((name, vars(Scan)[name]) for name in METHODS if name in vars(Scan))
            for name in METHODS:
                type.__setattr__(Scan, name, _dispatch(name, getattr(Scan, name)))
        _OPEN.append(None)
    try:
        with set_context(_IS_REPLACED, True):
            yield
    finally:
        with _LOCK:
            _OPEN.pop()
            if not _OPEN:
                for name in METHODS:
                    type.__delattr__(Scan, name)
                for name in [*_OWN]:
                    type.__setattr__(Scan, name, _OWN.pop(name))


def _dispatch(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that calls the replacement in a context, and the `original` elsewhere."""

    def method(*arguments: object) -> Any:
        is_replaced = _IS_REPLACED.get()
        return METHODS[name](original, *arguments) if is_replaced else original(*arguments)

    return method

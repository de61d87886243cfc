"""Find the source lines and the printed ids of variables, and build graphs without source lines."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from threading import Lock

import pytensor
from pytensor import config
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import toposort
from pytensor.printing import debugprint

from lab.errors import MAX_CHARACTERS, shorten

MAX_PRINTED = 20_000  # largest number of operations of a printed graph
PYTENSOR, LAB = PurePath(pytensor.__file__).parent, PurePath(__file__).parents[1]

# The original value of PyTensor's flag, then an entry for each thread in `without_backtraces`.
_LOCK = Lock()
_limits: list[int] = []


@contextmanager
def without_backtraces() -> Iterator[None]:
    """Build variables without their source lines during a context.

    Internal graphs need no source lines, which take a third of the time to build a graph.
    PyTensor has one flag for all threads: the last thread that leaves the context restores the
    flag.
    """
    with _LOCK:
        if not _limits:
            _limits.append(config.traceback__limit)
            config.traceback__limit = 0
        _limits.append(0)
    try:
        yield
    finally:
        with _LOCK:
            _limits.pop()
            if len(_limits) == 1:
                config.traceback__limit = _limits.pop()


def line_of(variable: Variable) -> str:
    """Return the source line that created a variable, or an empty string if it is unknown.

    Variables of a declared loop have no source line.
    """
    for trace in getattr(variable.tag, "trace", ()):
        for path, number, _, code in reversed(trace):
            if code and PYTENSOR not in PurePath(path).parents:
                is_ours = LAB in PurePath(path).parents
                text = f"{PurePath(path).name}:{number}: {code}"
                return "" if is_ours else shorten(text, 4 * MAX_CHARACTERS)
    return ""


def printed_ids(outputs: Sequence[Variable]) -> Mapping[object, str]:
    """Map nodes and variables to the ids that ``pytensor.dprint`` prints, such as ``[id B]``.

    The result is empty for a graph of more than `MAX_PRINTED` operations.
    """
    ids: dict[object, str] = {}
    if len(list(toposort(outputs))) <= MAX_PRINTED:
        debugprint(list(outputs), file="str", used_ids=ids)  # type: ignore[arg-type]
    return ids

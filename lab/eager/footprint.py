"""How much memory a node keeps alive: numbers, and the Python objects around them.

An estimate by `sys.getsizeof`, followed through the gradient functions into what they
closed over; the allocator's own rounding is left out.
"""

from collections.abc import Iterator
from sys import getsizeof
from types import FunctionType
from typing import Any

import numpy as np

from lab.eager.records import Memory
from lab.eager.tape import Node, Tape

_EMPTY_NODE = getsizeof(Node(0.0, Tape())) + getsizeof([])


def footprint(node: Node, counted: set[int]) -> Memory:
    """The memory of `node`, without the objects whose ids are in `counted`; its own are added.

    Ids are unique among objects that are alive, so a set is good for one tape while the tape
    only grows.
    """
    numbers, bookkeeping = 0, _EMPTY_NODE
    for item in _kept((node.parent_operations, node.value), counted):
        own = _bytes_of_numbers(item)
        numbers += own
        # an array that views another one's numbers has only a head of its own
        bookkeeping += getsizeof(item) - (own if getsizeof(item) > own else 0)
    return Memory(numbers, bookkeeping)


def _kept(roots: tuple[Any, ...], counted: set[int]) -> Iterator[Any]:
    """Everything that is kept alive through `roots` and was not counted, each thing once."""
    waiting = list(roots)
    while waiting:
        item = waiting.pop()
        # A parent counts itself.  A function without a closure is code, there without any tape.
        shared = isinstance(item, Node) or (isinstance(item, FunctionType) and not item.__closure__)
        if shared or item is None or id(item) in counted:
            continue
        counted.add(id(item))
        yield item
        if isinstance(item, FunctionType):
            yield item.__closure__
            yield from item.__closure__ or ()
            waiting += [cell.cell_contents for cell in item.__closure__ or ()]
        elif isinstance(item, list | tuple):
            waiting += item
        elif isinstance(item, np.ndarray):
            waiting.append(item.base)


def _bytes_of_numbers(item: Any) -> int:
    if isinstance(item, np.ndarray):
        return item.nbytes if item.base is None else 0
    if isinstance(item, np.generic):
        return item.itemsize
    return 8 if isinstance(item, float) else 0

"""Properties that are computed when they are first asked for, and kept.

`functools.cached_property`, but without the lock that it has before Python 3.12: that one is
shared by all instances and held while a value is computed, so that two threads, each of which
lets the other go first (see `lab.progress`), would wait for each other forever.
"""

import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

T = TypeVar("T")

if TYPE_CHECKING or sys.version_info >= (3, 12):
    cached_property = functools.cached_property
else:

    class cached_property(Generic[T]):  # noqa: N801 (a property, named as the one it replaces)
        """A method whose first result stands in the instance's place of the same name."""

        def __init__(self, make: Callable[[Any], T]) -> None:
            self.make, self.__doc__ = make, make.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            if self.name not in instance.__dict__:
                instance.__dict__[self.name] = self.make(instance)
            return instance.__dict__[self.name]

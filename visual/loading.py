"""What a person names on the command line: a gallery loop, or ``module:function`` of their own."""

import importlib
import sys
from typing import Any

from lab import Loop
from lab.errors import ArgumentError, LabError, first_line, listing
from lab.gallery import loops


def loop_named(name: str, option: str = "--loop") -> Loop:
    """A gallery loop, or what ``module:function`` names; the `option` is quoted in errors."""
    loop = made_by(option, name)
    if not isinstance(loop, Loop):
        raise ArgumentError(f"{option} {name}: expected a lab.Loop, not {type(loop).__name__}.")
    return loop


def made_by(option: str, name: str) -> Any:
    """A gallery loop, or what ``module:function`` names or returns."""
    if name in loops:
        return loops[name]
    module, colon, function = name.partition(":")
    if not colon:
        raise ArgumentError(
            f"{option} {name}: the gallery has {listing(loops)}; for your own, write "
            "module:function."
        )
    sys.path.insert(0, "")
    try:
        found = getattr(importlib.import_module(module), function)
        return found() if callable(found) else found
    except LabError:
        raise
    except Exception as error:  # whatever a person's own module does
        raise ArgumentError(f"{option} {name}: {first_line(error)}") from error

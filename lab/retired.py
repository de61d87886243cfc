"""Names that were removed from `lab`, and their replacements.

A name stays in the table for one release.  A dotted name is an attribute of an exported class, as
``Trace.to_json``; the class raises `retired_attribute` in its own ``__getattr__``.
"""

RETIRED_NAMES: dict[str, str] = {}


def retired_attribute(name: str) -> AttributeError:
    """Return the error that names the replacement of a retired name."""
    return AttributeError(f"lab.{name} was removed in version 0.3: use {RETIRED_NAMES[name]}")

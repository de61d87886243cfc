"""Names that were removed from `lab`, and their replacements.

A name stays in the table for one release.  A dotted name, such as ``Trace.to_json``, is an
attribute of an exported class; the class has a `RetiredAttribute` with this name.
"""

from typing import NoReturn

RETIRED_NAMES: dict[str, str] = {
    "Comparison.found": "comparison.different_rows.",
    "Comparison.report": "str(comparison).",
    "Derivative.different": "visual.genealogy(trace).text(), which counts distinct step functions.",
    "Loop.valued": "list(loop.values); `values` maps names to declared values.",
    "Trace.from_json": "pickle.loads, only with a trace that you trust.",
    "Trace.to_json": "pickle.dumps; lab.events(trace).rows() for other programs.",
    "Trace.untaken": "lab.first(trace), which explains the cause of nan.",
    "structural.Chain": "lab.structural.vjp or jvp of the function.",
    "structural.record": "lab.structural.vjp or jvp of the function.",
    "few_steps": "lab.canonical(loop), whose last section has the graphs for few steps.",
    "spelled": "lab.events(trace), whose writes have formulas.",
    "vocabulary": "lab.canonical(loop), whose tables have the names of PyTensor's documentation.",
    "rewrites": "lab.compiled, whose section Rewrites has a line for each.",
    "shortened": "lab.compiled with wrt, and its section on the gradient taken after shortening.",
}


def retired_attribute(name: str) -> AttributeError:
    """Return the error that names the replacement of a retired name."""
    return AttributeError(f"lab.{name} was removed in version 0.3: use {RETIRED_NAMES[name]}")


class RetiredAttribute:
    """A removed attribute of a class: each access raises `retired_attribute`."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"{owner.__name__}.{name}"

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise retired_attribute(self.name)

"""The ES module of the workbench: that of the stepper, and after it the workbench's own.

A widget is one module, which can import no other; so that both stay one file each, the second
is joined to the first, whose functions it calls.  The module of an atlas is joined in the same way.
"""

from pathlib import Path

HERE = Path(__file__).parent
EXPORT = "export default { render };\n"


def joined(*names: str) -> str:
    """The module of the stepper with those of other files after it."""
    stepper = (HERE / "stepper.js").read_text(encoding="utf-8")
    before, after = stepper.split(EXPORT)
    return before + after + "".join((HERE / n).read_text(encoding="utf-8") for n in names)


MODULE = joined("workbench.js")
STYLE = "".join(
    (HERE / name).read_text(encoding="utf-8") for name in ("stepper.css", "workbench.css")
)

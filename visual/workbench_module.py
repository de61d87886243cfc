"""The ES module of the workbench: the stepper's, and after it the workbench's form and its own.

A widget is one module, which can import no other; so that each stays a file, they are joined, and
call the functions of those before.  The module of an atlas is joined in the same way.
"""

from pathlib import Path

HERE = Path(__file__).parent
EXPORT = "export default { render };\n"


def joined(*names: str) -> str:
    """The module of the stepper with those of other files after it."""
    stepper = (HERE / "stepper.js").read_text(encoding="utf-8")
    before, after = stepper.split(EXPORT)
    return before + after + "".join((HERE / n).read_text(encoding="utf-8") for n in names)


MODULE = joined("workbench_form.js", "workbench.js")
STYLE = "".join(
    (HERE / name).read_text(encoding="utf-8") for name in ("stepper.css", "workbench.css")
)

"""Convert the SVG of a notebook's output to PDF, for `nbconvert --to latex` without Inkscape.

    python -m visual.backends.figure figure.svg figure.pdf

As notebooks/lecturer.md shows, nbconvert's SVG2PDFPreprocessor can run this command.
"""

import sys
from pathlib import Path

from visual.backends.typeset import typeset

PAGE = """\
#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg")
"""


def main(source: str, target: str) -> None:
    """Write the PDF document of the SVG document `source` to the file `target`."""
    svg = Path(source).read_text(encoding="utf-8")
    Path(target).write_bytes(typeset(PAGE, "pdf", {"svg": svg}))


if __name__ == "__main__":
    main(*sys.argv[1:])

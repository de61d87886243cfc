"""Convert the SVG of a notebook's output to PDF, for `nbconvert --to latex` without Inkscape.

    python -m visual.backends.figure figure.svg figure.pdf

nbconvert calls it for each picture when it is the command of its SVG2PDFPreprocessor, as
notebooks/lecturer.md shows. Stored notebooks therefore need no PDF beside each SVG.
"""

import sys
from pathlib import Path

from visual.scene.fonts import folder

PAGE = b"""\
#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg")
"""


def svg_to_pdf(svg: str) -> bytes:
    """Return the PDF document of an SVG document, with a page of the same size."""
    import typst

    pdf = typst.compile(
        PAGE, format="pdf", sys_inputs={"svg": svg}, font_paths=[folder()], ignore_system_fonts=True
    )
    assert isinstance(pdf, bytes)
    return pdf


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_bytes(svg_to_pdf(source.read_text(encoding="utf-8")))

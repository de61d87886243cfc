"""PDF and PNG: the SVG of a scene, typeset by Typst with the DejaVu fonts.

So they show what the SVG shows, with letters that can be selected and searched in PDF.  The fonts
are those that matplotlib brings, whatever a machine has; the same scene gives the same bytes.
Typst is loaded when one of them is asked for.  Tooltips have no place in these formats.
"""

import math
import re
from typing import Literal

from visual.backends.svg import to_svg
from visual.scene.fonts import folder
from visual.scene.formats import register
from visual.scene.shapes import Scene

POINT = 0.75  # a CSS pixel, 1/96 inch, in points
LONGEST_PAGE = 14_400  # points; every PDF reader accepts this size
LESS = 0.004  # of a pixel: more than a rounding error, and invisible
SIZE = re.compile(r'viewBox="[^"]*" width="[^"]*" height="[^"]*"')
BASELINE = re.compile(r'(<text x="[^"]*" y=")([^"]*)')
PAGE = """\
#set document(title: sys.inputs.title, description: sys.inputs.description, date: none)
#set page(width: {across}pt, height: {down}pt, margin: 0pt, fill: rgb("{background}"))
#image(bytes(sys.inputs.svg), format: "svg", fit: "stretch", {size}, alt: sys.inputs.description)
"""


def to_pdf(scene: Scene) -> bytes:
    """Return the PDF document of a scene; a very large scene is scaled down."""
    scale = min(POINT * scene.zoom, LONGEST_PAGE / max(scene.width, scene.height))
    across, down = scene.width * scale, scene.height * scale
    return _set(scene, "pdf", to_svg(scene), (across, down), f"width: {across}pt, height: auto")


def to_png(scene: Scene, scale: float = 1.0) -> bytes:
    """Return the PNG image of a scene, with `scale` pixels per CSS pixel, rounded up.

    Letters stand on whole pixels, as in browsers: else their feet and heads are blurred, each line
    in its own way.
    """
    scale *= scene.zoom
    across, down = math.ceil(scene.width * scale), math.ceil(scene.height * scale)

    def on_a_pixel(found: re.Match[str]) -> str:
        return f"{found[1]}{math.floor(float(found[2]) * scale + 0.5) / scale:.3f}"

    drawn = BASELINE.sub(on_a_pixel, to_svg(scene))
    # Typst draws the SVG in an image of its own, of a size that it rounds up, and moves whole
    # pixels of that to the page: a little less than a pixel row, or one is lost, with letters' feet
    size = f"{across / scale:.6f}", f"{(down - LESS) / scale:.6f}"
    drawn = SIZE.sub('viewBox="0 0 {0} {1}" width="{0}" height="{1}"'.format(*size), drawn, count=1)
    placed = f"width: {across - LESS}pt, height: {down - 2 * LESS}pt"
    return _set(scene, "png", drawn, (across, down), placed)


def _set(
    scene: Scene, form: Literal["pdf", "png"], drawn: str, page: tuple[float, float], size: str
) -> bytes:
    across, down = page
    given = {"svg": drawn, "title": scene.title, "description": scene.description}
    inputs = {name: words.encode(errors="replace").decode() for name, words in given.items()}
    background = scene.theme.background
    source = PAGE.format(across=across, down=down, size=size, background=background)
    return typeset(source, form, inputs)


def typeset(source: str, form: Literal["pdf", "png"], inputs: dict[str, str]) -> bytes:
    """Compile a Typst document with the fonts of all pictures.

    A point of a PNG is a pixel.
    """
    import typst

    document = typst.compile(  # type: ignore[misc]  # the stub has another type for fonts
        source.encode(),
        format=form,
        ppi=72.0,
        sys_inputs=inputs,
        font_paths=[folder()],
        ignore_system_fonts=True,
    )
    assert isinstance(document, bytes)
    return document


register(".pdf", to_pdf)
register(".png", to_png)

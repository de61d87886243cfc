"""PDF and PNG: the SVG of a scene, set by Typst with the letters of DejaVu.

So they show what the SVG shows, with letters that can be selected and searched in PDF.  The fonts
are those that matplotlib brings, whatever a machine has; the same scene gives the same bytes.
Typst is loaded when one of them is asked for.  Tooltips have no place in these formats.
"""

import math
from dataclasses import replace
from typing import Literal

from visual.backends.svg import to_svg
from visual.scene.fonts import folder
from visual.scene.formats import register
from visual.scene.shapes import Scene

POINT = 0.75  # a CSS pixel, 1/96 inch, in points
LONGEST_PAGE = 14_400  # points: what a PDF reader must accept
PAGE = """\
#set document(title: sys.inputs.title, description: sys.inputs.description, date: none)
#set page(width: {across}pt, height: {down}pt, margin: 0pt, fill: rgb("{background}"))
#image(bytes(sys.inputs.svg), format: "svg", fit: "stretch", width: {across}pt, height: {high},
  alt: sys.inputs.description)
"""


def to_pdf(scene: Scene) -> bytes:
    """The PDF document of a scene; the page of a very large scene is smaller than life."""
    scale = min(POINT * scene.zoom, LONGEST_PAGE / max(scene.width, scene.height))
    return _set(scene, "pdf", scene.width * scale, scene.height * scale)


def to_png(scene: Scene, scale: float = 1.0) -> bytes:
    """The PNG image of a scene, `scale` pixels for a CSS pixel, rounded up.

    The scene grows by the part of a pixel that is rounded: were it made as large as the image, a
    row of its pixels would be lost, and with it the feet of letters.
    """
    scale *= scene.zoom
    across, down = math.ceil(scene.width * scale), math.ceil(scene.height * scale)
    return _set(replace(scene, width=across / scale, height=down / scale), "png", across, down)


def _set(scene: Scene, form: Literal["pdf", "png"], across: float, down: float) -> bytes:
    import typst

    high = f"{down}pt" if form == "png" else "auto"
    page = PAGE.format(across=across, down=down, high=high, background=scene.theme.background)
    given = {"svg": to_svg(scene), "title": scene.title, "description": scene.description}
    made = typst.compile(  # type: ignore[misc]
        page.encode(),
        format=form,
        ppi=72.0,  # a point of the page is a pixel
        sys_inputs={name: words.encode(errors="replace").decode() for name, words in given.items()},
        font_paths=[folder()],
        ignore_system_fonts=True,
    )
    assert isinstance(made, bytes)
    return made


register(".pdf", to_pdf)
register(".png", to_png)

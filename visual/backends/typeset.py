"""PDF and PNG: the SVG of a scene, typeset by Typst with the DejaVu fonts of matplotlib.

The text of a PDF can be selected and searched. Equal scenes produce equal bytes, because Typst
ignores the fonts of the system. The files contain no tooltips. Typst is imported on first use.
"""

import math
from typing import Any, Literal, cast

from visual.backends.svg import to_svg
from visual.scene.fonts import advances, folder
from visual.scene.shapes import Scene

POINT = 0.75  # a CSS pixel, 1/96 inch, in points
LONGEST_PAGE = 14_400  # points; every PDF reader accepts this size
LESS = 0.004  # pixels to subtract: larger than a rounding error, but invisible
PAGE = """\
#set document(title: sys.inputs.title, description: sys.inputs.description, date: none)
#set page(width: {}pt, height: {}pt, margin: 0pt, fill: rgb("{}"))
#image(bytes(sys.inputs.svg), format: "svg", fit: "stretch", {}, alt: sys.inputs.description)
"""


def to_pdf(scene: Scene) -> bytes:
    """Return the PDF document of a scene; a scene larger than `LONGEST_PAGE` is scaled down."""
    scale = min(POINT * scene.zoom, LONGEST_PAGE / max(scene.width, scene.height))
    page = scene.width * scale, scene.height * scale
    return _typeset_scene(scene, "pdf", to_svg(scene), page, f"width: {page[0]}pt, height: auto")


def to_png(scene: Scene, scale: float = 1.0) -> bytes:
    """Return the PNG image of a scene, with `scale` pixels per CSS pixel and a rounded-up size.

    As in browsers, baselines are on whole pixels, because letters between pixels are blurred.
    """
    scale *= scene.zoom
    across, down = math.ceil(scene.width * scale), math.ceil(scene.height * scale)

    def on_a_pixel(y: float) -> str:
        return f"{math.floor(round(y, 1) * scale + 0.5) / scale:.3f}"

    # Typst renders the SVG to an image, rounds the size of the image up, and copies whole pixels to
    # the page. A slightly smaller size prevents the loss of a row of pixels.
    size = f"{across / scale:.6f}", f"{(down - LESS) / scale:.6f}"
    svg = to_svg(scene, size=size, baseline=on_a_pixel)
    image = f"width: {across - LESS}pt, height: {down - 2 * LESS}pt"
    return _typeset_scene(scene, "png", svg, (across, down), image)


def _typeset_scene(
    scene: Scene, form: Literal["pdf", "png"], svg: str, page: tuple[float, float], size: str
) -> bytes:
    # Typst would draw a whole text, numbers included, in another font that has these letters.
    unknown = {*filter(str.isprintable, {*svg})} - {*advances()}
    svg = svg.translate(dict.fromkeys(map(ord, unknown), "□"))
    given = {"svg": svg, "title": scene.title, "description": scene.description}
    inputs = {name: words.encode(errors="replace").decode() for name, words in given.items()}
    return typeset(PAGE.format(*page, scene.theme.background, size), form, inputs)


def typeset(source: str, form: Literal["pdf", "png"], inputs: dict[str, str]) -> bytes:
    """Return the file that Typst compiles from `source`; in a PNG, one point is one pixel."""
    import typst

    fonts: dict[str, Any] = {"font_paths": [folder()], "ignore_system_fonts": True}
    document = typst.compile(source.encode(), format=form, ppi=72.0, sys_inputs=inputs, **fonts)
    return cast(bytes, document)

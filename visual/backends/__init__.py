"""Scenes in the formats of files: each backend is a walk over the same shapes.

`svg` (start there), `text`, `mpl` for PDF and PNG, and `page`, what stands around pictures in a
file of HTML.  A backend registers in `visual.scene.formats` what it writes, by the suffix; this
room loads them, except matplotlib, for which only those wait who ask for a PDF or a PNG.
"""

from typing import TYPE_CHECKING

from visual.backends import svg as svg
from visual.backends import text as text
from visual.scene.formats import register

if TYPE_CHECKING:
    from visual.scene.shapes import Scene


def _pdf(scene: "Scene") -> bytes:
    from visual.backends.mpl import to_pdf

    return to_pdf(scene)


def _png(scene: "Scene", scale: float) -> bytes:
    from visual.backends.mpl import to_png

    return to_png(scene, scale)


register(".pdf", _pdf)
register(".png", _png)

"""Backends: each writes the shapes of a scene in a file format.

Start with `svg`. `text` writes plain text, `typeset` converts the SVG to PDF and PNG, `films`
writes GIF from PNG, and `page` writes HTML. Importing this package makes the formats available.
"""

from visual.backends.films import to_gif
from visual.backends.page import to_page
from visual.backends.svg import to_svg
from visual.backends.text import to_text
from visual.backends.typeset import to_pdf, to_png
from visual.scene.formats import WRITERS

WRITERS |= {
    ".svg": lambda scene, _, animate: to_svg(scene, animate),
    ".pdf": lambda scene, *_: to_pdf(scene),
    ".png": lambda scene, scale, _: to_png(scene, scale),
    ".gif": lambda scene, scale, _: to_gif(scene, scale),
    ".html": lambda scene, *_: to_page(scene),
    ".txt": lambda scene, *_: to_text(scene),
    ".dot": lambda scene, *_: scene.dot,
}

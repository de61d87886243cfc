"""Fill `WRITERS`, which maps the suffix of a file to the function that returns its content."""

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
